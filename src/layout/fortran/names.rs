//! Other names in place of names in code: a line that grows too long is continued.
//!
//! Invariant: no line is longer than its form allows, and what stands between the names keeps its bytes.

use std::collections::BTreeMap;

use crate::edit::Edit;
use crate::scan;
use crate::source::{Form, SourceFile, Span};

use super::super::lines::{indentation, line_end};
use super::style;

/// What is longer is an expression, which lines of fixed form may have no room for.
const LONGEST: usize = 40;

/// The edits that put names in place of others. `None` if a name goes over the end of a line, or there is no room.
pub fn respelled(file: &SourceFile, names: &[(Span, String)]) -> Option<Vec<Edit>> {
    let mut lines: BTreeMap<usize, Vec<&(Span, String)>> = BTreeMap::new();
    for name in names {
        let line = file.lines.line(name.0.start);
        if name.0.end > file.lines.span(line).end {
            return None;
        }
        lines.entry(line).or_default().push(name);
    }
    let mut edits = Vec::new();
    for (line, mut names) in lines {
        names.sort_by_key(|(span, _)| span.start);
        edits.extend(on_line(file, line, &names)?);
    }
    Some(edits)
}

fn on_line(file: &SourceFile, line: usize, names: &[&(Span, String)]) -> Option<Vec<Edit>> {
    let whole = file.lines.span(line);
    let [shape] =
        scan::fortran_shapes(file, Span { start: whole.start, end: whole.start }).try_into().ok()?;
    let words = super::unread::read_part(file, line, shape.words?);
    let end = shape.ampersand.map_or(words.end, |at| at + 1);
    let grown: usize = names.iter().map(|(_, name)| name.len()).sum();
    let before: usize = names.iter().map(|(span, _)| span.len()).sum();
    let limit = style::last_column(style::form(file));
    if (end - whole.start) as usize + grown <= limit + before {
        let edits = names.iter().map(|(span, name)| Edit { span: *span, text: name.clone().into_bytes() });
        return Some(edits.collect());
    }
    let start = names.first()?.0.start;
    let pieces = pieces(file, Span { start, end: words.end }, names);
    let room = limit.checked_sub(if shape.ampersand.is_some() { 2 } else { 0 })?;
    let text = filled(file, line, (start - whole.start) as usize, &pieces, room)?;
    Some(vec![Edit { span: Span { start, end: words.end.max(start) }, text }])
}

/// The code in `span` with the new names, in pieces that a line may end after.
fn pieces(file: &SourceFile, span: Span, names: &[&(Span, String)]) -> Vec<Vec<u8>> {
    let mut pieces = vec![Vec::new()];
    let mut at = span.start;
    let mut quote = None;
    for (name_span, name) in names {
        parted(file.slice(Span { start: at, end: name_span.start.max(at) }), &mut quote, &mut pieces);
        match style::form(file) == Form::Fixed && name.len() > LONGEST {
            true => parted(name.as_bytes(), &mut None, &mut pieces),
            false => pieces.push(name.clone().into_bytes()),
        }
        at = name_span.end;
    }
    parted(file.slice(Span { start: at, end: span.end.max(at) }), &mut quote, &mut pieces);
    pieces
}

/// Adds code to pieces; one ends after a blank, a comma or a parenthesis, unless it is in a literal.
fn parted(code: &[u8], quote: &mut Option<u8>, pieces: &mut Vec<Vec<u8>>) {
    for byte in code {
        match *quote {
            Some(open) if open == *byte => *quote = None,
            None if matches!(byte, b'\'' | b'"') => *quote = Some(*byte),
            _ => {}
        }
        if let Some(last) = pieces.last_mut() {
            last.push(*byte);
        }
        if quote.is_none() && matches!(byte, b' ' | b'(' | b',') {
            pieces.push(Vec::new());
        }
    }
}

/// The pieces on as many lines as they take, the first of which begins in column `column`.
fn filled(
    file: &SourceFile,
    line: usize,
    column: usize,
    pieces: &[Vec<u8>],
    limit: usize,
) -> Option<Vec<u8>> {
    let form = style::form(file);
    let end = line_end(file, file.lines.span(line).start);
    let (tail, next) = match form {
        Form::Free => (" &", format!("{}  ", indentation(file, line))),
        Form::Fixed => ("", format!("     &{}  ", style::code_indentation(file, line))),
    };
    let mut text: Vec<u8> = Vec::new();
    let mut length = column;
    let count = pieces.len();
    for (at, piece) in pieces.iter().enumerate() {
        let after = if at + 1 == count { 0 } else { tail.len() };
        let needed = piece.trim_ascii_end().len() + after;
        if length + needed > limit && !text.is_empty() {
            text.truncate(text.trim_ascii_end().len());
            text.extend(format!("{tail}{end}{next}").into_bytes());
            length = next.len();
        }
        if length + needed > limit {
            return None;
        }
        text.extend(piece);
        length += piece.len();
    }
    Some(text)
}
