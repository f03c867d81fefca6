//! How a `kernels` region is split into launches: the loops that run in parallel, and what stands beside them.
//!
//! Invariant: the parts keep their order, and a loop or branch around them is run by the host only if the host knows what
//! decides about it.

use std::collections::{BTreeMap, BTreeSet};

use crate::acc::ast::ClauseKind;
use crate::bind::ancestors;
use crate::host::ir::{ExprId, ExprKind, StmtId, StmtKind, Unit};
use crate::sema::{self, Class, Header, SymbolId, SymbolKind, Symbols, uses};

use super::{Input, KernelsPart};

/// Loops that run in parallel, with their directives.
pub(super) type Nests = BTreeMap<StmtId, usize>;

/// The parts of a region.
pub(super) struct Parts {
    /// All of them, in their order.
    pub(super) all: Vec<StmtId>,
    /// Those that are loops that run in parallel.
    pub(super) nests: Nests,
    /// What the host runs around them.
    pub(super) host_runs: Vec<StmtId>,
    /// Branches that the host runs around them by a condition which the device computes.
    pub(super) by_condition: Vec<StmtId>,
}

impl Parts {
    /// All statements whose variables launches use.
    pub(super) fn users(&self) -> impl Iterator<Item = StmtId> {
        self.all.iter().chain(&self.by_condition).copied()
    }

    /// The variables of the loops that the host runs.
    pub(super) fn counters(&self, unit: &Unit, symbols: &Symbols) -> BTreeSet<SymbolId> {
        let headers = self.host_runs.iter().filter_map(|stmt| sema::header(unit, symbols, *stmt).ok());
        headers.map(|header| header.var).collect()
    }
}

impl Input<'_> {
    /// The outermost loops of a region that run in parallel.
    pub(super) fn nests(&self, index: usize) -> Nests {
        let is_parallel = |at: &usize| self.clauses(*at).independent && !self.calls_gangs(*at);
        let is_outermost = |at: &usize| {
            let mut above = ancestors(self.bound, *at).take_while(|above| *above != index);
            !above.any(|above| is_parallel(&above))
        };
        let loops = self.all_loops_below(index).into_iter().filter(is_parallel).filter(is_outermost);
        loops.filter_map(|at| Some((self.bound[at].stmt()?, at))).collect()
    }

    /// A region that is one launch: a loop that is all there is in it, or what one thread runs.
    pub(super) fn undivided(&self, index: usize, region: StmtId) -> KernelsPart {
        if let [only] = statements(self.unit, region).as_slice()
            && can_stand_alone(&self.unit.stmt(*only).kind)
            && !hands_on_pointer(self.unit, self.symbols, region, &[*only])
        {
            return KernelsPart::Launch {
                stmt: *only,
                directive: self.independent_loops(index).get(only).copied(),
            };
        }
        KernelsPart::Launch { stmt: region, directive: None }
    }

    /// The parts of a statement of a region that is divided; `by_host` are the statements of it that print.
    pub(super) fn as_run(
        &self,
        index: usize,
        region: StmtId,
        parts: &Parts,
        by_host: &[StmtId],
    ) -> Vec<KernelsPart> {
        let loops = self.independent_loops(index);
        self.parts_of(region, &loops, &parts.host_runs, by_host)
    }

    fn parts_of(
        &self,
        stmt: StmtId,
        loops: &Nests,
        host_runs: &[StmtId],
        by_host: &[StmtId],
    ) -> Vec<KernelsPart> {
        let part = |stmt: StmtId| {
            if by_host.contains(&stmt) {
                return KernelsPart::Output(stmt);
            }
            if !host_runs.contains(&stmt) {
                return KernelsPart::Launch { stmt, directive: loops.get(&stmt).copied() };
            }
            let bodies = bodies(&self.unit.stmt(stmt).kind).into_iter();
            let parts = bodies.map(|body| (body, self.parts_of(body, loops, host_runs, by_host)));
            KernelsPart::Host { stmt, bodies: parts.collect() }
        };
        statements(self.unit, stmt).into_iter().map(part).collect()
    }

    /// The loops of a region that run in parallel.
    fn independent_loops(&self, index: usize) -> Nests {
        let loops = self.all_loops_below(index).into_iter().filter(|at| self.clauses(*at).independent);
        loops.filter_map(|at| Some((self.bound[at].stmt()?, at))).collect()
    }

    /// The statements that become launches; `None` if the region cannot be split.
    pub(super) fn parts(&self, index: usize, region: StmtId, nests: Nests) -> Option<Parts> {
        let parts = Parts { all: Vec::new(), nests, host_runs: Vec::new(), by_condition: Vec::new() };
        let mut parting = Parting { input: self, index, region, parts, controlled: Vec::new() };
        let parts = parting.block(region).then_some(parting.parts)?;
        let all: Vec<StmtId> = parts.users().collect();
        (!hands_on_pointer(self.unit, self.symbols, region, &all)).then_some(parts)
    }
}

