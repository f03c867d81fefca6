//! Loops that stay in order because they, or loops in them, count: what would have to be said instead.
//!
//! Invariant: nothing is written out about a variable that a clause of the construct names, or whose value does not come back.

use crate::acc::ast::ClauseKind;
use crate::bind::{Bound, descendants};
use crate::host::ir::{ExprKind, StmtId, StmtKind};
use crate::sema::{self, Induction, Kind, Obstacle, SymbolId, children};
use crate::source::Span;

use super::auto::Settling;
use super::clauses::list;
use super::induction::Closed;

impl Settling<'_, '_> {
    /// Notes how a loop that counts, or whose inner loops do, can be written without.
    pub(super) fn close(
        &mut self,
        index: usize,
        (stmt, reported_at): (StmtId, Span),
        in_kernels: bool,
        obstacle: &Obstacle,
    ) {
        let is_own = match &obstacle.kind {
            Kind::Induction(_) | Kind::Carried(_) => true,
            Kind::Meets { .. } | Kind::Subscripts(_) => false,
            _ => return,
        };
        let loops = if is_own { vec![stmt] } else { self.loops_in(stmt) };
        let mut closed = Closed::new(self.facts.unit.stmt(stmt).span, reported_at);
        let mut around: Option<Span> = None;
        for at in loops {
            let span = self.facts.unit.stmt(at).span;
            if around.is_some_and(|around| around.contains(span)) {
                continue;
            }
            let found = sema::inductions(self.facts, &self.around, at);
            if found.is_empty() {
                continue;
            }
            around = Some(span);
            if self.close_one(index, at, in_kernels, &found, &mut closed).is_none() {
                return;
            }
        }
        if closed.bodies.is_empty() {
            return;
        }
        // What stands before the first statement of a body may be a directive of that statement.
        for put in &mut closed.bodies {
            let between = Span { start: put.after.min(put.first), end: put.first };
            let mut directives = self.input.bound.iter().map(|one| one.directive.span);
            put.has_directive = directives.any(|span| !span.is_empty() && between.contains(span));
        }
        self.closed.push(closed);
    }

    /// Writes out the inductions of one loop.
    fn close_one(
        &self,
        index: usize,
        stmt: StmtId,
        in_kernels: bool,
        found: &[Induction],
        closed: &mut Closed,
    ) -> Option<()> {
        // What `parallel` leaves in its own copy of a variable does not come back.
        let is_wanted = found.iter().any(|one| one.is_wanted);
        // Nor does anything come back in time from a queue.
        let clauses = &self.input.bound[index].directive.clauses;
        let is_queued = clauses.iter().any(|clause| matches!(clause.kind, ClauseKind::Async(_)));
        let is_free =
            (in_kernels && !is_queued || !is_wanted) && found.iter().all(|one| self.is_free(index, one));
        let is_last = self.is_last(index, stmt, found);
        let region = &self.input.bound[index];
        let place = if is_last { region.stmt()? } else { stmt };
        let place_span = self.facts.unit.stmt(place).span;
        let end = region.partner.filter(|_| is_last).map(|at| self.input.bound[at].directive.span);
        let after = end.map_or(place_span.end, |end| end.end);
        let has_room = !is_wanted || self.is_listed(place);
        (is_free && has_room).then(|| closed.add(self.facts, found, (after, end.unwrap_or(place_span))))?
    }

    /// The loops inside a loop, outer ones first.
    fn loops_in(&self, stmt: StmtId) -> Vec<StmtId> {
        let unit = self.facts.unit;
        let (mut found, mut pending) = (Vec::new(), vec![stmt]);
        while let Some(at) = pending.pop() {
            if at != stmt && matches!(unit.stmt(at).kind, StmtKind::For { .. }) {
                found.push(at);
            }
            pending.extend(children(unit, at));
        }
        found.sort_by_key(|at| (unit.stmt(*at).span.start, std::cmp::Reverse(unit.stmt(*at).span.end)));
        found
    }

    /// Whether a statement stands in a block, so that another one may stand after it.
    fn is_listed(&self, stmt: StmtId) -> bool {
        let unit = self.facts.unit;
        let Some(body) = self.around.body else { return false };
        let path = sema::path_to(unit, body, stmt);
        let above = path.len().checked_sub(2).and_then(|at| path.get(at));
        above.is_some_and(|above| matches!(unit.stmt(*above).kind, StmtKind::Block(_)))
    }

    /// Whether no clause of the construct, and none about data, names the variable or what it is made of, and no directive
    /// governs the statement that sets it.
    fn is_free(&self, index: usize, induction: &Induction) -> bool {
        let input = self.input;
        let all = || std::iter::once(index).chain(descendants(input.bound, index));
        let mut all_named = self.made_of(induction);
        all_named.push(induction.symbol);
        let is_named = |at: usize| {
            let clauses = input.clauses(at);
            let reduced = clauses.reduction.iter().map(|(_, item)| *item);
            let mut own = clauses.private.iter().chain(&clauses.firstprivate).copied().chain(reduced);
            own.any(|item| input.symbol_of(at, item).is_some_and(|symbol| all_named.contains(&symbol)))
        };
        // What is on the device, or comes back from there at some time, is another copy.
        let is_mapped = input.bound.iter().enumerate().any(|(at, one)| {
            one.directive.clauses.iter().any(|clause| {
                let is_data = matches!(
                    clause.kind,
                    ClauseKind::Data(..) | ClauseKind::UpdateSelf(_) | ClauseKind::UpdateDevice(_)
                );
                let mut items = list(&clause.kind).iter();
                is_data
                    && items.any(|item| {
                        input.symbol_of(at, item).is_some_and(|symbol| all_named.contains(&symbol))
                    })
            })
        });
        let is_governed = input.bound.iter().filter_map(Bound::stmt);
        let mut is_governed = is_governed.map(|stmt| input.unit.stmt(stmt).span);
        !is_mapped && !all().any(is_named) && !is_governed.any(|span| span == induction.started)
    }

    /// Whether last values can be computed after the construct: nothing in it after the loop needs them, or changes what
    /// they are made of.
    fn is_last(&self, index: usize, stmt: StmtId, found: &[Induction]) -> bool {
        let unit = self.facts.unit;
        let span = unit.stmt(stmt).span;
        let Some(region) = self.input.bound[index].stmt() else { return false };
        let is_last = match &unit.stmt(region).kind {
            StmtKind::Block(list) => list.contains(&stmt),
            _ => region == stmt,
        };
        let named = |known: &str| {
            unit.exprs_in(unit.stmt(region).span).any(|expr| {
                matches!(&expr.kind, ExprKind::Name(name) if name.eq_ignore_ascii_case(known))
                    && expr.span.start >= span.end
            })
        };
        let is_used = found.iter().any(|one| named(&self.facts.symbols.get(one.symbol).name));
        let changed = sema::uses(unit, self.facts.symbols, region);
        let parts = found.iter().flat_map(|one| self.made_of(one));
        let is_steady =
            |symbol: SymbolId| changed.of(symbol).is_none_or(|how| !how.written && !how.address_taken);
        is_last && !is_used && parts.into_iter().all(is_steady)
    }

    /// The variables that an induction is computed from.
    fn made_of(&self, induction: &Induction) -> Vec<SymbolId> {
        let facts = self.facts;
        let parts = induction.parts(facts).into_iter();
        parts.flat_map(|expr| sema::reads_of_expr(facts.unit, facts.symbols, expr)).collect()
    }
}
