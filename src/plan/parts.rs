//! How a `kernels` region is parted into launches: the loops that run in parallel, and what stands beside them.
//!
//! Invariant: the parts keep their order, and a loop or branch around them is run by the host only if the host knows what
//! decides about it.

use std::collections::BTreeMap;

use crate::bind::ancestors;
use crate::host::ir::{ExprId, ExprKind, StmtId, StmtKind, Unit};
use crate::sema::{self, Class, SymbolId, SymbolKind, Symbols, uses};

use super::Maker;

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
}

impl Maker<'_> {
    /// The outermost loops of a region that run in parallel.
    pub(super) fn nests(&self, index: usize) -> Nests {
        let is_parallel = |at: &usize| self.clauses(*at).independent;
        let is_outermost = |at: &usize| {
            let mut above = ancestors(self.bound, *at).take_while(|above| *above != index);
            !above.any(|above| is_parallel(&above))
        };
        let loops = self.all_loops_below(index).into_iter().filter(is_parallel).filter(is_outermost);
        loops.filter_map(|at| Some((self.bound[at].stmt()?, at))).collect()
    }

    /// The statements that become launches; `None` if the region cannot be parted.
    pub(super) fn parts(&self, index: usize, region: StmtId, nests: Nests) -> Option<Parts> {
        let parts = Parts { all: Vec::new(), nests, host_runs: Vec::new() };
        let mut parting = Parting { maker: self, index, region, parts, controlled: Vec::new() };
        let parts = parting.block(region).then_some(parting.parts)?;
        (!hands_on_pointer(self.unit, self.symbols, region, &parts.all)).then_some(parts)
    }
}

/// Whether a part of a region sets a pointer for another one: a launch cannot leave it for the next.
pub fn hands_on_pointer(unit: &Unit, symbols: &Symbols, region: StmtId, parts: &[StmtId]) -> bool {
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
    maker: &'p Maker<'a>,
    index: usize,
    region: StmtId,
    parts: Parts,
    /// The variables of the loops around that the host runs.
    controlled: Vec<SymbolId>,
}

impl Parting<'_, '_> {
    /// Parts the statements of a block, or the one statement that there is; false if that cannot be.
    fn block(&mut self, stmt: StmtId) -> bool {
        match &self.maker.unit.stmt(stmt).kind {
            StmtKind::Block(list) => list.iter().all(|stmt| self.statement(*stmt)),
            _ => self.statement(stmt),
        }
    }

    fn statement(&mut self, stmt: StmtId) -> bool {
        let kind = &self.maker.unit.stmt(stmt).kind;
        if !can_stand_alone(kind) {
            return false;
        }
        if !self.parts.nests.contains_key(&stmt) && self.host_knows(stmt) {
            let known = (self.parts.all.len(), self.parts.host_runs.len());
            self.parts.host_runs.push(stmt);
            let around = self.controlled.len();
            let header = sema::header(self.maker.unit, self.maker.symbols, stmt);
            self.controlled.extend(header.map(|header| header.var));
            let is_parted = bodies(kind).into_iter().all(|body| self.block(body));
            self.controlled.truncate(around);
            if is_parted {
                return true;
            }
            self.parts.all.truncate(known.0);
            self.parts.host_runs.truncate(known.1);
        }
        if !matches!(kind, StmtKind::Empty) {
            self.parts.all.push(stmt);
        }
        true
    }

    /// Whether a loop or branch holds loops that run in parallel, and the host knows what decides about it.
    fn host_knows(&self, stmt: StmtId) -> bool {
        let unit = self.maker.unit;
        let span = unit.stmt(stmt).span;
        if !self.parts.nests.keys().any(|nest| span.contains(unit.stmt(*nest).span)) {
            return false;
        }
        let deciding: Vec<ExprId> = match &unit.stmt(stmt).kind {
            StmtKind::For { .. } => match sema::header(unit, self.maker.symbols, stmt) {
                Ok(header) => {
                    [Some(header.first), Some(header.bound), header.step].into_iter().flatten().collect()
                }
                Err(_) => return false,
            },
            StmtKind::If { cond, .. } => vec![*cond],
            _ => return false,
        };
        deciding.into_iter().all(|expr| {
            let read = sema::reads_of_expr(unit, self.maker.symbols, expr);
            !reads_memory(unit, expr) && read.into_iter().all(|symbol| self.is_host_value(symbol))
        })
    }

    fn is_host_value(&self, symbol: SymbolId) -> bool {
        let is_counter =
            self.controlled.contains(&symbol) && self.maker.is_loop_variable(self.region, symbol);
        is_counter || is_host_value(self.maker, self.index, self.region, symbol)
    }
}

/// Whether the host's value of a variable is the one that counts in the region of directive `index`.
pub(super) fn is_host_value(maker: &Maker, index: usize, region: StmtId, symbol: SymbolId) -> bool {
    let known = maker.symbols.get(symbol);
    let used = uses(maker.unit, maker.symbols, region);
    let is_changed = used.of(symbol).is_some_and(|how| how.written || how.address_taken)
        || maker.is_reached(index, symbol);
    let is_plain = known.class == Class::Scalar && known.kind != SymbolKind::Member;
    known.kind == SymbolKind::Constant
        || is_plain && !is_changed && !maker.stated(index).contains(&known.name)
}

/// Whether a statement of the region can be a launch of its own: it declares nothing that others use.
fn can_stand_alone(kind: &StmtKind) -> bool {
    !matches!(kind, StmtKind::Decl(_) | StmtKind::Labeled { .. } | StmtKind::Opaque(_) | StmtKind::Goto(_))
}

/// What a loop or a branch that the host may run holds.
pub fn bodies(kind: &StmtKind) -> Vec<StmtId> {
    match kind {
        StmtKind::For { body, .. } => vec![*body],
        StmtKind::If { then, other, .. } => std::iter::once(*then).chain(*other).collect(),
        _ => Vec::new(),
    }
}

/// Whether an expression reads more than variables, or calls something.
fn reads_memory(unit: &Unit, expr: ExprId) -> bool {
    let kind = &unit.expr(expr).kind;
    let is_memory = matches!(
        kind,
        ExprKind::Index(..)
            | ExprKind::Member { .. }
            | ExprKind::Deref(_)
            | ExprKind::Call { .. }
            | ExprKind::Assign(..)
            | ExprKind::Step { .. }
            | ExprKind::Opaque(_)
    );
    is_memory || kind.children().into_iter().any(|child| reads_memory(unit, child))
}
