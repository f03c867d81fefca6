//! What a directive needs in branches of the preprocessor that the view hides in which it was translated: the end of a region in
//! another branch, a jump out of it, a name that means something else in it.
//!
//! Invariant: it is there in each branch, or it is said that the branches differ.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::diag;
use crate::edit::{self, Edit};
use crate::scan::{self, Branched, Fork, View};
use crate::source::{SourceFile, Span};

use super::{DirectiveReport, Outcome, Translation};

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
    /// What became of its directives.
    pub directives: Vec<DirectiveReport>,
    /// Code in other files for directives, by place.
    pub device: BTreeMap<u32, String>,
}

impl Seen {
    /// The edits that belong to no directive: at statements that allocate, for the run-time library, in specification parts.
    fn others(&self) -> Vec<Edit> {
        let own: BTreeSet<(Span, &[u8])> =
            self.made.values().flatten().map(|one| (one.span, &*one.text)).collect();
        self.edits.iter().filter(|one| !own.contains(&(one.span, &*one.text))).cloned().collect()
    }

    /// Whether a directive of it is untranslated in a translation.
    fn is_left(&self, translation: &Translation) -> bool {
        let left = translation.directives.iter().filter(|one| one.outcome == Outcome::Left);
        left.into_iter().any(|one| self.made.contains_key(&one.span.start))
    }
}

/// What views make of a source, each once.
pub struct Sights<'a> {
    /// The source.
    pub file: &'a SourceFile,
    /// Its conditions.
    pub forks: Vec<Fork>,
    see: &'a dyn Fn(&View) -> Seen,
    /// By the places that the views reach.
    known: RefCell<BTreeMap<Vec<u32>, Rc<Seen>>>,
}

impl<'a> Sights<'a> {
    /// Those of a file; `see` is what one view makes of it.
    pub fn new(file: &'a SourceFile, see: &'a dyn Fn(&View) -> Seen) -> Sights<'a> {
        Sights { file, forks: scan::forks(file), see, known: RefCell::default() }
    }

    /// What a view makes of it.
    pub fn seen(&self, view: &View) -> Rc<Seen> {
        let known = self.known.borrow().get(&view.reach).map(Rc::clone);
        known.unwrap_or_else(|| {
            let seen = Rc::new((self.see)(view));
            self.known.borrow_mut().insert(view.reach.clone(), Rc::clone(&seen));
            seen
        })
    }

    /// The views that show the directives of a translation: the default one, and one with those that it hides.
    pub fn bases(&self, translation: &Translation) -> Vec<View> {
        if self.forks.is_empty() {
            return Vec::new();
        }
        let hidden = scan::hidden_code(self.file, &self.forks, &View::default());
        let is_hidden = |at: &u32| branch_of(&hidden, Span::at(*at as usize)).is_some();
        let places: Vec<u32> =
            translation.directives.iter().map(|one| one.span.start).filter(is_hidden).collect();
        let reaching = (!places.is_empty()).then(|| View::reaching_all(self.file, &self.forks, &places));
        std::iter::once(View::default()).chain(reaching).collect()
    }

    /// The branches with code that such a view hides, and the default one, too.
    pub fn hidden(&self, base: &View) -> Vec<Branched> {
        let mut hidden = scan::other_builds(self.file, &self.forks, base);
        let all: Vec<&Branched> = hidden.iter().collect();
        let is_default = base.reach.is_empty();
        let shown = if is_default { Vec::new() } else { scan::shown_of(self.file, &View::default(), &all) };
        let shown: BTreeSet<Span> = shown.into_iter().map(|one| one.branch).collect();
        hidden.retain(|one| !shown.contains(&one.branch));
        hidden
    }
}

/// A view that shows branches which another one hides.
pub struct Showing<'b> {
    /// The view.
    pub view: View,
    /// The branches that it is made to reach: they stand in different conditions that ask for different names.
    pub reached: Vec<&'b Branched>,
    /// All that it shows: conditions on the same names choose alike.
    pub shown: Vec<&'b Branched>,
}

/// The views that show branches, in few of them, beside what `base` reaches.
pub fn showing<'b>(
    file: &SourceFile,
    forks: &[Fork],
    branched: &'b [Branched],
    base: &View,
) -> Vec<Showing<'b>> {
    let mut hidden: Vec<&Branched> = branched.iter().collect();
    let mut views = Vec::new();
    while !hidden.is_empty() && views.len() < VIEWS {
        let reached: Vec<&Branched> = scan::together(&hidden).into_iter().map(|at| hidden[at]).collect();
        let places = reached.iter().map(|one| one.branch.start).chain(base.reach.iter().copied());
        let places: Vec<u32> = places.collect::<BTreeSet<u32>>().into_iter().collect();
        let view = View::reaching_all(file, forks, &places);
        let shown = scan::shown_of(file, &view, &hidden);
        // One that stands in a branch beside another one of them is shown by a view of its own.
        let is_shown = |one: &Branched| shown.iter().any(|two| two.branch == one.branch);
        let first = hidden.remove(0);
        let reached: Vec<&Branched> =
            reached.into_iter().filter(|one| is_shown(one) || one.branch == first.branch).collect();
        hidden.retain(|one| !is_shown(one));
        views.push(Showing { view, reached, shown });
    }
    views
}

/// What a translation does not have of a directive.
struct Lacking {
    directive: Span,
    /// The edits in branches, each with its branch.
    edits: Vec<(Edit, Span)>,
    /// Elsewhere the directive is the same in both views.
    is_same: bool,
}

