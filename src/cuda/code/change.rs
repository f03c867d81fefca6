//! What becomes of bytes of the host file.
//!
//! Invariant: a change says where by offsets of the original file alone.

use crate::source::Span;

/// A change of the host file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// These bytes become lines, indented like the first of them.
    Lines(Span, Vec<String>),
    /// These bytes go, with their lines if nothing else stands there.
    Gone(Span),
    /// Lines after the code that ends at the offset, indented like the span.
    After(u32, Span, Vec<String>),
    /// Lines before the code at the offset.
    Before(u32, Vec<String>),
    /// A statement gets braces, and lines after the opening one.
    Braced(Span, Vec<String>),
    /// These bytes become this text.
    Text(Span, String),
}
