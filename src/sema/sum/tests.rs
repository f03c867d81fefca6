//! Tests of `sum.rs`.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

#![allow(clippy::unwrap_used)]
use super::Sum;

fn apart(one: &str, two: &str) -> Option<i64> {
    let meaning = |name: &str| (name == "N").then(|| "(M + 2)".to_owned());
    Sum::of(one, &meaning).minus(&Sum::of(two, &meaning)).unwrap().value()
}

#[test]
fn sums_are_compared() {
    assert_eq!(apart("n + 2", "2+n"), Some(0));
    assert_eq!(apart("(n + 1) * (n - 1)", "n*n - 1"), Some(0));
    assert_eq!(apart("N", "M"), Some(2));
    assert_eq!(apart("n - 1", "n + 1"), Some(-2));
    assert_eq!(apart("0x10", "16"), Some(0));
    assert_eq!(apart("n", "m"), None);
}

#[test]
fn what_is_not_read_is_itself() {
    assert_eq!(apart("n / 2", "n/2"), Some(0));
    assert_eq!(apart("n / 2", "n"), None);
    assert_eq!(apart("f(x) + 1", "f(x)"), None);
    assert_eq!(apart("n ** 2", "n * n"), None);
    assert_eq!(apart("9223372036854775807 + 1", "0"), None);
}
