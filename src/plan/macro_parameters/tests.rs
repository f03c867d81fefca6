//! Tests of `macro_parameters.rs`.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::{arguments, call, filled};

#[test]
fn calls_in_heads_are_found() {
    let head = "(int n, double ROW(x, f(n, 2)), double (*g)(int y))";
    assert_eq!(call(head, "x"), Some(("ROW", vec!["x", "f(n, 2)"])));
    assert_eq!(call(head, "y"), None);
    assert_eq!(call(head, "n"), None);
    assert_eq!(arguments("a, b[1, 2]"), ["a", "b[1, 2]"]);
    let params = ["v".to_owned(), "n".to_owned()];
    assert_eq!(filled("v[n + nn]", &params, &["x", "2 * m"]), "x[2 * m + nn]");
}
