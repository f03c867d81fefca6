//! Regions of data that stay OpenACC: compilers for OpenMP ignore them, so that the constructs inside bring the data themselves.
//!
//! Invariant: what the host has is right before and after each construct inside.

use std::collections::{BTreeMap, BTreeSet};

use crate::acc::ast::{
    Clause, ClauseKind, DataClause, Directive, DirectiveKind, EndKind, ListItem, PathStep, Subscript,
};
use crate::bind::{self, Bound};
use crate::diag::Severity;
use crate::host::ir::{Derived, Unit};
use crate::rules::openacc::table;
use crate::scan::{DirectiveText, Scan};
use crate::sema::Symbols;
use crate::source::{self, SourceFile, Span};

use super::read::parse;
use super::{DirectiveReport, Outcome, Translation};

/// The clauses that give data a place on the device.
const CLAUSES: [&str; 6] = ["copy", "copyin", "copyout", "create", "present", "no_create"];

/// A variable in a clause that is not parsed.
struct Named {
    name: String,
    /// Whether a section, an element or a member follows.
    is_part: bool,
}

/// A region that stays.
pub struct Region {
    directive: Span,
    /// From its directive to its end.
    extent: Span,
    items: Items,
}

enum Items {
    /// What its clauses name.
    Read(Vec<ListItem>),
    /// The variables that its text names in clauses, as far as that is known.
    Named(Vec<Named>),
}

impl Items {
    /// What a directive names.
    fn of(directive: &Directive) -> Items {
        let lists = directive.clauses.iter().filter_map(|clause| match &clause.kind {
            ClauseKind::Data(kind, list) if *kind != DataClause::Deviceptr => Some(list),
            _ => None,
        });
        Items::Read(lists.flatten().cloned().collect())
    }
}

impl Region {
    /// The region of a directive that is bound.
    pub fn of(unit: &Unit, bound: &[Bound], at: usize) -> Option<Region> {
        let directive = &bound[at].directive;
        let stmt = unit.stmt(bound[at].stmt()?).span;
        let items = Items::of(directive);
        Some(Region { directive: directive.span, extent: directive.span.to(stmt), items })
    }

    /// What its clauses name of parts of objects: members, and elements with what they lead to.
    fn parts(&self) -> impl Iterator<Item = &ListItem> {
        let items = if let Items::Read(items) = &self.items { items.as_slice() } else { &[] };
        items.iter().filter(|item| {
            let is_index = |part: &PathStep| match part {
                PathStep::Member(_) => true,
                PathStep::Section(all) => all.iter().any(|one| matches!(one, Subscript::Index(_))),
            };
            item.parts.iter().any(is_index)
        })
    }

    /// Where its directive begins.
    pub fn start(&self) -> u32 {
        self.extent.start
    }

    /// Its directive.
    pub fn directive(&self) -> Span {
        self.directive
    }

    /// Its bytes, from its directive to its end.
    pub fn extent(&self) -> Span {
        self.extent
    }

    /// The regions of `data` directives that could not be read, and of those which stay in branches that the view hides.
    pub fn unread(
        file: &SourceFile,
        scan: &Scan,
        unit: &Unit,
        parsed: &[(usize, Directive)],
        held: &[Span],
        stays: &[u32],
    ) -> Vec<Region> {
        let is_held = |text: &&DirectiveText| {
            (held.contains(&text.span) || !text.active && stays.contains(&text.span.start))
                && is_data(&file.text(text.span))
        };
        let texts = scan.directives.iter().filter(is_held);
        texts
            .filter_map(|text| {
                let end = match unit.is_fortran() {
                    true => end_after(parsed, text.span)?,
                    false => {
                        let stmts = unit.stmts.iter().filter(|stmt| stmt.span.start == text.next_code);
                        stmts.map(|stmt| stmt.span.end).max()?
                    }
                };
                let extent = Span { start: text.span.start, end };
                let read = Some(text).filter(|text| !text.active);
                let items = match read.and_then(|text| parse(file, text, &mut Vec::new())) {
                    Some(directive) => Items::of(&directive),
                    None => Items::Named(named(&file.text(text.span))),
                };
                Some(Region { directive: text.span, extent, items })
            })
            .collect()
    }
}

/// Whether a text is a `data` directive.
fn is_data(text: &str) -> bool {
    let mut words = source::words(text);
    words.find(|word| word.eq_ignore_ascii_case("acc"));
    words.next().is_some_and(|word| word.eq_ignore_ascii_case("data"))
}

