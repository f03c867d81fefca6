//! The offload plan: what happens, in OpenACC's terms, with every implicit rule made explicit.
//!
//! Invariant: no word of OpenMP or CUDA; no clause by its index; an implied attribute is named by its rule page.

use std::collections::{BTreeMap, BTreeSet};

use crate::acc::ast::ReductionOp;
use crate::diag::Diag;
use crate::host::ir::{FunctionId, StmtId};
use crate::sema::{Elementwise, SymbolId};
use crate::source::Span;

use super::called::Routines;
use super::construct::Construct;
use super::division::Divisions;
use super::exchange::Exchange;
use super::own_section::OwnSection;
use super::requested_sizes::RequestedSizes;
use super::saved::Saved;
use super::section::Section;
use super::strips::Strip;
use super::tables::Table;
use super::team_sums::TeamSum;

/// The plan of one file: what becomes of each bound directive.
#[derive(Debug, Default)]
pub struct Plan {
    /// One item for each bound directive, in their order.
    pub items: Vec<Item>,
    /// Further facts about each bound directive, in their order.
    pub notes: Vec<Note>,
    /// The levels of parallelism of the loops of directives, independent of the target.
    pub divisions: Divisions,
    /// The levels that calls of procedures take.
    pub routines: Routines,
    /// The parts of each `kernels` construct, by its directive.
    pub kernels: BTreeMap<usize, Vec<KernelsPart>>,
    /// Constructs that stand before statements without a directive of their own.
    pub inserted: Vec<(usize, StmtId, Launch)>,
    /// Array statements whose elements loops run through.
    pub arrays: BTreeMap<StmtId, ArrayStatement>,
    /// Facts about list items, by their places.
    pub list_items: BTreeMap<Span, ItemNote>,
    /// `do concurrent` loops that become `do` loops: the directive that governs each.
    pub concurrent: BTreeMap<StmtId, usize>,
    /// Functions that the compute constructs of directives call without a `routine` directive.
    pub callees: Vec<(usize, FunctionId)>,
    /// Loops and branches of `kernels` regions that the host runs: only what is in them is launched.
    pub host_runs: BTreeSet<StmtId>,
    /// Branches of `kernels` regions that the host runs by a condition which the device computes.
    pub conditions: Vec<Condition>,
    /// Expressions of clauses whose values are saved in variables, because several constructs need them.
    pub saved: Vec<Saved>,
    /// Arrays that replace sections of pointers, by their directives.
    pub own_sections: Vec<OwnSection>,
    /// Statements of `kernels` regions that print and that the host runs.
    pub by_host: BTreeMap<StmtId, ByHost>,
    /// Inner loops that a directive on an outer loop governs and that get a construct of their own.
    pub inserted_loops: Vec<(usize, WorkLoop)>,
    /// The arguments of `gang`, `worker` and `vector` that apply to some loop.
    pub applied: BTreeSet<Span>,
}

/// Facts about one directive, whatever it becomes.
#[derive(Clone, Debug, Default)]
pub struct Note {
    /// It stays as it is whatever the target is: a diagnostic that concerns all targets has said why.
    pub stays: bool,
    /// An earlier queue transfers its data: the host waits for that queue first.
    pub waits: bool,
    /// It waits for queues that may bring the values of scalars: the host has these when it has waited itself.
    pub waits_first: bool,
    /// It is queued, and the host waits for it: what it names may no longer exist when its queue reaches it.
    pub is_held: bool,
    /// It is a region of data at whose end the host waits for the queues used inside.
    pub waits_at_end: bool,
    /// The jumps out of its region of data, before each of which the region ends.
    pub jumps: Vec<Exit>,
    /// Its clauses mean the same before each jump out of its region as where it begins.
    pub is_steady: bool,
    /// Its construct assigns a variable which its clauses name: after the construct they would mean something else.
    pub moves: bool,
    /// It is a compute construct of a member function whose object may be on the device: a directive puts it there.
    pub may_have_object: bool,
    /// Members whose target it puts on the device apart from their object: they are pointers, and a local variable can stand
    /// for each of them all over the construct.
    pub apart: Option<BTreeSet<String>>,
    /// Such members that the compute construct uses and does not name, of an object that is absent.
    pub unnamed: BTreeSet<String>,
    /// Scalars that a `kernels` construct changes, and that may be on the device before it.
    pub standing: BTreeSet<String>,
    /// One gang runs the region, as gangs could not combine what they reduce: what there is to say of it.
    pub one_gang: Option<Diag>,
    /// What the clauses of a compute construct and around it say of data.
    pub construct: Construct,
    /// How many gangs, workers and vector lanes the clauses of a compute construct ask for.
    pub sizes: RequestedSizes,
}

