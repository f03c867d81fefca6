//! Which texts are the same within a tolerance.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::*;

fn count(rule: &Rule, a: &str, b: &str) -> u64 {
    compare("stdout", rule, a, b, None).differences
}

#[test]
fn text_is_exact_and_numbers_have_tolerances() {
    let rule = Rule { rtol: Some(1e-6), ignore: vec!["Time".to_owned()], ..Rule::default() };
    assert_eq!(count(&rule, "sum 1.0\nTime 3\n", "sum 1.0000001\nTime 4\n"), 0);
    assert_eq!(count(&rule, "sum 1.0\n", "sun 1.0\n"), 1);
    assert_eq!(count(&rule, "sum 1.0\n", "sum 1.1\n"), 1);
    assert_eq!(count(&rule, "sum nan\n", "sum 1.1\n"), 1);
    assert_eq!(count(&rule, "sum 1\n", "sum ***\n"), 1);
    assert_eq!(count(&rule, "a\n", "a\nb\n"), 1);
    assert_eq!(count(&Rule::default(), "9007199254740993\n", "9007199254740992\n"), 1);
}

#[test]
fn blanks_differ_only_beside_numbers_of_other_width() {
    let rule = Rule { rtol: Some(0.5), ..Rule::default() };
    assert_eq!(count(&rule, "x =  9.9 end\n", "x = 10.1 end\n"), 0);
    assert_eq!(count(&rule, "x=-0.5\n", "x= -0.50\n"), 0);
    assert_eq!(count(&rule, "x  = 9.9\n", "x = 9.9\n"), 1);
    assert_eq!(count(&rule, "x = 9.9  end\n", "x = 9.9 end\n"), 1);
}

#[test]
fn blanks_do_not_count_where_the_rule_says_so() {
    let rule = Rule { any_blanks: true, ..Rule::default() };
    assert_eq!(count(&rule, " ok           1 \n\n", "ok 1\n  \n"), 0);
    assert_eq!(count(&rule, "a 1\n", "a1\n"), 1);
    assert_eq!(count(&rule, "a b 1\n", "a c 1\n"), 1);
    assert_eq!(count(&rule, "1 2\n", "12\n"), 1);
}

#[test]
fn noise_widens_what_is_allowed() {
    let rule = Rule::default();
    let all = compare("stdout", &rule, "s 1.0 t 2\n", "s 1.2 t 2\n", Some("s 1.1 t 2\n"));
    assert_eq!((all.differences, all.by_noise), (0, 1));
    let all = compare("stdout", &rule, "s 1.0 t 2\n", "s 1.2 t 3\n", Some("s 1.1 t 2\n"));
    assert_eq!((all.differences, all.by_noise), (1, 1));
    assert_eq!(all.first[0].place, "line 1, column 9");
}
