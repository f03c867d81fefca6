//! Lines as every language has them: their ends, their indentation, and what stands alone on them.
//!
//! Invariant: knows nothing of directives.

use crate::source::{SourceFile, Span};

/// The line end that the file uses at `offset`.
pub fn line_end(file: &SourceFile, offset: u32) -> &'static str {
    file.line_end(offset)
}

/// The blanks at the beginning of line `line`.
pub fn indentation(file: &SourceFile, line: usize) -> String {
    let bytes = file.slice(file.lines.span(line));
    let blanks = bytes.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    String::from_utf8_lossy(bytes.get(..blanks).unwrap_or_default()).into_owned()
}

/// The lines that `span` lies on, line end included.
pub fn lines_of(file: &SourceFile, span: Span) -> Span {
    let first = file.lines.span(file.lines.line(span.start));
    let last = file.lines.span(file.lines.line(span.end.max(span.start + 1) - 1));
    Span { start: first.start, end: last.end }
}

/// The lines of `span`, line end included, if nothing but blanks stands beside it on them.
pub fn whole_line(file: &SourceFile, span: Span) -> Option<Span> {
    let lines = lines_of(file, span);
    let blank = |bytes: &[u8]| bytes.iter().all(u8::is_ascii_whitespace);
    let before = file.slice(Span { start: lines.start, end: span.start });
    let after = file.slice(Span { start: span.end, end: lines.end });
    (blank(before) && blank(after)).then_some(lines)
}

/// The offset before the line end of the line that holds the byte before `offset`.
pub fn before_line_end(file: &SourceFile, offset: u32) -> u32 {
    let line = file.lines.span(file.lines.line(offset.max(1) - 1));
    let after = file.slice(Span { start: offset.min(line.end), end: line.end });
    let ends = after.iter().rev().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
    line.end.max(offset) - ends as u32
}
