//! Tests of `macros.rs`.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::{assigned_names, call, first_call, is_variable_like, lent_names, with_arguments};

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

#[test]
fn arguments_take_the_place_of_parameters_and_names_are_put_together() {
    let args = |all: &[&str]| all.iter().map(|one| (*one).to_owned()).collect::<Vec<String>>();
    let check = |body: &str, params: &[&str], given: &[&str], expected: &str| {
        assert_eq!(with_arguments(body, params, &args(given)), expected, "{body}");
    };
    check("x##_", &["x"], &["sum"], "sum_");
    check("value_ ## a ## _ ## b", &["a", "b"], &["of", "1"], "value_of_1");
    check("a[(i) * n + xi]", &["i"], &["k"], "a[(k) * n + xi]");
    check("total", &[], &[], "total");
}

#[test]
fn a_call_is_all_of_a_text_or_what_it_begins_with() {
    let of = |text| call(text).map(|(callee, args)| format!("{callee}: {}", args.join("|")));
    assert_eq!(of("NAME(sum)").as_deref(), Some("NAME: sum"));
    assert_eq!(of("AT(f(a, b), c[i, j], (d))").as_deref(), Some("AT: f(a, b)|c[i, j]|(d)"));
    assert_eq!(of("ALL()").as_deref(), Some("ALL: "));
    assert_eq!(of("a(i)[j]"), None);
    assert_eq!(of("(a)(i)"), None);
    assert_eq!(of("f(a"), None);
    assert_eq!(first_call("a(i)[j]").map(|(callee, _)| callee), Some("a"));
}

#[test]
fn what_may_be_a_variable_is_a_name_or_a_call() {
    for body in ["total", "((total))", "x##_", "NAME(total)", ""] {
        assert!(is_variable_like(body), "{body}");
    }
    for body in ["a[i]", "(a)[i]", "*p", "&total", "(a)+(b)", "s.x", "f(a)[i]"] {
        assert!(!is_variable_like(body), "{body}");
    }
}
