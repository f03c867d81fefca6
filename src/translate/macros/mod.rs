//! Directives in macros: translated as if the macros were written out, and brought back to the one place where they stand.
//!
//! Invariant: the body of a macro changes only as all of its uses ask for.

mod back;
mod ends;

use std::collections::{BTreeMap, BTreeSet};

use crate::diag::{self, Diag};
use crate::edit::{Edit, EditSet, Rewrite};
use crate::scan::{self, Choice, Macro, Macros};
use crate::source::{Language, SourceFile, Span};

use super::{DirectiveReport, Options, Outcome, Source, Translation};

use back::Back;

/// After so many attempts all macros are left untranslated.
const ATTEMPTS: usize = 12;

/// The edits of one macro's body, and the others.
type Edits = Vec<Edit>;

/// What one way of writing out brings.
struct Round {
    /// Edits outside of bodies.
    own: Edits,
    /// Edits of bodies, by macro; a macro that was used and stays has an empty list.
    bodies: BTreeMap<usize, Edits>,
    translation: Translation,
}

/// Why a macro, or one use of it, cannot be translated.
enum Trouble {
    Macro(usize, Diag),
    Use(u32, Diag),
}

/// Translates a source whose macros lead to directives.
pub fn translate(source: &Source, macros: &Macros, options: &Options) -> Translation {
    let mut choice = Choice::default();
    let mut reasons = Vec::new();
    let mut unlike = BTreeSet::new();
    loop {
        let mut base = settled(source, macros, options, &mut choice, &mut reasons);
        let fresh: Vec<usize> = macros
            .alternatives()
            .filter(|of| !unlike.contains(of) && !base.has_alternative(source, macros, options, &choice, *of))
            .collect();
        if fresh.is_empty() {
            base.spelled_out(source, macros, options, &choice, &mut reasons);
            for of in &unlike {
                let Macro { span, name, .. } = macros.get(*of);
                base.translation.directives.push(DirectiveReport::left(*span));
                reasons.push(diag::macro_definitions_differ(*span, name));
            }
            return base.finished(&source.file, macros, &reasons);
        }
        // No definition of the name changes then, nor what they use.
        choice.left.extend(fresh.iter().flat_map(|of| macros.of_same_name(*of)));
        choice.left.extend(fresh.iter().flat_map(|of| macros.used_by(*of)));
        unlike.extend(fresh);
    }
}

fn differ(macros: &Macros, of: usize) -> Diag {
    let one = macros.get(of);
    diag::macro_definitions_differ(one.directives.first().copied().unwrap_or(one.span), &one.name)
}

/// Leaves macros until the rest can be translated.
fn settled(
    source: &Source,
    macros: &Macros,
    options: &Options,
    choice: &mut Choice,
    reasons: &mut Vec<Diag>,
) -> Round {
    for _ in 0..ATTEMPTS {
        match round(source, macros, options, choice) {
            Ok(round) => return round,
            Err(troubles) => {
                for trouble in troubles {
                    let fresh = match &trouble {
                        Trouble::Macro(of, _) => choice.left.insert(*of),
                        Trouble::Use(at, _) => choice.left_uses.insert(*at),
                    };
                    reasons.extend(fresh.then(|| trouble.diag()));
                }
            }
        }
    }
    let translation = super::plainly(source, options);
    Round { own: translation.edits.clone(), bodies: BTreeMap::new(), translation }
}

impl Trouble {
    fn diag(self) -> Diag {
        match self {
            Trouble::Macro(_, diag) | Trouble::Use(_, diag) => diag,
        }
    }
}

/// Translates the source with its macros written out as `choice` says.
fn round(
    source: &Source,
    macros: &Macros,
    options: &Options,
    choice: &Choice,
) -> Result<Round, Vec<Trouble>> {
    let file = &source.file;
    let written = scan::written_out(file, macros, choice);
    if written.uses.is_empty() {
        let translation = super::plainly(source, options);
        return Ok(Round { own: translation.edits.clone(), bodies: BTreeMap::new(), translation });
    }
    let text = file.with(written.text.clone());
    let there = source.with(text);
    let translation = super::plainly(&there, options);
    let mut extents: BTreeMap<usize, Span> = BTreeMap::new();
    for piece in &written.pieces {
        let Some(used) = piece.used else { continue };
        extents.entry(used).and_modify(|span| *span = span.to(piece.at)).or_insert(piece.at);
    }
    let back =
        Back { file, macros, written: &written, there: &translation, is_header: is_header(file), extents };
    let (mut own, bodies) = back.edits()?;
    ends::under_conditions(file, macros, &written, &mut own)?;
    let translation = back.translation();
    Ok(Round { own, bodies, translation })
}

fn is_header(file: &SourceFile) -> bool {
    let ending = file.name.rsplit('.').next().unwrap_or_default();
    file.language == Language::Header || matches!(ending, "hpp" | "hh" | "hxx" | "cuh")
}

impl Round {
    /// Takes over the definitions that spell out directives and that the default view does not use.
    fn spelled_out(
        &mut self,
        source: &Source,
        macros: &Macros,
        options: &Options,
        choice: &Choice,
        reasons: &mut Vec<Diag>,
    ) {
        for of in macros.with_directives() {
            if self.bodies.contains_key(&of) || choice.left.contains(&of) {
                continue;
            }
            let instead = Choice { instead: Some(of), ..choice.clone() };
            match round(source, macros, options, &instead) {
                Ok(other) if other.bodies.contains_key(&of) => {
                    if macros.has_other_pragma(of) || !self.takes(other, macros, of) {
                        reasons.push(differ(macros, of));
                    }
                }
                Ok(_) => self.alone(source, macros, options, of),
                Err(_) => reasons.push(differ(macros, of)),
            }
        }
    }

