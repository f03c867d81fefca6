//! The driver: a file under translation, view by view of the preprocessor, until every directive and every name has been
//! met. What a view becomes, a back end says.
//!
//! Invariant: a directive is translated in the first view that reaches it, and reported once.

mod parts;

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::acc::ast::{ClauseKind, DataClause, Directive, DirectiveKind, EndKind};
use crate::bind::{self, Bound};
use crate::budget;
use crate::diag::{self, Diag};
use crate::edit::{self, Conflict, Edit, EditSet, Rewrite};
use crate::host::ir::Unit;
use crate::rules::RowId;
use crate::scan::{self, Conditions, DirectiveText, Scan, View};
use crate::sema::{self, Symbols};
use crate::source::{self, Span};
use crate::{acc, host, layout};

use super::branches;
use super::lent;
use super::loops::Found;
use super::named_macros;
use super::read::{self, fresh, parse};
use super::staying::{self, Region};
use super::together::Hidden;
use super::{Beside, DataUse, DirectiveReport, Options, Outcome, Source, Translation, Wish, data, wishes};

pub use parts::{InParts, in_parts};

/// What the views seen so far have brought, for any back end.
pub struct Gathered<'a> {
    /// The source.
    pub source: &'a Source,
    /// What is asked for.
    pub options: &'a Options,
    /// The edits of the file.
    pub edits: EditSet,
    /// What there is to say.
    pub diags: Vec<Diag>,
    /// What became of directives, by place.
    pub reports: BTreeMap<u32, Box<DirectiveReport>>,
    /// The `declare` directives that views have read so far, by place.
    pub declares: BTreeMap<u32, Directive>,
    /// What was found out about loops.
    pub found: Found,
    /// The bytes of constructs that are left untranslated.
    left: Vec<Span>,
    /// The conditions of the file, once they are asked for.
    conditions: OnceCell<Arc<Conditions>>,
}

/// What a view reaches and no view before did.
pub struct Reached<'v> {
    /// The view.
    pub scan: &'v Scan,
    /// Its code.
    pub unit: Unit,
    /// The directives, by number.
    pub parsed: Vec<(usize, Directive)>,
    /// Those that could not be read.
    pub held: Vec<Span>,
}

/// What becomes of one directive.
#[derive(Debug)]
pub struct Made {
    /// The edits; none if it is left untranslated.
    pub edits: Option<Vec<Edit>>,
    /// The rule rows used.
    pub rows: Vec<&'static RowId>,
    /// What is implied for variables.
    pub implied: Vec<DataUse>,
}

/// What becomes of the directives of one view.
#[derive(Debug)]
pub struct Lowered {
    /// The directives.
    pub bound: Vec<Bound>,
    /// What becomes of each.
    pub made: Vec<Made>,
    /// Those that could not be read or bound.
    pub held: Vec<Span>,
}

impl Lowered {
    /// All directives stay as they are.
    pub fn unchanged(bound: Vec<Bound>, held: Vec<Span>) -> Lowered {
        let nothing = || Made { edits: Some(Vec::new()), rows: Vec::new(), implied: Vec::new() };
        let made = bound.iter().map(|_| nothing()).collect();
        Lowered { bound, made, held }
    }
}

/// What a translation has beside its text and its directives.
#[derive(Debug, Default)]
pub struct Rest {
    /// The rule rows used for the run-time library.
    pub api_rows: Vec<&'static RowId>,
    /// The text includes the header with what OpenMP has no routine for.
    pub needs_support: bool,
    /// Files that belong beside it.
    pub beside: Vec<Beside>,
    /// What there is to say of no directive.
    pub diags: Vec<Diag>,
    /// What was made beside the text of the source.
    pub ours: edit::Ours,
}

/// The language that a file is translated to.
pub trait BackEnd {
    /// Notes what a view shows beside directives; with the first one, what all of the file holds. Whether it must be parsed for
    /// that.
    fn scanned(&mut self, _scan: &Scan, _first: Option<&Scan>, _all: &mut Gathered) -> bool {
        false
    }

    /// What becomes of the directives of a view.
    fn lower(&mut self, view: Reached, all: &mut Gathered) -> Lowered;

    /// Whether a construct may be launched at a loop in it: then the loops of all branches count.
    fn launches_at_loops(&self) -> bool {
        false
    }

    /// The edits of a directive are made.
    fn written(&mut self, _edits: &[Edit]) {}

    /// All directives of a view are done: what else there is in it.
    fn after_view(&mut self, _all: &mut Gathered) {}

    /// Something beside directives that no view has reached or tried to.
    fn next_unreached(&mut self) -> Option<u32> {
        None
    }

    /// The code that stands in other files for directives, by their places, as far as it is not compared otherwise.
    fn device_code(&self) -> BTreeMap<u32, String> {
        BTreeMap::new()
    }

    /// Nothing more can be reached.
    fn finish(&mut self, _all: &mut Gathered) -> Rest {
        Rest::default()
    }
}

/// Translates a source by a back end.
pub fn translate(source: &Source, options: &Options, back: &mut dyn BackEnd) -> Translation {
    let mut views = Views::new(source, options, back);
    views.view(&View::default());
    // Directives that the default view of the preprocessor does not reach get a view of their own.
    while let Some(places) = views.next_unreached() {
        views.reach(&places);
    }
    views.finish()
}