/// Where the region ends that begins at `begin`.
fn end_after(parsed: &[(usize, Directive)], begin: Span) -> Option<u32> {
    let mut depth = 0usize;
    let after = parsed.iter().map(|(_, one)| one).filter(|one| one.span.start > begin.start);
    for one in after {
        match one.kind {
            DirectiveKind::Data => depth += 1,
            DirectiveKind::End(EndKind::Data) if depth == 0 => return Some(one.span.start),
            DirectiveKind::End(EndKind::Data) => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Whether a word is that of a clause which gives data a place on the device.
fn gives_place(word: &str) -> bool {
    table().clause(word).is_some_and(|row| CLAUSES.contains(&row.name.as_str()))
}

/// The variables in the lists of data clauses.
fn named(text: &str) -> Vec<Named> {
    let (mut found, mut word) = (Vec::new(), String::new());
    let (mut clause, mut last, mut depth, mut before) = (String::new(), String::new(), 0usize, ' ');
    for char in text.chars().chain([' ']) {
        if char.is_ascii_alphanumeric() || char == '_' {
            word.push(char);
            continue;
        }
        if !word.is_empty() {
            last = std::mem::take(&mut word);
            if depth == 0 {
                clause = last.to_ascii_lowercase();
            }
        }
        match char {
            _ if char.is_whitespace() => continue,
            ',' | ')' | '[' | '(' | '.' | '-' | '%'
                if depth == 1
                    && gives_place(&clause)
                    && matches!(before, '(' | ',' | ':')
                    && !last.is_empty() =>
            {
                let is_part = !matches!(char, ',' | ')');
                found.push(Named { name: std::mem::take(&mut last), is_part });
            }
            _ => {}
        }
        match char {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        last.clear();
        before = char;
    }
    found
}

/// A construct that needs more than the clauses of a region around it name.
pub struct Needing {
    /// Its place among the directives.
    pub at: usize,
    /// The object of which the region has parts.
    pub object: String,
    /// The directive of the region.
    pub region: Span,
}

/// Has the constructs in such regions bring the data. Those that cannot.
pub fn bring(
    file: &SourceFile,
    (unit, symbols): (&Unit, &Symbols),
    bound: &[Bound],
    regions: &[Region],
    parsed: &mut [(usize, Directive)],
) -> Vec<Needing> {
    let code = (unit, symbols);
    let mut left = Vec::new();
    if regions.is_empty() {
        return left;
    }
    let mut more: BTreeMap<usize, Vec<Clause>> = BTreeMap::new();
    let mut here: BTreeMap<usize, BTreeSet<String>> = BTreeMap::new();
    let is_data = |one: &Bound| one.directive.kind == DirectiveKind::Data;
    let brings = |one: &Bound| one.directive.kind.is_compute() || is_data(one) && !stays(regions, one);
    for (at, one) in bound.iter().enumerate().filter(|(_, one)| brings(one)) {
        let (Some(text), Some(stmt)) = (one.text, one.stmt()) else { continue };
        if bind::ancestors(bound, at).any(|above| bound[above].directive.kind.is_compute()) {
            continue;
        }
        // A region inside brings what it names itself.
        let text_of = match is_data(one) {
            true => file.text(one.directive.span),
            false => file.text(unit.stmt(stmt).span),
        };
        let folded = |word: &str| if unit.is_fortran() { word.to_ascii_lowercase() } else { word.to_owned() };
        let words = source::words(&text_of).map(folded);
        let words: BTreeSet<String> = words.collect();
        let needed = |region: &Region| {
            let object =
                region.parts().map(|item| folded(item.variable())).find(|name| words.contains(name))?;
            Some(Needing { at, object, region: region.directive })
        };
        let mut around = regions.iter().filter(|region| region.extent.contains(one.directive.span));
        if let Some(needing) = around.find_map(needed) {
            left.push(needing);
            continue;
        }
        let is_open = |item: &&ListItem| is_pointer(code, item);
        let open: BTreeSet<&str> = listed(&one.directive).filter(is_open).map(ListItem::variable).collect();
        let sized = listed(&one.directive).filter(|item| !is_pointer(code, item));
        let mut known: BTreeSet<String> = sized.map(|item| folded(item.variable())).collect();
        for region in regions.iter().rev().filter(|region| region.extent.contains(one.directive.span)) {
            let place = one.directive.name_span.end;
            let items: Vec<ListItem> = match &region.items {
                Items::Read(items) => items.clone(),
                Items::Named(named) => {
                    let parts = named.iter().filter(|one| one.is_part).map(|one| folded(&one.name));
                    for name in parts {
                        let is_implied = words.contains(&name) && !known.contains(&name);
                        let is_unknown =
                            wants_presence(&one.directive) || is_pointer_named(code, &name, place);
                        if is_implied && is_unknown {
                            left.push(Needing { at, object: name.clone(), region: region.directive });
                        }
                        here.entry(text).or_default().insert(name);
                    }
                    let whole = named.iter().filter(|one| !one.is_part);
                    let lists = whole.map(|one| bind::implied_copy(place, folded(&one.name)));
                    lists.filter_map(|clause| item(clause.kind)).collect()
                }
            };
            for item in items {
                let name = folded(item.variable());
                here.entry(text).or_default().insert(name.clone());
                let is_needed = !is_data(one) || open.contains(name.as_str());
                if is_needed && words.contains(&name) && known.insert(name) {
                    let kind = ClauseKind::Data(DataClause::Copy, vec![item]);
                    more.entry(text).or_default().push(bind::implied_clause(place, "copy", kind));
                }
            }
        }
    }
    rewrite(code, parsed, &here, more);
    left
}

/// Has directives copy what regions around would have brought (`here`), and gives them the clauses of `more`; by their texts.
fn rewrite(
    code: (&Unit, &Symbols),
    parsed: &mut [(usize, Directive)],
    here: &BTreeMap<usize, BTreeSet<String>>,
    mut more: BTreeMap<usize, Vec<Clause>>,
) {
    for (text, directive) in parsed {
        let Some(here) = here.get(text) else { continue };
        let is_here = |item: &ListItem| {
            let name = item.variable();
            here.contains(name) || code.0.is_fortran() && here.contains(&name.to_ascii_lowercase())
        };
        // A pointer is brought with its size.
        without(directive, &|item| is_here(item) && is_pointer(code, item));
        copied(directive, &is_here);
        directive.clauses.extend(more.remove(text).unwrap_or_default());
    }
}

/// Whether the directive of a region stays.
fn stays(regions: &[Region], one: &Bound) -> bool {
    regions.iter().any(|region| region.start() == one.directive.span.start)
}

/// Whether an item is a pointer of C by itself, of which nobody says how much it leads to.
fn is_pointer(code: (&Unit, &Symbols), item: &ListItem) -> bool {
    item.parts.is_empty() && is_pointer_named(code, &item.base.text, item.base.span.start)
}

/// Whether a name is that of a pointer of C at a place.
fn is_pointer_named((unit, symbols): (&Unit, &Symbols), name: &str, at: u32) -> bool {
    let decl = symbols.lookup(name, at).and_then(|symbol| symbols.get(symbol).decl);
    !unit.is_fortran() && decl.is_some_and(|id| unit.decl(id).derived.first() == Some(&Derived::Pointer))
}

/// Takes items out of the clauses that count on presence.
fn without(directive: &mut Directive, is_gone: &dyn Fn(&ListItem) -> bool) {
    directive.clauses.retain_mut(|clause| match &mut clause.kind {
        ClauseKind::Data(kind, list) if counts_on_presence(*kind) => {
            list.retain(|item| !is_gone(item));
            !list.is_empty()
        }
        _ => true,
    });
}

/// Has the clauses of a directive copy those of the items that `is_wanted` says, wherever they find them.
pub fn copied(directive: &mut Directive, is_wanted: &dyn Fn(&ListItem) -> bool) {
    let mut copies = Vec::new();
    for clause in &mut directive.clauses {
        let ClauseKind::Data(kind, list) = &mut clause.kind else { continue };
        if !counts_on_presence(*kind) {
            continue;
        }
        let (wanted, others): (Vec<ListItem>, Vec<ListItem>) = list.drain(..).partition(is_wanted);
        match (wanted.is_empty(), others.is_empty()) {
            (true, _) => *list = others,
            (false, true) => (*kind, *list) = (DataClause::Copy, wanted),
            (false, false) => {
                *list = others;
                copies.push((clause.clone(), wanted));
            }
        }
    }
    for (like, wanted) in copies {
        directive.clauses.push(Clause { kind: ClauseKind::Data(DataClause::Copy, wanted), ..like });
    }
}

/// Whether a clause does something else with data that is on the device than with data that is not, beside copying it there
/// and back.
fn counts_on_presence(kind: DataClause) -> bool {
    use DataClause::{Copyin, Copyout, Create, NoCreate, Present};
    matches!(kind, Present | NoCreate | Copyin { .. } | Copyout { .. } | Create { .. })
}

/// Whether what no clause of a construct names must be on the device.
pub fn wants_presence(directive: &Directive) -> bool {
    let wants = |clause: &Clause| matches!(clause.kind, ClauseKind::Default { none: false });
    directive.clauses.iter().any(wants)
}

fn item(kind: ClauseKind) -> Option<ListItem> {
    let ClauseKind::Data(_, list) = kind else { return None };
    list.into_iter().next()
}

/// What the clauses about data of a directive name.
pub fn listed(directive: &Directive) -> impl Iterator<Item = &ListItem> {
    directive.clauses.iter().flat_map(|clause| match &clause.kind {
        ClauseKind::Data(_, list) | ClauseKind::Private(list) | ClauseKind::Firstprivate(list) => {
            list.as_slice()
        }
        _ => &[],
    })
}

impl Translation {
    /// The `data` directives that are left untranslated, by their places, except these.
    pub(super) fn data_left(&self, known: &[u32]) -> Vec<Span> {
        let is_left = |one: &&DirectiveReport| one.outcome == Outcome::Left && one.name == "data";
        let left = self.directives.iter().filter(is_left).map(|one| one.span);
        left.filter(|span| !known.contains(&span.start)).collect()
    }

    /// Those of these directives of which nothing is said that tells why they are left untranslated.
    pub(super) fn silent<'a>(&'a self, left: &'a [Span]) -> impl Iterator<Item = Span> + 'a {
        let all = self.diagnostics.iter().filter(|diag| diag.severity >= Severity::Left);
        let reported: Vec<Span> = all.map(|diag| diag.primary.span).collect();
        left.iter().copied().filter(move |span| !reported.iter().any(|at| span.contains(*at)))
    }
}
