//! Directives that the code of another branch of the preprocessor would need in another way.
//!
//! Invariant: translations are compared, not code: a branch that changes no directive is not mentioned.

use std::collections::{BTreeMap, BTreeSet};

use crate::diag::{self, Diag};
use crate::edit::Edit;
use crate::scan::{self, Branched, Fork, View};
use crate::source::{SourceFile, Span};

use super::branches::{self, Seen, Showing, Sights};
use super::{DirectiveReport, Outcome, Translation};

/// So many views are read to find which branches of a file change its directives.
const TRIES: usize = 32;

/// So many branches after a directive, or near it, are tried by themselves.
const BRANCHES: usize = 8;

/// Says which directives the code of another branch would need in another way.
pub fn other_branches(sights: &Sights, translation: &mut Translation) {
    let mut said = after(sights, translation);
    let mut known = reported(said.iter().chain(&translation.diagnostics));
    for base in sights.bases(translation) {
        let beside = beside(sights, &base, translation);
        said.extend(beside.into_iter().filter(|one| known.insert(one.primary.span)));
    }
    translation.say(said);
}

/// The directives of which it is said that builds need them in different ways.
pub fn reported<'d>(said: impl IntoIterator<Item = &'d Diag>) -> BTreeSet<Span> {
    let codes = [diag::BRANCHES_DIFFER, diag::KIND_BY_CONDITION];
    said.into_iter().filter(|one| codes.contains(&one.code)).map(|one| one.primary.span).collect()
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
    let seen = sights.seen(base);
    let here: Vec<(Span, Vec<Edit>)> = translation
        .directives
        .iter()
        .filter(is_made)
        .map(|one| (one.span, changes(&translation.directives, &translation.edits, one.span)))
        .filter(|(span, edits)| !edits.is_empty() || seen.device.contains_key(&span.start))
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
            let is_other = || has_other_code(&seen, &there, span.start);
            own.contains(span) && (common(&made) != common(edits) || has_more() || is_other())
        };
        here.iter().filter(differs).map(|(span, _)| span.start).collect()
    };
    let said = culprits((sights.file, &sights.forks), &branched, base, &|view| unlike(view));
    let said = said.into_iter().filter_map(|(start, branch)| {
        let (span, _) = here.iter().find(|(span, _)| span.start == start)?;
        Some(diag::branches_differ(*span, branch))
    });
    said.collect()
}

/// The directives that views with hidden branches make other things of, as `unlike` says by place, each with such a branch: one
/// that does so by itself, with a second one, or, if none of those that are tried does, the nearest one.
pub fn culprits(
    (file, forks): (&SourceFile, &[Fork]),
    branched: &[Branched],
    base: &View,
    unlike: &dyn Fn(&View) -> BTreeSet<u32>,
) -> BTreeMap<u32, Span> {
    let mut known: BTreeMap<Vec<u32>, BTreeSet<u32>> = BTreeMap::new();
    let mut none = BTreeSet::new();
    let mut found = BTreeMap::new();
    for Showing { view, reached, shown } in branches::showing(file, forks, branched, base) {
        for directive in unlike(&view) {
            if found.contains_key(&directive) {
                continue;
            }
            let mut near: Vec<Span> = shown.iter().map(|one| one.branch).collect();
            near.sort_by_key(|branch| branch.start.abs_diff(directive));
            near.truncate(BRANCHES);
            let mut differs = |branches: &[Span]| {
                let places = branches.iter().map(|branch| branch.start).chain(base.reach.iter().copied());
                let places: Vec<u32> = places.collect::<BTreeSet<u32>>().into_iter().collect();
                let view = View::reaching_all(file, forks, &places);
                let differs = match known.len() < TRIES {
                    true => known.entry(places).or_insert_with(|| unlike(&view)),
                    false => known.get_mut(&places).unwrap_or(&mut none),
                };
                differs.contains(&directive)
            };
            let alone = match reached.len() {
                1 => near.first().copied(),
                _ => near.iter().find(|one| differs(&[**one])).copied(),
            };
            let pairs =
                near.iter().enumerate().flat_map(|(at, one)| near[..at].iter().map(|two| [*two, *one]));
            let pair = || pairs.into_iter().find(|pair| differs(pair)).map(|[one, _]| one);
            let branch = alone.or_else(pair).or(near.first().copied());
            found.extend(branch.map(|branch| (directive, branch)));
        }
    }
    found
}

/// Whether two views make different code of a directive in other files.
fn has_other_code(here: &Seen, there: &Seen, directive: u32) -> bool {
    let both = here.device.get(&directive).zip(there.device.get(&directive));
    both.is_some_and(|(one, other)| one != other)
}
