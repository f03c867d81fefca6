//! Tests of `macros.rs`.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::{assigned_names, lent_names};

#[test]
fn assigned_names_are_found() {
    assert_eq!(assigned_names("{ t = (x); (v) = 2.0 * t; }"), ["t", "v"]);
    assert_eq!(assigned_names("do { ++n; m += n; s.k = 1; p->q = 2; a[i] = n == m; } while (0)"), ["n", "m"]);
    assert_eq!(assigned_names("((a) > (b) ? (a) : (b))"), Vec::<String>::new());
}

#[test]
fn names_whose_address_is_taken_are_found() {
    assert_eq!(lent_names("add(&t, &(v)), swap((double *)&a, & b)"), ["t", "v", "a", "b"]);
    assert_eq!(lent_names("((x) & (m)) && n & k && (y)&(z)"), Vec::<&str>::new());
}
