//! Directives of Fortran: sentinels, indentation, continuation lines and comments, in both forms.
//!
//! Invariant: a comment of the user's is never lost, and no line is longer than its form allows.

mod fill;
mod names;
mod style;

use crate::edit::Edit;
use crate::scan::{self, DirectiveText, Shape};
use crate::source::{Form, SourceFile, Span};

use super::lines::{before_line_end, indentation, line_end, lines_of};
use fill::Frame;
pub use names::respelled;

/// The edit that puts the words of a new directive in the place of an old one; they begin behind the sentinel.
pub fn relaid(file: &SourceFile, old: &DirectiveText, words: &[String]) -> Edit {
    let shapes = scan::fortran_shapes(file, old.span);
    let frame = style::of_directive(file, old, &shapes);
    let words: Vec<String> = words.iter().enumerate().map(|(at, word)| headless(at, word)).collect();
    let mut lines = frame.fill(&words);
    let mut before = String::new();
    let end = line_end(file, old.span.start);
    let line = lines_of(file, Span { start: old.span.start, end: old.span.start });
    let indent = file.text(Span { start: line.start, end: old.span.start }).into_owned();
    let inside: Vec<Span> = old.comments.iter().copied().filter(|one| old.span.contains(*one)).collect();
    let has_last = old.comments.len() > inside.len();
    match (inside.as_slice(), lines.last_mut()) {
        ([one], Some(last)) if !has_last && fits(file, &shapes, *one, last, &frame) => {
            last.push(' ');
            last.push_str(&file.text(*one));
        }
        _ => {
            for comment in &inside {
                before += &format!("{}{end}{indent}", file.text(*comment));
            }
        }
    }
    if let Some(first) = lines.first_mut() {
        first.replace_range(..indent.len().min(first.len()), "");
    }
    let mut span = old.span;
    if let Some(dead) = dead_columns(file, &shapes, old, lines.last()) {
        lines.last_mut().into_iter().for_each(|last| last.push_str(&dead.1));
        span.end = dead.0;
    }
    Edit { span, text: (before + &lines.join(end)).into_bytes() }
}

/// A word of the new directive; the first may still have OpenMP's name before it.
fn headless(at: usize, word: &str) -> String {
    let rest = word.strip_prefix("omp").filter(|rest| at == 0 && rest.starts_with(' '));
    rest.map_or(word, str::trim_start).to_owned()
}

/// Whether a comment behind an inner line of the old directive may stand behind the last line of the new one.
fn fits(file: &SourceFile, shapes: &[Shape], comment: Span, last: &str, frame: &Frame) -> bool {
    let follows = shapes.iter().any(|shape| shape.comment == Some(comment) && shape.words.is_some());
    follows && last.len() + 1 + comment.len() <= frame.limit && file.slice(comment).starts_with(b"!")
}

/// In fixed form, what stands in the columns that are not read stays there: the offset where they begin, and the blanks up
/// to it.
fn dead_columns(
    file: &SourceFile,
    shapes: &[Shape],
    old: &DirectiveText,
    last: Option<&String>,
) -> Option<(u32, String)> {
    let shape = shapes.last().filter(|_| style::form(file) == Form::Fixed)?;
    let rest = file.slice(Span { start: old.span.end, end: shape.whole.end });
    let dead = shape.whole.start + 72;
    if shape.comment.is_some() || rest.iter().all(u8::is_ascii_whitespace) || dead < old.span.end {
        return None;
    }
    Some((dead, " ".repeat(72usize.saturating_sub(last?.len()))))
}

/// The edit that takes a directive or a statement away. Its comments stay, each on a line of its own; where something
/// else stands on its lines, a statement that does nothing takes its place.
pub fn removed(file: &SourceFile, span: Span) -> Edit {
    if !stands_alone(file, span) {
        return Edit { span, text: b"continue".to_vec() };
    }
    let end = line_end(file, span.start);
    let indent = indentation(file, file.lines.line(span.start));
    let comments = comments(file, span, Span { start: span.end, end: lines_of(file, span).end });
    let text: String = comments.iter().map(|comment| format!("{indent}{comment}{end}")).collect();
    Edit { span: lines_of(file, span), text: text.into_bytes() }
}

/// The comments on the lines of `span`, those that stand in it or in `behind`.
fn comments(file: &SourceFile, span: Span, behind: Span) -> Vec<String> {
    let shapes = scan::fortran_shapes(file, span);
    let comments = shapes.iter().filter_map(|shape| shape.comment);
    comments
        .filter(|comment| span.contains(*comment) || behind.contains(*comment))
        .map(|comment| file.text(comment).into_owned())
        .collect()
}

/// Whether nothing but a comment stands beside `span` on its lines.
pub fn stands_alone(file: &SourceFile, span: Span) -> bool {
    let lines = lines_of(file, span);
    let before = file.slice(Span { start: lines.start, end: span.start });
    before.iter().all(u8::is_ascii_whitespace) && ends_line(file, span.end)
}

/// Whether nothing but a comment, or columns that are not read, stand behind the code that ends at `offset`.
fn ends_line(file: &SourceFile, offset: u32) -> bool {
    let line = file.lines.span(file.lines.line(offset.max(1) - 1));
    let mut end = line.end.max(offset);
    if style::form(file) == Form::Fixed && !file.slice(line).iter().take(6).any(|byte| *byte == b'\t') {
        end = end.min(line.start + 72).max(offset);
    }
    let rest = file.slice(Span { start: offset, end }).trim_ascii_start();
    rest.first().is_none_or(|byte| *byte == b'!')
}

