//! Tests of `within.rs`.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::super::ir::{ExprKind, Unit};
use super::Span;

#[test]
fn what_is_added_later_is_found() {
    let mut unit = Unit::default();
    for (start, end) in [(5, 6), (2, 9), (9, 9), (0, 3), (10, 12)] {
        unit.push_expr(Span { start, end }, ExprKind::Literal);
    }
    let found = |unit: &Unit| unit.expr_ids_in(Span { start: 2, end: 9 }).map(|id| id.0).collect::<Vec<_>>();
    assert_eq!(found(&unit), [0, 1, 2]);
    unit.push_expr(Span { start: 3, end: 4 }, ExprKind::Literal);
    assert_eq!(found(&unit), [0, 1, 2, 5]);
}