/// Translates what one view shows of a source.
pub fn translate_view(
    source: &Source,
    options: &Options,
    back: &mut dyn BackEnd,
    view: &View,
) -> Translation {
    let mut views = Views::new(source, options, back);
    views.view(view);
    views.finish()
}

/// What one view makes of a source.
pub fn made_by_view(
    source: &Source,
    options: &Options,
    back: &mut dyn BackEnd,
    view: &View,
) -> branches::Seen {
    let mut views = Views::new(source, options, back);
    views.view(view);
    let made = views.made.clone();
    let device = views.back.device_code();
    let Translation { edits, directives, .. } = views.finish();
    branches::Seen { made, edits, directives, device }
}

/// Steps for each byte of a file that a view shows: all of it is read.
const STEPS_PER_BYTE: u64 = 4;

/// Directives that views before have translated, and that a view reads again.
#[derive(Default)]
struct Again {
    directives: Vec<(usize, Directive)>,
    /// The numbers of those that only say what is on the device.
    asked: BTreeSet<usize>,
}

struct Views<'a, 'b> {
    back: &'b mut dyn BackEnd,
    all: Gathered<'a>,
    /// All directives of the file: their bytes, and whether a view has tried to reach them.
    known: BTreeMap<u32, (Span, bool)>,
    /// How many places of the source the host grammar cannot read, as the first view shows it.
    errors: Option<usize>,
    /// The host grammar cannot read all that some view shows.
    is_unread: bool,
    /// The source's shadow in the first view.
    shadow: Option<Vec<u8>>,
    /// The functions that the first view passes over.
    apart: Vec<Span>,
    /// The functions that were read in parts.
    in_parts: Vec<Span>,
    /// The first view that was parsed.
    past: Option<host::Past>,
    /// The branches that the first view hides.
    hidden: Hidden,
    /// What the directives have become that are translated, by place.
    made: branches::Made,
    /// The constructs of all views, by place: where their names stand, and the places of their directives.
    constructs: BTreeMap<u32, (Span, BTreeSet<u32>)>,
    /// The regions of data, of all views, that stay as they are.
    staying: Vec<Region>,
    /// The loops that a construct is launched at, and that conditions part from their code.
    parted: Vec<Parted>,
}

/// A loop that stands in a branch of the preprocessor, and that its construct is launched at; the code stands after the branch.
struct Parted {
    /// Where the construct begins.
    root: u32,
    /// Where the condition begins.
    condition: u32,
    /// The loop's name.
    name: Span,
}

impl<'a, 'b> Views<'a, 'b> {
    fn new(source: &'a Source, options: &'a Options, back: &'b mut dyn BackEnd) -> Views<'a, 'b> {
        let all = Gathered {
            source,
            options,
            edits: EditSet::default(),
            diags: Vec::new(),
            reports: BTreeMap::new(),
            declares: BTreeMap::new(),
            found: Found::default(),
            left: Vec::new(),
            conditions: OnceCell::new(),
        };
        Views {
            back,
            all,
            known: BTreeMap::new(),
            errors: None,
            is_unread: false,
            shadow: None,
            apart: Vec::new(),
            in_parts: Vec::new(),
            past: None,
            hidden: Hidden::default(),
            made: BTreeMap::new(),
            constructs: BTreeMap::new(),
            staying: Vec::new(),
            parted: Vec::new(),
        }
    }

    /// Directives, or a name of the run-time library, that no view has reached or tried to, and that one view may reach.
    fn next_unreached(&mut self) -> Option<Vec<u32>> {
        let unreached = self.known.iter().filter(|(_, (_, tried))| !*tried).map(|(offset, _)| *offset);
        let places = self.hidden.together(unreached);
        for place in &places {
            self.known.entry(*place).and_modify(|(_, tried)| *tried = true);
        }
        Some(places).filter(|places| !places.is_empty()).or_else(|| Some(vec![self.back.next_unreached()?]))
    }

    /// Translates what stands at places, in one view if that can be.
    fn reach(&mut self, places: &[u32]) {
        let file = &self.all.source.file;
        self.view(&self.hidden.view(file, places));
        let missed = places.iter().filter(|_| places.len() > 1);
        for place in missed {
            if !self.all.reports.contains_key(place) {
                self.view(&self.hidden.view(file, &[*place]));
            }
        }
    }

    /// Translates what `view` reaches and no view before did.
    fn view(&mut self, view: &View) {
        let source = self.all.source;
        budget::spend(source.file.bytes.len() as u64 * STEPS_PER_BYTE);
        let (mut scan, said) = scan::scan(&source.file, &source.shown(view));
        let (apart, read) = self.read_in_part(&mut scan);
        for text in &scan.directives {
            self.known.entry(text.span.start).or_insert((text.span, false));
        }
        let fresh = fresh(&scan, &self.all.reports);
        let is_first = self.shadow.is_none();
        if is_first {
            self.all.diags.extend(said);
            self.shadow = Some(scan.shadow.clone());
            self.apart = apart;
            self.hidden = Hidden::of(&source.file, &scan);
        }
        let is_several = view.reach.len() > 1;
        let again = || host::parse_again(&source.file, &scan, &mut self.past);
        let read = read.or_else(|| is_several.then(again));
        if read.as_ref().is_some_and(|unit| is_several && self.hidden.clash(&scan, unit)) {
            return;
        }
        let has_more = self.back.scanned(&scan, is_first.then_some(&scan), &mut self.all);
        if fresh.is_empty() && !has_more && !(is_first && source.declares(self.all.options)) {
            return;
        }
        let unit = read.unwrap_or_else(|| host::parse_again(&source.file, &scan, &mut self.past));
        self.is_unread |= !unit.errors.is_empty();
        if is_first {
            self.errors = Some(unit.errors.len());
            if unit.is_fortran() {
                self.hidden.place(&unit);
            }
        }
        host::with_stack(unit.depth(), || self.translate_view(&scan, unit, &fresh));
    }