/// The edit that puts lines in the place of code that stands alone; the comments in it go before them.
pub fn replaced(file: &SourceFile, span: Span, lines: &[String]) -> Edit {
    let end = line_end(file, span.start);
    let line = file.lines.line(span.start);
    let start = file.lines.span(line).start;
    let indent = indentation(file, line);
    let mut all = comments(file, span, Span { start: span.end, end: span.end });
    all.iter_mut().for_each(|comment| comment.insert_str(0, &indent));
    all.extend(lines.iter().flat_map(|text| laid(file, line, text)));
    Edit { span: Span { start, end: span.end }, text: all.join(end).into_bytes() }
}

/// A directive, a statement or a line of the preprocessor as the lines that it takes near line `line`, without line ends.
fn laid(file: &SourceFile, line: usize, text: &str) -> Vec<String> {
    let form = style::form(file);
    let mut words = fill::words(text);
    if words.first().is_some_and(|word| word == "associate") {
        // Its list begins on its own line.
        words = vec![words.join(" ")];
    }
    let Some((first, rest)) = words.split_first() else { return vec![String::new()] };
    if text.starts_with('#') {
        return vec![text.to_owned()];
    }
    let is_sentinel = first.get(..2) == Some("!$") && first.len() == 5;
    let indent = style::code_indentation(file, line);
    if is_sentinel {
        let sentinel = style::sentinel_near(file, line);
        let frame = style::of_new_directive(form, &indent, &sentinel);
        return frame.fill(&[&[sentinel], rest].concat());
    }
    if first.starts_with('!') {
        let indent = if form == Form::Free { indent } else { String::new() };
        return vec![format!("{indent}{text}")];
    }
    style::of_statement(form, &indent).fill(&words)
}

/// As `laid` for all of `lines`.
fn all_laid(file: &SourceFile, line: usize, lines: &[String]) -> Vec<String> {
    lines.iter().flat_map(|text| text.lines()).flat_map(|text| laid(file, line, text)).collect()
}

/// The edit that puts a line before the code at `offset`, which may have a label. `None` if other code stands before it.
pub fn inserted(file: &SourceFile, offset: u32, text: &str) -> Option<Edit> {
    let line = file.lines.line(offset);
    let start = file.lines.span(line).start;
    let before = file.slice(Span { start, end: offset });
    let clear = before.iter().all(|byte| matches!(byte, b' ' | b'\t') || byte.is_ascii_digit());
    let digits = before.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).count();
    (clear && digits < 2).then(|| put_before(file, line, &[text.to_owned()]))
}

fn put_before(file: &SourceFile, line: usize, lines: &[String]) -> Edit {
    let start = file.lines.span(line).start;
    let end = line_end(file, start);
    let text: String = all_laid(file, line, lines).iter().map(|line| format!("{line}{end}")).collect();
    Edit { span: Span { start, end: start }, text: text.into_bytes() }
}

/// The edits that put lines before a statement; the second does nothing.
pub fn braced(file: &SourceFile, stmt: Span, lines: &[String]) -> [Edit; 2] {
    let before = put_before(file, file.lines.line(stmt.start), lines);
    let nothing = Edit { span: before.span, text: Vec::new() };
    [before, nothing]
}

/// What puts lines before a directive, in front of its own text.
pub fn above(file: &SourceFile, old: &DirectiveText, lines: &[String]) -> String {
    let line = file.lines.line(old.span.start);
    let start = file.lines.span(line).start;
    let indent = file.text(Span { start, end: old.span.start }).into_owned();
    let end = line_end(file, old.span.start);
    let text: String = all_laid(file, line, lines).iter().map(|line| format!("{line}{end}")).collect();
    // What stands before the sentinel stands before the first of the lines, too.
    let text = text.strip_prefix(&indent).unwrap_or(text.trim_start());
    format!("{text}{indent}")
}

/// The edit that puts lines behind the code that ends at `offset`, indented like `like`. `None` if other code stands
/// behind it.
pub fn lines_after(file: &SourceFile, offset: u32, like: Span, lines: &[String]) -> Option<Edit> {
    ends_line(file, offset).then(|| {
        let end = line_end(file, like.start);
        let laid = all_laid(file, file.lines.line(like.start), lines);
        let text: String = laid.iter().map(|line| format!("{end}{line}")).collect();
        let at = before_line_end(file, offset);
        Edit { span: Span { start: at, end: at }, text: text.into_bytes() }
    })
}

/// The edit that puts a directive on a line of its own behind the line of `offset`.
pub fn behind(file: &SourceFile, offset: u32, text: &str) -> Edit {
    let number = file.lines.line(offset.max(1) - 1);
    let line = file.lines.span(number);
    let end = line_end(file, line.start);
    let ended = file.slice(line).ends_with(b"\n");
    let laid = all_laid(file, number, &[text.to_owned()]);
    let text: String = if ended {
        laid.iter().map(|line| format!("{line}{end}")).collect()
    } else {
        laid.iter().map(|line| format!("{end}{line}")).collect()
    };
    Edit { span: Span { start: line.end, end: line.end }, text: text.into_bytes() }
}

#[cfg(test)]
mod tests;
