//! The elements of arrays that code names, as `a[i][j]` and `a(i, j)`.
//!
//! Invariant: an element is named once, not for each of its subscripts.

use std::collections::HashSet;

use crate::host::ir::{ExprId, ExprKind, Unit};
use crate::source::Span;

/// The elements that the code in some bytes names: expressions with subscripts, and not the parts of these without the last.
pub fn elements(unit: &Unit, span: Span) -> Vec<ExprId> {
    let base = |expr: &ExprId| match unit.expr(*expr).kind {
        ExprKind::Index(base, _) => Some(base),
        _ => None,
    };
    let mut elements: Vec<ExprId> = unit.expr_ids_in(span).filter(|expr| base(expr).is_some()).collect();
    let parts: HashSet<ExprId> = elements.iter().filter_map(base).collect();
    elements.retain(|expr| !parts.contains(expr));
    elements
}

/// What an element is one of, and its subscripts in their order.
pub fn subscripts(unit: &Unit, element: ExprId) -> (ExprId, Vec<ExprId>) {
    let (mut at, mut found) = (element, Vec::new());
    while let ExprKind::Index(base, index) = unit.expr(at).kind {
        found.push(index);
        at = base;
    }
    found.reverse();
    (at, found)
}
