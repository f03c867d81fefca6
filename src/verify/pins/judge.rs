//! Compares what two programs have recorded: in short, and element by element.
//!
//! Invariant: what differs as much between two right programs is no difference, and neither is what neither construct has
//! touched.

use super::record::{Element, Event, Held, Recorded};

/// So many times the difference of reference and noise is allowed: faults are larger by far, and roundings grow.
const NOISE: f64 = 100.0;

/// The roundings that are allowed to every number, relative to the largest.
const ROUNDINGS: f64 = 1000.0;

/// How far two programs go the same way.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Walk {
    /// The events behind directives after which something may differ, by number.
    pub suspects: Vec<usize>,
    /// The first event that one program has and the other has not there.
    pub parting: Option<usize>,
}

/// Walks through the events of two programs, and of a third that is right, too.
pub fn walk(reference: &[Event], test: &[Event], noise: Option<&[Event]>) -> Walk {
    let mut walk = Walk::default();
    for (at, own) in reference.iter().enumerate() {
        let Some(other) = test.get(at).filter(|other| is_same_place(own, other)) else {
            walk.parting = Some(at);
            return walk;
        };
        let noise = noise.and_then(|noise| noise.get(at)).filter(|noise| is_same_place(own, noise));
        let may_differ = |one: &Recorded| {
            let held = |event: &Event| Some(variable(event, &one.name)?.held.clone()).flatten();
            match (&one.held, held(other)) {
                (Some(one), Some(other)) => is_suspect(one, &other, noise.and_then(held).as_ref()),
                _ => false,
            }
        };
        if !own.is_entry && own.variables.iter().any(may_differ) {
            walk.suspects.push(at);
        }
    }
    if test.len() > reference.len() {
        walk.parting = Some(reference.len());
    }
    walk
}

fn is_same_place(one: &Event, other: &Event) -> bool {
    one.place == other.place && one.is_entry == other.is_entry && one.execution == other.execution
}

/// The variable of this name.
pub fn variable<'a>(event: &'a Event, name: &str) -> Option<&'a Recorded> {
    event.variables.iter().find(|one| one.name == name)
}

/// Whether two variables may differ by more than a right program does.
fn is_suspect(one: &Held, other: &Held, noise: Option<&Held>) -> bool {
    if one.element != other.element || one.count != other.count {
        return true;
    }
    if one.all == other.all || one.changed == other.changed && one.some == other.some {
        return false;
    }
    if one.changed != other.changed {
        return true;
    }
    let apart = |of: fn(&Held) -> f64| {
        let by_noise = noise.map_or(0.0, |noise| (of(one) - of(noise)).abs());
        let rounding = ROUNDINGS * one.element.epsilon() * one.size.max(other.size);
        is_apart(of(one), of(other), NOISE * by_noise + rounding)
    };
    if apart(|held| held.sum) || apart(|held| held.size) || one.element.epsilon() == 0.0 {
        return true;
    }
    let largest = one.samples.iter().map(|(_, value)| value.abs()).fold(0.0, f64::max);
    let noises = |at: usize| {
        let (place, value) = one.samples[at];
        let found = noise?.samples.get(at).filter(|(other, _)| *other == place)?;
        Some((found.1 - value).abs())
    };
    let by_noise = (0..one.samples.len()).filter_map(noises).fold(0.0, f64::max);
    let allowed = NOISE * by_noise + ROUNDINGS * one.element.epsilon() * largest;
    let pairs = one.samples.iter().zip(&other.samples);
    pairs.into_iter().any(|((at, value), (place, own))| at == place && is_apart(*value, *own, allowed))
}

/// Whether two numbers are farther apart than is allowed; NaN is no farther from NaN.
fn is_apart(one: f64, other: f64, allowed: f64) -> bool {
    let same = one == other || one.is_nan() && other.is_nan() || (one - other).abs() <= allowed;
    !same
}

/// What a variable holds before and after a directive, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Bytes<'a> {
    /// Before, if that is known.
    pub before: Option<&'a [u8]>,
    /// After.
    pub after: &'a [u8],
}

