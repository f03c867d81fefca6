//! Atomic statements whose order makes no difference (OpenACC 3.3, 2.12).
//!
//! Invariant: statements that combine values with a place in memory in one way leave the same there in every order, except for
//! the rounding of sums and products. What else such a statement reads, in its value or in subscripts, is read as elsewhere. One
//! that captures, writes or only reads is not among them.

use std::collections::{BTreeMap, BTreeSet};

use crate::host::ir::{BinaryOp, ExprId, ExprKind, StmtId, StmtKind};
use crate::sema::SymbolId;
use crate::source::Span;

use super::combine;
use super::facts::Facts;
use super::terms::may_combine;
use crate::acc::ast::ReductionOp;

/// Where some atomic statements name what they update, and how they combine it with a value.
pub fn commuting(facts: &Facts, atomic: &BTreeSet<StmtId>) -> BTreeMap<Span, ReductionOp> {
    let updates = atomic.iter().filter_map(|stmt| update(facts, *stmt));
    let span = |place: ExprId| facts.unit.expr(place).span;
    updates.flat_map(|update| update.places.into_iter().map(move |place| (span(place), update.how))).collect()
}

/// An update: where it names what it updates, and how it combines that with a value.
struct Update {
    places: Vec<ExprId>,
    how: ReductionOp,
}

fn expression(facts: &Facts, stmt: StmtId) -> Option<ExprId> {
    match facts.unit.stmt(stmt).kind {
        StmtKind::Expr(expr) => Some(expr),
        _ => None,
    }
}

/// What the statement sets.
fn place(facts: &Facts, stmt: StmtId) -> Option<ExprId> {
    match facts.unit.expr(expression(facts, stmt)?).kind {
        ExprKind::Step { operand, .. } => Some(operand),
        ExprKind::Assign(_, left, _) => Some(left),
        _ => None,
    }
}

/// The variable that leads to a place.
fn root(facts: &Facts, mut place: ExprId) -> Option<SymbolId> {
    loop {
        place = match facts.unit.expr(place).kind {
            ExprKind::Index(inner, _) | ExprKind::Deref(inner) => inner,
            ExprKind::Member { base, .. } => base,
            _ => return facts.symbols.named(facts.unit, place),
        };
    }
}

/// What a statement updates, and how.
fn update(facts: &Facts, stmt: StmtId) -> Option<Update> {
    let unit = facts.unit;
    let place = place(facts, stmt)?;
    let symbol = root(facts, place)?;
    let (how, term, subtracts, again) = match unit.expr(expression(facts, stmt)?).kind {
        ExprKind::Step { .. } => return Some(Update { places: vec![place], how: ReductionOp::Add }),
        ExprKind::Assign(Some(op), _, right) => {
            (combine::operator(facts, symbol, op)?, right, op == BinaryOp::Subtract, None)
        }
        ExprKind::Assign(None, left, right) => {
            let found = in_full(facts, symbol, left, right)?;
            (found.how, found.term, found.subtracts, Some(found.again))
        }
        _ => return None,
    };
    let places = std::iter::once(place).chain(again).collect();
    may_combine(facts, symbol, how, term, subtracts).then_some(Update { places, how })
}

/// An update that is written in full.
struct InFull {
    how: ReductionOp,
    /// The value.
    term: ExprId,
    /// It is subtracted.
    subtracts: bool,
    /// What is updated, as it stands on the right.
    again: ExprId,
}

/// The parts of `x = x op value`, `x = value op x` and `x = max(x, value)`.
fn in_full(facts: &Facts, symbol: SymbolId, left: ExprId, right: ExprId) -> Option<InFull> {
    let text = |expr: ExprId| -> String {
        let text = facts.file.text(facts.unit.expr(expr).span);
        let text = text.chars().filter(|c| !c.is_whitespace());
        if facts.unit.is_fortran() { text.flat_map(char::to_lowercase).collect() } else { text.collect() }
    };
    let own = text(left);
    let found = |how, term, again| Some(InFull { how, term, subtracts: false, again });
    match &facts.unit.expr(right).kind {
        ExprKind::Binary(op, one, two) => {
            let how = combine::operator(facts, symbol, *op)?;
            let subtracts = *op == BinaryOp::Subtract;
            match (text(*one) == own, text(*two) == own) {
                (true, false) => Some(InFull { how, term: *two, subtracts, again: *one }),
                (false, true) if !subtracts => found(how, *one, *two),
                _ => None,
            }
        }
        ExprKind::Call { callee, args } => {
            let ExprKind::Name(name) = &facts.unit.expr(*callee).kind else { return None };
            let how = combine::function(facts, name)?;
            match args.as_slice() {
                [one, two] if text(*one) == own && text(*two) != own => found(how, *two, *one),
                [one, two] if text(*two) == own && text(*one) != own => found(how, *one, *two),
                _ => None,
            }
        }
        _ => None,
    }
}
