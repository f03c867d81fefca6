//! Tests of `elemental.rs`.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::{ELEMENTAL, INQUIRY, TRANSFORMATIONAL, is_intrinsic};

#[test]
fn the_intrinsics_are_sorted() {
    assert!([INQUIRY, ELEMENTAL, TRANSFORMATIONAL].iter().all(|list| list.is_sorted()));
    assert!(is_intrinsic("sqrt") && !is_intrinsic("random_number"));
}
