//! Tests of `modules.rs`.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::{defined, used};

#[test]
fn modules_are_distinguished_from_their_procedures() {
    let text = b"module A ! use z\n  USE, intrinsic :: iso_c_binding, only: c_int\n  use b\n use b, only: x\ncontains\n\
                 module procedure p\n module function f(x)\nend module A\nsubmodule (a) s\n";
    assert_eq!(defined(text), ["a"]);
    assert_eq!(used(text), ["iso_c_binding", "b", "a"]);
}
