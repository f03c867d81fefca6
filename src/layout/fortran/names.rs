//! Other names in the place of names in code: a line that grows too long is continued.
//!
//! Invariant: no line is longer than its form allows, and what stands between the names keeps its bytes.

use std::collections::BTreeMap;

use crate::edit::Edit;
use crate::scan;
use crate::source::{Form, SourceFile, Span};

use super::super::lines::{indentation, line_end};
use super::style;

/// The edits that put names in the place of others. `None` if a name goes over the end of a line, or there is no room.
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
    let words = shape.words?;
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
    Some(vec![Edit { span: Span { start, end: words.end.max(start) }, text: text.into_bytes() }])
}

/// The code in `span` with the new names, in pieces that a line may end behind.
fn pieces(file: &SourceFile, span: Span, names: &[&(Span, String)]) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut at = span.start;
    let mut quote = None;
    let mut push = |pieces: &mut Vec<String>, text: &str| {
        for char in text.chars() {
            match quote {
                Some(open) if char == open => quote = None,
                None if char == '\'' || char == '"' => quote = Some(char),
                _ => {}
            }
            if let Some(last) = pieces.last_mut() {
                last.push(char);
            }
            if quote.is_none() && matches!(char, ' ' | '(' | ',') {
                pieces.push(String::new());
            }
        }
    };
    for (name_span, name) in names {
        push(&mut pieces, &file.text(Span { start: at, end: name_span.start.max(at) }));
        pieces.push(name.clone());
        at = name_span.end;
    }
    push(&mut pieces, &file.text(Span { start: at, end: span.end.max(at) }));
    pieces
}

/// The pieces on as many lines as they take, the first of which begins in column `column`.
fn filled(file: &SourceFile, line: usize, column: usize, pieces: &[String], limit: usize) -> Option<String> {
    let form = style::form(file);
    let end = line_end(file, file.lines.span(line).start);
    let (tail, next) = match form {
        Form::Free => (" &", format!("{}  ", indentation(file, line))),
        Form::Fixed => ("", format!("     &{}  ", style::code_indentation(file, line))),
    };
    let mut text = String::new();
    let mut length = column;
    let count = pieces.len();
    for (at, piece) in pieces.iter().enumerate() {
        let behind = if at + 1 == count { 0 } else { tail.len() };
        if length + piece.trim_end().len() + behind > limit && !text.is_empty() {
            text.truncate(text.trim_end().len());
            text += &format!("{tail}{end}{next}");
            length = next.len();
        }
        if length + piece.trim_end().len() + behind > limit {
            return None;
        }
        text += piece;
        length += piece.len();
    }
    Some(text)
}
