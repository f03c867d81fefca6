//! Tests of `expression.rs`.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::{Type, Word, real, whole};

#[test]
fn numbers() {
    let single = Type { word: Word::Real, bytes: 4 };
    assert_eq!(real("1.", single), "1.0f");
    assert_eq!(real(".5d0", Type::DOUBLE), "0.5");
    assert_eq!(real("1e-3", single), "1.0e-3f");
    assert_eq!(real("007.25d+02", Type::DOUBLE), "7.25e+02");
    assert_eq!(whole("010"), "10");
    assert_eq!(whole("0"), "0");
}