    /// Takes the functions out of a view that have nothing to do with its directives, and parses the rest. All of it stays if
    /// the grammar cannot read the code of a directive without errors: where these end may depend on what is around.
    fn read_in_part(&mut self, scan: &mut Scan) -> (Vec<Span>, Option<Unit>) {
        let source = self.all.source;
        let apart = source.functions_apart(scan, self.all.options);
        if apart.is_empty() {
            return (apart, None);
        }
        let whole = scan.shadow.clone();
        scan::blank(&mut scan.shadow, &apart);
        let mut past = self.past.clone();
        let unit = host::parse_apart(&source.file, scan, &apart, &mut past);
        if read::is_clear(scan, &unit) {
            self.past = past;
            return (apart, Some(unit));
        }
        scan.shadow = whole;
        (Vec::new(), None)
    }

    fn translate_view(&mut self, scan: &Scan, mut unit: Unit, fresh: &[usize]) {
        let references = self.all.source.headers.iter().flat_map(|header| &header.unit.reference_types);
        host::refer(&mut unit, &references.map(String::as_str).collect());
        let (mut parsed, mut held) = (Vec::new(), Vec::new());
        for at in fresh {
            let text = &scan.directives[*at];
            self.known.insert(text.span.start, (text.span, true));
            let mut diags = Vec::new();
            match self.all.parsed(text, &mut diags) {
                Some(directive) => parsed.push((*at, directive)),
                None => held.push(text.span),
            }
            self.all.diags.extend(diags);
        }
        let again = self.read_again(scan, &unit, &parsed);
        let shares = !again.directives.is_empty();
        parsed.extend(again.directives);
        parsed.sort_by_key(|(at, _)| *at);
        let (file, stays) = (&self.all.source.file, &self.all.options.stays);
        let unread = Region::unread(file, scan, &unit, &parsed, &held, stays);
        // The `end` of what is not read stays with it.
        let is_end = |one: &Directive| one.kind == DirectiveKind::End(EndKind::Data);
        let ends_unread = |one: &Directive| unread.iter().any(|region| region.extent().end == one.span.start);
        held.extend(
            parsed.extract_if(.., |(_, one)| is_end(one) && ends_unread(one)).map(|(_, one)| one.span),
        );
        self.leave_as_wished(scan, &unit, &mut parsed, &mut held, unread);
        let mut lowered = self.back.lower(Reached { scan, unit, parsed, held }, &mut self.all);
        if shares {
            self.keep_launched(&mut lowered);
            self.leave_unlike(&mut lowered, &again.asked);
        }
        self.note_parted(scan, &lowered);
        self.note_constructs(&lowered.bound);
        let (mut done, mut met) = (BTreeSet::new(), BTreeMap::new());
        for (at, made) in lowered.made.into_iter().enumerate() {
            let one = &lowered.bound[at];
            let start = one.directive.span.start;
            if !self.all.reports.contains_key(&start) || one.text.is_none() {
                match self.rewrite(one, made) {
                    None => drop(done.insert(start)),
                    Some(with) => {
                        let root = whole(&lowered.bound, at).unwrap_or(at);
                        met.insert(root, (with, done.contains(&with)));
                    }
                }
            }
        }
        for (root, with) in met {
            self.leave_met(&lowered.bound, root, with);
        }
        for span in lowered.held {
            let is_region = self.staying.iter().any(|region| region.start() == span.start);
            let name = if is_region { acc::name(DirectiveKind::Data) } else { "" };
            self.all.report(span, name, Outcome::Left, Vec::new());
        }
        self.back.after_view(&mut self.all);
    }

