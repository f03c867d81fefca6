//! What a program means: it is executed, with a host and a device that have memory of their own, or share it.
//!
//! Invariant: a program that runs without an error in all modes is defined by OpenACC 3.3, and prints the same wherever the
//! memories are as in the mode.

mod clauses;
mod eval;
mod exec;
mod loops;
mod memory;
mod present;
mod queue;
mod region;

use std::collections::BTreeMap;

use self::memory::{Memory, Ref, Sharing, Value};
use self::present::{Present, Range};
use self::queue::Queue;
use super::program::{Clause, DataKind, Num, Place, Program, Storage, Type, VarId};
use super::walk;

/// Why a program is not defined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid(pub String);

impl Invalid {
    /// With this reason.
    pub fn new(why: &str) -> Invalid {
        Invalid(why.to_owned())
    }
}

/// A result, or why the program is not defined.
pub type Reply<T> = Result<T, Invalid>;

/// No larger number may appear: all kinds of numbers hold it exactly.
const LARGEST: i64 = 1 << 24;
/// No program does more.
const STEPS: usize = 200_000;

/// Where the device's data is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Store {
    /// In memory of its own.
    Separate,
    /// In the host's.
    Shared,
    /// There is no device: directives are comments.
    Serial,
}

/// When what is queued runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// At once.
    Eager,
    /// When somebody waits for it.
    Lazy,
    /// When somebody waits for any queue, the others first.
    Others,
}

/// A way to execute a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mode {
    pub store: Store,
    pub schedule: Schedule,
    /// Iterations of parallel loops run backwards.
    pub backward: bool,
}

/// The lines that a program prints, by their numbers, in order.
pub type Lines = Vec<(usize, Vec<i64>)>;

/// What a program prints in each store; none where it is not defined there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expected {
    pub separate: Lines,
    pub shared: Option<Lines>,
    pub serial: Option<Lines>,
}

/// Executes a program in all modes. It is defined if it is so on a device with its own memory.
pub fn expected(program: &Program) -> Reply<Expected> {
    well_typed(program)?;
    has_no_orphans(program)?;
    let of = |store, schedule, backward| run(program, Mode { store, schedule, backward });
    let all = |store| -> Reply<Lines> {
        let first = of(store, Schedule::Eager, false)?;
        let others = [(Schedule::Lazy, true), (Schedule::Others, false)];
        for (schedule, backward) in others {
            if of(store, schedule, backward)? != first {
                return Err(Invalid::new("the result depends on the order of queues or iterations"));
            }
        }
        Ok(first)
    };
    let separate = all(Store::Separate)?;
    let shared = all(Store::Shared).ok();
    let serial = of(Store::Serial, Schedule::Eager, false).ok();
    Ok(Expected { separate, shared, serial })
}

/// Executes a program in one mode.
pub fn run(program: &Program, mode: Mode) -> Reply<Lines> {
    let mut machine = Machine::new(program, mode)?;
    machine.entry()?;
    Ok(machine.lines)
}

/// Where names lead.
#[derive(Clone, Debug, Default)]
pub struct Env(Vec<(VarId, Ref)>);

impl Env {
    fn find(&self, var: VarId) -> Option<Ref> {
        self.0.iter().rev().find(|(known, _)| *known == var).map(|(_, at)| *at)
    }

    fn bind(&mut self, var: VarId, at: Ref) {
        self.0.push((var, at));
    }
}

/// What code is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Within {
    Host,
    /// A `parallel` region; whether it is in a loop of gangs.
    Parallel {
        in_gangs: bool,
    },
    Kernels,
    Serial,
}

/// A data clause around the code, in the same function.
#[derive(Clone, Debug)]
struct Visible {
    var: VarId,
    /// How many cells from the start of the variable (or of what it points to) the data begins, and how many there are.
    low: i64,
    count: i64,
}

/// Where code runs, and with what names.
#[derive(Clone, Debug)]
struct Context {
    env: Env,
    within: Within,
    visible: Vec<Visible>,
}

impl Context {
    fn on_device(&self) -> bool {
        self.within != Within::Host
    }
}

/// What executes a program.
struct Machine<'p> {
    program: &'p Program,
    mode: Mode,
    memory: Memory,
    present: Present,
    /// Variables of the file, on the host and on the device.
    globals: Env,
    device_globals: Env,
    queues: BTreeMap<i64, Queue<'p>>,
    lines: Lines,
    steps: usize,
    tokens: u32,
    /// Dimension of a `restrict` pointer's number.
    vias: u32,
    depth: usize,
    /// The path that a jump leaves, or (`true`) whose next turn it begins.
    jump: Option<(usize, bool)>,
}

