//! Tests of `baseline.rs`.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

#![allow(clippy::unwrap_used)]
use super::*;

#[test]
fn other_versions_are_refused() {
    assert!(Baseline::read("{ \"version\": 1, \"reviewed\": [] }").is_ok());
    let why = Baseline::read("{ \"version\": 2, \"reviewed\": [] }").unwrap_err();
    assert!(why.contains("version 2"), "{why}");
    assert!(Baseline::read("[]").is_err());
}
