//! The values of expressions of constants.
//!
//! Invariant: what is not known is `None`, never a guess.

use crate::host::ir::{BinaryOp, ExprId, ExprKind, UnaryOp, Unit};

use super::symbol::Symbol;
use super::symbols::Symbols;

/// Constants that are computed from constants are followed no further than this.
const DEPTH: usize = 8;

/// The value of an expression of numbers, and of names whose values are `is_fixed`.
pub fn constant(
    unit: &Unit,
    symbols: &Symbols,
    expr: ExprId,
    is_fixed: &dyn Fn(&Symbol) -> bool,
) -> Option<i128> {
    within((unit, symbols), expr, is_fixed, DEPTH)
}

fn within(
    (unit, symbols): (&Unit, &Symbols),
    expr: ExprId,
    is_fixed: &dyn Fn(&Symbol) -> bool,
    depth: usize,
) -> Option<i128> {
    let depth = depth.checked_sub(1)?;
    let value = |expr: ExprId| within((unit, symbols), expr, is_fixed, depth);
    match &unit.expr(expr).kind {
        ExprKind::Int(number) => Some(*number),
        ExprKind::Unary(UnaryOp::Minus, operand) => value(*operand).map(|value| -value),
        ExprKind::Cast { operand, .. } => value(*operand),
        ExprKind::Name(name) => symbols.number(name).or_else(|| {
            let known = symbols.get(symbols.named(unit, expr)?);
            value(unit.decl(known.decl.filter(|_| is_fixed(known))?).init?)
        }),
        ExprKind::Binary(op, left, right) => {
            let (left, right) = (value(*left)?, value(*right)?);
            match op {
                BinaryOp::Add => left.checked_add(right),
                BinaryOp::Subtract => left.checked_sub(right),
                BinaryOp::Multiply => left.checked_mul(right),
                BinaryOp::Divide => left.checked_div(right),
                _ => None,
            }
        }
        _ => None,
    }
}
