//! `++` and `--` of a `_Bool`, which C++ does not have: the variable becomes true, or the other value.
//!
//! Invariant: the variable and the expression have the values that C gives them.

use crate::host::ir::{Expr, ExprKind, StmtKind};
use crate::sema::{CNumber, CType, Rank};

use super::Place;
use crate::cuda::code::text::Edits;
use crate::cuda::program::{Refused, refused};

/// Writes the steps as assignments.
pub fn edit(place: &Place, edits: &mut Edits) -> Result<(), Refused> {
    let unit = place.types.unit;
    for id in unit.expr_ids_in(place.span) {
        let ExprKind::Step { up, operand, postfix } = unit.expr(id).kind else { continue };
        if !matches!(place.types.of(operand), CType::Number(CNumber::Integer(Rank::Bool, _))) {
            continue;
        }
        let span = unit.expr(id).span;
        let is_unused = || {
            unit.stmts_in(place.span).any(|stmt| match stmt.kind {
                StmtKind::Expr(expr) => expr == id,
                StmtKind::For { step, .. } => step == Some(id),
                _ => false,
            })
        };
        if postfix && !is_unused() {
            return Err(refused(span, "the value of a `_Bool` before it is counted"));
        }
        let text = edits.render(place.types.file, unit.expr(operand).span, 0)?;
        let text = text.trim();
        let changes = |expr: &Expr| {
            matches!(expr.kind, ExprKind::Assign(..) | ExprKind::Step { .. } | ExprKind::Call { .. })
        };
        if !up && unit.exprs_in(unit.expr(operand).span).any(changes) {
            return Err(refused(span, "`--` of a `_Bool` whose place is computed with an effect"));
        }
        let value = if up { "true".to_owned() } else { format!("!{text}") };
        edits.replace_all(span, format!("({text} = {value})"));
    }
    Ok(())
}
