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
mod tests;
