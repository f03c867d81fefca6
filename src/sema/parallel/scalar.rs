//! Scalars in a loop: temporaries, reductions, and those that bring a value from one iteration to the next.
//!
//! Invariant: a scalar is private only if each iteration sets it before it reads it, and nobody wants its last value.

use std::collections::BTreeSet;

use crate::host::ir::{BinaryOp, ExprId, ExprKind, StmtId};
use crate::sema::{Class, Header, SymbolId, SymbolKind, Use, live_after, uses};
use crate::source::Span;

use super::access::expressions;
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
        for (symbol, how) in used.iter() {
            let known = facts.symbols.get(symbol);
            let is_scalar = matches!(known.class, Class::Scalar | Class::Pointer | Class::Unknown);
            let changes = how.written || how.address_taken;
            if !is_scalar
                || !changes
                || symbol == header.var
                || said.is_some_and(|said| said.own.contains(&symbol))
                || body.contains(known.scope) && known.kind != SymbolKind::Static && known.decl.is_some()
                || self.is_atomic(symbol, loop_span)
            {
                continue;
            }
            let place = how.first.unwrap_or(loop_span);
            let obstacle = |kind| Err(Obstacle { at: place, other: None, kind });
            if let Some(how) = self.reduction(symbol, loop_span) {
                let is_member = known.kind == SymbolKind::Member;
                let may_be_reduced = !is_member && !self.nest.facts.symbols.is_static_member(symbol);
                match how {
                    Some(how) if may_be_reduced => needs.reductions.push((how, symbol)),
                    Some(_) => return obstacle(Kind::Carried(known.name.clone())),
                    None => return obstacle(Kind::Location(known.name.clone())),
                }
                continue;
            }
            if how.exposed || how.address_taken {
                return obstacle(self.carried(symbol, how, header.body));
            }
            if self.is_wanted_after(at, symbol) || self.around.shared.contains(&symbol) {
                return obstacle(Kind::LastValue(known.name.clone()));
            }
            if !self.counts(symbol) {
                needs.private.push(symbol);
            }
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
    pub(super) fn reduction(&self, symbol: SymbolId, within: Span) -> Option<Option<super::Combine>> {
        let own: Vec<_> = self
            .updates
            .iter()
            .filter(|update| update.symbol == symbol && within.contains(update.span))
            .collect();
        let first = own.first()?.how;
        let all_alike = own.iter().all(|update| update.how == first);
        let mut named =
            self.nest.names.iter().filter(|(name, span)| *name == symbol && within.contains(*span));
        let nowhere_else = named.all(|(_, span)| own.iter().any(|update| update.span.contains(*span)));
        (all_alike && nowhere_else).then_some(first)
    }

    /// Whether a variable is that of a loop of the nest: every iteration around has its own of it.
    fn counts(&self, symbol: SymbolId) -> bool {
        let headers = self.nest.loops.iter().filter_map(|one| one.header.as_ref().ok());
        headers.into_iter().any(|header| header.var == symbol)
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

    /// Whether all that assigns the variable in the loop is atomic.
    fn is_atomic(&self, symbol: SymbolId, within: Span) -> bool {
        let facts = self.nest.facts;
        let mut named =
            self.nest.names.iter().filter(|(name, span)| *name == symbol && within.contains(*span));
        let atomic: Vec<Span> = self.around.atomic.iter().map(|stmt| facts.unit.stmt(*stmt).span).collect();
        !atomic.is_empty() && named.all(|(_, span)| atomic.iter().any(|stmt| stmt.contains(*span)))
    }

    /// Whether the value that the loop leaves in a variable may be read behind it.
    pub(super) fn is_wanted_after(&self, at: usize, symbol: SymbolId) -> bool {
        let facts = self.nest.facts;
        let Some(body) = self.around.body else { return true };
        let stmt = self.nest.loops[at].stmt;
        let wanted = BTreeSet::from([symbol]);
        !live_after(facts.unit, facts.symbols, body, stmt, &wanted, &self.around.escaping).is_empty()
    }
}
