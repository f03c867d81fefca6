//! Tests of `callable.rs`.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

#![allow(clippy::unwrap_used)]
use super::*;

#[test]
fn a_lambda_has_captures_parameters_and_specifiers() {
    let all = Lambda::of("[=, n] (double x, const int (&y)[3]) mutable -> double { return x; }").unwrap();
    assert_eq!(all.captures, ["=", "n"]);
    assert_eq!(all.params, ["double x", "const int (&y)[3]"]);
    assert_eq!(words(all.specifiers), ["mutable", "double"]);
    let bare = Lambda::of("[] { f(); }").unwrap();
    assert!(bare.captures.is_empty() && bare.params.is_empty() && bare.after == 2);
    assert!(Lambda::of("[x = 1").is_none());
}
