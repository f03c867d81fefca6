//! Columns of fixed form that are not read, such as numbers of cards: where the code before them becomes shorter or longer, they
//! stay in their columns.
//!
//! Invariant: what was not read is not read after the edits.

use crate::edit::Edit;
use crate::scan;
use crate::source::{Form, SourceFile, Span};

use super::style;

/// The end of a line, after the edits up to now.
struct Rest {
    /// The line's number.
    line: usize,
    /// Where it begins in the source.
    at: u32,
    /// How many columns stand before it in the output.
    width: usize,
}

/// The edits that keep such columns, for edits that come by place.
pub fn unread_columns<'e>(file: &SourceFile, edits: impl Iterator<Item = &'e Edit>) -> Vec<Edit> {
    let mut found = Vec::new();
    if style::form(file) != Form::Fixed {
        return found;
    }
    let mut last: Option<Rest> = None;
    for edit in edits {
        let line = file.lines.line(edit.span.start);
        let start = file.lines.span(line).start;
        let lead = match last.take() {
            Some(rest) if rest.line == line && edit.span.start < unread_from(file, line) => {
                rest.width + (edit.span.start - rest.at) as usize
            }
            rest => {
                found.extend(rest.and_then(|rest| kept(file, &rest)));
                (edit.span.start - start) as usize
            }
        };
        let width = match memchr::memrchr(b'\n', &edit.text) {
            Some(end) => edit.text.len() - end - 1,
            None => lead + edit.text.len(),
        };
        last = Some(Rest { line: file.lines.line(edit.span.end), at: edit.span.end, width });
    }
    found.extend(last.and_then(|rest| kept(file, &rest)));
    found
}

/// The code of a line without what stands in such columns.
pub(super) fn read_part(file: &SourceFile, line: usize, code: Span) -> Span {
    let unread = unread_from(file, line);
    if style::form(file) != Form::Fixed || has_tab(file.slice(file.lines.span(line))) || code.end <= unread {
        return code;
    }
    let read = file.slice(Span { start: code.start, end: unread.max(code.start) }).trim_ascii_end();
    Span { start: code.start, end: code.start + read.len() as u32 }
}

/// Whether a tabulator stands where a label may: such lines have no columns.
pub(super) fn has_tab(line: &[u8]) -> bool {
    line.iter().take(6).any(|byte| *byte == b'\t')
}

/// Where the columns that are not read begin.
pub(super) fn unread_from(file: &SourceFile, line: usize) -> u32 {
    file.lines.span(line).start + file.last_column() as u32
}

/// The edit that keeps the columns of a line, if it has some and they would move.
fn kept(file: &SourceFile, rest: &Rest) -> Option<Edit> {
    let line = file.lines.span(rest.line);
    let unread = unread_from(file, rest.line);
    let text = file.slice(line);
    let end = line.start + text.trim_ascii_end().len() as u32;
    if rest.at > unread || unread >= end || has_tab(text) || text.starts_with(b"#") {
        return None;
    }
    let [shape] = scan::fortran_shapes(file, Span { start: line.start, end: line.start }).try_into().ok()?;
    let is_comment = shape.comment.is_some_and(|comment| comment.start < unread);
    shape.words.filter(|_| !is_comment)?;
    let code = file.slice(Span { start: rest.at, end: unread }).trim_ascii_end().len();
    let (from, width) = (rest.at + code as u32, rest.width + code);
    let blanks = file.last_column().checked_sub(width);
    match blanks {
        Some(blanks) if blanks == (unread - from) as usize => None,
        Some(blanks) => Some(Edit { span: Span { start: from, end: unread }, text: vec![b' '; blanks] }),
        None => Some(Edit { span: Span { start: from, end }, text: Vec::new() }),
    }
}
