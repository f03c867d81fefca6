//! What directives do with the variables of the host, beside the code: for those who follow values through a function.
//!
//! Invariant: too many names may be among those that a directive reads, never too few.

use rustc_hash::{FxHashMap, FxHashSet};

/// What the directives of a file do with variables beside the code; statements stand here by their numbers.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// The statements of constructs and loops in which an assignment may change a copy of a variable, and leave the variable as it
    /// is.
    pub copying: FxHashSet<u32>,
    /// What the clauses before a statement read.
    pub before: FxHashMap<u32, Vec<Names>>,
    /// The same for directives that stand alone, by place.
    pub alone: Vec<Names>,
}

/// The place of a directive, and the names that it reads.
pub type Names = (u32, Vec<String>);

impl Asked {
    /// Whether an assignment in a statement may change a copy of a variable.
    pub fn copies(&self, stmt: u32) -> bool {
        self.copying.contains(&stmt)
    }

    /// What the clauses before a statement read.
    pub fn before(&self, stmt: u32) -> &[Names] {
        self.before.get(&stmt).map_or(&[], Vec::as_slice)
    }

    /// What the directives read that stand alone between two places.
    pub fn between(&self, from: u32, to: u32) -> &[Names] {
        let first = self.alone.partition_point(|(place, _)| *place < from);
        let last = self.alone.partition_point(|(place, _)| *place < to);
        self.alone.get(first..last).unwrap_or_default()
    }
}
