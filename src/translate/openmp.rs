//! The way to OpenMP: what a view of a file becomes.
//!
//! Invariant: `openacc.h`, guards and OpenMP of the source come last, once it is known what is left untranslated.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::acc::ast::DirectiveKind;
use crate::bind::{self, Bound};
use crate::diag;
use crate::edit::{Edit, Ours, Rewrite};
use crate::host::ir::Unit;
use crate::omp::{self, ApiChange, ApiLowered, BaseLanguage};
use crate::scan::{Conditions, Scan};
use crate::sema::Symbols;
use crate::source::Span;
use crate::{acc, layout, plan};

use super::allocations;
use super::existing::{Apart, Chosen};
use super::library::Library;
use super::specification::Specifications;
use super::views::{BackEnd, Gathered, InParts, Lowered, Made, Reached, Rest};
use super::{DataUse, Options, Outcome, Source};
use super::{data, parted, read, translated};

/// The owner of edits about OpenMP of the source.
const EXISTING: u32 = u32::MAX - 3;

/// What the views seen so far have brought.
pub struct OpenMp<'a> {
    library: Library<'a>,
    specifications: Specifications,
    /// The lines at statements that allocate, by place: every view finds them.
    placed: BTreeSet<(u32, Vec<u8>)>,
    /// The OpenMP of the source.
    apart: Apart,
    /// The file belongs to a translation to CUDA, which has its own run-time library.
    is_cuda: bool,
    /// Names of the run-time library that this view reaches first.
    names: Vec<(String, Span)>,
    /// What is done once the directives of this view are.
    later: Option<Later>,
}

/// What a view holds beside directives.
struct Later {
    /// The lines at statements that allocate.
    allocations: Vec<Edit>,
    /// What becomes of uses of the run-time library.
    library: ApiLowered,
}

impl<'a> OpenMp<'a> {
    /// Nothing has been seen.
    pub fn new(source: &'a Source, options: &'a Options) -> OpenMp<'a> {
        OpenMp {
            library: Library::new(options.target(source.file.language), &options.library),
            specifications: Specifications::default(),
            placed: BTreeSet::new(),
            apart: Apart::new(&source.file, options.existing, options.guard.is_some()),
            is_cuda: translated::is_to_cuda(&source.file),
            names: Vec::new(),
            later: None,
        }
    }
}

impl BackEnd for OpenMp<'_> {
    fn launches_at_loops(&self) -> bool {
        true
    }

    fn scanned(&mut self, scan: &Scan, first: Option<&Scan>, _all: &mut Gathered) -> bool {
        if let Some(whole) = first {
            self.begin(whole);
        }
        self.names = self.library.fresh(scan);
        !self.names.is_empty()
    }

    fn lower(&mut self, view: Reached, all: &mut Gathered) -> Lowered {
        let Reached { scan, mut unit, parsed, mut held } = view;
        let file = &all.source.file;
        let symbols = all.source.symbols(&unit, scan);
        let bound = all.bind((scan, &symbols), &mut unit, parsed, &mut held);
        let unit = &unit;
        let mut chosen = self.apart.choose(unit, bound);
        let bound = plan::without_macros(unit, &symbols, std::mem::take(&mut chosen.bound));
        let bound = plan::with_plain_names(unit, &symbols, bound);
        set_apart(&mut chosen, all);
        held.extend(&chosen.left);
        let (bound, made) = planned((scan, unit, &symbols), bound, &held, all);
        let mut changes = self.changes((scan, unit), &bound, &made, all);
        without_regions(&bound, &chosen, &mut changes, all);
        all.leave_whole(unit, &bound, &held, &mut changes);
        leave_declares(&bound, &made.lowered, &mut changes);
        for ((bound, lowered), edits) in bound.iter().zip(&made.lowered).zip(&changes) {
            if let Some(edits) = edits {
                self.specifications.specify(file, unit, (bound.directive.span, &lowered.parts), edits);
            }
        }
        let allocations = allocated((scan, unit, &symbols), all);
        let library = self.lower_library(unit, &symbols, all);
        self.later = Some(Later { allocations, library });
        let rows = made.lowered.into_iter().map(|lowered| lowered.rows);
        let made = rows.zip(changes).zip(made.implied);
        let made = made.map(|((rows, edits), implied)| Made { edits, rows, implied }).collect();
        Lowered { bound, made, held }
    }

    fn written(&mut self, edits: &[Edit]) {
        edits.iter().for_each(|edit| self.library.notice_directive(&edit.text));
    }

    fn after_view(&mut self, all: &mut Gathered) {
        let Some(Later { allocations, library }) = self.later.take() else { return };
        for edit in allocations {
            let span = edit.span;
            if self.placed.insert((span.start, edit.text.clone()))
                && all.edits.add_beside(u32::MAX - 2, edit).is_err()
            {
                all.diags.push(diag::edit_conflict(span));
            }
        }
        self.library.lowered(&all.source.file, library, &mut all.edits);
    }

    fn next_unreached(&mut self) -> Option<u32> {
        self.library.next_unreached()
    }

    fn finish(&mut self, all: &mut Gathered) -> Rest {
        let file = &all.source.file;
        let is_left =
            |start: u32| all.reports.get(&start).is_some_and(|report| report.outcome == Outcome::Left);
        self.specifications.finish(file, &is_left, &mut all.edits, &mut all.diags);
        self.finish_existing(all);
        let apart = &self.apart;
        self.library.finish(file, &mut all.edits, &|guard| apart.keeps(guard));
        Rest {
            api_rows: std::mem::take(&mut self.library.rows),
            needs_support: self.library.needs_support(),
            beside: Vec::new(),
            diags: std::mem::take(&mut self.library.diags),
            ours: Ours { lines: omp::queue_objects().to_vec(), ..Ours::default() },
        }
    }
}

