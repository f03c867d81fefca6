//! OpenMP that stands in the source already: the user's or ours, never both for the same code.
//!
//! Invariant: what the user wrote goes only if ours has replaced it.

use std::collections::{BTreeMap, BTreeSet};

use crate::acc::ast::DirectiveKind;
use crate::bind::{self, Bound, Counterparts};
use crate::diag::{self, Diag};
use crate::host::ir::Unit;
use crate::scan::{self, OpenMp};
use crate::source::{SourceFile, Span};

/// What becomes of OpenMP that the source has for the code of an OpenACC directive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Existing {
    /// Both stay as they are, and a diagnostic asks.
    #[default]
    Ask,
    /// It stays, and the OpenACC goes.
    Keep,
    /// It goes, and the translation replaces it.
    Replace,
}

/// The existing OpenMP of one file, and what is known to become of it.
pub struct Apart {
    found: Option<OpenMp>,
    existing: Existing,
    /// OpenACC stays beside its translation: what has a counterpart has been translated before.
    guard: bool,
    /// The numbers of OpenMP directives that have a counterpart.
    known: BTreeSet<usize>,
    /// The conditions whose branches stay as they are.
    kept: BTreeSet<usize>,
    /// By the first byte of an OpenACC directive, the OpenMP that goes if it is translated.
    replaced: BTreeMap<u32, BTreeSet<usize>>,
}

/// What becomes of the directives of one view.
#[derive(Debug, Default)]
pub struct Chosen {
    /// Those to translate.
    pub bound: Vec<Bound>,
    /// Those that are left untranslated.
    pub left: Vec<Span>,
    /// Those that stay as they are, though nothing is left to do about them.
    pub stay: Vec<Span>,
    /// Those that go: the user's OpenMP stands for them.
    pub gone: Vec<Span>,
    /// Regions of data among `bound` that go, but count for what is inside.
    pub gone_data: BTreeSet<u32>,
    /// What there is to say.
    pub diags: Vec<Diag>,
}

/// Whether a directive belongs to a compute construct: without it, that one would mean something else.
fn is_in_construct(bound: &[Bound], at: usize) -> bool {
    bind::ancestors(bound, at).any(|above| bound[above].directive.kind.is_compute())
}

impl Apart {
    /// Reads the OpenMP of a file.
    pub fn new(file: &SourceFile, existing: Existing, guard: bool) -> Apart {
        let (known, kept, replaced) = Default::default();
        Apart { found: scan::openmp(file), existing, guard, known, kept, replaced }
    }

    /// The same, for a part of the file.
    pub fn part(&self) -> Apart {
        let (known, kept, replaced) = Default::default();
        Apart { found: self.found.clone(), existing: self.existing, guard: self.guard, known, kept, replaced }
    }

    /// Takes over what is known of a part of the file.
    pub fn join(&mut self, mut part: Apart) {
        self.known.append(&mut part.known);
        self.kept.append(&mut part.kept);
        self.replaced.append(&mut part.replaced);
    }

    /// Parts the directives that have counterparts from the others.
    pub fn choose(&mut self, unit: &Unit, bound: Vec<Bound>) -> Chosen {
        let Some(found) = &self.found else { return Chosen { bound, ..Chosen::default() } };
        let counterparts = bind::counterparts(unit, &bound, found);
        let mut chosen = Chosen::default();
        let mut apart = BTreeSet::new();
        for at in 0..bound.len() {
            let own = counterparts.of.get(&at);
            self.known.extend(own.into_iter().flatten());
            if apart.contains(&at) || own.is_none() && !counterparts.separated.contains_key(&at) {
                continue;
            }
            self.one(&counterparts, &bound, at, &mut apart, &mut chosen);
        }
        self.keep_conditions(&bound, &apart, &chosen);
        chosen.bound = bind::without(bound, &apart);
        chosen
    }

    /// The conditions around directives that stay as they are stay, too, unless a translated one stands there.
    fn keep_conditions(&mut self, bound: &[Bound], apart: &BTreeSet<usize>, chosen: &Chosen) {
        let Some(found) = &self.found else { return };
        let staying: Vec<u32> = chosen.left.iter().chain(&chosen.stay).map(|span| span.start).collect();
        let others = bound.iter().enumerate().filter(|(at, one)| one.text.is_some() && !apart.contains(at));
        let others: Vec<u32> = others.map(|(_, one)| one.directive.span.start).collect();
        for (at, fork) in found.conditions.iter().enumerate().filter(|(_, fork)| fork.is_about_directives()) {
            let holds = |place: &u32| fork.branch_at(*place).is_some();
            if staying.iter().any(holds) && !others.iter().any(holds) {
                self.kept.insert(at);
            }
        }
    }

