//! Tests of `text.rs`.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

#![allow(clippy::unwrap_used)]
use super::{Poly, encloses, is_enclosed, number};

#[test]
fn parentheses_are_seen() {
    assert!(encloses("((i) * N + (j))", "i") && encloses("( i )", "i") && !encloses("(i * N + (j))", "i"));
    assert!(is_enclosed("((i) * N)") && !is_enclosed("(i) * (j)") && !is_enclosed("i"));
}

#[test]
fn sums_and_products_are_read() {
    let value = |text: &str| {
        let known = number(text, &mut |word| (word == "n").then(|| Poly::constant(10)));
        known.and_then(|known| known.value())
    };
    assert_eq!(value("((2) * (n) + (3))"), Some(23));
    assert_eq!(value("n - 2 * -3L"), Some(16));
    assert_eq!(value("n / 2"), None);
    assert_eq!(value("f(n)"), None);
    assert_eq!(value("(n"), None);
}
