//! Tests of `lent.rs`.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::*;

#[test]
fn lists_are_sorted() {
    assert!(COPYING.is_sorted());
}

#[test]
fn macros_that_compute_lend_nothing() {
    let check = |body: &str, expected: bool| assert_eq!(is_plain_body(body), expected, "{body}");
    check("((i) * n + (j))", true);
    check("((a) > (b) ? (a) : (b))", true);
    check("(x & 7) == 3 && y <= z", true);
    check("&x", false);
    check("(&(x))", false);
    check("p = &x", false);
    check("x += v", false);
    check("do { x++; } while (0)", false);
    check("n##_v", false);
}

#[test]
fn classes_of_other_files_may_keep_references() {
    let check = |name: &str, expected: bool| assert_eq!(may_be_class(name), expected, "{name}");
    check("std::reference_wrapper<int>", true);
    check("std::unique_ptr<R>", true);
    check("R", true);
    check("int &&", false);
    check("std::vector<double>", false);
    check("size_t", false);
    check("unsigned long", false);
    check("double *", false);
}
