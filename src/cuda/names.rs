//! Names for what the device file adds, different from all names of the program.
//!
//! Invariant: a name is given once.

use std::collections::HashSet;

/// The names that are taken.
#[derive(Clone, Debug, Default)]
pub struct Names {
    taken: HashSet<String>,
}

impl Names {
    /// The names in `text` are taken.
    pub fn of(text: &str) -> Names {
        Names { taken: super::text::words(text).into_iter().map(str::to_owned).collect() }
    }

    /// `wanted`, or something like it if that is taken.
    pub fn fresh(&mut self, wanted: &str) -> String {
        let mut name = wanted.to_owned();
        let mut number = 2;
        while !self.taken.insert(name.clone()) {
            name = format!("{wanted}_{number}");
            number += 1;
        }
        name
    }
}
