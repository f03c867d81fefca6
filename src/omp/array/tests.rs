//! Tests of `array.rs`.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::{atom, index, shifted};
use crate::sema::Range;

fn range(first: &str, last: &str, step: &str) -> Range {
    Range { first: first.into(), last: last.into(), step: step.into() }
}

#[test]
fn subscripts_follow_the_left_side() {
    assert_eq!(shifted("i".into(), "2", "1"), "i - 1");
    assert_eq!(shifted("i".into(), "lbound(a, 1)", "1"), "i - lbound(a, 1) + 1");
    assert_eq!(shifted("i".into(), "n + 1", "-k"), "i - (n + 1) + (-k)");
    assert_eq!(atom("lbound(a(1), 1)"), "(lbound(a(1), 1))");
    let target = range("1", "n", "1");
    assert_eq!(index(0, &target, &range("2", "2 * n", "2")), "2 + (acc2omp_i1 - 1) * 2");
    assert_eq!(index(0, &range("1", "n", "2"), &range("3", "n", "2")), "acc2omp_i1 + 2");
}
