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
mod tests {
    use super::*;
    use crate::verify::pins::record::Recorded;

    fn place(line: usize) -> Place {
        Place { file: "a.c".to_owned(), line, name: "parallel loop".to_owned() }
    }

    fn found(line: usize, variable: &str, inputs: &[&str]) -> Culprit {
        let Place { file, line, name } = place(line);
        Culprit {
            file,
            line,
            name,
            execution: 1,
            rank: "0".to_owned(),
            variable: variable.to_owned(),
            worst: None,
            sums: None,
            inputs: inputs.iter().map(|name| (*name).to_owned()).collect(),
            moved_by: Vec::new(),
            unrecorded: Vec::new(),
            page: None,
        }
    }

    #[test]
    fn memory_that_is_made_explains_what_is_made_of_it() {
        let made = Recorded { name: "a[0:n]".to_owned(), is_there: true, ..Recorded::default() };
        let before = [Event { place: place(1), is_entry: false, execution: 1, variables: vec![made] }];
        let mut unset = Unset::default();
        assert!(unset.explains(&found(2, "b", &["a"]), &before));
        assert!(!unset.explains(&found(2, "b", &[]), &before));
        assert!(!unset.explains(&found(2, "b", &["a", "c"]), &before));
        assert!(!unset.explains(&found(3, "c", &["b"]), &before));
        unset.take(&place(2), found(2, "b", &["a"]));
        assert!(unset.spreads(&place(2)));
        assert!(unset.explains(&found(3, "c", &["b"]), &before));
        // A directive whose inputs one that was taken has made wrong is not the first.
        assert_eq!(unset.cause(found(4, "d", &["b", "e"])).line, 2);
    }
}
