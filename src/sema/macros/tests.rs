//! Tests of `macros.rs`.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::assigned_names;

#[test]
fn assigned_names_are_found() {
    assert_eq!(assigned_names("{ t = (x); (v) = 2.0 * t; }"), ["t", "v"]);
    assert_eq!(assigned_names("do { ++n; m += n; s.k = 1; p->q = 2; a[i] = n == m; } while (0)"), ["n", "m"]);
    assert_eq!(assigned_names("((a) > (b) ? (a) : (b))"), Vec::<String>::new());
}
