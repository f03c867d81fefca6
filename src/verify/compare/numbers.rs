//! When two numbers are the same.
//!
//! Invariant: a number is the same if one of the tolerances allows it; NaN is only NaN, and an infinity only itself.

use crate::verify::config::Rule;

/// So many times what reference and noise differ by is allowed.
pub const NOISE: f64 = 4.0;

/// A number of which reference and noise have not even two digits in common is roundings alone, as the error of a result
/// that is right: it may differ by so many times as much.
const ROUNDINGS: f64 = 100.0;

/// What these numbers differ by, relative to their size.
const NO_DIGITS: f64 = 0.01;

/// Whether two numbers are the same; `noise` is what the noise build makes of the first.
pub fn same(rule: &Rule, a: f64, b: f64, noise: Option<f64>) -> bool {
    if a.is_nan() || b.is_nan() {
        return a.is_nan() && b.is_nan();
    }
    if a == b {
        return true;
    }
    if a.is_infinite() || b.is_infinite() {
        return false;
    }
    let apart = (a - b).abs();
    apart <= allowed(rule, a, b, noise) || rule.ulp.is_some_and(|ulp| steps(a, b) <= ulp)
}

/// The difference that tolerances other than `ulp` allow.
pub fn allowed(rule: &Rule, a: f64, b: f64, noise: Option<f64>) -> f64 {
    let relative = rule.rtol.unwrap_or(0.0) * a.abs().max(b.abs());
    let learned = noise.map_or(0.0, |noise| {
        let apart = (a - noise).abs();
        let is_rounding = apart > NO_DIGITS * a.abs();
        apart * if is_rounding { ROUNDINGS } else { NOISE }
    });
    let learned = if learned.is_finite() { learned } else { 0.0 };
    relative.max(rule.atol.unwrap_or(0.0)).max(learned)
}

/// The doubles between two of them.
fn steps(a: f64, b: f64) -> u64 {
    let place = |value: f64| {
        let bits = i128::from(value.to_bits() & !(1 << 63));
        if value.is_sign_negative() { -bits } else { bits }
    };
    (place(a) - place(b)).unsigned_abs().try_into().unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
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
        assert!(
            !same(&wide, f64::INFINITY, f64::NEG_INFINITY, None) && !same(&wide, f64::INFINITY, 1.0, None)
        );
        assert!(same(&Rule::default(), f64::NAN, -f64::NAN, None) && same(&Rule::default(), 0.0, -0.0, None));
    }
}
