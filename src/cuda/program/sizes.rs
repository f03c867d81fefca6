//! What the sizes of arrays are computed from.
//!
//! Invariant: every name in a size is looked at, how deep it may stand.

use crate::host::ir::{Decl, Derived, ExprId, ExprKind, Unit};
use crate::source::Span;

/// The sizes that a declaration says.
pub fn of(decl: &Decl) -> impl Iterator<Item = ExprId> {
    decl.derived.iter().filter_map(|part| if let Derived::Array(size) = part { *size } else { None })
}

/// The names in expressions, and where they stand.
pub fn names(unit: &Unit, exprs: impl IntoIterator<Item = ExprId>) -> Vec<(&str, Span)> {
    let mut pending: Vec<ExprId> = exprs.into_iter().collect();
    let mut found = Vec::new();
    while let Some(expr) = pending.pop() {
        let expr = unit.expr(expr);
        if let ExprKind::Name(name) = &expr.kind {
            found.push((name.as_str(), expr.span));
        }
        pending.extend(expr.kind.children());
    }
    found
}