/// Adds to a translation what its directives need in branches.
pub fn completed(sights: &Sights, translation: &mut Translation) {
    if translation.edits.is_empty() {
        return;
    }
    let mut differs = BTreeMap::new();
    for base in sights.bases(translation) {
        of_view(sights, &base, translation, &mut differs);
    }
    translation.text = edit::applied(&sights.file.bytes, 0, &translation.edits);
    let said = differs.into_iter().map(|(directive, branch)| diag::branches_differ(directive, branch));
    translation.say(said.collect());
}

/// The same for the branches that one view hides; the directives that they need in another way go to `differs`.
fn of_view(sights: &Sights, base: &View, translation: &mut Translation, differs: &mut BTreeMap<Span, Span>) {
    let branched = sights.hidden(base);
    for Showing { view, reached, shown } in showing(sights.file, &sights.forks, &branched, base) {
        let is_inside = reached.iter().any(|one| one.is_inside);
        let (here, there) = (sights.seen(base), sights.seen(&view));
        let common = common(sights, base, &view);
        let lacking = |edits: &[Edit], known: &[Edit]| -> Vec<(Edit, Span)> {
            let hidden =
                edits.iter().filter_map(|edit| Some((edit.clone(), branch_of(&branched, edit.span)?)));
            hidden.filter(|(edit, _)| !holds(known, edit)).collect()
        };
        let mut all: Vec<Lacking> = Vec::new();
        for one in translation.directives.iter().filter(|one| one.outcome != Outcome::Left) {
            let Some(edits) = there.made.get(&one.span.start) else { continue };
            // What stands around it, another view shows with it.
            if is_inside && !here.made.contains_key(&one.span.start) {
                continue;
            }
            let lacking = lacking(edits, &translation.edits);
            let is_same = here.made.get(&one.span.start).map(|known| common(known) == common(edits));
            // The first `declare` of a procedure has the lines of all: others may be at the same places.
            let is_held = || common(edits).iter().all(|edit| !is_free(&translation.edits, edit.span));
            let is_other = is_same == Some(false) && (one.name != "declare" || !is_held());
            if is_other || !lacking.is_empty() {
                all.push(Lacking { directive: one.span, edits: lacking, is_same: is_same == Some(true) });
            }
        }
        for directive in unlike_implied(translation, [&here, &there], &common) {
            all.push(Lacking { directive, edits: Vec::new(), is_same: false });
        }
        let others = there.others();
        let is_same = || {
            common(&others).iter().all(|edit| holds(&translation.edits, edit)) && !there.is_left(translation)
        };
        for (edit, branch) in lacking(&others, &translation.edits) {
            let near = nearest(&translation.directives, edit.span.start).map_or(edit.span, |one| one.span);
            all.push(Lacking { directive: near, edits: vec![(edit, branch)], is_same: is_same() });
        }
        for Lacking { directive, edits: lacking, is_same } in all {
            match is_same && lacking.iter().all(|(edit, _)| is_free(&translation.edits, edit.span)) {
                true => add(lacking.into_iter().map(|(edit, _)| edit), translation),
                false => {
                    let nearest =
                        || shown.iter().min_by_key(|one| one.branch.start.abs_diff(directive.start));
                    let branch = lacking.first().map(|(_, branch)| *branch);
                    let branch = branch.or_else(|| Some(nearest()?.branch));
                    differs.entry(directive).or_insert(branch.unwrap_or(directive));
                }
            }
        }
    }
}

/// The directives before constructs that are implied, and that two views translate in unlike ways.
fn unlike_implied(
    translation: &Translation,
    [here, there]: [&Seen; 2],
    common: &impl Fn(&[Edit]) -> Vec<Edit>,
) -> BTreeSet<Span> {
    let directives = &translation.directives;
    let is_implied = |at: &&u32| directives.binary_search_by_key(*at, |one| one.span.start).is_err();
    // What stands under its conditions is nothing to other builds.
    let is_for_all = |edit: &Edit| !edit::has_conditions(&edit.text);
    let made = |seen: &Seen, at: &u32| -> Vec<Edit> {
        seen.made.get(at).map(|edits| common(edits)).into_iter().flatten().filter(is_for_all).collect()
    };
    let all = here.made.keys().chain(there.made.keys()).filter(is_implied);
    let unlike = all.filter(|at| made(here, at) != made(there, at));
    let near = unlike.filter_map(|at| nearest(directives, *at));
    near.filter(|one| one.outcome != Outcome::Left).map(|one| one.span).collect()
}

/// The last directive before a place.
pub fn nearest(directives: &[DirectiveReport], at: u32) -> Option<&DirectiveReport> {
    let next = directives.partition_point(|one| one.span.start < at);
    directives.get(next.saturating_sub(1))
}

/// The edits, of some, that stand under no condition of which two views show different branches.
pub fn common(sights: &Sights, one: &View, other: &View) -> impl Fn(&[Edit]) -> Vec<Edit> + use<> {
    let parted = scan::parted(sights.file, &sights.forks, [one, other]);
    move |edits| {
        let is_parted = |edit: &&Edit| {
            let next = parted.partition_point(|whole| whole.start <= edit.span.start);
            next.checked_sub(1).is_some_and(|last| parted[last].contains(edit.span))
        };
        edits.iter().filter(|edit| !is_parted(edit)).cloned().collect()
    }
}

/// The innermost branch that holds a place, of branches in their order.
fn branch_of(branched: &[Branched], place: Span) -> Option<Span> {
    let next = branched.partition_point(|one| one.branch.start <= place.start);
    branched[..next].iter().rev().map(|one| one.branch).find(|branch| branch.contains(place))
}

/// Whether the edits of a translation, which come by place, do what an edit does.
pub fn holds(edits: &[Edit], edit: &Edit) -> bool {
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
