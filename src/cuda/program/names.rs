//! Names for what the device file adds, different from all names of the program.
//!
//! Invariant: a name is given once.

use crate::cuda::code::text;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::cuda::program::Input;

/// The names that are taken.
#[derive(Clone, Debug, Default)]
pub struct Names {
    taken: HashSet<String>,
    /// Those that have a meaning wherever they stand: of macros, of what these name, of types, of functions, of constants.
    everywhere: Rc<HashSet<String>>,
    /// The number from which on each name is tried: with those below, it is taken.
    next: HashMap<String, usize>,
}

impl Names {
    /// The names in `text` are taken.
    pub fn of(text: &str) -> Names {
        let taken = text::words(text).into_iter().map(str::to_owned).collect();
        Names { taken, everywhere: Rc::default(), next: HashMap::new() }
    }

    /// The names in `text` are taken, and those of macros, types, functions and constants.
    pub fn among(input: &Input, text: &str) -> Names {
        let everywhere = input.choices.map(|choices| choices.names()).unwrap_or_default();
        Names { everywhere, ..Names::of(text) }
    }

    /// `wanted`, or something like it if that is taken.
    pub fn fresh(&mut self, wanted: &str) -> String {
        let mut name = wanted.to_owned();
        let next = self.next.entry(wanted.to_owned()).or_insert(2);
        while self.everywhere.contains(&name) || !self.taken.insert(name.clone()) {
            name = format!("{wanted}_{next}");
            *next += 1;
        }
        name
    }

    /// A name of the program is taken.
    pub fn take(&mut self, name: &str) {
        self.taken.insert(name.to_owned());
    }
}