    /// Takes over a definition that leads to directives by other macros, where another one of its name is used. False if it
    /// cannot be translated beside that one.
    fn has_alternative(
        &mut self,
        source: &Source,
        macros: &Macros,
        options: &Options,
        choice: &Choice,
        of: usize,
    ) -> bool {
        let is_used = macros.of_same_name(of).any(|other| self.bodies.contains_key(&other));
        if !is_used || self.bodies.contains_key(&of) || choice.left.contains(&of) {
            return true;
        }
        let instead = Choice { instead: Some(of), ..choice.clone() };
        match round(source, macros, options, &instead) {
            Ok(other) if other.bodies.contains_key(&of) => self.takes(other, macros, of),
            Ok(_) => true,
            Err(_) => false,
        }
    }

    /// Takes over the body of `of`, and those that it alone uses, from a round in which that definition counted. False if the
    /// rest of the file would have to change with it.
    fn takes(&mut self, other: Round, macros: &Macros, of: usize) -> bool {
        let agree = other
            .bodies
            .iter()
            .all(|(at, edits)| *at == of || self.bodies.get(at).is_none_or(|own| own == edits));
        if self.own != other.own || !agree {
            return false;
        }
        let is_fresh = |at: &usize| *at == of || !self.bodies.contains_key(at);
        let fresh: BTreeMap<usize, Edits> = other.bodies.into_iter().filter(|(at, _)| is_fresh(at)).collect();
        let lines: Vec<Span> = fresh.keys().map(|at| macros.get(*at).span).collect();
        let here = |span: Span| lines.iter().any(|line| line.contains(span));
        self.translation.diagnostics.retain(|diag| !here(diag.primary.span));
        self.translation.directives.retain(|report| !here(report.span));
        let (diags, reports) = (other.translation.diagnostics, other.translation.directives);
        self.translation.diagnostics.extend(diags.into_iter().filter(|diag| here(diag.primary.span)));
        self.translation.directives.extend(reports.into_iter().filter(|report| here(report.span)));
        self.bodies.extend(fresh);
        true
    }

    /// Translates the directives in the body of a macro without uses, where no loop or variable matters.
    fn alone(&mut self, source: &Source, macros: &Macros, options: &Options, of: usize) {
        for span in &macros.get(of).directives {
            let head = "void f(void)\n{\n    ";
            let text = format!("{head}{}\n}}\n", source.file.text(*span));
            let there = Source::new("", text.clone().into_bytes(), Language::C);
            let translation = super::plainly(&there, options);
            let [report] = translation.directives.as_slice() else { continue };
            let moved = |at: Span| Span {
                start: (span.start + at.start).saturating_sub(head.len() as u32),
                end: (span.start + at.end).saturating_sub(head.len() as u32),
            };
            let [edit] = translation.edits.as_slice() else { continue };
            let stands_alone = ["wait", "init", "shutdown", "set"].contains(&report.name);
            if !stands_alone || report.outcome == Outcome::Left || translation.needs_support {
                continue;
            }
            let at = if report.span.contains(edit.span) { edit.span } else { report.span };
            let edit = Edit { span: moved(at), text: edit.text.clone() };
            self.bodies.entry(of).or_default().push(edit);
            self.translation.diagnostics.retain(|diag| diag.primary.span != *span);
            self.translation.directives.retain(|one| one.span != *span);
            let report = DirectiveReport { span: *span, ..report.clone() };
            self.translation.directives.push(report);
            let said = translation.diagnostics.into_iter().map(|mut diag| {
                diag.primary.span = moved(diag.primary.span);
                diag
            });
            self.translation.diagnostics.extend(said);
        }
    }

    fn finished(self, file: &SourceFile, macros: &Macros, reasons: &[Diag]) -> Translation {
        let mut translation = self.translation;
        let mut set = EditSet::default();
        let lists = std::iter::once(self.own).chain(self.bodies.into_values());
        for (edits, owner) in lists.zip(0..) {
            for edit in edits {
                let span = edit.span;
                // A call in a body that is read where it stands and where it is used.
                if !span.is_empty() && set.edits().any(|known| *known == edit) {
                    continue;
                }
                if set.add(Rewrite { owner, edits: vec![edit] }).is_err() {
                    translation.diagnostics.push(diag::edit_conflict(span));
                }
            }
        }
        // A reason says more than that the directive is in a macro.
        let reasoned = |span: Span| {
            reasons.iter().any(|reason| {
                let of = macros.around(reason.primary.span);
                reason.primary.span == span || of.is_some() && of == macros.around(span)
            })
        };
        translation.name_clauses_in_macros(file, macros);
        translation.diagnostics.retain(|diag| !(diag.code.0 == 10 && reasoned(diag.primary.span)));
        translation.diagnostics.extend(reasons.iter().cloned());
        translation.text = set.apply(&file.bytes);
        translation.edits = set.edits().cloned().collect();
        translation.directives.sort_by_key(|report| report.span);
        translation.settle();
        translation
    }
}

impl Translation {
    /// A word that is not a clause, and that macros have a name for, may stand for clauses.
    pub(super) fn name_clauses_in_macros(&mut self, file: &SourceFile, macros: &Macros) {
        for diag in &mut self.diagnostics {
            let word = file.text(diag.primary.span);
            if diag.code == diag::UNKNOWN_CLAUSE && macros.names(&word) {
                *diag = diag::clauses_in_macro(diag.primary.span, &word);
            }
        }
    }
}

#[cfg(test)]
mod tests;
