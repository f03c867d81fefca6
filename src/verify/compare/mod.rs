//! Compares what two programs left.
//!
//! Invariant: what is not compared is said.

pub mod binary;
pub mod files;
pub mod numbers;
pub mod text;
pub mod tokens;

use serde::Serialize;

/// So many differences are shown.
const SHOWN: usize = 5;

/// What came of a comparison.
#[derive(Debug, Default, Serialize)]
pub struct Comparison {
    /// What was compared: `stdout`, `status` or a path.
    pub what: String,
    /// How many numbers were compared.
    pub numbers: u64,
    /// How many differences there are.
    pub differences: u64,
    /// The first of them.
    pub first: Vec<Difference>,
    /// The largest relative difference of numbers, those that are allowed, too.
    pub largest: f64,
    /// The numbers that only the noise build's tolerance allows.
    pub by_noise: u64,
    /// Why it is unknown.
    pub unknown: Option<String>,
}

/// A difference.
#[derive(Debug, Serialize)]
pub struct Difference {
    /// Where.
    pub place: String,
    /// What the reference has.
    pub reference: String,
    /// What the test has.
    pub test: String,
    /// How far apart numbers are.
    pub difference: Option<f64>,
    /// How far apart they may be.
    pub allowed: Option<f64>,
}

impl Comparison {
    /// One of this name without differences.
    pub fn of(what: &str) -> Comparison {
        Comparison { what: what.to_owned(), ..Comparison::default() }
    }

    /// One that could not be made.
    pub fn unknown(what: &str, why: String) -> Comparison {
        Comparison { unknown: Some(why), ..Comparison::of(what) }
    }

    /// Adds a difference that is not one of numbers.
    pub fn differ(&mut self, place: String, reference: &str, test: &str) {
        let (reference, test) = (reference.to_owned(), test.to_owned());
        self.push(Difference { place, reference, test, difference: None, allowed: None });
    }

    fn push(&mut self, difference: Difference) {
        self.differences += 1;
        if self.first.len() < SHOWN {
            self.first.push(difference);
        }
    }

    /// Counts a pair of numbers; the result is whether they are the same.
    fn number(&mut self, rule: &super::config::Rule, a: f64, b: f64, noise: Option<f64>) -> bool {
        self.numbers += 1;
        let relative = (a - b).abs() / a.abs().max(b.abs());
        if relative.is_finite() {
            self.largest = self.largest.max(relative);
        }
        let is_same = numbers::same(rule, a, b, noise);
        self.by_noise += u64::from(is_same && !numbers::same(rule, a, b, None));
        is_same
    }

    /// Adds a difference of numbers.
    fn apart(&mut self, rule: &super::config::Rule, place: String, texts: [&str; 2], values: [f64; 3]) {
        let [a, b, noise] = values;
        let noise = Some(noise).filter(|noise| !noise.is_nan());
        let [reference, test] = texts.map(str::to_owned);
        let finite = |value: f64| Some(value).filter(|value| value.is_finite());
        let (difference, allowed) = (finite((a - b).abs()), finite(numbers::allowed(rule, a, b, noise)));
        self.push(Difference { place, reference, test, difference, allowed });
    }
}