    /// Takes out the directives that the user wants left, with the `end`s of their regions and, of compute constructs, all that
    /// stands inside.
    fn leave_as_wished(
        &mut self,
        scan: &Scan,
        unit: &Unit,
        parsed: &mut Vec<(usize, Directive)>,
        held: &mut Vec<Span>,
        mut unread: Vec<Region>,
    ) {
        let (file, options) = (&self.all.source.file, self.all.options);
        let says = |text: &DirectiveText| match wishes::wish(file, text, options) {
            _ if options.stays.contains(&text.span.start) => Some(None),
            Some(Wish::Leave) => Some(Some(diag::left_as_asked(text.span))),
            Some(Wish::Seq) | None => None,
        };
        let wishes: BTreeMap<usize, Option<Diag>> =
            parsed.iter().filter_map(|(at, _)| Some((*at, says(&scan.directives[*at])?))).collect();
        if wishes.is_empty() && unread.is_empty() && self.staying.is_empty() {
            return;
        }
        let (bound, mut unit) = joined(scan, unit, parsed);
        let mut wishes = wishes;
        let of_data = |at: &usize| {
            let is_asked = bound[*at].text.is_some_and(|text| wishes.contains_key(&text));
            bound[*at].directive.kind == DirectiveKind::Data && is_asked
        };
        unread.extend((0..bound.len()).filter(of_data).filter_map(|at| Region::of(&unit, &bound, at)));
        self.staying.extend(unread);
        self.staying.sort_by_key(Region::start);
        self.staying.dedup_by_key(|region| region.start());
        let symbols = self.all.source.symbols(&unit, scan);
        if unit.is_fortran() {
            sema::resolve(unit.to_mut(), &symbols);
        }
        self.all.diags.extend(lent::bring((&unit, &symbols), &bound, &self.staying, parsed));
        for one in staying::bring(file, (&unit, &symbols), &bound, &self.staying, parsed) {
            let name = bound[one.at].directive.name_span;
            let said = diag::needs_data_that_stays(name, &one.object, one.region);
            wishes.extend(bound[one.at].text.map(|text| (text, Some(said))));
        }
        let is_asked = |at: usize| bound[at].text.is_some_and(|text| wishes.contains_key(&text));
        let stays = |at: &usize| is_asked(begin(&bound, *at)) || compute_around(&bound, *at).any(is_asked);
        let staying: BTreeSet<usize> = (0..bound.len())
            .filter(stays)
            .filter_map(|at| bound[at].text)
            .chain(wishes.keys().copied())
            .collect();
        held.extend(staying.iter().map(|at| scan.directives[*at].span));
        parsed.retain(|(at, _)| !staying.contains(at));
        self.all.diags.extend(wishes.into_values().flatten());
    }

    /// The directives that views before have reached and that belong to constructs of this one: loops, atomics, the beginning
    /// or the `end` of a construct of which the preprocessor chooses the other; the regions of data around; and what is said
    /// of routines that constructs may call, and of what is on the device.
    fn read_again(&self, scan: &Scan, unit: &Unit, fresh: &[(usize, Directive)]) -> Again {
        let is_construct = |kind: DirectiveKind| {
            kind.is_compute() || is_region(kind) || matches!(kind, DirectiveKind::End(_))
        };
        let of_loops = self.back.launches_at_loops();
        let is_part = |kind: DirectiveKind| is_construct(kind) || of_loops && is_inner(kind);
        let has_construct = fresh.iter().any(|(_, directive)| is_part(directive.kind));
        let is_known = |text: &DirectiveText| self.all.reports.contains_key(&text.span.start);
        let has_declare = fresh.iter().any(|(_, directive)| directive.kind == DirectiveKind::Declare);
        if !has_construct && !has_declare && of_loops || !scan.directives.iter().any(is_known) {
            return Again::default();
        }
        let known = scan.directives.iter().enumerate();
        let known = known.filter(|(_, text)| text.active && is_known(text));
        let known = known.filter_map(|(at, text)| Some((at, self.all.parsed(text, &mut Vec::new())?)));
        let mut all: Vec<(usize, Directive)> = fresh.iter().cloned().chain(known).collect();
        all.sort_by_key(|(at, _)| *at);
        let (bound, _) = joined(scan, unit, &all);
        let is_fresh = |at: usize| fresh.binary_search_by_key(&at, |(at, _)| *at).is_ok();
        let is_fresh = |at: usize| bound[at].text.is_some_and(is_fresh);
        let is_new = |at: usize| is_fresh(at) || bound[at].partner.is_some_and(is_fresh);
        let around: BTreeSet<usize> =
            (0..bound.len()).filter(|at| is_new(*at)).flat_map(|at| bind::ancestors(&bound, at)).collect();
        let is_left = |at: usize| {
            let report = self.all.reports.get(&bound[at].directive.span.start);
            report.is_some_and(|report| report.outcome == Outcome::Left)
        };
        let outermost = |at: usize| compute_around(&bound, at).last();
        let touched: BTreeSet<usize> =
            (0..bound.len()).filter(|at| of_loops && is_fresh(*at)).filter_map(outermost).collect();
        let is_touched =
            |at: usize| outermost(at).is_some_and(|root| touched.contains(&root) && !is_left(root));
        let is_shared = |at: &usize| match begin(&bound, *at) {
            begin if is_region(bound[begin].directive.kind) => {
                is_new(begin) || around.contains(&begin) && !is_left(begin)
            }
            begin => {
                let is_around =
                    |at: usize| around.contains(&at) && is_region(bound[at].directive.kind) && !is_left(at);
                let is_beside = !is_left(begin) && bind::ancestors(&bound, begin).any(is_around);
                is_beside || is_touched(begin) || compute_around(&bound, *at).any(is_new)
            }
        };
        // What writes functions for the device reads their loops in each view.
        let is_of_routine = |at: usize| {
            let kind = bound[at].directive.kind;
            let is_orphan = || is_inner(kind) && compute_around(&bound, at).next().is_none();
            !is_left(at) && (kind == DirectiveKind::Routine || !of_loops && is_orphan())
        };
        let is_wanted = |at: &usize| is_of_routine(*at) || has_construct && is_shared(at);
        // Constructs ask what is on the device where they stand.
        let functions: BTreeSet<_> =
            (0..bound.len()).filter(|at| is_fresh(*at)).map(|at| bound[at].function).collect();
        let is_begun = |at: usize| {
            is_fresh(at) && bound[at].directive.kind == DirectiveKind::Declare && bound[at].function.is_some()
        };
        let begun: BTreeSet<_> =
            (0..bound.len()).filter(|at| is_begun(*at)).map(|at| bound[at].function).collect();
        let is_asked = |at: &usize| match bound[begin(&bound, *at)].directive.kind {
            _ if is_left(begin(&bound, *at)) => false,
            // What `declare` needs stands before the first directive of a procedure of Fortran.
            _ if of_loops && unit.is_fortran() && begun.contains(&bound[*at].function) => true,
            _ if !has_construct => false,
            DirectiveKind::Declare | DirectiveKind::EnterData | DirectiveKind::Data => true,
            DirectiveKind::ExitData | DirectiveKind::Update => functions.contains(&bound[*at].function),
            _ => false,
        };
        let known = (0..bound.len()).filter(|at| !is_fresh(*at));
        let (shared, others): (Vec<usize>, Vec<usize>) = known.partition(is_wanted);
        let texts = |all: Vec<usize>| -> BTreeSet<usize> {
            all.into_iter().filter_map(|at| bound[at].text).collect()
        };
        let (shared, asked) = (texts(shared), texts(others.into_iter().filter(is_asked).collect()));
        all.retain(|(at, _)| shared.contains(at) || asked.contains(at));
        Again { directives: all, asked }
    }

