//! Directives that the code of another branch of the preprocessor would need in another way.
//!
//! Invariant: translations are compared, not code: a branch that changes no directive is not mentioned.

use std::collections::{BTreeMap, BTreeSet};

use crate::diag::{self, Diag};
use crate::edit::Edit;
use crate::scan::{self, View};
use crate::source::Span;

use super::branches::{self, Showing, Sights};
use super::{DirectiveReport, Outcome, Translation};

/// So many branches after a directive, or near it, are tried by themselves.
const BRANCHES: usize = 8;

/// Says which directives the code of another branch would need in another way.
pub fn other_branches(sights: &Sights, translation: &mut Translation) {
    let mut said = after(sights, translation);
    let known = said.iter().chain(&translation.diagnostics).filter(|one| one.code == diag::BRANCHES_DIFFER);
    let mut known: BTreeSet<Span> = known.map(|one| one.primary.span).collect();
    for base in sights.bases(translation) {
        let beside = beside(sights, &base, translation);
        said.extend(beside.into_iter().filter(|one| known.insert(one.primary.span)));
    }
    translation.say(said);
}

/// What a directive becomes: in its own place, and as launches after it, up to the next directive.
pub fn changes(directives: &[DirectiveReport], edits: &[Edit], directive: Span) -> Vec<Edit> {
    let next = directives.partition_point(|one| one.span.start <= directive.start);
    let next = directives.get(next).map_or(u32::MAX, |one| one.span.start);
    let is_launch = |edit: &Edit| {
        let text = String::from_utf8_lossy(&edit.text);
        directive.end <= edit.span.start
            && edit.span.end <= next
            && text.contains(" target")
            && !text.contains("declare")
    };
    // Edits come by place.
    let first = edits.partition_point(|edit| edit.span.start < directive.start);
    let end = next.max(directive.end);
    let near = edits[first..].iter().take_while(|edit| edit.span.start <= end);
    let own = near.filter(|edit| directive.contains(edit.span) || is_launch(edit));
    own.cloned().collect()
}

/// Directives with an `#if` before their code.
fn after(sights: &Sights, translation: &Translation) -> Vec<Diag> {
    let mut said = Vec::new();
    for (directive, branches) in scan::branches_after(sights.file) {
        let here = changes(&translation.directives, &translation.edits, directive);
        for branch in branches.iter().take(BRANCHES).filter(|_| !here.is_empty()) {
            let view = View::reaching_all(sights.file, &sights.forks, &[branch.start]);
            let there = sights.seen(&view);
            if changes(&there.directives, &there.edits, directive) != here {
                said.push(diag::branches_differ(directive, *branch));
                break;
            }
        }
    }
    said
}

/// Directives with code under conditions elsewhere: inside their construct, or before or after it, in branches that a view hides.
fn beside(sights: &Sights, base: &View, translation: &Translation) -> Vec<Diag> {
    let is_made = |one: &&DirectiveReport| one.outcome != Outcome::Left;
    let here: Vec<(Span, Vec<Edit>)> = translation
        .directives
        .iter()
        .filter(is_made)
        .map(|one| (one.span, changes(&translation.directives, &translation.edits, one.span)))
        .filter(|(_, edits)| !edits.is_empty())
        .collect();
    if here.is_empty() {
        return Vec::new();
    }
    let branched = sights.hidden(base);
    // The directives that a view translates in another way.
    let unlike = |view: &View| -> BTreeSet<u32> {
        let there = sights.seen(view);
        // What stands in a branch that a view hides is nothing to it.
        let common = branches::common(sights, base, view);
        let own: BTreeSet<Span> = there.directives.iter().filter(is_made).map(|one| one.span).collect();
        let differs = |(span, edits): &&(Span, Vec<Edit>)| {
            let made = changes(&there.directives, &there.edits, *span);
            let has_more = || made.iter().any(|one| !edits.contains(one));
            own.contains(span) && (common(&made) != common(edits) || has_more())
        };
        here.iter().filter(differs).map(|(span, _)| span.start).collect()
    };
    let mut alone: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    let mut said = Vec::new();
    let mut reported = BTreeSet::new();
    for Showing { view, reached, shown } in branches::showing(sights.file, &sights.forks, &branched, base) {
        let found = unlike(&view);
        for (span, _) in here.iter().filter(|(span, _)| found.contains(&span.start)) {
            let mut near = shown.clone();
            near.sort_by_key(|one| one.branch.start.abs_diff(span.start));
            near.truncate(BRANCHES);
            let culprit = near.iter().find(|one| {
                let start = one.branch.start;
                let own = alone.entry(start).or_insert_with(|| match reached.len() {
                    1 => found.clone(),
                    _ => unlike(&View::reaching_all(sights.file, &sights.forks, &[start])),
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