/// Facts about a list item.
#[derive(Clone, Debug, Default)]
pub struct ItemNote {
    /// Its section, where it is not plainly one piece of memory.
    pub section: Option<Section>,
    /// A new `update` begins before it, since it may be the same memory as items before it that go the other way.
    pub turns: bool,
    /// In `host_data`, a variable could stand for its address on the device.
    pub is_address: bool,
}

/// An array statement that loops run through.
#[derive(Debug)]
pub struct ArrayStatement {
    /// The directive that holds it.
    pub directive: usize,
    /// What is done for an element.
    pub elementwise: Elementwise,
    /// What stands around the loops if they make one value: how it begins, and what is done with it.
    pub ends: Ends,
}

impl Plan {
    /// The loops that the directive of the loop `stmt` is about: others that run as one with it are among them.
    pub fn loops_of(&self, stmt: StmtId) -> Vec<StmtId> {
        self.divisions.get(&stmt).map_or_else(|| vec![stmt], |division| division.stmts.clone())
    }

    /// What the clauses of compute construct `index` and around it say of data.
    pub fn construct(&self, index: usize) -> &Construct {
        &self.notes[index].construct
    }

    /// The scalars without a clause that launches of `kernels` construct `index` leave for others on the device alone: on a queue,
    /// the host has not got the value when it asks for the next launch, and what is present is not copied back.
    pub fn scalars_left(&self, index: usize, is_queued: bool) -> impl Iterator<Item = &str> {
        let implied = match &self.items[index] {
            self::Item::Clauses { implied, .. } => implied.as_slice(),
            _ => &[],
        };
        let scalars = implied.iter().filter(|one| one.entry.starts_with("implicit/scalar"));
        let standing = &self.notes[index].standing;
        scalars.map(|one| one.item.as_str()).filter(move |item| is_queued || standing.contains(*item))
    }

    /// The section of a list item, where it is not plainly one piece of memory.
    pub fn section(&self, item: Span) -> Option<&Section> {
        self.list_items.get(&item)?.section.as_ref()
    }

    /// The launches that run a statement before or after the loops of array statements.
    pub fn singles(&self) -> impl Iterator<Item = &Launch> {
        let ends = self.arrays.values().flat_map(|one| one.ends.first.iter().chain(&one.ends.last));
        ends.filter_map(|single| single.launch.as_ref())
    }

    /// The same, to change them.
    pub(super) fn singles_mut(&mut self) -> impl Iterator<Item = &mut Launch> {
        let arrays = self.arrays.values_mut().map(|one| &mut one.ends);
        let ends = arrays.flat_map(|ends| ends.first.iter_mut().chain(&mut ends.last));
        ends.filter_map(|single| single.launch.as_mut())
    }
}

/// A part of a `kernels` construct, in the order in which they run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KernelsPart {
    /// The device runs it: the loop of a directive in parallel, or a statement by one thread.
    Launch {
        /// The statement.
        stmt: StmtId,
        /// The directive of the loop.
        directive: Option<usize>,
    },
    /// The host runs it: a statement that prints.
    Output(StmtId),
    /// The host runs a loop or branch around other parts.
    Host {
        /// The loop or branch.
        stmt: StmtId,
        /// The parts of its bodies.
        bodies: Vec<(StmtId, Vec<KernelsPart>)>,
    },
}

