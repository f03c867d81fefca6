//! Compares what two programs have recorded: in short, and element by element.
//!
//! Invariant: what differs as much between two right programs is not a difference, and neither is what neither construct has
//! touched.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use serde::Serialize;

use super::record::{Element, Event, Held, Place, Recorded};

/// So many times the difference of reference and noise is allowed: faults are larger by far, and roundings grow.
const NOISE: f64 = 100.0;

/// The roundings that are allowed to every number, relative to the largest.
const ROUNDINGS: f64 = 1000.0;

/// The roundings that are allowed to every number where the noise build says more, relative to the largest of all.
const FLOOR: f64 = 4.0;

/// So many elements before and after one say how large it is among its own: a variable may hold several quantities.
const AROUND: usize = 64;

/// The noise of so many later executions of a directive counts, too: one execution may have little by chance.
const AHEAD: usize = 8;

/// How far two right programs are apart at each variable of each event, relative to its size: at this execution of its
/// directive, before it, or soon after.
#[derive(Debug, Default)]
pub struct Levels(Vec<Vec<f64>>);

impl Levels {
    /// The levels between two programs; none where the other is not known.
    pub fn of(reference: &[Event], noise: Option<&[Event]>) -> Levels {
        let mut places: HashMap<(&Place, &str), Vec<(usize, usize)>> = HashMap::new();
        let mut levels = Vec::new();
        for (at, own) in reference.iter().enumerate() {
            let other = noise.and_then(|noise| noise.get(at)).filter(|other| is_same_place(own, other));
            let level = |one: &Recorded| {
                let held = other.and_then(|other| variable(other, &one.name)?.held.as_ref());
                one.held.as_ref().zip(held).map_or(0.0, |(one, other)| relative(one, other))
            };
            levels.push(own.variables.iter().map(level).collect::<Vec<f64>>());
            for (number, one) in own.variables.iter().enumerate().filter(|_| !own.is_entry) {
                places.entry((&own.place, &one.name)).or_default().push((at, number));
            }
        }
        for all in places.into_values() {
            let single: Vec<f64> = all.iter().map(|(at, number)| levels[*at][*number]).collect();
            let mut largest = 0.0;
            for (turn, (at, number)) in all.into_iter().enumerate() {
                let known = single.len().min(turn + 1 + AHEAD);
                largest = single[turn..known].iter().copied().fold(largest, f64::max);
                levels[at][number] = largest;
            }
        }
        Levels(levels)
    }

    /// The level of a variable of an event.
    pub fn at(&self, event: usize, variable: usize) -> f64 {
        self.0.get(event).and_then(|levels| levels.get(variable)).copied().unwrap_or(0.0)
    }
}

/// How far two records of a variable are apart, relative to its size.
fn relative(one: &Held, other: &Held) -> f64 {
    let over = |apart: f64, size: f64| if size > 0.0 && apart.is_finite() { apart / size } else { 0.0 };
    let largest = one.samples.iter().map(|(_, value)| value.abs()).fold(0.0, f64::max);
    let pairs = one.samples.iter().zip(&other.samples).filter(|(one, other)| one.0 == other.0);
    let samples = pairs.map(|(one, other)| over((one.1 - other.1).abs(), largest));
    // Sums of other elements have nothing to say.
    let sums = if one.changed == other.changed { over((one.sum - other.sum).abs(), one.size) } else { 0.0 };
    samples.fold(sums, f64::max)
}

/// How far two programs go the same way.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Walk {
    /// The events after directives after which something may differ, by number.
    pub suspects: Vec<usize>,
    /// Events before the first of these, one for each directive, after which bits differ: roundings, or small elements that
    /// are wrong beside large ones.
    pub unlike: Vec<usize>,
    /// The first event that one program has and the other has not there.
    pub parting: Option<usize>,
}

/// Walks through the events of two programs.
pub fn walk(reference: &[Event], test: &[Event], levels: &Levels) -> Walk {
    let mut walk = Walk::default();
    let mut known: BTreeSet<&Place> = BTreeSet::new();
    for (at, own) in reference.iter().enumerate() {
        let Some(other) = test.get(at).filter(|other| is_same_place(own, other)) else {
            walk.parting = Some(at);
            return walk;
        };
        let is_other = |one: &Recorded| {
            let both = one.held.as_ref().zip(variable(other, &one.name).and_then(|own| own.held.as_ref()));
            both.is_some_and(|(one, other)| one.element != other.element)
        };
        // Instances of a template may come in another order.
        if own.variables.iter().any(is_other) {
            walk.parting = Some(at);
            return walk;
        }
        let may_differ = |(number, one): (usize, &Recorded)| {
            let own = variable(other, &one.name);
            let both = one.held.as_ref().zip(own.and_then(|own| own.held.as_ref()));
            own.is_some_and(|own| is_lost(one, own))
                || both.is_some_and(|(one, other)| is_suspect(one, other, levels.at(at, number)))
        };
        if !own.is_entry && own.variables.iter().enumerate().any(may_differ) {
            walk.suspects.push(at);
        }
        let is_unlike = |one: &Recorded| {
            let other = variable(other, &one.name).and_then(|own| own.held.as_ref());
            one.held
                .as_ref()
                .zip(other)
                .is_some_and(|(one, other)| one.all != other.all && one.some != other.some)
        };
        if !own.is_entry
            && walk.suspects.is_empty()
            && own.variables.iter().any(is_unlike)
            && known.insert(&own.place)
        {
            walk.unlike.push(at);
        }
    }
    if test.len() > reference.len() {
        walk.parting = Some(reference.len());
    }
    walk
}

