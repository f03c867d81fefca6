//! Whose copy of a variable several threads change: the gang's, a worker's, or nobody's but the thread's own.
//!
//! Invariant: a variable counts as shared where a loop inside of what it belongs to spreads changes over more threads, nowhere else.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::body::Body;
use crate::cuda::program::Input;
use crate::cuda::program::levels::Levels;
use crate::cuda::program::privates::{loops, private};
use crate::cuda::schedule::nest::Shared;
use crate::host::ir::{Expr, ExprId, ExprKind, StmtKind};
use crate::sema::{self, SymbolId};
use crate::source::Span;

/// What a region changes, and the loops around it.
pub struct Sharers<'a, 'b> {
    input: &'b Input<'a>,
    region: Span,
    /// The levels that are distributed where the region begins.
    mode: Levels,
    /// Gangs have several threads.
    many: bool,
    /// The divided loops, by where they begin.
    divided: Vec<Divided<'a, 'b>>,
    /// The loops that have a variable of a name private.
    owners: HashMap<String, Vec<Span>>,
    /// Where the region changes a variable, or gives its address away.
    changes: HashMap<SymbolId, Vec<Span>>,
}

/// A divided loop.
struct Divided<'a, 'b> {
    span: Span,
    shared: &'b Shared<'a>,
    /// The place of the one around it.
    outer: Option<usize>,
}

impl<'a, 'b> Sharers<'a, 'b> {
    /// Reads the region of a body.
    pub fn of(body: &Body<'a, 'b>) -> Sharers<'a, 'b> {
        let input = body.input;
        let mut divided: Vec<Divided> = body
            .nest
            .values()
            .map(|shared| Divided { span: shared.span(input), shared, outer: None })
            .collect();
        divided.sort_by_key(|one| (one.span.start, Reverse(one.span.end)));
        let mut open: Vec<usize> = Vec::new();
        for at in 0..divided.len() {
            let span = divided[at].span;
            while open.last().is_some_and(|outer| !divided[*outer].span.contains(span)) {
                open.pop();
            }
            divided[at].outer = open.last().copied();
            open.push(at);
        }
        let mut found = Sharers {
            input,
            region: body.region,
            mode: body.mode,
            many: body.shape.many,
            divided,
            owners: HashMap::new(),
            changes: HashMap::new(),
        };
        if found.many {
            found.read_owners();
            found.read_changes();
        }
        found
    }

    /// The levels of those whose copy of a variable threads change in iterations of their own; none if each thread has its own.
    /// `from`: those of what it belongs to where no loop has it private.
    pub fn levels(&self, symbol: SymbolId, from: Levels) -> Option<Levels> {
        let owners = self.owners.get(&self.input.symbols.get(symbol).name);
        let shared_by = |place: &Span| {
            let around = owners.into_iter().flatten().filter(|owner| owner.contains(*place));
            let own = around.min_by_key(|owner| owner.len()).map_or(from, |owner| self.levels_at(*owner));
            let is_more = self.around(*place).any(|one| {
                // What it reduces, it has a copy of for each thread.
                one.shared.levels().without(own).threads()
                    && !one.shared.reduces(self.input, symbol)
                    && !(one.shared.levels().gang && self.is_only_in(symbol, one.span))
            });
            is_more.then_some(own)
        };
        self.changes.get(&symbol)?.iter().find_map(shared_by)
    }

    /// The levels that are distributed at a place.
    pub fn levels_at(&self, place: Span) -> Levels {
        self.around(place).fold(self.mode, |sum, one| sum.with(one.shared.levels()))
    }

    /// The divided loops that hold a place, from the inside.
    fn around(&self, place: Span) -> impl Iterator<Item = &Divided<'a, 'b>> {
        let last = self.divided.partition_point(|one| one.span.start <= place.start).checked_sub(1);
        let all = std::iter::successors(last, |at| self.divided[*at].outer);
        all.map(|at| &self.divided[at]).filter(move |one| one.span.contains(place))
    }

    fn read_owners(&mut self) {
        let input = self.input;
        for one in loops(input, self.region) {
            let Some(span) = one.stmt().map(|stmt| input.stmt_span(stmt)) else { continue };
            for item in private(one) {
                self.owners.entry(item.base.text.clone()).or_default().push(span);
            }
        }
        // The directive of a divided loop may stand before the region.
        for one in &self.divided {
            for item in &one.shared.division.private {
                self.owners.entry(item.base.text.clone()).or_default().push(one.span);
            }
        }
    }

    fn read_changes(&mut self) {
        let (unit, symbols) = (self.input.unit(), self.input.symbols);
        for id in unit.stmt_ids_in(self.region) {
            let stmt = unit.stmt(id);
            let heads: [Option<ExprId>; 2] = match &stmt.kind {
                StmtKind::If { cond, .. }
                | StmtKind::While { cond, .. }
                | StmtKind::DoWhile { cond, .. }
                | StmtKind::Switch { cond, .. } => [Some(*cond), None],
                StmtKind::For { cond, step, .. } => [*cond, *step],
                kind if kind.children().next().is_some() => [None; 2],
                _ => {
                    for (symbol, used) in sema::uses(unit, symbols, id).iter() {
                        if used.part_written || used.address_taken {
                            self.changes.entry(symbol).or_default().push(stmt.span);
                        }
                    }
                    continue;
                }
            };
            let inside = heads.into_iter().flatten().flat_map(|head| unit.exprs_in(unit.expr(head).span));
            for change in inside.filter(|expr| is_change(expr)).map(|expr| expr.span) {
                for symbol in unit.expr_ids_in(change).filter_map(|id| symbols.named(unit, id)) {
                    self.changes.entry(symbol).or_default().push(change);
                }
            }
        }
    }

    /// Whether the region uses a variable in one loop only: where that loop is divided over gangs and threads alike, each thread
    /// has what a gang would have for the iteration.
    fn is_only_in(&self, symbol: SymbolId, within: Span) -> bool {
        let (unit, symbols) = (self.input.unit(), self.input.symbols);
        let mut outside = unit.expr_ids_in(self.region).filter(|id| !within.contains(unit.expr(*id).span));
        !outside.any(|id| symbols.named(unit, id) == Some(symbol))
    }
}

/// Whether an expression may change what it names.
fn is_change(expr: &Expr) -> bool {
    matches!(
        expr.kind,
        ExprKind::Assign(..) | ExprKind::Step { .. } | ExprKind::AddressOf(_) | ExprKind::Call { .. }
    )
}
