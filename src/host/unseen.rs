//! What the structure of a unit does not show: names in the code of functions that stand nowhere in it, and functions in which
//! the program goes other ways, or reads memory by other means.
//!
//! Invariant: too much may be named here, never too little; what is named may be read or changed where it stands.

use crate::source::Span;

/// What is not shown.
#[derive(Clone, Debug, Default)]
pub struct Unseen {
    /// Names, by place.
    pub(super) names: Vec<(u32, String)>,
    /// Functions in which a value may be read at any time.
    pub(super) functions: Vec<Span>,
}

impl Unseen {
    /// The names in a part of the file, with their places.
    pub fn names_in(&self, span: Span) -> &[(u32, String)] {
        let first = self.names.partition_point(|(place, _)| *place < span.start);
        let last = self.names.partition_point(|(place, _)| *place < span.end);
        self.names.get(first..last).unwrap_or_default()
    }

    /// Whether values may be read at any time in a part of a function.
    pub fn reads_always(&self, span: Span) -> bool {
        self.functions.iter().any(|function| function.contains(span))
    }
}