impl InParts for OpenMp<'_> {
    fn begin(&mut self, whole: &Scan) {
        if !self.is_cuda {
            self.library.scanned(whole);
        }
    }

    fn part(&self) -> Self {
        OpenMp {
            library: self.library.part(),
            specifications: Specifications::default(),
            placed: BTreeSet::new(),
            apart: self.apart.part(),
            is_cuda: self.is_cuda,
            names: Vec::new(),
            later: None,
        }
    }

    fn join(&mut self, part: Self) {
        self.library.join(part.library);
        self.specifications.join(part.specifications);
        self.apart.join(part.apart);
    }
}

impl OpenMp<'_> {
    /// The edits for each directive; none for those that are left untranslated.
    fn changes(
        &mut self,
        (scan, unit): (&Scan, &Unit),
        bound: &[Bound],
        made: &Planned,
        all: &mut Gathered,
    ) -> Vec<Option<Vec<Edit>>> {
        let file = &all.source.file;
        let ground = layout::Ground { file, unit, conditions: &made.conditions, guards: &scan.guards };
        let mut changes = Vec::with_capacity(bound.len());
        let owner = |at: usize| bind::ancestors(bound, at).find(|above| bound[*above].text.is_some());
        for (at, (one, lowered)) in bound.iter().zip(&made.lowered).enumerate() {
            let span = one.directive.span;
            let text = one.text.and_then(|text| scan.directives.get(text));
            let owner = owner(at).map(|above| bound[above].directive.span.start);
            let lacks_item = lowered.parts.iter().any(|part| part.lacks_item());
            if lacks_item {
                all.diags.push(diag::not_yet(span, "a list with a name that was not found"));
            }
            let is_left = lowered.left || lacks_item;
            let edits = match is_left {
                true => None,
                false => layout::edits_of(ground, span, text, owner, &lowered.parts),
            };
            let edits = edits.map(|edits| match stands_alone(one.directive.kind) {
                true => layout::after_label(file, scan, span, edits),
                false => edits,
            });
            if edits.is_none() && !is_left {
                let name = acc::name(one.directive.kind);
                all.diags.push(diag::not_yet(span, &format!("`{name}` among other code on one line")));
            }
            changes.push(edits.and_then(|edits| self.library.in_texts(edits, span)));
        }
        changes
    }

    /// What becomes of the uses of the run-time library that this view reaches first.
    fn lower_library(&mut self, unit: &Unit, symbols: &Symbols, all: &Gathered) -> ApiLowered {
        let file = &all.source.file;
        self.library.used(unit);
        // What a `use` statement lists goes with it.
        let used: Vec<Span> =
            unit.scopes.iter().flat_map(|scope| &scope.uses).map(|used| used.span).collect();
        let is_listed = |span: Span| used.iter().any(|used| used.contains(span));
        let names = std::mem::take(&mut self.names);
        let names: Vec<_> = names.into_iter().filter(|(_, span)| !is_listed(*span)).collect();
        let uses = bind::api_uses(unit, &names);
        let sections = omp::Sections { file, unit, symbols };
        let target = all.options.target(file.language);
        let lowered = omp::lower_api(&sections, &uses, target, &|span| layout::stands_alone(file, span));
        for change in lowered.changes.iter().filter(|_| unit.is_fortran()) {
            let (at, text) = match change {
                ApiChange::Pragmas(span, lines) | ApiChange::Led(_, lines, span, _) => {
                    (span.start, lines.iter().map(|one| one.line(BaseLanguage::Fortran)).collect())
                }
                ApiChange::Text(span, text) => (span.start, text.clone()),
                ApiChange::Gone(_) | ApiChange::Left => continue,
            };
            self.specifications.of_call(file, unit, at, &text);
        }
        lowered
    }

    /// The OpenMP of the source that a translation has replaced goes; what is in force with the translation gets.
    fn finish_existing(&mut self, all: &mut Gathered) {
        let reports = &all.reports;
        let is_translated =
            |start: u32| reports.get(&start).is_some_and(|report| report.outcome != Outcome::Left);
        for span in self.apart.replaced(is_translated) {
            let edits = vec![layout::removed(&all.source.file, span)];
            if all.edits.add(Rewrite { owner: EXISTING, edits }).is_err() {
                all.diags.push(diag::edit_conflict(span));
            }
        }
        let is_changed = all.edits.edits().next().is_some();
        let awakes = self.apart.awakes().filter(|_| is_changed);
        all.diags.extend(awakes.map(|(first, is_code)| diag::own_openmp(first, is_code)));
    }
}

