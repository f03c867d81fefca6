//! Tests of `c_library.rs`.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::*;

#[test]
fn the_library_has_one_function_to_a_name() {
    assert_eq!(returned("sqrt"), CType::Number(CNumber::Double));
    assert_eq!(returned("sqrtf"), CType::Number(CNumber::Float));
    assert_eq!(returned("lroundf"), CType::Number(CNumber::Integer(Rank::Long, true)));
    assert_eq!(returned("printf"), CType::Unknown);
    assert!(overloaded("sqrtf").is_none() && overloaded("atan2").is_some_and(|one| one.params.len() == 2));
}
