//! Tests of `declarator.rs`.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::*;

#[test]
fn names_stand_inside_of_their_types() {
    assert_eq!(Type::value("double").declare("x"), "double x");
    let pointer = Type { is_restrict: true, ..Type::pointer("double").constant() };
    assert_eq!(pointer.declare("x"), "const double *__restrict__ x");
    assert_eq!(pointer.clone().plain().declare("x"), "double *x");
    let rows = Type { rows: vec!["n".to_owned(), "4".to_owned()], stars: 2, ..pointer };
    assert_eq!(rows.declare("x"), "const double *(*__restrict__ x)[n][4]");
    assert_eq!(rows.cast("y"), "(const double *(*)[n][4])y");
}