    /// Notes the loops that constructs are launched at, and that conditions part from their code.
    fn note_parted(&mut self, scan: &Scan, lowered: &Lowered) {
        let conditions = self.all.conditions();
        for (at, (one, made)) in lowered.bound.iter().zip(&lowered.made).enumerate() {
            let Some(text) = one.text.filter(|_| is_inner(one.directive.kind)) else { continue };
            let launches = made.edits.as_ref().is_some_and(|edits| edits.iter().any(is_launch));
            let Some(root) = compute_around(&lowered.bound, at).last().filter(|_| launches) else { continue };
            let root = lowered.bound[root].directive.span.start;
            let between = conditions.between(one.directive.span.start, scan.directives[text].next_code);
            let between = between.into_iter().filter(|condition| condition.span.start > root);
            self.parted.extend(between.map(|condition| Parted {
                root,
                condition: condition.span.start,
                name: one.directive.name_span,
            }));
        }
    }

    /// A `kernels` construct that a view before has launched where it stands is right for builds that read more about its loops,
    /// too: that goes.
    fn keep_launched(&self, lowered: &mut Lowered) {
        let file = &self.all.source.file;
        let bound = &lowered.bound;
        let is_kept = |at: usize| {
            let one = &bound[at].directive;
            let known = self.made.get(&one.span.start);
            let is_launched = known.is_some_and(|known| {
                known.iter().any(|edit| one.span.contains(edit.span) && is_launch(edit))
            });
            is_launched && matches!(one.kind, DirectiveKind::Kernels | DirectiveKind::Serial)
        };
        for at in 0..bound.len() {
            let Some(root) = compute_around(bound, at).last().filter(|root| is_kept(*root)) else { continue };
            let span = bound[at].directive.span;
            lowered.made[at].edits = match self.made.get(&span.start) {
                Some(known) => Some(known.clone()),
                None if root == at || !is_inner(bound[at].directive.kind) => continue,
                // Other queues may change the same place.
                None if bound[at].directive.kind == DirectiveKind::Atomic => continue,
                // What is implied stands nowhere.
                None if bound[at].text.is_none() => Some(Vec::new()),
                None => Some(vec![layout::removed(file, span)]),
            };
        }
    }

    /// Leaves the constructs that a build may read without the loops that they are launched at.
    fn leave_parted(&mut self) {
        let parted = std::mem::take(&mut self.parted);
        for one in &parted {
            let is_same = |other: &&Parted| other.root == one.root && other.condition == one.condition;
            let places: Vec<u32> = parted.iter().filter(is_same).map(|other| other.name.start).collect();
            let is_made = self.made.contains_key(&one.root);
            if !is_made || !scan::may_miss(&self.all.source.file, one.root, one.condition, &places) {
                continue;
            }
            for at in self.withdraw(one.name.start, Some(one.root)) {
                self.say_shared(at, one.name, &[]);
            }
        }
    }

    /// Takes back what the constructs have become that a directive belongs to, or the one that begins there; their names.
    fn withdraw(&mut self, inner: u32, root: Option<u32>) -> Vec<Span> {
        let mut names = Vec::new();
        let mut gone = BTreeSet::new();
        for (start, (of_root, members)) in &self.constructs {
            let is_meant = root.map_or_else(|| members.contains(&inner), |root| root == *start);
            if is_meant && members.iter().any(|one| self.made.contains_key(one)) {
                names.push(*of_root);
                gone.extend(members);
            }
        }
        self.take_back(&gone);
        names
    }

    /// Takes back what directives have become.
    fn take_back(&mut self, directives: &BTreeSet<u32>) {
        self.all.edits.withdraw(directives);
        let reports = self.all.reports.iter_mut().filter(|(at, _)| directives.contains(at));
        reports.for_each(|(_, report)| report.outcome = Outcome::Left);
        self.made.retain(|at, _| !directives.contains(at));
    }

