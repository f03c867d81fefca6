//! Tests of `affine.rs`.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

#![allow(clippy::unwrap_used)]
use super::{Atom, Atoms, Poly};

#[test]
fn a_linear_subscript_is_parted_by_its_stride() {
    let mut atoms = Atoms::default();
    let [i, j] = [0, 1].map(|at| Poly::atom(atoms.id(Atom::Counter(at))));
    let n = atoms.unknown(None);
    // (i - 1) * (n + 2) + j
    let stride = n.shifted(2).unwrap();
    let subscript = i.shifted(-1).unwrap().times(&stride).unwrap().plus(&j, 1).unwrap();
    assert_eq!(subscript.divided(&stride), Some((i.shifted(-1).unwrap(), j.clone())));
    let counter = i.atoms().next().unwrap();
    assert_eq!(subscript.coefficient(counter), Some(stride));
    assert_eq!(i.plus(&i, -1).and_then(|zero| zero.value()), Some(0));
}

#[test]
fn what_does_not_fit_is_no_polynomial() {
    let large = Poly::constant(i64::MAX);
    assert_eq!(large.shifted(1), None);
    assert_eq!(large.scaled(2), None);
}
