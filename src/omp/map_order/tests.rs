//! Tests of `map_order.rs`.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::super::ast::{BaseLanguage, Directive, Leaf};
use super::*;

fn line(maps: &[(&'static str, &[&str])]) -> String {
    let mut data = Directive::new(&[Leaf::Named("target data")]);
    for (modifier, items) in maps {
        items.iter().for_each(|item| data.add(Clause::list("map", Some(modifier), item)));
    }
    data.line(BaseLanguage::C).trim_start_matches("#pragma omp target data ").to_owned()
}

#[test]
fn members_follow_their_object() {
    let one = line(&[("to", &["a", "s.p[0:n]", "t.p[0:n]", "b", "s", "t", "s.q[0:n]"])]);
    assert_eq!(one, "map(to: a, s, s.p[0:n], s.q[0:n], t, t.p[0:n], b)");
    let two = line(&[("to", &["a", "s"]), ("from", &["s.p[0:n]"])]);
    assert_eq!(two, "map(to: a, s) map(from: s.p[0:n])");
    let several = line(&[("to", &["s", "t", "a"]), ("from", &["s.p[0:n]", "t.p[0:n]"])]);
    assert_eq!(several, "map(to: s) map(from: s.p[0:n]) map(to: t) map(from: t.p[0:n]) map(to: a)");
    assert_eq!(line(&[("to", &["p[0:n]", "this[0:1]"])]), "map(to: this[0:1], p[0:n])");
    assert_eq!(line(&[("to", &["b", "a"])]), "map(to: b, a)");
}