    /// Leaves constructs that would need something else of directives which views before have translated, and those for which
    /// these were.
    fn leave_unlike(&mut self, lowered: &mut Lowered, asked: &BTreeSet<usize>) {
        let (bound, made) = (&lowered.bound, &mut lowered.made);
        let start = |at: usize| bound[at].directive.span.start;
        let is_again = |at: usize| bound[at].text.is_some() && self.all.reports.contains_key(&start(at));
        let conditions = self.all.conditions();
        // A region may end in several branches: each view has the end of its own.
        let compared = |at: usize, edits: Option<&Vec<Edit>>| {
            let is_region = is_region(bound[at].directive.kind);
            let is_beside =
                |edit: &Edit| !is_region || conditions.parting(start(at), edit.span.start).next().is_none();
            edits.map(|edits| edits.iter().filter(|edit| is_beside(edit)).cloned().collect::<Vec<_>>())
        };
        let is_compared =
            |at: usize| is_again(at) && bound[at].text.is_none_or(|text| !asked.contains(&text));
        let is_unlike = |at: &usize| {
            let (here, known) = (made[*at].edits.as_ref(), self.made.get(&start(*at)));
            is_compared(*at) && here != known && compared(*at, here) != compared(*at, known)
        };
        let unlike: Vec<usize> = (0..bound.len()).filter(is_unlike).collect();
        let roots: BTreeMap<usize, usize> =
            unlike.iter().filter_map(|at| Some((whole(bound, *at)?, *at))).collect();
        for (root, inner) in &roots {
            let inner = &bound[*inner].directive;
            let mut reported = vec![bound[*root].directive.name_span];
            reported.extend(self.withdraw(inner.span.start, None));
            let here = (0..bound.len()).filter(|at| whole(bound, *at) == Some(*root)).map(start);
            let here: Vec<u32> = here.collect();
            // A view without the construct has its loops, too.
            self.take_back(&here.iter().copied().collect());
            reported.into_iter().for_each(|at| self.say_shared(at, inner.name_span, &here));
        }
        for (at, made) in made.iter_mut().enumerate() {
            let begin = begin(bound, at);
            if std::iter::once(begin).chain(bind::ancestors(bound, begin)).any(|at| roots.contains_key(&at)) {
                made.edits = None;
            }
        }
    }

    /// Says that branches need different translations of what the construct shares that is named `at`; `here` are its directives
    /// in this view.
    fn say_shared(&mut self, at: Span, inner: Span, here: &[u32]) {
        let conditions = self.all.conditions();
        let members = self.constructs.values().filter(|(name, _)| *name == at).flat_map(|(_, all)| all);
        let places = members.chain(here).copied().chain([inner.start]);
        let choices: BTreeSet<Span> =
            places.flat_map(|place| conditions.parting(at.start, place).collect::<Vec<_>>()).collect();
        let choices: Vec<Span> = choices.into_iter().collect();
        self.all.diags.push(diag::shared_by_branches(at, inner, &choices));
    }

    /// Notes which directives belong to the constructs of a view.
    fn note_constructs(&mut self, bound: &[Bound]) {
        for (at, one) in bound.iter().enumerate() {
            if let Some(root) = whole(bound, at) {
                let root = &bound[root].directive;
                let known =
                    self.constructs.entry(root.span.start).or_insert((root.name_span, BTreeSet::new()));
                known.1.insert(one.directive.span.start);
            }
        }
    }

    /// Leaves the construct `root` of a view, which needs what is around it in another way than the directive that begins at
    /// `with`, and the construct of that one, if it is not of the same view.
    fn leave_met(&mut self, bound: &[Bound], root: usize, (with, is_here): (u32, bool)) {
        let name = bound[root].directive.name_span;
        if self.made.contains_key(&with) && !is_here {
            let names = self.withdraw(with, None);
            names.into_iter().chain([name]).for_each(|at| self.say_shared(at, name, &[with]));
        } else {
            self.all.diags.push(diag::edit_conflict(bound[root].directive.span));
        }
        let members = (0..bound.len()).filter(|at| whole(bound, *at).unwrap_or(*at) == root);
        self.take_back(&members.map(|at| bound[at].directive.span.start).collect());
    }

    /// Adds what a directive becomes, or gives the owner of the edit that stands there already.
    fn rewrite(&mut self, bound: &Bound, made: Made) -> Option<u32> {
        let span = bound.directive.span;
        let mut met = None;
        let outcome = match made.edits {
            None => Outcome::Left,
            Some(edits) => match self.all.edits.add(Rewrite { owner: span.start, edits: edits.clone() }) {
                Ok(()) => {
                    self.back.written(&edits);
                    self.made.insert(span.start, edits);
                    Outcome::Exact
                }
                Err(Conflict { with }) => {
                    met = Some(with);
                    Outcome::Left
                }
            },
        };
        if bound.text.is_some() {
            self.all.report(span, acc::name(bound.directive.kind), outcome, made.rows);
            let mut data = data::stated(&bound.directive, &self.all.options.device_type);
            data.extend(made.implied);
            self.all.reports.entry(span.start).and_modify(|report| report.data = data.into());
        }
        met
    }