/// What OpenMP makes of the directives of a view.
struct Planned {
    lowered: Vec<omp::Lowered>,
    conditions: Arc<Conditions>,
    /// What is implied for variables at each directive.
    implied: Vec<Vec<DataUse>>,
}

impl Source {
    /// What plans for OpenMP are made for, where queues are kept and no other branch of the preprocessor has any.
    pub(super) fn openmp_aim(&self, options: &Options) -> plan::Settings {
        let target = options.target(self.file.language);
        plan::Settings {
            device_type: options.device_type.clone(),
            preference: omp::preference(target.profile, target.version, target.speech),
            queues: true,
            asks: true,
            as_written: options.as_written,
            routines: self.routines(options),
            queued_elsewhere: Vec::new(),
        }
    }
}

/// Plans the directives of a view, and says the plan in OpenMP.
fn planned(
    (scan, unit, symbols): (&Scan, &Unit, &Symbols),
    bound: Vec<Bound>,
    held: &[Span],
    all: &mut Gathered,
) -> (Vec<Bound>, Planned) {
    let (source, options) = (all.source, all.options);
    let file = &source.file;
    let target = options.target(file.language);
    let settings = source.openmp_aim(options);
    // Where the original stays beside the translation, its loops are those of both.
    let is_alone = options.guard.is_none();
    let plan::Preference { strips, exchanges, team_tables, team_sums, .. } = settings.preference;
    let preference = plan::Preference {
        strips: strips && is_alone,
        exchanges: exchanges && is_alone,
        team_tables: team_tables && is_alone,
        team_sums: team_sums && is_alone,
        ..settings.preference
    };
    let settings = plan::Settings {
        preference,
        queues: target.queues == omp::Queues::Kept,
        queued_elsewhere: read::queued_elsewhere(file, scan, (&bound, held)),
        ..settings
    };
    let (bound, reached) = source.settled((unit, scan, symbols), bound, &settings, options, &mut all.found);
    let bound = with_clear_items(unit, symbols, bound, all);
    let (bound, said) = plan::with_extents(file, unit, symbols, bound, &settings);
    all.diags.extend(said);
    let (plan, said) = plan::plan(file, unit, symbols, &bound, held, &reached, &settings);
    all.found.spread(unit, &bound, &plan);
    all.diags.extend(said);
    let (mut aliased, said) = omp::alias(file, unit, symbols, &bound, &plan, target);
    all.diags.extend(said);
    all.diags.extend(omp::reduced(file, unit, symbols, &plan, &mut aliased));
    let conditions = all.conditions();
    all.diags.extend(parted::find(file, unit, &bound, &conditions, &mut aliased));
    let (lowered, said) = omp::lower(&plan, unit, symbols, &aliased, target);
    all.diags.extend(said);
    drop(aliased);
    let implied = (0..bound.len()).map(|index| data::implied(&plan, index)).collect();
    (bound, Planned { lowered, conditions, implied })
}

