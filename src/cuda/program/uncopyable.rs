//! Functions of C++ that the device file can have no copy of, and what is known of names in other functions.
//!
//! Invariant: filled by `fit`; says what was found.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};

/// Names, and whether what defines them means the same in the device file.
pub type Portable = HashMap<String, bool>;

/// What is known of a source and its headers.
#[derive(Debug, Default)]
pub struct Uncopyable {
    /// By the number of their file, headers first, and their place.
    functions: BTreeSet<(usize, u32)>,
    portable: RefCell<Portable>,
}

impl Uncopyable {
    /// The functions, and what is known of names so far.
    pub fn of(functions: BTreeSet<(usize, u32)>, portable: Portable) -> Uncopyable {
        Uncopyable { functions, portable: RefCell::new(portable) }
    }

    /// Whether the function is one of them that begins at this place of a file.
    pub fn holds(&self, at: (usize, u32)) -> bool {
        self.functions.contains(&at)
    }

    /// What is known of names, for questions that go on.
    pub fn portable(&self) -> &RefCell<Portable> {
        &self.portable
    }
}
