//! What a directive needs in branches of the preprocessor that the view hides in which it was translated: the end of a region in
//! another branch, a jump out of it, a name that means something else in it.
//!
//! Invariant: it is there in each branch, or it is said that the branches differ.

use std::collections::{BTreeMap, BTreeSet};

use crate::diag;
use crate::edit::{self, Edit};
use crate::scan::{self, Branched, Fork, View};
use crate::source::{SourceFile, Span};

use super::unlike::together;
use super::{Outcome, Source, Translation};

/// So many views show the branches of a file.
const VIEWS: usize = 8;

/// What becomes of each directive, by place.
pub type Made = BTreeMap<u32, Vec<Edit>>;

/// What one view makes of a source.
#[derive(Debug, Default)]
pub struct Seen {
    /// What its directives become.
    pub made: Made,
    /// All edits, by place.
    pub edits: Vec<Edit>,
}

impl Seen {
    /// The edits that belong to no directive: at statements that allocate, for the run-time library, in specification parts.
    fn others(&self) -> impl Iterator<Item = &Edit> {
        let own: BTreeSet<(Span, &[u8])> =
            self.made.values().flatten().map(|one| (one.span, &*one.text)).collect();
        self.edits.iter().filter(move |one| !own.contains(&(one.span, &*one.text)))
    }
}

/// Adds to a translation what its directives need in branches; `seen` is what one view makes.
pub fn completed(source: &Source, translation: &mut Translation, seen: &dyn Fn(&View) -> Seen) {
    let file = &source.file;
    let forks = if translation.edits.is_empty() { Vec::new() } else { scan::forks(file) };
    if forks.is_empty() {
        return;
    }
    for base in bases(file, &forks, translation) {
        of_view(file, &forks, &base, translation, seen);
    }
}

/// The views that show the directives: the default one, and one with those that it hides.
fn bases(file: &SourceFile, forks: &[Fork], translation: &Translation) -> Vec<View> {
    let hidden = scan::hidden_code(file, forks, &View::default());
    let places = translation.directives.iter().map(|one| one.span.start);
    let places: Vec<u32> = places.filter(|at| branch_of(&hidden, Span::at(*at as usize)).is_some()).collect();
    let reaching = (!places.is_empty()).then(|| View::reaching_all(file, forks, &places));
    std::iter::once(View::default()).chain(reaching).collect()
}

/// The same for the branches that one view hides.
fn of_view(
    file: &SourceFile,
    forks: &[Fork],
    base: &View,
    translation: &mut Translation,
    seen: &dyn Fn(&View) -> Seen,
) {
    let branched = scan::hidden_code(file, forks, base);
    let choices = each_once(forks, &branched);
    if choices.is_empty() {
        return;
    }
    let here = seen(base);
    let common = common(forks, &branched);
    let mut differs: BTreeMap<Span, Span> = BTreeMap::new();
    for group in together(&choices).into_iter().take(VIEWS) {
        let places = group.iter().map(|one| one.branch.start).chain(base.reach.iter().copied());
        let places: BTreeSet<u32> = places.collect();
        let there = seen(&View::reaching_all(file, forks, &places.into_iter().collect::<Vec<u32>>()));
        let lacking = |edits: &mut dyn Iterator<Item = &Edit>, known: &[Edit]| -> Vec<(Edit, Span)> {
            let hidden = edits.filter_map(|edit| Some((edit, branch_of(&branched, edit.span)?)));
            hidden
                .filter(|(edit, _)| !holds(known, edit))
                .map(|(edit, branch)| (edit.clone(), branch))
                .collect()
        };
        let mut all: Vec<(Span, Vec<(Edit, Span)>, bool)> = Vec::new();
        for one in translation.directives.iter().filter(|one| one.outcome != Outcome::Left) {
            let Some(edits) = there.made.get(&one.span.start) else { continue };
            let known = here.made.get(&one.span.start);
            let is_same = known.is_some_and(|known| common(known) == common(edits));
            all.push((one.span, lacking(&mut edits.iter(), &translation.edits), is_same));
        }
        let others: Vec<Edit> = there.others().cloned().collect();
        let is_same = common(&others).iter().all(|edit| holds(&translation.edits, edit));
        for (edit, branch) in lacking(&mut others.iter(), &translation.edits) {
            let next = translation.directives.partition_point(|one| one.span.start < edit.span.start);
            let near = translation.directives.get(next.saturating_sub(1)).map(|one| one.span);
            all.extend(near.map(|near| (near, vec![(edit, branch)], is_same)));
        }
        for (directive, lacking, is_same) in all {
            let Some((_, branch)) = lacking.first() else { continue };
            match is_same && lacking.iter().all(|(edit, _)| is_free(&translation.edits, edit.span)) {
                true => add(lacking.into_iter().map(|(edit, _)| edit), translation),
                false => {
                    differs.entry(directive).or_insert(*branch);
                }
            }
        }
    }
    translation.text = edit::applied(&file.bytes, 0, &translation.edits);
    let said = differs.into_iter().map(|(directive, branch)| diag::branches_differ(directive, branch));
    translation.diagnostics.extend(said);
    translation.mark();
    translation.settle();
}

/// The edits, of some, that stand in no branch of conditions which hide others.
pub fn common(forks: &[Fork], branched: &[Branched]) -> impl Fn(&[Edit]) -> Vec<Edit> + use<> {
    let hides = |fork: &&Fork| fork.branches.iter().any(|one| branch_of(branched, one.inside).is_some());
    let parted: Vec<Span> = forks.iter().filter(hides).map(|fork| fork.whole).collect();
    move |edits| {
        let is_common = |edit: &&Edit| !parted.iter().any(|whole| whole.contains(edit.span));
        edits.iter().filter(is_common).cloned().collect()
    }
}

/// Of the branches with the same conditions, the first one: a view that shows it shows the others.
fn each_once(forks: &[Fork], branched: &[Branched]) -> Vec<Branched> {
    let mut known = BTreeSet::new();
    let condition = |one: &&Branched| {
        let fork = forks.iter().find(|fork| fork.branches.iter().any(|branch| branch.inside == one.branch));
        let branches = fork.into_iter().flat_map(|fork| &fork.branches);
        let heads = branches.take_while(|branch| branch.inside.start <= one.branch.start);
        known.insert(heads.map(|branch| branch.condition()).collect::<Vec<_>>())
    };
    branched.iter().filter(condition).cloned().collect()
}

/// The branch that holds a place, of branches in their order.
fn branch_of(branched: &[Branched], place: Span) -> Option<Span> {
    let next = branched.partition_point(|one| one.branch.start <= place.start);
    let last = next.checked_sub(1).map(|last| branched[last].branch);
    last.filter(|branch| branch.contains(place))
}

/// Whether the edits of a translation, which come by place, do what an edit does.
fn holds(edits: &[Edit], edit: &Edit) -> bool {
    let first = edits.partition_point(|one| one.span.start < edit.span.start);
    let mut same = edits[first..].iter().take_while(|one| one.span.start == edit.span.start);
    same.any(|one| one.span == edit.span && memchr::memmem::find(&one.text, &edit.text).is_some())
}

/// Whether no edit changes what stands at a place.
fn is_free(edits: &[Edit], place: Span) -> bool {
    let first = edits.partition_point(|one| one.span.end < place.start);
    edits.get(first).is_none_or(|one| place.end < one.span.start)
}

/// Adds edits to those of a translation.
fn add(more: impl Iterator<Item = Edit>, translation: &mut Translation) {
    translation.edits.extend(more);
    translation.edits.sort_by_key(|edit| (edit.span.start, edit.span.end));
}
