//! Makes the offload plan of a file: what each directive amounts to once OpenACC's implicit rules are applied.
//!
//! Invariant: no word of a target language; every choice that a user could miss is a diagnostic.

mod address;
mod array;
mod auto;
mod by_name;
mod called;
mod callee;
mod check;
mod check_divisions;
mod clauses;
mod construct;
mod counting;
mod data;
mod declare;
mod division;
mod exchange;
mod extent;
mod feedback;
mod gang_sums;
mod host_branches;
mod induction;
mod inner;
mod inner_private;
mod jumps;
mod kernels;
mod launch;
mod lent;
mod level;
mod levels;
mod listed;
mod macro_parameters;
mod merged;
mod motion;
mod nest;
mod object;
mod output;
mod own;
mod own_section;
mod parts;
mod plain;
mod predetermined;
mod queue;
mod reduce;
mod reduced;
mod requested_sizes;
mod role;
mod routine;
mod saved;
mod section;
mod sharing;
mod spelling;
mod standing;
mod statement;
mod strides;
mod strips;
mod tables;
mod team_sums;
#[cfg(test)]
mod tests;
mod tree;
mod trips;
mod turns;
mod variable;
mod wanted;
mod words;

pub use auto::{Reached, leaves_open, settle};
pub use by_name::is_named_as_array_only;
pub use called::{Routines, declared_levels};
pub use check::{Fault, check};
pub use clauses::{effective, list};
pub use construct::DataItem;
pub use data::{is_rows, is_whole_pointer};
pub use declare::is_allocated_here;
pub use division::Division;
pub use exchange::{exchange, head};
pub use extent::with_extents;
pub use feedback::reason;
pub use induction::{Closed, Put};
pub use launch::jump_out;
pub use level::Levels;
pub use listed::{Code, Launched, Listed, LoopLists, private, used_outside};
pub use macro_parameters::sections_of_parameters;
pub use merged::merge_data_clauses;
pub use motion::Motion;
pub use nest::TILE;
pub use object::with_objects;
pub use own::{Own, own_scalars};
pub use own_section::OwnSection;
pub use plain::{with_plain_names, without_macros};
pub use predetermined::with_predetermined;
pub use reduced::is_used_beside;
pub use saved::{SAVED, Saved, expressions, has_effects, reads_updated};
pub use section::{Contiguity, Extent, Section, sizes_as_arrays};
pub use strides::{Strides, strides};
pub use strips::{Count, Strip};
pub use tables::{ElementUpdate, Table, element_update};
pub use team_sums::TeamSum;
pub use tree::{
    ArrayStatement, Attribute, ByHost, Condition, Divided, Ends, Exit, Gangs, Item, KernelsPart, Launch,
    Names, Note, Plan, Region, Sharing, Single, Sizes, Spread, WorkLoop,
};
pub use variable::{Role, Unlisted, implied};
pub use wanted::{is_own_counter, live_after};

use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use crate::acc;
use crate::acc::ast::{Directive, DirectiveKind};
use crate::bind::{Bound, ancestors, descendants};
use crate::diag::Diag;
use crate::host::ir::{FunctionId, Unit};
use crate::sema::{self, CTypes, SymbolId, Symbols};
use crate::source::{Language, SourceFile, Span};

use clauses::LoopClauses;

/// How loop nests are best distributed, for the target at hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preference {
    /// Tight nests become one loop (else: gangs outside, lanes inside).
    pub collapse_tight: bool,
    /// Tight nests that reduce nothing and name so many elements of arrays become one loop in any case.
    pub flat_from: Option<usize>,
    /// An inner loop with fewer literal iterations than this stays inside one thread.
    pub short_trip: i128,
    /// Why loops that use arrays of variable length cannot be divided inside others, if they cannot.
    pub variable_length_inside: Result<(), &'static str>,
    /// The addresses of arrays that bound a loop are lost where gangs and lanes divide it together.
    pub loses_address_bounds: bool,
    /// Loops can be tiled.
    pub tiles: bool,
    /// Where they cannot, tiles are loops of their own.
    pub strips: bool,
    /// What an element of an array of pointers leads to can be brought to the device: `r[j][0:n]`.
    pub elements_lead: bool,
    /// Loops of a nest that run as one may change places in the source.
    pub exchanges: bool,
    /// Each gang collects atomic updates of arrays of known size in a table of its own.
    pub team_tables: bool,
    /// Each gang reduces into a variable of its own first.
    pub team_sums: bool,
    /// Loops that run as one are counted in the order that suits the memory, whatever their order in the source.
    pub orders_nests: bool,
    /// Why a loop whose condition is `!=` cannot be divided, if it cannot.
    pub not_equal: Result<(), &'static str>,
}

/// What the plan is made for.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The device type whose clauses count.
    pub device_type: String,
    /// How loop nests are best distributed.
    pub preference: Preference,
    /// Queues are kept: work goes on while the host does.
    pub queues: bool,
    /// The device can compute a condition that the host then decides by.
    pub asks: bool,
    /// Loops without a directive inside of others stay in order, as the program says nothing of them.
    pub as_written: bool,
    /// The levels of the routines of other files.
    pub routines: Routines,
    /// Directives with queues that other views of the file translate.
    pub queued_elsewhere: Vec<QueuedElsewhere>,
}

