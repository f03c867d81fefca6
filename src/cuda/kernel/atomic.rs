//! `atomic` as calls of the run-time library (OpenACC 3.3, 2.12).
//!
//! Invariant: the operand expression is evaluated once, and not atomically, as in OpenACC.

use std::collections::HashMap;

use crate::acc::ast::ClauseKind;
use crate::bind::Bound;
use crate::host::ir::{BinaryOp, ExprId, ExprKind, StmtId, StmtKind};

use crate::sema::SymbolId;

use super::table;
use crate::cuda::code::text::{Edits, operand};
use crate::cuda::program::{Input, Refused, refused};

/// An update of a place: the operator's class, and the operand.
struct Update {
    place: ExprId,
    operator: &'static str,
    operand: String,
}

/// Rewrites the statement of an `atomic` directive.
///
/// `tables`: the names of the tables of arrays that have one.
pub fn atomic(
    input: &Input,
    bound: &Bound,
    stmt: StmtId,
    tables: &HashMap<SymbolId, String>,
    edits: &mut Edits,
) -> Result<(), Refused> {
    let unit = input.unit();
    let span = unit.stmt(stmt).span;
    let unclear = || refused(span, "an atomic statement of this form");
    let done = edits.clone();
    let text = |expr: ExprId| done.render(input.file(), unit.expr(expr).span, 0);
    let has = |wanted: &ClauseKind| bound.directive.clauses.iter().any(|clause| clause.kind == *wanted);
    if has(&ClauseKind::AtomicCapture) {
        let line = capture(input, stmt, &text).ok_or_else(unclear)?;
        edits.replace(span, line);
        return Ok(());
    }
    let expr = match &unit.stmt(stmt).kind {
        StmtKind::Expr(expr) => *expr,
        StmtKind::Block(list) => match list.as_slice() {
            [only] => match unit.stmt(*only).kind {
                StmtKind::Expr(expr) => expr,
                _ => return Err(unclear()),
            },
            _ => return Err(unclear()),
        },
        _ => return Err(unclear()),
    };
    let line = match &unit.expr(expr).kind {
        ExprKind::Assign(None, left, right) if has(&ClauseKind::AtomicRead) => {
            format!("{} = acc2omp::atomic_read(&{});", text(*left), text(*right))
        }
        ExprKind::Assign(None, left, right) if has(&ClauseKind::AtomicWrite) => {
            format!("acc2omp::atomic_write(&{}, {});", text(*left), text(*right))
        }
        _ => {
            let update = update(input, expr, &text).ok_or_else(unclear)?;
            let call = match table::of_place(input, tables, update.place) {
                Some(table) => format!("{table}.update"),
                None => "acc2omp::atomic_update".to_owned(),
            };
            format!("{call}<{}>(&{}, {});", update.operator, text(update.place), update.operand)
        }
    };
    edits.replace(span, line);
    Ok(())
}

fn update(input: &Input, expr: ExprId, text: &dyn Fn(ExprId) -> String) -> Option<Update> {
    let unit = input.unit();
    match &unit.expr(expr).kind {
        ExprKind::Step { up, operand, .. } => {
            let operator = if *up { "acc2omp::Plus" } else { "acc2omp::Minus" };
            Some(Update { place: *operand, operator, operand: "1".to_owned() })
        }
        ExprKind::Assign(Some(op), left, right) => {
            Some(Update { place: *left, operator: class(*op)?, operand: text(*right) })
        }
        ExprKind::Assign(None, left, right) => {
            let place = text(*left);
            let ExprKind::Binary(op, a, b) = &unit.expr(*right).kind else { return None };
            if text(*a) == place {
                return Some(Update { place: *left, operator: class(*op)?, operand: text(*b) });
            }
            if text(*b) == place {
                return Some(Update { place: *left, operator: reversed(*op)?, operand: text(*a) });
            }
            // `x = x + a + b` is `x = (x + a) + b` to the grammar.
            let mut rest = Vec::new();
            let mut left_most = *a;
            rest.push(operand(&text(*b)));
            while let ExprKind::Binary(inner, first, second) = &unit.expr(left_most).kind {
                if inner != op || !matches!(op, BinaryOp::Add | BinaryOp::Multiply) {
                    return None;
                }
                rest.push(operand(&text(*second)));
                left_most = *first;
            }
            rest.reverse();
            let sign = if *op == BinaryOp::Add { " + " } else { " * " };
            (text(left_most) == place).then_some(())?;
            Some(Update { place: *left, operator: class(*op)?, operand: rest.join(sign) })
        }
        _ => None,
    }
}

