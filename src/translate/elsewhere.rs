//! Directives that the code of another branch of a header, or of a module of Fortran, would need in another way.
//!
//! Invariant: translations are compared, not code: a branch that changes none is not mentioned.

use std::collections::{BTreeMap, BTreeSet};

use crate::diag::{self, Code, Severity};
use crate::edit::{self, Edit};
use crate::source::Span;

use super::branches::{holds, nearest};
use super::unlike::reported;
use super::{DirectiveReport, Outcome, Source, Translation};

/// Says what would be translated in another way for builds that read other code of the headers.
pub fn compared(source: &Source, translation: &mut Translation, translate: &dyn Fn(&Source) -> Translation) {
    let mut known = reported(&translation.diagnostics);
    let mut said = Vec::new();
    for build in &source.builds {
        let there = translate(&Source::among(source.file.clone(), build.headers.clone()));
        let mut found = unlike(translation, &there);
        found.extend(with_other_kernels(source, translation, &there));
        for at in found.into_iter().filter(|at| known.insert(*at)) {
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
    // What is said there of the same translation.
    let known: BTreeSet<(Code, Span)> =
        here.diagnostics.iter().map(|one| (one.code, one.primary.span)).collect();
    let differs = there.diagnostics.iter().filter(|one| one.severity == Severity::Differs);
    found.extend(
        differs.filter(|one| !known.contains(&(one.code, one.primary.span))).map(|one| one.primary.span),
    );
    found
}

/// The directives whose device code two translations have in unlike ways, and for all builds.
fn with_other_kernels(source: &Source, here: &Translation, there: &Translation) -> Vec<Span> {
    let (own, theirs) = (kernels(here), kernels(there));
    // What stands under conditions is right for each build, or refuses it.
    let is_other = |(name, text): &(&String, &String)| {
        !text.contains("\n#") && theirs.get(*name).is_some_and(|other| other != *text)
    };
    let lines: BTreeSet<usize> = own.iter().filter(is_other).filter_map(|(name, _)| line_of(name)).collect();
    let is_of_these = |one: &&DirectiveReport| {
        one.outcome != Outcome::Left && lines.contains(&(source.file.lines.line(one.span.start) + 1))
    };
    here.directives.iter().filter(is_of_these).map(|one| one.span).collect()
}

/// The functions of the device code that a translation has beside the source, by name: kernels, and what launches them.
fn kernels(translation: &Translation) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for file in translation.beside.iter().filter(|file| file.name.ends_with(".cu")) {
        for part in String::from_utf8_lossy(&file.text).split("\n\n") {
            let names = part.lines().filter_map(name_in);
            found.extend(names.map(|name| (name.to_owned(), part.to_owned())));
        }
    }
    found
}

/// The name in the head of a kernel, or of a function that launches one.
fn name_in(head: &str) -> Option<&str> {
    let head = match head.strip_prefix("__global__ void ") {
        Some(head) if head.starts_with("__launch_bounds__") => head.split_once(") ")?.1,
        Some(head) => head,
        None => head.strip_prefix("extern \"C\" ")?,
    };
    head.split_once('(')?.0.split([' ', '*']).next_back()
}

/// The line that the name of a function of the device code has after that of the function around it.
fn line_of(name: &str) -> Option<usize> {
    name.split('_').rev().find_map(|part| part.parse().ok())
}