    /// Nothing more can be reached.
    fn finish(mut self) -> Translation {
        for (span, _) in self.known.values() {
            if !self.all.reports.contains_key(&span.start) {
                self.all.diags.push(diag::not_understood(*span));
                self.all.report(*span, "", Outcome::Left, Vec::new());
            }
        }
        self.leave_parted();
        let mut rest = self.back.finish(&mut self.all);
        // What only the views need goes before the text is made.
        self.made.clear();
        self.constructs.clear();
        self.known.clear();
        let mut all = self.all;
        for edit in layout::unread_columns(&all.source.file, all.edits.edits()) {
            let place = edit.span;
            if all.edits.add_beside(u32::MAX - 3, edit).is_err() {
                all.diags.push(diag::edit_conflict(place));
            }
        }
        let (file, mut found) = (&all.source.file, all.found);
        let output = file.with(all.edits.apply(&file.bytes));
        let edits = all.edits.into_edits();
        let before = edit::Before {
            file,
            shadow: self.shadow.as_deref().unwrap_or_default(),
            apart: &self.apart,
            errors: self.errors,
            past: self.past.as_ref(),
            in_parts: &self.in_parts,
            headers: all.source.shown(&View::default()),
            threads: &all.options.threads,
        };
        // Beside OpenMP of the source, or under a guard, OpenACC that stays is done.
        let is_left = |report: &DirectiveReport| report.outcome == Outcome::Left;
        let done = all.reports.values().filter(|report| report.name.is_empty() || is_left(report));
        let breaks = output.bytes != file.bytes && before.breaks(&output, &edits, &rest.ours, done.count());
        let mut diagnostics = all.diags;
        let is_conflict = |said: &Diag| said.code == diag::Code(901);
        let mut said =
            diagnostics.iter_mut().chain(&mut rest.diags).filter(|said| is_conflict(said)).peekable();
        // Where the grammar cannot read the source, views may take what is around for other things.
        let is_unread = (breaks || said.peek().is_some())
            && (self.is_unread || before.errors() > 0 || !Conditions::of(file).are_closed());
        if is_unread {
            said.for_each(|said| *said = diag::not_understood(said.primary.span));
        }
        diagnostics.append(&mut found.diags);
        let loops = found.loops(|start| all.reports.get(&start).is_some_and(|report| is_left(report)));
        let mut translation = Translation {
            text: output.bytes,
            edits,
            diagnostics,
            directives: all.reports.into_values().map(|report| *report).collect(),
            api_rows: rest.api_rows,
            needs_support: rest.needs_support,
            beside: rest.beside,
            loops,
            inductions: Vec::new(),
            closed: found.closed,
        };
        match (breaks, is_unread) {
            // What is around them cannot be read as it is.
            (true, true) => translation.leave_unread(file),
            (true, false) => translation.withdraw(file),
            (false, _) => {}
        }
        translation.mark();
        translation.diagnostics.append(&mut rest.diags);
        translation.settle();
        translation
    }
}

impl Gathered<'_> {
    /// The directive that a text holds, as the user asks for it; what there is to say is added to `diags`.
    fn parsed(&self, text: &DirectiveText, diags: &mut Vec<Diag>) -> Option<Directive> {
        let mut directive = parse(&self.source.file, text, diags)?;
        let in_order = wishes::wish(&self.source.file, text, self.options) == Some(Wish::Seq);
        if in_order && wishes::run_in_order(&mut directive) {
            diags.push(diag::in_order_as_asked(text.span));
        }
        Some(directive)
    }

    /// Joins the directives of a view to the code, which gets the blocks that they make; what cannot be bound is held.
    pub fn bind(
        &mut self,
        (scan, symbols): (&Scan, &Symbols),
        unit: &mut Unit,
        parsed: Vec<(usize, Directive)>,
        held: &mut Vec<Span>,
    ) -> Vec<Bound> {
        let file = &self.source.file;
        let (bound, said) = read::bound_in(file, (scan, symbols), unit, parsed, held);
        self.diags.extend(said);
        let declares = bound.iter().map(|one| &one.directive);
        let declares = declares.filter(|one| one.kind == DirectiveKind::Declare);
        self.declares.extend(declares.map(|one| (one.span.start, one.clone())));
        for (span, said) in named_macros::constructs(file, (scan, symbols), unit, &bound) {
            held.push(span);
            self.diags.push(said);
        }
        for (span, said) in read::in_other_files(unit, &bound, self.options) {
            held.push(span);
            self.diags.push(said);
        }
        bound
    }

    /// Reports what became of a directive.
    pub fn report(
        &mut self,
        span: Span,
        name: &'static str,
        outcome: Outcome,
        mut rows: Vec<&'static RowId>,
    ) {
        rows.shrink_to_fit();
        let report = DirectiveReport { span, name, outcome, rows, data: Box::default() };
        self.reports.insert(span.start, Box::new(report));
    }

    /// The conditions of the file, whatever a view shows of it.
    pub fn conditions(&self) -> Arc<Conditions> {
        Arc::clone(self.conditions.get_or_init(|| Arc::new(Conditions::of(&self.source.file))))
    }

    /// Adds an edit that belongs to no directive.
    pub fn add(&mut self, edit: Edit) {
        let span = edit.span;
        if self.edits.add(Rewrite { owner: u32::MAX, edits: vec![edit] }).is_err() {
            self.diags.push(diag::edit_conflict(span));
        }
    }

    /// A construct is translated with all directives in it or not at all, those in other views, too; only regions of data
    /// stand for themselves.
    /// `held` are directives that could not be read.
    pub fn leave_whole(
        &mut self,
        unit: &Unit,
        bound: &[Bound],
        held: &[Span],
        changes: &mut [Option<Vec<Edit>>],
    ) {
        let is_data = |at: usize| is_region(bound[at].directive.kind);
        let root = |at: usize| {
            let at = begin(bound, at);
            bind::ancestors(bound, at).take_while(|above| !is_data(*above)).last().unwrap_or(at)
        };
        let roots: Vec<usize> = (0..bound.len()).map(root).collect();
        let is_left = |at: usize| self.left.iter().any(|span| span.contains(bound[at].directive.span));
        let left: BTreeSet<usize> = (0..bound.len())
            .filter(|at| changes[*at].is_none() || is_left(*at))
            .map(|at| roots[at])
            .collect();
        for (root, edits) in roots.iter().zip(changes.iter_mut()) {
            if left.contains(root) {
                *edits = None;
            }
        }
        let translated: Vec<bool> = changes.iter().map(Option::is_some).collect();
        for (at, region) in left.iter().filter_map(|at| Some((*at, around(bound, *at, &translated)?))) {
            self.diags.push(diag::host_inside_data(
                bound[at].directive.name_span,
                bound[region].directive.name_span,
            ));
        }
        let is_compute = |at: &&usize| bound[**at].directive.kind.is_compute();
        for at in left.iter().filter(is_compute).filter(|at| around(bound, **at, &translated).is_none()) {
            let said = bound[*at].directive.clauses.iter().find(|clause| is_about_present_data(&clause.kind));
            let said = said.map(|clause| diag::host_beside_data(bound[*at].directive.name_span, clause.span));
            self.diags.extend(said);
        }
        let region = |at: Span| {
            let holds = |one: usize| bound[one].stmt().is_some_and(|stmt| unit.stmt(stmt).span.contains(at));
            let is_data = |one: usize| bound[one].directive.kind == DirectiveKind::Data && translated[one];
            (0..bound.len()).rev().find(|one| is_data(*one) && holds(*one))
        };
        let constructs = held.iter().filter(|at| may_be_compute(&self.source.file.text(**at)));
        let met = constructs.filter_map(|at| Some((*at, region(*at)?)));
        let said = met.map(|(at, region)| diag::host_inside_data(at, bound[region].directive.name_span));
        self.diags.extend(said);
        let constructs = left.iter().filter(|at| bound[**at].directive.kind.is_compute());
        self.left.extend(constructs.filter_map(|at| Some(unit.stmt(bound[*at].stmt()?).span)));
    }
}