fn class(op: BinaryOp) -> Option<&'static str> {
    Some(match op {
        BinaryOp::Add => "acc2omp::Plus",
        BinaryOp::Subtract => "acc2omp::Minus",
        BinaryOp::Multiply => "acc2omp::Times",
        BinaryOp::Divide => "acc2omp::Divide",
        BinaryOp::BitAnd => "acc2omp::BitAnd",
        BinaryOp::BitOr => "acc2omp::BitOr",
        BinaryOp::BitXor => "acc2omp::BitXor",
        BinaryOp::ShiftLeft => "acc2omp::ShiftLeft",
        BinaryOp::ShiftRight => "acc2omp::ShiftRight",
        BinaryOp::And => "acc2omp::And",
        BinaryOp::Or => "acc2omp::Or",
        _ => return None,
    })
}

/// The class for `x = e op x`.
fn reversed(op: BinaryOp) -> Option<&'static str> {
    Some(match op {
        BinaryOp::Subtract => "acc2omp::ReverseMinus",
        BinaryOp::Divide => "acc2omp::ReverseDivide",
        BinaryOp::ShiftLeft => "acc2omp::ReverseShiftLeft",
        BinaryOp::ShiftRight => "acc2omp::ReverseShiftRight",
        _ => return class(op),
    })
}

/// The line for a capture, in all its forms.
fn capture(input: &Input, stmt: StmtId, text: &dyn Fn(ExprId) -> String) -> Option<String> {
    let unit = input.unit();
    let call = |value: &str, function: &str, update: Update| {
        let place = text(update.place);
        format!("{value} = acc2omp::{function}<{}>(&{place}, {});", update.operator, update.operand)
    };
    match &unit.stmt(stmt).kind {
        StmtKind::Expr(expr) => {
            let ExprKind::Assign(None, value, right) = &unit.expr(*expr).kind else { return None };
            let before = matches!(unit.expr(*right).kind, ExprKind::Step { postfix: true, .. });
            let function = if before { "atomic_update" } else { "atomic_result" };
            Some(call(&text(*value), function, update(input, *right, text)?))
        }
        StmtKind::Block(list) => {
            let [first, second] = list.as_slice() else { return None };
            let (StmtKind::Expr(first), StmtKind::Expr(second)) =
                (&unit.stmt(*first).kind, &unit.stmt(*second).kind)
            else {
                return None;
            };
            let read = |expr: ExprId| match &unit.expr(expr).kind {
                ExprKind::Assign(None, value, place) => Some((text(*value), text(*place))),
                _ => None,
            };
            // `{ v = x; x = …; }` or `{ x = …; v = x; }`
            let changed = |expr: ExprId| match &unit.expr(expr).kind {
                ExprKind::Assign(_, left, _) => Some(text(*left)),
                ExprKind::Step { operand, .. } => Some(text(*operand)),
                _ => None,
            };
            if let Some((value, place)) = read(*first)
                && changed(*second).as_deref() == Some(place.as_str())
            {
                if let Some(update) = update(input, *second, text) {
                    return Some(call(&value, "atomic_update", update));
                }
                let ExprKind::Assign(None, _, right) = &unit.expr(*second).kind else { return None };
                return Some(format!("{value} = acc2omp::atomic_exchange(&{place}, {});", text(*right)));
            }
            let (value, place) = read(*second)?;
            (changed(*first).as_deref() == Some(place.as_str())).then_some(())?;
            Some(call(&value, "atomic_result", update(input, *first, text)?))
        }
        _ => None,
    }
}
