//! Directives that the code of another branch of a header, or of a module of Fortran, would need in another way.
//!
//! Invariant: translations are compared, not code: a branch that changes none is not mentioned.

use std::collections::BTreeSet;

use crate::diag;
use crate::edit::{self, Edit};
use crate::source::Span;

use super::branches::{holds, nearest};
use super::unlike::reported;
use super::{Outcome, Source, Translation};

/// Says what would be translated in another way for builds that read other code of the headers.
pub fn compared(source: &Source, translation: &mut Translation, translate: &dyn Fn(&Source) -> Translation) {
    let mut known = reported(&translation.diagnostics);
    let mut said = Vec::new();
    for build in &source.builds {
        let there = translate(&Source::among(source.file.clone(), build.headers.clone()));
        for at in unlike(translation, &there).into_iter().filter(|at| known.insert(*at)) {
            said.push(diag::branches_differ(at, build.other_code()));
        }
    }
    translation.say(said);
}

/// The directives, and the places beside them, of which two translations of a file make different things.
fn unlike(here: &Translation, there: &Translation) -> BTreeSet<Span> {
    let is_for_all = |edit: &&Edit| !edit::has_conditions(&edit.text);
    let lost = here.edits.iter().filter(is_for_all).filter(|edit| !holds(&there.edits, edit));
    let gained = there.edits.iter().filter(is_for_all).filter(|edit| !holds(&here.edits, edit));
    let mut found = BTreeSet::new();
    for edit in lost.chain(gained) {
        let near = nearest(&here.directives, edit.span.start + 1);
        match near.filter(|one| one.span.start <= edit.span.start && edit.span.start <= one.span.end) {
            Some(one) if one.outcome == Outcome::Left => {}
            Some(one) => drop(found.insert(one.span)),
            None => drop(found.insert(edit.span)),
        }
    }
    found.extend(reported(&there.diagnostics));
    found
}