/// A directive with queues that another view of the file translates.
#[derive(Clone, Debug)]
pub struct QueuedElsewhere {
    /// Its tree.
    pub directive: Directive,
    /// It stands in no branch of the preprocessor that this view hides.
    pub is_shown: bool,
    /// The branches beside those that it stands in: no build reads both.
    pub beside: Vec<Span>,
}

/// What a plan is made from.
pub(crate) struct Input<'a> {
    file: &'a SourceFile,
    unit: &'a Unit,
    symbols: &'a Symbols,
    bound: &'a [Bound],
    settings: &'a Settings,
    entered: data::Entered,
    declared: Rc<data::Declared>,
    /// The `declare` directives of each function, and those at file scope.
    declares: HashMap<Option<FunctionId>, Vec<usize>>,
    /// The pointers that `declare` at file scope says to hold addresses of the device.
    device_globals: OnceCell<Vec<(SymbolId, String)>>,
    /// The variables of each function with `kernels` whose address it takes.
    escaping: HashMap<FunctionId, Names>,
    /// The procedures with `routine gang` in this file.
    gang_routines: HashSet<String>,
    queues: queue::Queues,
    /// What may be on the device where a construct begins.
    standing: OnceCell<standing::Standing>,
    /// Where variables of loops with directives are named outside of these.
    outer_names: OnceCell<inner_private::OuterNames>,
    reached: Reached,
}

/// Makes the plan: what is decided of one directive is there for those that follow.
struct Maker<'a> {
    input: Input<'a>,
    plan: Plan,
    diags: Vec<Diag>,
}

/// Plans all bound directives of one file. `held` are the extents of directives that could not be read or bound:
/// a construct around one of them remains untranslated, too.
pub fn plan(
    file: &SourceFile,
    unit: &Unit,
    symbols: &Symbols,
    bound: &[Bound],
    held: &[Span],
    reached: &Reached,
    settings: &Settings,
) -> (Plan, Vec<Diag>) {
    let input = Input { reached: reached.clone(), ..Input::new(file, unit, symbols, bound, settings) };
    let mut maker = Maker::new(input);
    for index in 0..bound.len() {
        maker.directive(index, held);
    }
    if matches!(file.language, Language::C | Language::Fortran(_)) {
        maker.callees();
    }
    if unit.is_fortran() {
        maker.statement_functions();
        spelling::respell(&mut maker);
    }
    maker.plan.note_data(symbols, bound, &settings.device_type);
    role::settle(&mut maker.plan);
    maker.plan.note_divisions(unit, symbols, bound, settings);
    debug_assert_eq!(check(unit, symbols, bound, &maker.plan), [], "{}", file.name);
    (maker.plan, maker.diags)
}

fn escaping(unit: &Unit, symbols: &Symbols, bound: &[Bound]) -> HashMap<FunctionId, Names> {
    let mut escaping = HashMap::new();
    let kernels = bound.iter().filter(|one| launch::region(one.directive.kind) == Region::Kernels);
    for function in kernels.filter_map(|one| one.function) {
        let body = unit.function(function).body;
        escaping.entry(function).or_insert_with(|| sema::escaping(unit, symbols, body));
    }
    escaping
}

impl<'a> Input<'a> {
    fn new(
        file: &'a SourceFile,
        unit: &'a Unit,
        symbols: &'a Symbols,
        bound: &'a [Bound],
        settings: &'a Settings,
    ) -> Input<'a> {
        let mut declares: HashMap<Option<FunctionId>, Vec<usize>> = HashMap::new();
        for (at, one) in
            bound.iter().enumerate().filter(|(_, one)| one.directive.kind == DirectiveKind::Declare)
        {
            declares.entry(one.function).or_default().push(at);
        }
        Input {
            file,
            unit,
            symbols,
            bound,
            settings,
            entered: data::entered(unit, bound, symbols),
            declared: Rc::new(data::declared(bound, symbols)),
            declares,
            device_globals: OnceCell::new(),
            escaping: escaping(unit, symbols, bound),
            gang_routines: routine::of_gangs(unit, bound, &settings.device_type),
            queues: queue::Queues::new(unit, bound, &settings.queued_elsewhere),
            standing: OnceCell::new(),
            outer_names: OnceCell::new(),
            reached: Reached::new(),
        }
    }

    /// The types of the file's expressions, as C has them.
    fn types(&self) -> CTypes<'_> {
        const NONE: &BTreeSet<&str> = &BTreeSet::new();
        CTypes { file: self.file, unit: self.unit, headers: &[], symbols: self.symbols, chosen: NONE }
    }

    /// Whether the `kernels` construct of directive `index` may read or change a variable by another name than its own.
    fn is_reached(&self, index: usize, symbol: SymbolId) -> bool {
        let reached = self.reached.get(&self.bound[index].directive.span.start);
        reached.is_some_and(|reached| reached.contains(&symbol))
    }

    /// The compute construct that holds directive `index`.
    fn compute_above(&self, index: usize) -> Option<usize> {
        ancestors(self.bound, index).find(|above| self.bound[*above].directive.kind.is_compute())
    }

    /// The clauses of directive `index` that count, sorted.
    fn clauses(&self, index: usize) -> LoopClauses<'a> {
        let directive = &self.bound[index].directive;
        LoopClauses::new(directive, &effective(directive, &self.settings.device_type).0)
    }

    /// The loop directives below `index`, in source order.
    fn all_loops_below(&self, index: usize) -> Vec<usize> {
        let is_loop = |at: &usize| self.bound[*at].directive.kind == DirectiveKind::Loop;
        descendants(self.bound, index).filter(is_loop).collect()
    }

    /// Directive `index`, which may be a loop itself, and the loop directives below it.
    fn with_loops_below(&self, index: usize) -> impl Iterator<Item = usize> + use<> {
        std::iter::once(index).chain(self.all_loops_below(index))
    }

    /// The loop directives whose parent is `index`.
    fn loops_below(&self, index: usize) -> Vec<usize> {
        let mut loops = self.all_loops_below(index);
        loops.retain(|at| self.bound[*at].parent == Some(index));
        loops
    }
}