/// Brings the list items of the directives into the form that plan and OpenMP want, and reports those that have none.
fn with_clear_items(unit: &Unit, symbols: &Symbols, bound: Vec<Bound>, all: &mut Gathered) -> Vec<Bound> {
    let file = &all.source.file;
    let (bound, said) = plan::sizes_as_arrays(unit, symbols, bound);
    all.diags.extend(said);
    let (bound, said) = plan::sections_of_parameters(file, unit, symbols, bound);
    all.diags.extend(said);
    let bound = plan::with_objects(unit, symbols, bound);
    let bound = plan::merge_data_clauses(unit, bound);
    let bound = omp::with_variables(unit, bound);
    let bound = omp::with_used_objects(unit, symbols, bound);
    let bound = omp::with_objects_first(unit, symbols, bound);
    all.diags.extend(omp::partial(unit, symbols, &bound));
    all.diags.extend(omp::limits(unit, symbols, &bound, all.options.target(file.language)));
    bound
}

/// Reports the directives that OpenMP of the source stands for, and takes those away that go.
fn set_apart(chosen: &mut Chosen, all: &mut Gathered) {
    all.diags.append(&mut chosen.diags);
    for span in &chosen.stay {
        all.report(*span, "", Outcome::Exact, Vec::new());
    }
    for span in &chosen.gone {
        let edits = vec![layout::removed(&all.source.file, *span)];
        let outcome = match all.edits.add(Rewrite { owner: EXISTING, edits }) {
            Ok(()) => Outcome::Exact,
            Err(_) => Outcome::Left,
        };
        all.report(*span, "", outcome, Vec::new());
    }
}

/// Regions of data whose place OpenMP of the source takes become nothing.
fn without_regions(bound: &[Bound], chosen: &Chosen, changes: &mut [Option<Vec<Edit>>], all: &Gathered) {
    for (at, one) in bound.iter().enumerate() {
        let begin = match one.directive.kind {
            DirectiveKind::End(_) => one.partner.unwrap_or(at),
            _ => at,
        };
        if chosen.gone_data.contains(&bound[begin].directive.span.start) {
            changes[at] = Some(vec![layout::removed(&all.source.file, one.directive.span)]);
        }
    }
}

/// The lines of several `declare` directives of a function stand together: where one has no room for them, all are left untranslated.
fn leave_declares(bound: &[Bound], lowered: &[omp::Lowered], changes: &mut [Option<Vec<Edit>>]) {
    let is_declare =
        |at: &usize| bound[*at].directive.kind == DirectiveKind::Declare && bound[*at].function.is_some();
    let declares: Vec<usize> = (0..bound.len()).filter(is_declare).collect();
    let failed = declares.iter().filter(|at| changes[**at].is_none() && !lowered[**at].left);
    let failed: BTreeSet<_> = failed.map(|at| bound[*at].function).collect();
    for at in declares.into_iter().filter(|at| failed.contains(&bound[*at].function)) {
        changes[at] = None;
    }
}

/// Whether a directive of C is a statement by itself, which a label may mark.
fn stands_alone(kind: DirectiveKind) -> bool {
    matches!(
        kind,
        DirectiveKind::EnterData | DirectiveKind::ExitData | DirectiveKind::Update | DirectiveKind::Wait
    )
}

/// The lines that give variables their memory on the device where they are allocated.
fn allocated((scan, unit, symbols): (&Scan, &Unit, &Symbols), all: &mut Gathered) -> Vec<Edit> {
    let file = &all.source.file;
    if !unit.is_fortran() {
        return Vec::new();
    }
    let declared = all.source.declared(scan, unit);
    if declared.is_empty() && all.declares.is_empty() {
        return Vec::new();
    }
    let lines = |names: &[String], frees: bool, copies: bool| {
        let names = names.join(", ");
        vec![if frees { omp::freed(&names) } else { omp::allocated(&names, copies) }]
    };
    let (edits, said) =
        allocations::edits((file, unit), symbols, &all.conditions(), (&all.declares, &declared), &lines);
    all.diags.extend(said);
    edits
}
