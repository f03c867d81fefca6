//! Tests of `openacc.rs`.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::*;

#[test]
fn each_compiler_keeps_its_own() {
    let is_refused = |family, word: &str| is_refused(family, &OsString::from(word));
    assert!(is_refused("clang", "-foffload=disable") && !is_refused("gcc", "-foffload=disable"));
    assert!(is_refused("clang", "-acc=gpu") && is_refused("gcc", "-Minfo=accel"));
    assert!(!is_refused("nvc", "-gpu=cc90") && !is_refused("clang", "-fopenacc"));
}
