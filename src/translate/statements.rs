//! A source whose macros stand for statements is translated with these uses written out, for each branch of the preprocessor
//! that defines them, and the translations are compared.
//!
//! Invariant: in the output such a use stands as it was, unless an edit is about it.

use std::collections::BTreeSet;

use crate::diag::{self, Diag};
use crate::scan::{self, Define, Statements};
use crate::source::Span;

use super::declarators::{at_home, written};
use super::{DirectiveReport, Outcome, Source, To, Translation, unlike};

/// So many branches with definitions are tried.
const BRANCHES: usize = 8;

/// The uses of such macros, for the default view and for the branches that define them otherwise.
pub fn found(source: &Source) -> Vec<Statements> {
    let own: Vec<Define> = scan::predefined(&source.file).collect();
    let of_headers = source.headers.iter().flat_map(|header| &header.scan.defines);
    let defines: Vec<&Define> = of_headers.chain(&own).collect();
    scan::statements(&source.file, &defines)
}

impl Translation {
    /// The compute constructs next to a place: the last one before it, and the first one after it.
    fn constructs_beside(&self, at: Span) -> impl Iterator<Item = Span> {
        let made = self.directives.iter().filter(|one| one.outcome != Outcome::Left && one.is_compute());
        let made: Vec<Span> = made.map(|one| one.span).collect();
        let before = made.iter().rfind(|one| one.end <= at.start).copied();
        let after = made.iter().find(|one| one.start >= at.end).copied();
        before.into_iter().chain(after)
    }
}

/// The translation of a source by `translate`, with these uses written out.
pub fn translated(
    source: &Source,
    all: Vec<Statements>,
    to: To,
    translate: &dyn Fn(&Source) -> Translation,
) -> Translation {
    let mut all = all.into_iter().take(BRANCHES + 1);
    let Some(first) = all.next() else { return translate(source) };
    let with = |uses| {
        let (file, sites) = written(&source.file, uses);
        let there = source.with(file);
        at_home(source, &sites, translate(&there))
    };
    let plain = first.uses.clone();
    let mut translation = with(first.uses);
    let is_made = |one: &&DirectiveReport| one.outcome != Outcome::Left;
    for other in all {
        let Some(branch) = other.branch else { continue };
        let differs = |one: &&(Span, Vec<u8>)| !plain.contains(one);
        let places: Vec<Span> = other.uses.iter().filter(differs).map(|(at, _)| *at).collect();
        let there = with(other.uses);
        if to == To::Cuda {
            // The device file has such a use as it is written out here.
            if there.beside != translation.beside {
                let constructs: BTreeSet<Span> =
                    places.iter().flat_map(|at| translation.constructs_beside(*at)).collect();
                let said: Vec<Diag> =
                    constructs.into_iter().map(|at| diag::branches_differ(at, branch)).collect();
                translation.diagnostics.extend(said);
            }
            continue;
        }
        let own = |at| there.directives.iter().filter(is_made).any(|one| one.span == at);
        let said = |at| {
            let of = |diag: &Diag| diag.code == diag::BRANCHES_DIFFER && diag.primary.span == at;
            translation.diagnostics.iter().any(of)
        };
        let made = translation.directives.iter().filter(is_made).map(|one| one.span);
        let changes = |one: &Translation, at: Span| unlike::changes(&one.directives, &one.edits, at);
        let differs =
            |at: &Span| own(*at) && !said(*at) && changes(&there, *at) != changes(&translation, *at);
        let more: Vec<Diag> = made.filter(differs).map(|at| diag::branches_differ(at, branch)).collect();
        translation.diagnostics.extend(more);
    }
    translation.mark();
    translation.settle();
    translation
}
