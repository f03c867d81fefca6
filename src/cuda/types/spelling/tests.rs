//! Tests of `spelling.rs`.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::has_long_number;

#[test]
fn long_numbers_are_distinguished_from_members_and_integers() {
    assert!(has_long_number("x * 0.1L") && has_long_number(".5l+1") && has_long_number("1e3L"));
    let others = ["cells[i].level", "a.l", "7L", "0x1eL", "0.5f", "rail", "v1.l"];
    assert!(!others.into_iter().any(has_long_number));
}
