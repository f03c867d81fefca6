//! Tests of `numbers.rs`.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::*;

#[test]
fn any_tolerance_allows() {
    let none = Rule::default();
    assert!(!same(&none, 1.0, 1.0 + f64::EPSILON, None));
    assert!(same(&Rule { ulp: Some(1), ..Rule::default() }, 1.0, 1.0 + f64::EPSILON, None));
    assert!(!same(&Rule { ulp: Some(1), ..Rule::default() }, 1.0, 1.0 + 2.0 * f64::EPSILON, None));
    assert!(same(&Rule { atol: Some(0.1), ..Rule::default() }, 0.0, 0.05, None));
    assert!(same(&Rule { rtol: Some(1e-3), ..Rule::default() }, 1000.0, 1000.5, None));
    assert!(!same(&Rule { rtol: Some(1e-3), ..Rule::default() }, 1000.0, 1002.0, None));
    assert!(same(&none, 1.0, 1.003, Some(1.001)) && !same(&none, 1.0, 1.005, Some(1.001)));
    assert!(same(&none, 6.7e-13, 1.6e-12, Some(6.3e-13)) && !same(&none, 6.7e-13, 1e-11, Some(6.3e-13)));
}

#[test]
fn kinds_are_kept() {
    let wide = Rule { atol: Some(1e300), rtol: Some(10.0), ulp: Some(u64::MAX), ..Rule::default() };
    assert!(!same(&wide, f64::NAN, 1.0, None) && !same(&wide, 1.0, f64::NAN, Some(2.0)));
    assert!(!same(&wide, f64::INFINITY, f64::NEG_INFINITY, None) && !same(&wide, f64::INFINITY, 1.0, None));
    assert!(same(&Rule::default(), f64::NAN, -f64::NAN, None) && same(&Rule::default(), 0.0, -0.0, None));
}
