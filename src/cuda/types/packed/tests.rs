//! Tests of `packed.rs`.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::*;

#[test]
fn lines_about_packing_are_read() {
    assert_eq!(said("#pragma pack(push, 1)"), Some("push, 1"));
    assert_eq!(said("  # pragma pack ( )"), Some(" "));
    assert_eq!(said("#pragma once"), None);
    assert_eq!(closing("((packed)) x"), Some(9));
}
