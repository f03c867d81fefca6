//! What two programs printed at their pins: what is judged to differ.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::*;

fn held(changed: u64, samples: &[f64]) -> Held {
    let hash = format!("{changed} {samples:?}");
    Held {
        element: Element::Float(8),
        count: 100,
        all: hash.clone(),
        changed,
        some: hash,
        sum: samples.iter().sum(),
        size: samples.iter().map(|value| value.abs()).sum(),
        samples: (0..).zip(samples.iter().copied()).collect(),
    }
}

#[test]
fn without_bytes_samples_decide() {
    let reference = held(100, &[1.0, 2.0]);
    assert_eq!(in_short(&reference, &held(100, &[1.0, 2.0 + 1e-15]), None, 0.0), None);
    let found = in_short(&reference, &held(100, &[1.0, 3.0]), None, 0.0);
    assert!(matches!(found, Some(InShort::Element(Worst { place: 1, samples: Some(2), .. }))), "{found:?}");
    // A change that is lost: the test has what it had.
    let lost = in_short(&reference, &held(0, &[]), Some(&held(100, &[0.5, 0.5])), 0.0);
    assert!(matches!(lost, Some(InShort::Element(Worst { test: 0.5, .. }))), "{lost:?}");
    // Another part that was changed need not be more than rounding.
    assert_eq!(in_short(&reference, &held(99, &[1.0, 2.0]), None, 0.0), None);
    let sums = Held { sum: 9.0, ..held(100, &[1.0, 2.0]) };
    let sums =
        in_short(&reference, &Held { some: "other".to_owned(), all: "other".to_owned(), ..sums }, None, 0.0);
    assert_eq!(sums, Some(InShort::Sums([3.0, 9.0])));
}

fn bytes(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_ne_bytes()).collect()
}

fn compared(reference: [&[f64]; 2], test: [&[f64]; 2], noise: Option<&[f64]>) -> Option<Worst> {
    let [before, after, own, left] = [reference[0], reference[1], test[0], test[1]].map(bytes);
    let noise = noise.map(bytes);
    let reference = Bytes { before: Some(&before), after: &after };
    let test = Bytes { before: Some(&own), after: &left };
    worst(Element::Float(8), reference, test, (noise.as_deref(), 0.0))
}

#[test]
fn what_nobody_touches_does_not_count() {
    assert_eq!(compared([&[1.0, 7.0], &[2.0, 7.0]], [&[1.0, 9.0], &[2.0, 9.0]], None), None);
}

#[test]
fn both_parts_of_a_complex_number_are_one_element() {
    let (one, other) = (bytes(&[1.0, 2.0, 3.0, 4.0]), bytes(&[1.0, 2.0, 9.0, 8.0]));
    let [one, other] = [&one, &other].map(|after| Bytes { before: None, after });
    let found = worst(Element::Complex(16), one, other, (None, 0.0));
    assert_eq!(found.map(|found| (found.place, found.count)), Some((1, 1)));
}

#[test]
fn integers_differ_exactly() {
    let bytes = |value: i64| value.to_ne_bytes();
    let [large, other] = [bytes((1 << 60) + 1), bytes((1 << 60) + 2)];
    let count = |other: &[u8; 8]| {
        let [one, other] = [&large, other].map(|after| Bytes { before: None, after });
        worst(Element::Signed(8), one, other, (None, 0.0)).map(|found| found.count)
    };
    assert_eq!((count(&other), count(&large)), (Some(1), None));
}

#[test]
fn a_lost_change_counts() {
    let found = compared([&[1.0, 1.0], &[2.0, 3.0]], [&[1.0, 1.0], &[2.0, 1.0]], None);
    let found = found.map(|found| (found.place, found.reference, found.test, found.count));
    assert_eq!(found, Some((1, 3.0, 1.0, 1)));
}

#[test]
fn a_small_element_beside_large_ones_is_seen() {
    let before = [0.0; 200];
    let mut right: Vec<f64> = (0..200).map(|at| if at < 100 { 1e13 } else { 4.0 }).collect();
    let (mut wrong, noise) = (right.clone(), right.clone());
    wrong[170] = 5.0;
    let found = compared([&before, &right], [&before, &wrong], Some(&noise));
    assert_eq!(found.map(|found| (found.place, found.count)), Some((170, 1)));
    // What may be roundings of the large ones is not one.
    (right[170], wrong[170]) = (1e-4, 2e-4);
    assert_eq!(compared([&before, &right], [&before, &wrong], Some(&noise)), None);
    // Without noise, nobody knows.
    wrong[170] = 1.0;
    assert_eq!(compared([&before, &right], [&before, &wrong], None), None);
}

#[test]
fn the_largest_around_is_found() {
    assert_eq!(largest_around(&[1.0, 5.0, 2.0, 0.0, 0.0, 3.0], 1), [5.0, 5.0, 5.0, 2.0, 3.0, 3.0]);
    assert_eq!(largest_around(&[1.0, 5.0, 2.0], 9), [5.0; 3]);
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
