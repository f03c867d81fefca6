//! Diagnostics: what we say to the user, each with a stable code.
//!
//! Invariant: message text is written in `catalogue.rs` (one constructor a code) and in `rules/diag/` (its page), nowhere else.

mod catalogue;
mod code;
pub mod pages;

pub use catalogue::*;
pub use code::{Code, Concern, Severity};

use crate::source::Span;

/// One message about one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diag {
    /// The stable code; `acc2omp explain CODE` prints its page.
    pub code: Code,
    /// How serious it is.
    pub severity: Severity,
    /// One sentence without a full stop: what is wrong or what differs.
    pub message: String,
    /// The place that is marked, and a few words to stand beside the mark (may be empty).
    pub primary: Label,
    /// Other places that matter.
    pub others: Vec<Label>,
    /// What to do about it, a sentence; empty if there is nothing to do.
    pub help: String,
    /// Another message says why: of a code that is printed once for a file, it is not the example.
    pub follows: bool,
}

/// A marked place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// Words beside the mark.
    pub text: String,
}

impl Diag {
    /// Adds a second marked place.
    pub fn with(mut self, span: Span, text: impl Into<String>) -> Diag {
        self.others.push(Label { span, text: text.into() });
        self
    }
}
