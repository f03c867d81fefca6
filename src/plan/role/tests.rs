//! Tests of `role.rs`.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::{Attribute, Sharing, is_hidden};
use crate::acc::ast::ReductionOp;

fn left(roles: &[Sharing]) -> Vec<Sharing> {
    let attribute =
        |sharing: &Sharing| Attribute { sharing: sharing.clone(), item: "x".to_owned(), entry: "" };
    let all: Vec<Attribute> = roles.iter().map(attribute).collect();
    all.iter().filter(|one| !is_hidden(one, &all)).map(|one| one.sharing.clone()).collect()
}

#[test]
fn each_variable_keeps_one_role() {
    let sum = Sharing::Reduction(ReductionOp::Add);
    assert_eq!(left(&[Sharing::Copy, Sharing::Private]), [Sharing::Private]);
    assert_eq!(left(&[Sharing::Firstprivate, Sharing::Private]), [Sharing::Private]);
    assert_eq!(left(&[Sharing::Firstprivate, sum.clone()]), std::slice::from_ref(&sum));
    assert_eq!(left(&[Sharing::Copy, sum.clone()]), [Sharing::Copy, sum]);
    assert_eq!(left(&[Sharing::Copy]), [Sharing::Copy]);
}
