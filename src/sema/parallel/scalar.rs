//! Scalars in a loop: temporaries, reductions, and those that bring a value from one iteration to the next.
//!
//! Invariant: a scalar is private only if each iteration sets it before it reads it, and nobody wants its last value.

use std::collections::BTreeSet;

use crate::acc::ast::ReductionOp;
use crate::host::ir::{BinaryOp, ExprId, ExprKind, StmtId};
use crate::sema::{Class, Header, SymbolId, SymbolKind, Use, live_after, uses};
use crate::source::Span;

use super::access::expressions;
use super::index::is_in_one;
use super::{Judge, Kind, Needs, Obstacle};

impl Judge<'_, '_> {
    /// What the loop needs for its scalars.
    pub(super) fn scalars(&self, at: usize, header: &Header) -> Result<Needs, Obstacle> {
        let facts = self.nest.facts;
        let loop_span = facts.unit.stmt(self.nest.loops[at].stmt).span;
        let body = facts.unit.stmt(header.body).span;
        let used = uses(facts.unit, facts.symbols, header.body);
        let said = self.around.said.get(&self.nest.loops[at].stmt);
        let mut needs = Needs::default();
        // Those whose last value must not be wanted, up to the first that is in the way whatever comes after the loop.
        let mut open = Vec::new();
        let mut in_the_way = None;
        for (symbol, how) in used.iter() {
            let known = facts.symbols.get(symbol);
            let is_scalar = matches!(known.class, Class::Scalar | Class::Pointer | Class::Unknown);
            let changes = how.written || how.address_taken;
            if !is_scalar
                || !changes
                || symbol == header.var
                || said.is_some_and(|said| said.own.contains(&symbol))
                || body.contains(known.scope) && known.kind != SymbolKind::Static && known.decl.is_some()
                || self.index.combined_atomically(symbol, loop_span).is_some()
            {
                continue;
            }
            let is_member = known.kind == SymbolKind::Member;
            let may_be_reduced = !is_member && !facts.symbols.is_static_member(symbol);
            let kind = match self.reduction(symbol, loop_span) {
                Some(Some(how)) if may_be_reduced => {
                    needs.reductions.push((how, symbol));
                    continue;
                }
                Some(Some(_)) => Kind::Carried(known.name.clone()),
                Some(None) => Kind::Location(known.name.clone()),
                None if how.exposed || how.address_taken => self.carried(symbol, how, header.body),
                None => {
                    open.push((symbol, how.first.unwrap_or(loop_span)));
                    continue;
                }
            };
            let place = how.first.unwrap_or(loop_span);
            in_the_way = Some(Obstacle { at: place, other: None, kind });
            break;
        }
        let wanted = self.wanted_after(at, open.iter().map(|(symbol, _)| *symbol).collect());
        for (symbol, place) in open {
            if wanted.contains(&symbol) || self.around.shared.contains(&symbol) {
                let kind = Kind::LastValue(facts.symbols.get(symbol).name.clone());
                return Err(Obstacle { at: place, other: None, kind });
            }
            if !self.index.counters.contains(&symbol) {
                needs.private.push(symbol);
            }
        }
        if let Some(obstacle) = in_the_way {
            return Err(obstacle);
        }
        let name = || facts.symbols.get(header.var).name.clone();
        // The loop's own variable has its last value afterwards.
        if !header.declared && self.is_wanted_after(at, header.var) {
            let kind = Kind::LastValue(name());
            return Err(Obstacle { at: loop_span, other: None, kind });
        }
        Ok(needs)
    }

    /// How the loop combines values into the variable, if it does nothing else with it; `Some(None)`: it keeps the largest or
    /// smallest one, with something that belongs to it.
    pub(super) fn reduction(&self, symbol: SymbolId, within: Span) -> Option<Option<ReductionOp>> {
        let own = self.index.updates(symbol, within);
        let first = own.first()?.how;
        let all_alike = own.iter().all(|update| update.how == first);
        let nowhere_else = self.index.names(symbol, within).all(|span| is_in_one(own, span));
        (all_alike && nowhere_else).then_some(first)
    }

    fn carried(&self, symbol: SymbolId, how: &Use, stmt: StmtId) -> Kind {
        let name = self.nest.facts.symbols.get(symbol).name.clone();
        let unit = self.nest.facts.unit;
        let is_it = |expr: ExprId| self.nest.facts.symbols.named(unit, expr) == Some(symbol);
        let counts = expressions(self.nest.facts, stmt).into_iter().any(|expr| match &unit.expr(expr).kind {
            ExprKind::Step { operand, .. } => is_it(*operand),
            ExprKind::Assign(Some(BinaryOp::Add | BinaryOp::Subtract), target, _) => is_it(*target),
            ExprKind::Assign(None, target, value) if is_it(*target) => match &unit.expr(*value).kind {
                ExprKind::Binary(BinaryOp::Add, a, b) => is_it(*a) || is_it(*b),
                ExprKind::Binary(BinaryOp::Subtract, a, _) => is_it(*a),
                _ => false,
            },
            _ => false,
        });
        if counts && !how.address_taken && !self.nest.facts.symbols.get(symbol).is_floating {
            Kind::Induction(name)
        } else {
            Kind::Carried(name)
        }
    }

    /// Whether the value that the loop leaves in a variable may be read after it.
    pub(super) fn is_wanted_after(&self, at: usize, symbol: SymbolId) -> bool {
        !self.wanted_after(at, BTreeSet::from([symbol])).is_empty()
    }

    /// Those of some variables whose last value in the loop may be read after it.
    fn wanted_after(&self, at: usize, wanted: BTreeSet<SymbolId>) -> BTreeSet<SymbolId> {
        let facts = self.nest.facts;
        let Some(body) = self.around.body else { return wanted };
        let stmt = self.nest.loops[at].stmt;
        live_after(facts.unit, facts.symbols, body, stmt, &wanted, &self.around.escaping)
    }
}
