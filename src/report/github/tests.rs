//! Tests of `github.rs`.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::*;

#[test]
fn commands_are_escaped() {
    assert_eq!(data("1% of a:\nb"), "1%25 of a:%0Ab");
    assert_eq!(property("a,b: c"), "a%2Cb%3A c");
}