impl<'p> Machine<'p> {
    fn new(program: &'p Program, mode: Mode) -> Reply<Machine<'p>> {
        let memory = Memory { is_separate: mode.store == Store::Separate, ..Memory::default() };
        let mut machine = Machine {
            program,
            mode,
            memory,
            present: Present::default(),
            globals: Env::default(),
            device_globals: Env::default(),
            queues: BTreeMap::new(),
            lines: Vec::new(),
            steps: 0,
            tokens: 0,
            vias: 0,
            depth: 0,
            jump: None,
        };
        machine.make_globals()?;
        Ok(machine)
    }

    fn make_globals(&mut self) -> Reply<()> {
        for (var, known) in self.program.vars.iter().enumerate() {
            if known.storage != Storage::Global {
                continue;
            }
            let cells = self.program.cells(&known.ty);
            let at = self.memory.make(cells, false, Sharing::Shared);
            if let Some((_, value)) = self.program.initial.iter().find(|(one, _)| *one == var) {
                for cell in 0..cells {
                    self.memory.poke(at.plus(cell as i64), Value::Num(*value))?;
                }
            }
            self.globals.bind(var, at);
        }
        if self.mode.store != Store::Separate {
            return Ok(());
        }
        for clause in &self.program.declares {
            let Clause::Data(kind, items) = clause else { continue };
            for item in items {
                let Place::Var(var) = item.place else { continue };
                self.place_global(*kind, var)?;
            }
        }
        Ok(())
    }

    fn place_global(&mut self, kind: DataKind, var: VarId) -> Reply<()> {
        let Some(at) = self.globals.find(var) else { return Err(Invalid::new("declare of no global")) };
        if kind == DataKind::Link {
            return Ok(());
        }
        let range = Range { start: at, count: self.program.cells(&self.program.vars[var].ty) as i64 };
        let device = self.present.place(&mut self.memory, range);
        if kind == DataKind::CopyIn {
            for cell in 0..range.count {
                let value = self.memory.peek(at.plus(cell))?;
                self.memory.poke(device.plus(cell), value)?;
            }
        }
        self.device_globals.bind(var, device);
        Ok(())
    }

    /// Executes the program.
    fn entry(&mut self) -> Reply<()> {
        let context = Context { env: Env::default(), within: Within::Host, visible: Vec::new() };
        self.function(0, Vec::new(), &context)?;
        match self.queues.values().any(|queue| !queue.is_empty()) {
            true => Err(Invalid::new("the program ends before its queues")),
            false => Ok(()),
        }
    }

    fn step(&mut self) -> Reply<()> {
        self.steps += 1;
        if self.steps > STEPS { Err(Invalid::new("too long")) } else { Ok(()) }
    }

    fn is_separate(&self) -> bool {
        self.mode.store == Store::Separate
    }

    /// A number that fits all kinds.
    fn fits(value: i64) -> Reply<i64> {
        if value.abs() < LARGEST { Ok(value) } else { Err(Invalid::new("a number is too large")) }
    }
}

/// Whether each `loop` directive stands in a compute construct or in a routine (2.9).
fn has_no_orphans(program: &Program) -> Reply<()> {
    struct Orphans(bool);
    impl Orphans {
        fn block(&mut self, block: &super::program::Block) {
            use super::program::Stmt;
            for stmt in block {
                match stmt {
                    Stmt::Loop(one) => {
                        self.0 |= one.directive.is_some();
                        self.block(&one.body);
                    }
                    Stmt::If { then, other, .. } => {
                        self.block(then);
                        self.block(other);
                    }
                    Stmt::Data { body, .. }
                    | Stmt::HostData { body, .. }
                    | Stmt::Scope { body, .. }
                    | Stmt::Alias { body, .. } => self.block(body),
                    Stmt::Path(one) => self.block(&one.body),
                    _ => {}
                }
            }
        }
    }
    let mut orphans = Orphans(false);
    program.functions.iter().filter(|one| one.routine.is_none()).for_each(|one| orphans.block(&one.body));
    if orphans.0 { Err(Invalid::new("a loop directive outside of compute constructs")) } else { Ok(()) }
}

/// Whether all expressions have operands that fit.
fn well_typed(program: &Program) -> Reply<()> {
    struct Types<'a>(&'a Program, bool);
    impl walk::see::See for Types<'_> {
        fn expr(&mut self, expr: &super::program::Expr) {
            use super::program::Expr;
            if matches!(expr, Expr::Binary(..) | Expr::Choice(..)) {
                self.1 &= self.0.kind(expr).is_some();
            }
        }
        fn stmt(&mut self, stmt: &super::program::Stmt) {
            use super::program::Stmt;
            match stmt {
                Stmt::Assign { place, op, value, .. } => {
                    let target = match self.0.type_of(place) {
                        Type::Num(num) => Some(num),
                        _ => None,
                    };
                    let kind = self.0.kind(value);
                    let fits = match (target, op) {
                        (Some(target), None) => (target == Num::Truth) == (kind == Some(Num::Truth)),
                        (Some(target), Some(op)) => self.0.kind_of_update(*op, target, kind),
                        (None, _) => false,
                    };
                    self.1 &= fits && kind.is_some();
                }
                Stmt::If { condition, .. } | Stmt::Leave { condition, .. } => {
                    self.1 &= self.0.kind(condition) == Some(Num::Truth)
                }
                _ => {}
            }
        }
        fn place(&mut self, place: &Place) {
            if let Place::Index(_, subscripts) = place {
                let is_whole =
                    |one: &super::program::Expr| matches!(self.0.kind(one), Some(Num::Int | Num::Long));
                self.1 &= subscripts.iter().all(is_whole);
            }
        }
    }
    let mut types = Types(program, true);
    walk::program(program, &mut types);
    if types.1 { Ok(()) } else { Err(Invalid::new("operands do not fit")) }
}

impl Program {
    fn kind_of_update(&self, op: super::program::Op, target: Num, value: Option<Num>) -> bool {
        use super::program::Op;
        let Some(value) = value else { return false };
        match op {
            Op::And | Op::Or => target == Num::Truth && value == Num::Truth,
            _ if target == Num::Truth || value == Num::Truth => false,
            _ if op.is_of_integers() => !target.is_real() && !value.is_real(),
            _ => !op.is_truth(),
        }
    }
}

#[cfg(test)]
mod tests;