/// Whether a clause of a compute construct says that data is on the device already.
fn is_about_present_data(clause: &ClauseKind) -> bool {
    matches!(clause, ClauseKind::Data(DataClause::Present, _) | ClauseKind::Default { none: false })
}

/// Whether a directive that cannot be read may be a compute construct: it says so, or comes from a macro.
fn may_be_compute(text: &str) -> bool {
    let mut words = source::words(text);
    let name = words.find(|word| word.eq_ignore_ascii_case("acc")).and_then(|_| words.next());
    name.is_none_or(|name| ["parallel", "serial", "kernels"].contains(&&*name.to_ascii_lowercase()))
}

/// Directives of a view, joined to the code; and the code with the blocks that they make.
pub(super) fn joined<'u>(
    scan: &Scan,
    unit: &'u Unit,
    parsed: &[(usize, Directive)],
) -> (Vec<Bound>, Cow<'u, Unit>) {
    let mut unit = Cow::Borrowed(unit);
    let regions = match unit.is_fortran() {
        true => bind::enclose(unit.to_mut(), &scan.directives, parsed).0,
        false => bind::Regions::default(),
    };
    let (bound, _) = bind::bind(&unit, &scan.directives, parsed.to_vec(), &regions);
    (bound, unit)
}

/// The compute constructs that a directive belongs to, which it begins, ends or stands in, from the inside out.
fn compute_around(bound: &[Bound], at: usize) -> impl Iterator<Item = usize> {
    let begin = begin(bound, at);
    let all = std::iter::once(begin).chain(bind::ancestors(bound, begin));
    all.filter(|at| bound[*at].directive.kind.is_compute())
}

/// What a directive is translated with: the outermost compute construct, or the region that it begins or ends.
fn whole(bound: &[Bound], at: usize) -> Option<usize> {
    let begin = begin(bound, at);
    compute_around(bound, at).last().or_else(|| Some(begin).filter(|at| is_region(bound[*at].directive.kind)))
}

/// Whether a directive stands inside of constructs.
fn is_inner(kind: DirectiveKind) -> bool {
    matches!(kind, DirectiveKind::Loop | DirectiveKind::Atomic | DirectiveKind::Cache)
}

/// Whether an edit launches something in OpenMP.
fn is_launch(edit: &Edit) -> bool {
    memchr::memmem::find(&edit.text, b" target").is_some()
}

/// Whether a directive begins a region in which data is on the device.
fn is_region(kind: DirectiveKind) -> bool {
    matches!(kind, DirectiveKind::Data | DirectiveKind::HostData)
}

/// The directive that begins what a directive ends, which goes with it; others are their own.
fn begin(bound: &[Bound], at: usize) -> usize {
    match bound[at].directive.kind {
        DirectiveKind::End(_) => bound[at].partner.unwrap_or(at),
        _ => at,
    }
}

/// The translated `data` construct around a compute construct, the innermost that brings data to the device.
fn around(bound: &[Bound], at: usize, translated: &[bool]) -> Option<usize> {
    let is_data = |at: &usize| bound[*at].directive.kind == DirectiveKind::Data && translated[*at];
    bind::ancestors(bound, at).find(is_data).filter(|_| bound[at].directive.kind.is_compute())
}
