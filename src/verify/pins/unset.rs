//! What programs do with memory that nobody has set: it differs between programs that are right.
//!
//! Invariant: a directive is not accused if all that differs before it is of memory that a directive has made on the device
//! without a value; in a test that is wrong, one that makes something else of as many elements is.

use std::collections::BTreeSet;

use crate::verify::report::Culprit;

use super::base;
use super::record::{Event, Place};

/// The variables that hold what nobody has set, and the directives that have spread it.
#[derive(Debug, Default)]
pub struct Unset {
    variables: BTreeSet<String>,
    places: BTreeSet<Place>,
    taken: Vec<Culprit>,
}

impl Unset {
    /// Whether a directive has spread what nobody has set.
    pub fn spreads(&self, place: &Place) -> bool {
        self.places.contains(place)
    }

    /// Whether all that differs before a directive is of memory that one before has made without a value.
    pub fn explains(&self, found: &Culprit, before: &[Event]) -> bool {
        let is_made = |name: &str| {
            let mut all = before.iter().flat_map(|event| &event.variables);
            all.any(|one| one.is_there && base(&one.name) == base(name))
        };
        let is_known = |name: &String| self.variables.contains(base(name)) || is_made(name);
        !found.inputs.is_empty() && found.unrecorded.is_empty() && found.inputs.iter().all(is_known)
    }

    /// Takes what a directive leaves for what comes of memory that nobody has set.
    pub fn take(&mut self, place: &Place, found: Culprit) {
        let all = found.inputs.iter().chain([&found.variable]);
        self.variables.extend(all.map(|name| base(name).to_owned()));
        self.places.insert(place.clone());
        self.taken.push(found);
    }

    /// What has made the inputs of a directive wrong: one that was taken, if there is any; the directive itself otherwise.
    pub fn cause(mut self, found: Culprit) -> Culprit {
        let is_input = |one: &Culprit| found.inputs.iter().any(|name| base(name) == base(&one.variable));
        let last = self.taken.len().checked_sub(1);
        match self.taken.iter().rposition(is_input).or(last) {
            Some(at) => self.taken.swap_remove(at),
            None => found,
        }
    }

    /// The first that was taken.
    pub fn first(self) -> Option<Culprit> {
        self.taken.into_iter().next()
    }
}

#[cfg(test)]
mod tests;
