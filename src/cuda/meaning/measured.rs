//! `sizeof`: in C, a comparison and a character constant are an `int`, and what a comma gives is no array.
//!
//! Invariant: the number is the one of the C source; where it is not known, the code is left.

use crate::host::forms::Measured;
use crate::host::ir::{BinaryOp, Expr, ExprId, ExprKind, UnaryOp};
use crate::sema::{CType, has_variable_length};

use super::super::text::Edits;
use super::super::{Refused, refused};
use super::Place;

/// Writes out what differs.
pub fn sizes(place: &Place, edits: &mut Edits) -> Result<(), Refused> {
    let inside = place.types.unit.forms.measured.iter().filter(|one| place.span.contains(one.span));
    for one in inside {
        let exprs = &one.operand;
        let Some(last) = exprs.len().checked_sub(1).map(|at| ExprId(at as u32)) else { continue };
        if is_run_time(place, one, last) {
            return Err(refused(one.span, "`sizeof` of an array whose size is a run-time value"));
        }
        if !differs(place, exprs, last) {
            continue;
        }
        let words = match place.types.of_among(exprs, last) {
            CType::Number(number) => number.words(),
            CType::Pointer(_) => "void *",
            _ => return Err(refused(one.span, "`sizeof` of an expression whose type is not known")),
        };
        edits.replace(one.span, format!("sizeof({words})"));
    }
    Ok(())
}

/// Whether C++ says another type than C.
fn differs(place: &Place, exprs: &[Expr], id: ExprId) -> bool {
    let Some(expr) = exprs.get(id.0 as usize) else { return false };
    let is_narrow = |id: ExprId| match place.types.of_among(exprs, id) {
        CType::Number(number) => number != number.promoted(),
        CType::Array(_) | CType::Unknown => true,
        _ => false,
    };
    match &expr.kind {
        ExprKind::Literal => {
            let text = place.types.file.text(expr.span);
            text.starts_with('\'') || text == "true" || text == "false"
        }
        ExprKind::Name(name) => name == "true" || name == "false",
        ExprKind::Unary(op, _) => *op == UnaryOp::Not,
        ExprKind::Binary(op, ..) => {
            use BinaryOp::*;
            matches!(op, Less | LessEqual | Greater | GreaterEqual | Equal | NotEqual | And | Or)
        }
        ExprKind::Comma(_, right) => {
            differs(place, exprs, *right)
                || matches!(place.types.of_among(exprs, *right), CType::Array(_) | CType::Unknown)
        }
        ExprKind::Conditional(_, then, other) => {
            [*then, *other].into_iter().any(|part| differs(place, exprs, part) || is_narrow(part))
        }
        _ => false,
    }
}

/// Whether it measures an array, or a row, of variable length.
fn is_run_time(place: &Place, one: &Measured, last: ExprId) -> bool {
    if !matches!(place.types.of_among(&one.operand, last), CType::Array(_)) {
        return false;
    }
    let Place { types, .. } = place;
    one.operand.iter().any(|expr| {
        let ExprKind::Name(name) = &expr.kind else { return false };
        let symbol = types.symbols.lookup(name, expr.span.start);
        symbol.is_some_and(|symbol| has_variable_length(types.unit, types.symbols, symbol))
    })
}
