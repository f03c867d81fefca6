//! Tests of `named.rs`.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::Named;

#[test]
fn what_has_a_name_is_found_in_its_order() {
    let mut all = vec![Some("b"), Some("a"), None, Some("ab"), Some("a")];
    let known = Named::default();
    let of = |all: &[Option<&'static str>], name: &str| known.of(name, all.len(), |at| all[at]);
    assert_eq!(of(&all, "a"), [1, 4]);
    assert_eq!(of(&all, "c"), [0; 0]);
    all.push(Some("a"));
    assert_eq!(of(&all, "a"), [1, 4, 5]);
    assert_eq!(known.beginning("a", all.len(), |at| all[at]), [1, 4, 3, 5]);
}
