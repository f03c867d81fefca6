//! Directives that the code of another branch of the preprocessor would need in another way.
//!
//! Invariant: translations are compared, not code: a branch that changes no directive is not mentioned.

use std::collections::{BTreeMap, BTreeSet};

use crate::diag::{self, Diag};
use crate::edit::Edit;
use crate::scan::{self, Branched, View};
use crate::source::Span;

use super::branches;
use super::openmp::OpenMp;
use super::views;
use super::{Options, Outcome, Source, Translation};

/// So many branches after a directive, or near it, are tried by themselves.
const BRANCHES: usize = 8;

/// So many views show the branches of a file.
const VIEWS: usize = 8;

/// Says which directives the code of another branch would need in another way.
pub fn other_branches(source: &Source, options: &Options, translation: &mut Translation) {
    let mut said = after(source, options, translation);
    let known = said.iter().chain(&translation.diagnostics).filter(|one| one.code == diag::Code(250));
    let known: Vec<Span> = known.map(|one| one.primary.span).collect();
    let beside = beside(source, options, translation);
    said.extend(beside.into_iter().filter(|one| !known.contains(&one.primary.span)));
    if !said.is_empty() {
        translation.diagnostics.extend(said);
        translation.mark();
        translation.settle();
    }
}

/// What a directive becomes: in its own place, and as launches after it, up to the next directive.
pub fn changes(translation: &Translation, directive: Span) -> Vec<Edit> {
    let next = translation.directives.partition_point(|one| one.span.start <= directive.start);
    let next = translation.directives.get(next).map_or(u32::MAX, |one| one.span.start);
    let is_launch = |edit: &Edit| {
        let text = String::from_utf8_lossy(&edit.text);
        directive.end <= edit.span.start
            && edit.span.end <= next
            && text.contains(" target")
            && !text.contains("declare")
    };
    // Edits come by place.
    let first = translation.edits.partition_point(|edit| edit.span.start < directive.start);
    let end = next.max(directive.end);
    let near = translation.edits[first..].iter().take_while(|edit| edit.span.start <= end);
    let own = near.filter(|edit| directive.contains(edit.span) || is_launch(edit));
    own.cloned().collect()
}

fn seen(source: &Source, options: &Options, view: &View) -> Translation {
    views::translate_view(source, options, &mut OpenMp::new(source, options), view)
}

/// Directives with an `#if` before their code.
fn after(source: &Source, options: &Options, translation: &Translation) -> Vec<Diag> {
    let mut said = Vec::new();
    for (directive, branches) in scan::branches_after(&source.file) {
        let here = changes(translation, directive);
        for branch in branches.iter().take(BRANCHES).filter(|_| !here.is_empty()) {
            let there = seen(source, options, &View::reaching(&source.file, branch.start));
            if changes(&there, directive) != here {
                said.push(diag::branches_differ(directive, *branch));
                break;
            }
        }
    }
    said
}

/// Directives with code under conditions elsewhere: inside their construct, or before or after it.
fn beside(source: &Source, options: &Options, translation: &Translation) -> Vec<Diag> {
    let file = &source.file;
    let is_made = |outcome: Outcome| outcome != Outcome::Left;
    let made = translation.directives.iter().filter(|one| is_made(one.outcome));
    let here: Vec<(Span, Vec<Edit>)> = made
        .map(|one| (one.span, changes(translation, one.span)))
        .filter(|(_, edits)| !edits.is_empty())
        .collect();
    if here.is_empty() {
        return Vec::new();
    }
    let forks = scan::forks(file);
    let branched = scan::hidden_code(file, &forks, &View::default());
    // What stands in a branch that a view hides is nothing to it.
    let common = branches::common(&forks, &branched);
    // The directives that a view translates in another way.
    let unlike = |view: &View| -> BTreeSet<u32> {
        let there = seen(source, options, view);
        let own = there.directives.iter().filter(|one| is_made(one.outcome)).map(|one| one.span);
        let own: BTreeSet<Span> = own.collect();
        let differs = |(span, edits): &&(Span, Vec<Edit>)| {
            let made = changes(&there, *span);
            own.contains(span)
                && (common(&made) != common(edits) || made.iter().any(|one| !edits.contains(one)))
        };
        here.iter().filter(differs).map(|(span, _)| span.start).collect()
    };
    let mut alone: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    let mut said = Vec::new();
    let mut reported = BTreeSet::new();
    for group in together(&branched).into_iter().take(VIEWS) {
        let places: Vec<u32> = group.iter().map(|one| one.branch.start).collect();
        let found = unlike(&View::reaching_all(file, &forks, &places));
        for (span, _) in here.iter().filter(|(span, _)| found.contains(&span.start)) {
            let mut near = group.clone();
            near.sort_by_key(|one| one.branch.start.abs_diff(span.start));
            near.truncate(BRANCHES);
            let culprit = near.iter().find(|one| {
                let start = one.branch.start;
                let own = alone.entry(start).or_insert_with(|| match group.len() {
                    1 => found.clone(),
                    _ => unlike(&View::reaching_all(file, &forks, &[start])),
                });
                own.contains(&span.start)
            });
            if let Some(one) = culprit.filter(|_| reported.insert(span.start)) {
                said.push(diag::branches_differ(*span, one.branch));
            }
        }
    }
    said
}

/// Branches in groups, each of which one build may read: they stand in different conditions that ask for different names.
pub fn together(branched: &[Branched]) -> Vec<Vec<&Branched>> {
    let mut groups: Vec<(BTreeSet<&str>, Vec<&Branched>)> = Vec::new();
    for one in branched {
        let names: BTreeSet<&str> = one.names.iter().map(String::as_str).collect();
        match groups.iter_mut().find(|(known, _)| known.is_disjoint(&names)) {
            Some((known, group)) => {
                known.extend(names);
                group.push(one);
            }
            None => groups.push((names, vec![one])),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}
