//! The texts of a Fortran unit's code.
//!
//! Invariant: what is read here has neither continuations nor comments in it.

use crate::host::ir::Unit;
use crate::scan;
use crate::source::{SourceFile, Span};

/// The texts of a unit's code.
#[derive(Clone, Copy)]
pub struct Texts<'a> {
    /// The file.
    pub file: &'a SourceFile,
    /// Its code.
    pub unit: &'a Unit,
}

impl Texts<'_> {
    /// The code of `span` on one line: without continuations and comments.
    pub fn code(self, span: Span) -> String {
        let mut parts: Vec<String> = Vec::new();
        for words in scan::fortran_shapes(self.file, span).iter().filter_map(|shape| shape.words) {
            let (start, end) = (words.start.max(span.start), words.end.min(span.end));
            if start < end {
                parts.push(self.file.text(Span { start, end }).into_owned());
            }
        }
        parts.join(" ")
    }
}

/// Code between two arrays, with the blanks at its ends that the program has there, or the end of a line.
pub(super) fn spaced(file: &SourceFile, span: Span, code: String) -> String {
    let bytes = file.slice(span);
    let blank = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_whitespace);
    let before = if blank(bytes.first()) { " " } else { "" };
    let after = if blank(bytes.last()) && !code.trim().is_empty() { " " } else { "" };
    format!("{before}{}{after}", code.trim())
}