/// The statements of parts that are run, by the device or by the host.
pub(super) fn run(parts: &[KernelsPart]) -> Vec<StmtId> {
    let each = |part: &KernelsPart| match part {
        KernelsPart::Launch { stmt, .. } | KernelsPart::Output(stmt) => vec![*stmt],
        KernelsPart::Host { bodies, .. } => bodies.iter().flat_map(|(_, parts)| run(parts)).collect(),
    };
    parts.iter().flat_map(each).collect()
}

/// Whether a part of a region sets a pointer for another one: a launch cannot leave it for the next.
fn hands_on_pointer(unit: &Unit, symbols: &Symbols, region: StmtId, parts: &[StmtId]) -> bool {
    let span = unit.stmt(region).span;
    let is_exposed = |symbol: SymbolId| {
        parts.iter().any(|part| uses(unit, symbols, *part).of(symbol).is_some_and(|how| how.exposed))
    };
    uses(unit, symbols, region).iter().any(|(symbol, how)| {
        let known = symbols.get(symbol);
        known.class == Class::Pointer && how.written && !span.contains(known.scope) && is_exposed(symbol)
    })
}

struct Parting<'p, 'a> {
    input: &'p Input<'a>,
    index: usize,
    region: StmtId,
    parts: Parts,
    /// The variables of the loops around that the host runs.
    controlled: Vec<SymbolId>,
}

impl Parting<'_, '_> {
    /// Parts the statements of a block, or the one statement that there is; false if that cannot be.
    fn block(&mut self, stmt: StmtId) -> bool {
        match &self.input.unit.stmt(stmt).kind {
            StmtKind::Block(list) => list.iter().all(|stmt| self.statement(*stmt)),
            _ => self.statement(stmt),
        }
    }

    fn statement(&mut self, stmt: StmtId) -> bool {
        let kind = &self.input.unit.stmt(stmt).kind;
        if !can_stand_alone(kind) {
            return false;
        }
        let is_known = self.holds_nest(stmt) && self.host_knows(stmt);
        if is_known || self.holds_nest(stmt) && self.input.may_ask(self.index, stmt) {
            let known = (self.parts.all.len(), self.parts.host_runs.len(), self.parts.by_condition.len());
            if is_known { &mut self.parts.host_runs } else { &mut self.parts.by_condition }.push(stmt);
            let around = self.controlled.len();
            let header = sema::header(self.input.unit, self.input.symbols, stmt);
            self.controlled.extend(header.map(|header| header.var));
            let is_parted = bodies(kind).into_iter().all(|body| self.block(body));
            self.controlled.truncate(around);
            if is_parted {
                return true;
            }
            self.parts.all.truncate(known.0);
            self.parts.host_runs.truncate(known.1);
            self.parts.by_condition.truncate(known.2);
        }
        if !matches!(kind, StmtKind::Empty) {
            // A line of its own is needed before it.
            if !self.parts.by_condition.is_empty() && !self.input.begins_line(stmt) {
                return false;
            }
            self.parts.all.push(stmt);
        }
        true
    }

    /// Whether a statement that is not such a loop itself holds loops that run in parallel.
    fn holds_nest(&self, stmt: StmtId) -> bool {
        let unit = self.input.unit;
        let span = unit.stmt(stmt).span;
        !self.parts.nests.contains_key(&stmt)
            && self.parts.nests.keys().any(|nest| span.contains(unit.stmt(*nest).span))
    }

    /// Whether the host knows what decides about a loop or a branch.
    fn host_knows(&self, stmt: StmtId) -> bool {
        let unit = self.input.unit;
        let deciding: Vec<ExprId> = match &unit.stmt(stmt).kind {
            StmtKind::For { .. } => match sema::header(unit, self.input.symbols, stmt) {
                Ok(header) if self.may_count(stmt, &header) => header.values().collect(),
                _ => return false,
            },
            StmtKind::If { cond, .. } => vec![*cond],
            _ => return false,
        };
        deciding.into_iter().all(|expr| self.knows(expr))
    }