impl<'a> Maker<'a> {
    fn new(input: Input<'a>) -> Maker<'a> {
        let mut items = Vec::with_capacity(input.bound.len());
        items.resize_with(input.bound.len(), || Item::Left);
        let notes = vec![Note::default(); input.bound.len()];
        Maker { input, plan: Plan { items, notes, ..Plan::default() }, diags: Vec::new() }
    }

    fn directive(&mut self, index: usize, held: &[Span]) {
        let bound = &self.input.bound[index];
        if self.input.compute_above(index).is_some() && bound.directive.kind != DirectiveKind::Atomic {
            // Decided by the compute construct that holds it.
            return;
        }
        if acc::is_idle(&bound.directive) {
            self.diags.push(crate::diag::no_data(bound.directive.span, acc::name(bound.directive.kind)));
            self.plan.items[index] = Item::Gone;
            return;
        }
        match bound.directive.kind {
            DirectiveKind::Parallel
            | DirectiveKind::Serial
            | DirectiveKind::Kernels
            | DirectiveKind::ParallelLoop
            | DirectiveKind::SerialLoop
            | DirectiveKind::KernelsLoop => self.compute(index, held),
            DirectiveKind::Loop => self.orphan_loop(index),
            DirectiveKind::Routine => self.routine(index),
            DirectiveKind::Atomic => self.atomic(index),
            DirectiveKind::Cache => self.cache(index),
            DirectiveKind::Data
            | DirectiveKind::EnterData
            | DirectiveKind::ExitData
            | DirectiveKind::Update => self.data_directive(index),
            DirectiveKind::HostData => {
                self.addresses(index);
                self.data_directive(index);
            }
            DirectiveKind::Declare => self.declare(index),
            DirectiveKind::Init | DirectiveKind::Shutdown | DirectiveKind::Set | DirectiveKind::Wait => {
                self.by_clauses(index, false)
            }
            DirectiveKind::End(_) => {}
        }
        if bound.directive.kind.is_compute() {
            if self.input.may_have_object(index) {
                self.plan.notes[index].may_have_object = true;
            }
            if !matches!(self.plan.items[index], Item::Left) {
                self.about_objects(index);
            }
        }
        if self.input.moves(index) {
            self.plan.notes[index].moves = true;
        }
        if self.input.settings.queues {
            self.outlived(index);
            if matches!(bound.directive.kind, DirectiveKind::Data | DirectiveKind::HostData) {
                self.after_queued_data(index);
            }
            if bound.directive.kind == DirectiveKind::Data {
                self.ends_before_queues(index);
            }
        }
    }

    /// Directive `index` stays as it is, whatever the target is.
    fn stay(&mut self, index: usize, why: Diag) {
        self.diags.push(why);
        self.plan.notes[index].stays = true;
    }

    /// The clauses that count, with a note if others were dropped.
    fn counting(&mut self, index: usize) -> Vec<usize> {
        let directive = &self.input.bound[index].directive;
        let (counting, dropped) = effective(directive, &self.input.settings.device_type);
        if dropped {
            self.diags.push(crate::diag::other_device_dropped(directive.span));
        }
        counting
    }

    fn by_clauses(&mut self, index: usize, pushed_down: bool) {
        self.counting(index);
        self.plan.items[index] = Item::Clauses { pushed_down, implied: Vec::new() };
    }

    fn atomic(&mut self, index: usize) {
        let above = self.input.compute_above(index);
        if above.is_some_and(|above| matches!(self.plan.items[above], Item::Left)) {
            return;
        }
        self.by_clauses(index, false);
    }

    fn cache(&mut self, index: usize) {
        self.diags.push(crate::diag::cache_dropped(self.input.bound[index].directive.span));
        self.plan.items[index] = Item::Gone;
    }
}