    fn one(
        &mut self,
        counterparts: &Counterparts,
        bound: &[Bound],
        at: usize,
        apart: &mut BTreeSet<usize>,
        chosen: &mut Chosen,
    ) {
        let directive = &bound[at].directive;
        let (span, name) = (directive.span, crate::acc::name(directive.kind));
        let is_region = matches!(directive.kind, DirectiveKind::Data | DirectiveKind::HostData);
        let separated = counterparts.separated.get(&at);
        let all: Vec<Span> = {
            let all = bind::with_all_in_it(bound, at);
            all.into_iter()
                .filter(|one| bound[*one].text.is_some())
                .map(|one| bound[one].directive.span)
                .collect()
        };
        let own: Vec<usize> = counterparts.of.get(&at).into_iter().flatten().copied().collect();
        let other = own.first().and_then(|first| self.directive(*first));
        let ask = |chosen: &mut Chosen| {
            let made = diag::existing_openmp(span, name);
            chosen.diags.push(match other {
                Some(other) => made.with(other, "stands for the same code"),
                None => made,
            });
            chosen.left.extend(&all);
        };
        match self.existing {
            Existing::Replace if counterparts.unread.contains(&at) => {
                chosen.diags.push(diag::existing_by_condition(span, name));
                chosen.left.extend(all);
            }
            Existing::Replace if !self.may_go(&own) => ask(chosen),
            Existing::Replace => {
                if let Some(first) = other {
                    chosen.diags.push(diag::existing_replaced(first, name));
                }
                self.replaced.insert(span.start, own.into_iter().collect());
                return;
            }
            // Beside its own translation, it is done; a condition chooses between the two.
            _ if self.guard => chosen.stay.extend(all),
            Existing::Keep if separated.is_some() => chosen.stay.extend(all),
            Existing::Keep if !is_in_construct(bound, at) => {
                chosen.diags.push(match self.is_on_host(&own) {
                    true => diag::existing_kept_on_host(span, name),
                    false => diag::existing_kept(span, name),
                });
                if is_region {
                    chosen.gone_data.insert(span.start);
                    return;
                }
                chosen.gone.extend(all);
            }
            Existing::Ask | Existing::Keep => {
                ask(chosen);
                if is_region {
                    let inside = bind::descendants(bound, at).collect::<Vec<_>>();
                    let texts = inside.iter().filter(|one| bound[**one].text.is_some());
                    chosen.left.extend(texts.map(|one| bound[*one].directive.span));
                    apart.extend(inside);
                }
            }
        }
        apart.extend(bind::with_all_in_it(bound, at));
    }

    /// Whether OpenMP may go without a change of what is around it: a loop that the threads of a region share may not.
    fn may_go(&self, own: &[usize]) -> bool {
        let shares =
            |one: &scan::Existing| one.name.first().is_some_and(|word| word == "for" || word == "do");
        own.iter().filter_map(|number| self.found.as_ref()?.directives.get(*number)).all(|one| !shares(one))
    }

    /// Whether OpenMP computes on the host's copy of the data.
    fn is_on_host(&self, own: &[usize]) -> bool {
        let has = |one: &scan::Existing, names: &[&str]| one.name.iter().any(|word| names.contains(&&**word));
        let all = || own.iter().filter_map(|number| self.found.as_ref()?.directives.get(*number));
        all().any(|one| has(one, &["parallel", "for", "do", "simd", "taskloop"]))
            && !all().any(|one| has(one, &["target"]))
    }

    fn directive(&self, number: usize) -> Option<Span> {
        Some(self.found.as_ref()?.directives.get(number)?.span)
    }

    /// Whether the line of a condition stays as it is.
    pub fn keeps(&self, line: Span) -> bool {
        let conditions = self.found.iter().flat_map(|found| found.conditions.iter().enumerate());
        let mut kept = conditions.filter(|(at, _)| self.kept.contains(at));
        kept.any(|(_, condition)| condition.branches.iter().any(|branch| branch.head.contains(line)))
    }

    /// The OpenMP that goes with the translation of the directives that begin at these places.
    pub fn replaced(&self, is_translated: impl Fn(u32) -> bool) -> Vec<Span> {
        let all = self.replaced.iter().filter(|(start, _)| is_translated(**start));
        let numbers: BTreeSet<usize> = all.flat_map(|(_, own)| own.iter().copied()).collect();
        numbers.into_iter().filter_map(|number| self.directive(number)).collect()
    }

    /// The first OpenMP that has no counterpart and is in force with the translation, and whether it is code.
    pub fn awakes(&self) -> Option<(Span, bool)> {
        let found = self.found.as_ref()?;
        if let Some(code) = found.first_code {
            return Some((code, true));
        }
        let own = found.directives.iter().enumerate().filter(|(number, _)| !self.known.contains(number));
        let first = own.map(|(_, one)| one.span).next();
        first.into_iter().chain(found.first_line).min_by_key(|span| span.start).map(|span| (span, false))
    }
}
