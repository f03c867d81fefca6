//! The values of conditions.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::*;
use crate::source::{Language, SourceFile};

/// The value of `text` after `#if`, where options define A, C as A + 1 and N as 4, and undefine U.
fn check(text: &str, wanted: Verdict) {
    let mut file = SourceFile::new("a.c", Vec::new(), Language::C);
    let mut said = crate::source::Predefined::default();
    ["A", "C=A + 1", "N=4", "X=WHO_KNOWS + 1"].iter().for_each(|text| said.define(text));
    said.undefine("U");
    file.predefined = said.into();
    assert_eq!(verdict("if", text.as_bytes(), &Defined::before(&file)), wanted, "{text}");
}

#[test]
fn options_decide_what_asks_for_their_names_alone() {
    for text in ["defined(A)", "A && !U", "C == 2", "N * 2 > 7", "A ? N : Z", "!defined U", "0 || N"] {
        check(text, Verdict::Always);
    }
    for text in ["defined(U)", "!A", "U", "N < 4", "U ? Z : 0", "1 && U"] {
        check(text, Verdict::Never);
    }
}

#[test]
fn unsigned_values_are_never_negative() {
    for text in ["-A >= 1u", "~U >= 5UL", "N - 5u > 100", "0xffffffffffffffff > N", "-1 / 2u > 7 && A"] {
        check(text, Verdict::Always);
    }
    for text in ["-A >= 1", "(A == 1u) - 2 > U", "-N >> 1u > 0"] {
        check(text, Verdict::Never);
    }
}

#[test]
fn one_side_may_be_enough() {
    check("defined(A) || defined(Z)", Verdict::Always);
    check("defined(Z) || N", Verdict::Always);
    check("defined(U) && defined(Z)", Verdict::Never);
    check("Z > 3 && U", Verdict::Never);
    check("defined(A) && defined(Z)", Verdict::Fails);
    check("defined(U) || !Z", Verdict::Holds);
}

#[test]
fn what_else_is_known_decides_nothing() {
    for text in ["0", "defined(Z)", "_OPENMP", "X == 2", "A && (", "F(A)"] {
        check(text, Verdict::Fails);
    }
    for text in ["1", "!Z", "defined(_OPENACC)", "_OPENACC && A", "X == 1"] {
        check(text, Verdict::Holds);
    }
}