    /// Whether the host may count with the variable of the loop `stmt`: the device has no copy of it that launches use, and no
    /// launch in a queue brings back its own value.
    fn may_count(&self, stmt: StmtId, header: &Header) -> bool {
        let input = self.input;
        let is_queued = input.bound[self.index]
            .directive
            .clauses
            .iter()
            .any(|one| matches!(one.kind, ClauseKind::Async(_)));
        let body = uses(input.unit, input.symbols, header.body);
        let has_copy = input.is_reached(self.index, header.var)
            || input.stated(self.index).contains(&input.symbols.get(header.var).name)
            || body.of(header.var).is_some_and(|how| how.written)
            || is_queued && self.is_counted_by_launch(stmt, header.var);
        header.declared || !has_copy
    }

    /// Whether a launch may set the variable of the loop `stmt`, which the host runs.
    fn is_counted_by_launch(&self, stmt: StmtId, var: SymbolId) -> bool {
        let input = self.input;
        let mut pending = if input.unit.is_fortran() { Vec::new() } else { vec![self.region] };
        while let Some(at) = pending.pop() {
            let is_its = sema::header(input.unit, input.symbols, at).is_ok_and(|header| header.var == var);
            if at != stmt && is_its && !self.parts.nests.contains_key(&at) && !self.holds_nest(at) {
                return true;
            }
            pending.extend(sema::children(input.unit, at));
        }
        !input.is_loop_variable(self.region, var)
    }

    /// Whether the host knows the value that an expression has in the region.
    fn knows(&self, expr: ExprId) -> bool {
        let unit = self.input.unit;
        match &unit.expr(expr).kind {
            ExprKind::Name(_) => {
                let read = sema::reads_of_expr(unit, self.input.symbols, expr);
                read.into_iter().all(|symbol| self.is_host_value(symbol))
            }
            ExprKind::Member { .. } => self.input.is_host_part(self.region, expr),
            ExprKind::Call { callee, args } => {
                let ExprKind::Name(name) = &unit.expr(*callee).kind else { return false };
                let is_intrinsic = unit.is_fortran() && sema::is_pure_intrinsic(name);
                is_intrinsic && args.iter().all(|arg| self.knows(*arg))
            }
            ExprKind::Index(..)
            | ExprKind::Deref(_)
            | ExprKind::Assign(..)
            | ExprKind::Step { .. }
            | ExprKind::Opaque(_) => false,
            kind => kind.children().all(|child| self.knows(child)),
        }
    }

    fn is_host_value(&self, symbol: SymbolId) -> bool {
        let is_counter =
            self.controlled.contains(&symbol) && self.input.is_loop_variable(self.region, symbol);
        is_counter || is_host_value(self.input, self.index, self.region, symbol)
    }
}

/// Whether the host's value of a variable is the one that counts in the region of directive `index`.
pub(super) fn is_host_value(input: &Input, index: usize, region: StmtId, symbol: SymbolId) -> bool {
    let known = input.symbols.get(symbol);
    let used = uses(input.unit, input.symbols, region);
    let is_changed = used.of(symbol).is_some_and(|how| how.written || how.address_taken)
        || input.is_reached(index, symbol);
    let is_plain = known.class == Class::Scalar && known.kind != SymbolKind::Member;
    known.kind == SymbolKind::Constant
        || is_plain && !is_changed && !input.stated(index).contains(&known.name)
}

/// The statements of a block, or the one statement that there is.
pub(super) fn statements(unit: &Unit, stmt: StmtId) -> Vec<StmtId> {
    let list = match &unit.stmt(stmt).kind {
        StmtKind::Block(list) => list.clone(),
        _ => vec![stmt],
    };
    list.into_iter().filter(|stmt| !matches!(unit.stmt(*stmt).kind, StmtKind::Empty)).collect()
}

/// Whether a statement of the region can be a launch of its own: it declares nothing that others use.
fn can_stand_alone(kind: &StmtKind) -> bool {
    !matches!(kind, StmtKind::Decl(_) | StmtKind::Labeled { .. } | StmtKind::Opaque(_) | StmtKind::Goto(_))
}

/// What a loop or a branch that the host may run holds.
pub(super) fn bodies(kind: &StmtKind) -> Vec<StmtId> {
    match kind {
        StmtKind::For { body, .. } => vec![*body],
        StmtKind::If { then, other, .. } => std::iter::once(*then).chain(*other).collect(),
        _ => Vec::new(),
    }
}