/// A condition that the device computes before a branch.
#[derive(Debug)]
pub struct Condition {
    /// The `if` statement.
    pub stmt: StmtId,
    /// The condition's bytes.
    pub span: Span,
    /// The condition as the source writes it.
    pub text: String,
    /// The launch that computes it.
    pub launch: Launch,
}

/// A statement that the host runs between launches.
#[derive(Debug)]
pub struct ByHost {
    /// The directive of its region.
    pub directive: usize,
    /// What is copied from the device before.
    pub updates: BTreeMap<String, SymbolId>,
}

/// Statements before and after the loops of an array statement.
#[derive(Debug, Default)]
pub struct Ends {
    /// Before them.
    pub first: Option<Single>,
    /// After them.
    pub last: Option<Single>,
}

/// A statement that one thread runs.
#[derive(Debug)]
pub struct Single {
    /// The statement.
    pub code: String,
    /// The launch that runs it; none if the host does.
    pub launch: Option<Launch>,
}

/// What becomes of one directive.
#[derive(Debug)]
pub enum Item {
    /// It is untranslated; a diagnostic has said why, here or at the directive that governs it.
    Left,
    /// The target needs nothing from it: its line is deleted.
    Gone,
    /// A construct that runs on the device.
    Launch(Box<Launch>),
    /// A loop whose iterations are distributed inside a launch.
    Loop(Box<WorkLoop>),
    /// A loop that one of several gangs runs from end to end.
    ByOneGang,
    /// A loop of a procedure that all gangs run together: each gang takes its iterations by their numbers.
    Divided(Divided),
    /// A directive that is translated clause by clause.
    Clauses {
        /// Its `deviceptr` clauses stand on the constructs inside.
        pushed_down: bool,
        /// Names that are implied in addition to the clauses.
        implied: Vec<Attribute>,
    },
    /// Data that live as long as the program, or from the directive to the exits of its function.
    Declare {
        /// The exits of the function; none for a directive at file scope.
        exits: Vec<Exit>,
        /// In Fortran, the first statement of the procedure, and its offset: a directive among declarations does nothing yet.
        entry: Option<(StmtId, u32)>,
    },
    /// A routine that is compiled for the device: from its directive to the end of its definition or declaration.
    Routine {
        /// Offset of the routine's end; `None` if the directive names a routine declared before.
        end: Option<u32>,
    },
}

/// A loop whose iterations gangs divide without a construct.
#[derive(Debug)]
pub struct Divided {
    /// The loop.
    pub stmt: StmtId,
    /// Its variable, as the source spells it.
    pub variable: String,
    /// It is a default integer of Fortran, or anything that C counts with.
    pub is_default: bool,
    /// Where a pointer begins: its iterations are counted from there.
    pub begin: Option<String>,
    /// Its body.
    pub body: StmtId,
    /// A directive between the head of the loop and its body, which is about the body.
    pub directive: Option<Span>,
    /// Offset of the end of the head's last expression.
    pub head_end: u32,
}

/// An exit of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// A `return`, or another jump that leaves a region.
    Jump {
        /// The statement.
        stmt: StmtId,
        /// It is the body of a control statement, without braces.
        braces: bool,
    },
    /// The closing brace of the function's body.
    End(StmtId),
}

/// Which compute construct a launch comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Region {
    /// `parallel`
    Parallel,
    /// `serial`
    Serial,
    /// `kernels`
    Kernels,
}

/// How many gangs run the region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gangs {
    /// One gang of one worker of one vector lane, until a loop says otherwise.
    One,
    /// As many as asked for, or as the device likes.
    Many,
}

