//! The sizes that clauses ask for.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::RequestedSizes;
use crate::acc::ast::{ClauseKind, Expr, GangArgument};
use crate::source::Span;

fn expr(text: &str) -> Expr {
    Expr { text: text.to_owned(), span: Span { start: 0, end: 0 } }
}

#[test]
fn gangs_are_a_product() {
    let gangs = |sizes: &[&str]| {
        let clauses = [ClauseKind::NumGangs(sizes.iter().map(|size| expr(size)).collect())];
        RequestedSizes::of(clauses.iter())
    };
    assert_eq!(gangs(&["n + 1", "2"]).gangs, Some(vec!["n + 1".to_owned(), "2".to_owned()]));
    assert!(gangs(&["1", "1"]).is_one_gang());
    assert!(!gangs(&["n"]).is_one_gang());
    assert!(!RequestedSizes::default().is_one_gang());
}

#[test]
fn each_level_has_its_size() {
    let clauses = [
        ClauseKind::Gang(vec![GangArgument::Num(expr("1")), GangArgument::Static(expr("*"))]),
        ClauseKind::Worker(Some(expr("4"))),
        ClauseKind::Vector(None),
        ClauseKind::VectorLength(expr("32")),
    ];
    let requested = RequestedSizes::of(clauses.iter());
    assert!(requested.is_one_gang());
    assert_eq!(requested.chunk.as_deref(), Some("*"));
    assert_eq!((requested.workers.as_deref(), requested.lanes.as_deref()), (Some("4"), Some("32")));
}