/// Whether a variable is on the device in the reference and not in the test.
pub fn is_lost(one: &Recorded, own: &Recorded) -> bool {
    own.is_absent && (one.held.is_some() || one.is_there)
}

fn is_same_place(one: &Event, other: &Event) -> bool {
    one.place == other.place && one.is_entry == other.is_entry && one.execution == other.execution
}

/// The variable of this name.
pub fn variable<'a>(event: &'a Event, name: &str) -> Option<&'a Recorded> {
    event.variables.iter().find(|one| one.name == name)
}

/// Whether two variables may differ by more than a right program does.
fn is_suspect(one: &Held, other: &Held, level: f64) -> bool {
    if one.element != other.element || one.count != other.count {
        return true;
    }
    if one.all == other.all || one.changed == other.changed && one.some == other.some {
        return false;
    }
    if one.changed != other.changed {
        return true;
    }
    let tolerance = NOISE * level + ROUNDINGS * one.element.epsilon();
    let apart = |of: fn(&Held) -> f64| is_apart(of(one), of(other), tolerance * one.size.max(other.size));
    if apart(|held| held.sum) || apart(|held| held.size) || one.element.epsilon() == 0.0 {
        return true;
    }
    let largest = one.samples.iter().map(|(_, value)| value.abs()).fold(0.0, f64::max);
    let allowed = tolerance * largest;
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
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Worst {
    /// Its place among the recorded elements, from 0.
    #[serde(rename = "element")]
    pub place: usize,
    /// What it is in the reference.
    pub reference: f64,
    /// What it is in the test.
    pub test: f64,
    /// How far apart they may be.
    pub allowed: f64,
    /// So many elements differ.
    #[serde(rename = "elements")]
    pub count: usize,
    /// So many elements were looked at, if these were not all.
    pub samples: Option<usize>,
}

/// Compares the elements of a variable; those that neither program has changed there do not count. `noise` is what a third
/// program that is right has, and `level` how far it is apart at other executions, relative to the largest element.
pub fn worst(element: Element, reference: Bytes, test: Bytes, noise: (Option<&[u8]>, f64)) -> Option<Worst> {
    worst_of(element, reference, test, noise).map(|(worst, _)| worst)
}

/// As `worst`, with all elements that differ.
pub fn worst_of(
    element: Element,
    reference: Bytes,
    test: Bytes,
    (noise, level): (Option<&[u8]>, f64),
) -> Option<(Worst, BTreeSet<usize>)> {
    let numbers = |bytes: &[u8]| element.numbers(bytes);
    let (own, other) = (numbers(reference.after), numbers(test.after));
    let noise = noise.map(numbers).unwrap_or_default();
    let width = bytes_of_number(element);
    let bits = |bytes: &[u8], at: usize| bytes.get(at * width..(at + 1) * width).map(<[u8]>::to_vec);
    let is_untouched = |one: Bytes, at: usize| {
        one.before.and_then(|before| bits(before, at)).is_some_and(|old| Some(old) == bits(one.after, at))
    };
    let places = 0..own.len().min(other.len());
    let touched: Vec<usize> =
        places.filter(|at| !is_untouched(reference, *at) || !is_untouched(test, *at)).collect();
    let finite = |value: f64| if value.is_finite() { value } else { 0.0 };
    let sizes: Vec<f64> = touched.iter().map(|at| finite(own[*at].abs())).collect();
    let apart = |at: &usize| finite(noise.get(*at).map_or(0.0, |noise| (own[*at] - noise).abs()));
    let noises: Vec<f64> = touched.iter().map(apart).collect();
    let largest = sizes.iter().copied().fold(0.0, f64::max);
    let is_exact = element.epsilon() == 0.0 && level == 0.0 && noises.iter().all(|noise| *noise == 0.0);
    // Without a noise build, the largest element says how large roundings may be.
    let around = if noise.is_empty() { touched.len() } else { AROUND };
    let (sizes, noises) = (largest_around(&sizes, around), largest_around(&noises, around));
    let allowed: BTreeMap<usize, f64> = (touched.iter().copied().zip(sizes.into_iter().zip(noises)))
        .map(|(at, (size, noise))| {
            let own = NOISE * noise.max(level * size) + ROUNDINGS * element.epsilon() * size;
            (at, own.max(FLOOR * element.epsilon() * largest))
        })
        .collect();
    let allowed = |at: usize| allowed.get(&at).copied().unwrap_or(0.0);
    // Large integers differ in bits that a floating number does not hold.
    let differs = |at: usize| match is_exact {
        true => bits(reference.after, at) != bits(test.after, at),
        false => is_apart(own[at], other[at], allowed(at)),
    };
    let wrong: Vec<usize> = touched.iter().copied().filter(|at| differs(*at)).collect();
    let distance = |at: usize| {
        let apart = (own[at] - other[at]).abs();
        if apart.is_nan() { f64::INFINITY } else { apart }
    };
    let place =
        wrong.iter().copied().reduce(|one, two| if distance(two) > distance(one) { two } else { one })?;
    let (reference, test, allowed) = (own[place], other[place], allowed(place));
    // A complex element has two numbers.
    let element_of = |at: usize| at * width / element.size();
    let all: BTreeSet<usize> = wrong.iter().map(|at| element_of(*at)).collect();
    let count = all.len();
    Some((Worst { place: element_of(place), reference, test, allowed, count, samples: None }, all))
}

/// The largest of each number and of those that stand so close to it.
fn largest_around(values: &[f64], around: usize) -> Vec<f64> {
    if around >= values.len() {
        let largest = values.iter().copied().fold(0.0, f64::max);
        return vec![largest; values.len()];
    }
    // The numbers ahead that are no smaller than all after them, the largest first.
    let mut falling: VecDeque<usize> = VecDeque::new();
    let mut all = Vec::with_capacity(values.len());
    let mut next = 0;
    for at in 0..values.len() {
        while next < values.len() && next <= at + around {
            while falling.back().is_some_and(|last| values[*last] <= values[next]) {
                falling.pop_back();
            }
            falling.push_back(next);
            next += 1;
        }
        while falling.front().is_some_and(|first| first + around < at) {
            falling.pop_front();
        }
        all.push(falling.front().map_or(0.0, |first| values[*first]));
    }
    all
}

/// The bytes of one of the numbers that an element has.
fn bytes_of_number(element: Element) -> usize {
    if let Element::Complex(size) = element { size / 2 } else { element.size() }
}

/// What is known to differ of a variable of which nobody has kept the bytes.
#[derive(Debug, PartialEq)]
pub enum InShort {
    /// Of the elements that were recorded, this one differs most.
    Element(Worst),
    /// The sums of the elements that the directive changes, in the reference and in the test.
    Sums([f64; 2]),
}

/// Compares what is recorded of a variable without its bytes; `before` is what the test has before the directive. What may be
/// rounding alone is not a difference.
pub fn in_short(reference: &Held, test: &Held, before: Option<&Held>, level: f64) -> Option<InShort> {
    if reference.all == test.all {
        return None;
    }
    let tolerance = NOISE * level + ROUNDINGS * reference.element.epsilon();
    let largest = reference.samples.iter().map(|(_, value)| value.abs()).fold(0.0, f64::max);
    let allowed = tolerance * largest;
    // What the test has not changed it has as before.
    let before = before.filter(|_| test.changed == 0);
    let sampled =
        |held: &Held, place: u64| held.samples.iter().find(|(at, _)| *at == place).map(|(_, value)| *value);
    let pairs: Vec<(u64, f64, f64)> = reference
        .samples
        .iter()
        .filter_map(|(at, value)| {
            let own = sampled(test, *at).or_else(|| before.and_then(|before| sampled(before, *at)));
            Some((*at, *value, own?))
        })
        .collect();
    let wrong: Vec<_> = pairs.iter().filter(|(_, one, other)| is_apart(*one, *other, allowed)).collect();
    let distance = |pair: &(u64, f64, f64)| {
        let apart = (pair.1 - pair.2).abs();
        if apart.is_nan() { f64::INFINITY } else { apart }
    };
    let (count, samples) = (wrong.len(), Some(pairs.len()));
    if let Some((at, reference, test)) =
        wrong.into_iter().reduce(|one, two| if distance(two) > distance(one) { two } else { one })
    {
        let (place, reference, test) = (*at as usize, *reference, *test);
        return Some(InShort::Element(Worst { place, reference, test, allowed, count, samples }));
    }
    let is_same_part = reference.changed == test.changed && reference.some != test.some;
    let sums = [reference.sum, test.sum];
    let differs = reference.element.epsilon() == 0.0
        || is_apart(sums[0], sums[1], tolerance * reference.size.max(test.size));
    (is_same_part && differs).then_some(InShort::Sums(sums))
}

#[cfg(test)]
mod tests;