/// A construct that runs on the device.
#[derive(Debug)]
pub struct Launch {
    /// Which construct it comes from.
    pub region: Region,
    /// The bound directive whose clauses are its own.
    pub directive: usize,
    /// How many gangs.
    pub gangs: Gangs,
    /// Attributes of variables that no clause states, and `private`, `firstprivate` and `reduction` of all kinds.
    pub attributes: Vec<Attribute>,
    /// The loop that the construct is combined with.
    pub nest: Option<WorkLoop>,
    /// The clauses about data and conditions are stated around the launch already.
    pub data_outside: bool,
}

impl Launch {
    /// The attributes of the construct, and those of the loop that it is combined with.
    pub fn all_attributes(&self) -> impl Iterator<Item = &Attribute> {
        self.attributes.iter().chain(self.nest.iter().flat_map(|nest| &nest.attributes))
    }
}

/// What the iterations of a loop are distributed across.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spread {
    /// The gangs.
    pub gangs: bool,
    /// The workers and vector lanes of a gang.
    pub lanes: bool,
}

/// What `gang`, `worker` and `vector` say in parentheses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// How many gangs.
    pub gangs: Option<String>,
    /// How many workers, and how many lanes.
    pub lanes: Vec<String>,
    /// How many iterations a gang takes at a time; `*` leaves it open.
    pub chunk: Option<String>,
}

/// A loop whose iterations run in parallel.
#[derive(Debug)]
pub struct WorkLoop {
    /// The `for` statement.
    pub stmt: StmtId,
    /// What its iterations are distributed across.
    pub spread: Spread,
    /// How many tightly nested loops are run as one.
    pub collapse: usize,
    /// The sizes of the tiles, outermost loop first; none if the loops are not tiled.
    pub tile: Vec<String>,
    /// The loops over tiles, outermost first, that stand around the loops over the elements of a tile, where these are written out.
    pub strips: Vec<Strip>,
    /// The loops over the elements of such a tile, if they are distributed across lanes.
    pub elements: Option<Box<WorkLoop>>,
    /// The heads of two of its loops that change places.
    pub exchange: Option<Exchange>,
    /// Tables in which each gang collects its atomic updates.
    pub tables: Vec<Table>,
    /// Variables into which each gang reduces first.
    pub team_sums: Vec<TeamSum>,
    /// The sizes that its clauses ask for.
    pub sizes: Sizes,
    /// `private`, `firstprivate` and `reduction` on the loop.
    pub attributes: Vec<Attribute>,
    /// No directive in its body becomes a construct.
    pub is_plain: bool,
    /// Each of its iterations runs loops in order that may be long, or differ in length.
    pub is_heavy: bool,
    /// Loops inside of it are divided among the lanes of each gang, no clause says how many there are, and these loops reduce what
    /// it does not, or their iterations run loops in order that may be long.
    pub has_busy_rows: bool,
    /// The number of iterations as an expression of the source, if it is simple.
    pub trips: Option<String>,
    /// A literal trip count.
    pub trip_constant: Option<i128>,
}

/// What a variable is to a construct.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sharing {
    /// A copy for each thread without a first value.
    Private,
    /// A copy for each thread with the value from outside.
    Firstprivate,
    /// A copy for each thread, combined at the end.
    Reduction(ReductionOp),
    /// Copied to the device and back unless it is there.
    Copy,
    /// Holds a device address.
    Deviceptr,
}

impl Sharing {
    /// Whether each thread has a copy that is its own to the end.
    pub fn is_private(&self) -> bool {
        matches!(self, Sharing::Private | Sharing::Firstprivate)
    }
}

/// One attribute of one variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// What it is.
    pub sharing: Sharing,
    /// The variable or section, as written.
    pub item: String,
    /// The rule page that implies it (`implicit/loop-variable`), or the page of the clause that states it.
    pub entry: &'static str,
}

/// Names by their meaning at one place.
pub type Names = BTreeSet<SymbolId>;
