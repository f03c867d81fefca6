//! How the lines of a directive or a statement are written, for those who write new ones like them.
//!
//! Invariant: one shape for each line of the source, in their order.

use crate::source::{Form, Language, SourceFile, Span};

use super::code;
use super::line::{self, Kind};
use super::walk::leading_ampersand;

/// How a line is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The line without its line end.
    pub whole: Span,
    /// The sentinel of a directive.
    pub sentinel: Option<Span>,
    /// Its words, without a label, ampersands and comment; `None` for a blank line and one of comment only.
    pub words: Option<Span>,
    /// The ampersand at its end.
    pub ampersand: Option<u32>,
    /// The comment.
    pub comment: Option<Span>,
    /// It begins in the manner of a continuation: with an ampersand, or a mark in column 6.
    pub is_continuation: bool,
}

/// The shapes of the lines that `span` lies on, which begins a directive or a statement.
pub fn shapes(file: &SourceFile, span: Span) -> Vec<Shape> {
    let form = if let Language::Fortran(form) = file.language { form } else { Form::Free };
    let last = span.end.max(span.start + 1) - 1;
    let mut quote = None;
    let lines = file.lines.line(span.start)..=file.lines.line(last);
    lines.map(|number| shape(file, number, form, &mut quote)).collect()
}

fn shape(file: &SourceFile, number: usize, form: Form, quote: &mut Option<u8>) -> Shape {
    let bytes = &file.bytes;
    let start = file.lines.span(number).start as usize;
    let line = line::read(file, Span::new(start, line::ends(bytes, start).0), form);
    let trimmed = |from: u32| {
        let text = file.slice(Span { start: from, end: line.whole.end });
        Span { start: from, end: from + text.trim_ascii_end().len() as u32 }
    };
    let mut shape = Shape {
        whole: line.whole,
        sentinel: None,
        words: None,
        ampersand: None,
        comment: None,
        is_continuation: line.mark.is_some(),
    };
    match line.kind {
        Kind::Blank => return shape,
        Kind::Comment => {
            shape.comment = Some(trimmed(line.start));
            return shape;
        }
        Kind::Directive => shape.sentinel = Some(Span { start: line.start, end: line.start + 5 }),
        Kind::Conditional | Kind::Code => {}
    }
    let lead = if form == Form::Free { leading_ampersand(file.slice(line.text)) } else { 0 };
    let text = Span { start: line.text.start + lead, end: line.text.end };
    let read = code::read(bytes, text, *quote, form);
    *quote = read.quote;
    Shape {
        words: read.words,
        ampersand: read.ampersand,
        comment: read.comment.map(|comment| trimmed(comment.start)),
        is_continuation: shape.is_continuation || lead > 0,
        ..shape
    }
}
