//! Atomic statements whose order makes no difference (OpenACC 3.3, 2.12).
//!
//! Invariant: what all of them together do to a place in memory is the same in every order, except for the rounding of sums and
//! products. One that captures, writes or only reads is not among them.

use std::collections::{BTreeMap, BTreeSet};

use crate::host::ir::{BinaryOp, ExprId, ExprKind, StmtId, StmtKind};
use crate::sema::{Class, SymbolId};

use super::combine::{self, Combine};
use super::facts::Facts;
use super::terms::may_combine;

/// Those of some atomic statements that may run in any order among themselves.
pub fn commuting(facts: &Facts, atomic: &BTreeSet<StmtId>) -> BTreeSet<StmtId> {
    let updates: Vec<(StmtId, Option<SymbolId>, Option<Combine>)> = atomic
        .iter()
        .map(|stmt| {
            let found = update(facts, *stmt);
            (*stmt, place(facts, *stmt).and_then(|place| root(facts, place)), found)
        })
        .collect();
    // What several pointers lead to may be one place.
    let group =
        |symbol: Option<SymbolId>| symbol.filter(|symbol| facts.symbols.get(*symbol).class != Class::Pointer);
    let mut ways: BTreeMap<Option<SymbolId>, BTreeSet<Option<Combine>>> = BTreeMap::new();
    for (_, symbol, how) in &updates {
        ways.entry(group(*symbol)).or_default().insert(*how);
    }
    let is_one = |symbol: Option<SymbolId>| ways[&group(symbol)].len() == 1;
    let kept = updates.iter().filter(|(_, symbol, how)| how.is_some() && is_one(*symbol));
    kept.map(|(stmt, ..)| *stmt).collect()
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

/// How a statement combines a value with what is at its place.
fn update(facts: &Facts, stmt: StmtId) -> Option<Combine> {
    let unit = facts.unit;
    let symbol = root(facts, place(facts, stmt)?)?;
    let (how, term, subtracts) = match unit.expr(expression(facts, stmt)?).kind {
        ExprKind::Step { .. } => return Some(Combine::Add),
        ExprKind::Assign(Some(op), _, right) => {
            (combine::operator(facts, symbol, op)?, right, op == BinaryOp::Subtract)
        }
        ExprKind::Assign(None, left, right) => in_full(facts, symbol, left, right)?,
        _ => return None,
    };
    may_combine(facts, symbol, how, term, subtracts).then_some(how)
}

/// The same of `x = x op value`, `x = value op x` and `x = max(x, value)`: how, the value, and whether it is subtracted.
fn in_full(facts: &Facts, symbol: SymbolId, left: ExprId, right: ExprId) -> Option<(Combine, ExprId, bool)> {
    let text = |expr: ExprId| -> String {
        let text = facts.file.text(facts.unit.expr(expr).span);
        let text = text.chars().filter(|c| !c.is_whitespace());
        if facts.unit.is_fortran() { text.flat_map(char::to_lowercase).collect() } else { text.collect() }
    };
    let own = text(left);
    match &facts.unit.expr(right).kind {
        ExprKind::Binary(op, one, two) => {
            let how = combine::operator(facts, symbol, *op)?;
            let subtracts = *op == BinaryOp::Subtract;
            match (text(*one) == own, text(*two) == own) {
                (true, false) => Some((how, *two, subtracts)),
                (false, true) if !subtracts => Some((how, *one, false)),
                _ => None,
            }
        }
        ExprKind::Call { callee, args } => {
            let ExprKind::Name(name) = &facts.unit.expr(*callee).kind else { return None };
            let how = combine::function(facts, name)?;
            match args.as_slice() {
                [one, two] if text(*one) == own && text(*two) != own => Some((how, *two, false)),
                [one, two] if text(*two) == own && text(*one) != own => Some((how, *one, false)),
                _ => None,
            }
        }
        _ => None,
    }
}