/// The element that differs most.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Worst {
    /// Its place among the recorded elements, from 0.
    pub place: usize,
    /// What it is in the reference.
    pub reference: f64,
    /// What it is in the test.
    pub test: f64,
    /// How far apart they may be.
    pub allowed: f64,
    /// So many elements differ.
    pub count: usize,
}

/// Compares the elements of a variable; those that neither program has changed there do not count.
pub fn worst(element: Element, reference: Bytes, test: Bytes, noise: Option<&[u8]>) -> Option<Worst> {
    let numbers = |bytes: &[u8]| element.numbers(bytes);
    let (own, other) = (numbers(reference.after), numbers(test.after));
    let before = [reference.before, test.before].map(|bytes| bytes.map(numbers));
    let noise = noise.map(numbers).unwrap_or_default();
    let is_untouched = |before: &Option<Vec<f64>>, after: &[f64], at: usize| {
        let bits = |value: f64| value.to_bits();
        before.as_ref().and_then(|before| before.get(at)).is_some_and(|value| bits(*value) == bits(after[at]))
    };
    let places = 0..own.len().min(other.len());
    let touched: Vec<usize> = places
        .filter(|at| !is_untouched(&before[0], &own, *at) || !is_untouched(&before[1], &other, *at))
        .collect();
    let largest = |of: &dyn Fn(usize) -> f64| {
        touched.iter().map(|at| of(*at)).filter(|value| value.is_finite()).fold(0.0, f64::max)
    };
    let by_noise = largest(&|at| noise.get(at).map_or(0.0, |noise| (own[at] - noise).abs()));
    let size = largest(&|at| own[at].abs());
    let allowed = NOISE * by_noise + ROUNDINGS * element.epsilon() * size;
    let wrong: Vec<usize> =
        touched.iter().copied().filter(|at| is_apart(own[*at], other[*at], allowed)).collect();
    let distance = |at: usize| {
        let apart = (own[at] - other[at]).abs();
        if apart.is_nan() { f64::INFINITY } else { apart }
    };
    let place = wrong.iter().copied().reduce(|one, two| if distance(two) > distance(one) { two } else { one })?;
    Some(Worst { place, reference: own[place], test: other[place], allowed, count: wrong.len() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(values: &[f64]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_ne_bytes()).collect()
    }

    fn compared(reference: [&[f64]; 2], test: [&[f64]; 2], noise: Option<&[f64]>) -> Option<Worst> {
        let [before, after, own, left] = [reference[0], reference[1], test[0], test[1]].map(bytes);
        let noise = noise.map(bytes);
        let reference = Bytes { before: Some(&before), after: &after };
        let test = Bytes { before: Some(&own), after: &left };
        worst(Element::Float(8), reference, test, noise.as_deref())
    }

    #[test]
    fn what_nobody_touches_does_not_count() {
        assert_eq!(compared([&[1.0, 7.0], &[2.0, 7.0]], [&[1.0, 9.0], &[2.0, 9.0]], None), None);
    }

    #[test]
    fn a_lost_change_counts() {
        let found = compared([&[1.0, 1.0], &[2.0, 3.0]], [&[1.0, 1.0], &[2.0, 1.0]], None).unwrap();
        assert_eq!((found.place, found.reference, found.test, found.count), (1, 3.0, 1.0, 1));
    }

    #[test]
    fn noise_and_roundings_are_allowed() {
        let one = 1.0 + 1e-15;
        assert_eq!(compared([&[0.0], &[1.0]], [&[0.0], &[one]], None), None);
        assert!(compared([&[0.0], &[1.0]], [&[0.0], &[1.001]], None).is_some());
        assert_eq!(compared([&[0.0], &[1.0]], [&[0.0], &[1.001]], Some(&[1.0005])), None);
        assert!(compared([&[0.0], &[f64::NAN]], [&[0.0], &[1.0]], None).is_some());
        assert_eq!(compared([&[0.0], &[f64::NAN]], [&[0.0], &[f64::NAN]], None), None);
    }
}
