//! Tests of `fypp.rs`.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::fypp;

#[test]
fn lines_of_fypp_begin_with_its_marks() {
    let found = |text: &str| fypp(text.as_bytes()).map(|span| span.start);
    assert_eq!(found("a = 1\n  #:if X\n"), Some(8));
    assert_eq!(found("$:LOOP()"), Some(0));
    assert_eq!(found(":: a\n! #:if\nx(1:2)\nprint *, '$:'\n#if A\n"), None);
}
