//! Why an array statement of Fortran is not taken apart into its elements.
//!
//! Invariant: a refusal names the operand that stands in the way.

use crate::source::Span;

/// Why the order of the elements may matter, or cannot be seen not to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The operand.
    pub at: Span,
    /// The reason.
    pub why: Why,
}

/// A reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// This is not done element by element, or not known to be.
    NotElementwise(String),
    /// The array of this name is read where it may have been assigned already.
    Overlap(String),
    /// The two names may mean the same memory.
    Alias(String, String),
}

impl Refusal {
    /// An operand that is not seen to be used element by element.
    pub fn new(at: Span, why: impl Into<String>) -> Refusal {
        Refusal { at, why: Why::NotElementwise(why.into()) }
    }
}
