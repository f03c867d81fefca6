//! Directives of Fortran: sentinels, indentation, continuation lines and comments, in both forms.
//!
//! Invariant: a comment of the user's is never lost, and no line is longer than its form allows.

mod fill;
mod names;
mod style;
mod unread;

use crate::edit::Edit;
use crate::scan::{self, DirectiveText, Shape};
use crate::source::{Form, Language, SourceFile, Span};

use super::lines::{before_line_end, indentation, line_end, lines_of};
use fill::Frame;
pub use names::respelled;
pub use unread::unread_columns;

/// The edit that puts the words of a new directive in place of an old one; they begin after the sentinel.
pub fn relaid(file: &SourceFile, old: &DirectiveText, words: &[String]) -> Edit {
    let shapes = scan::fortran_shapes(file, old.span);
    let frame = style::of_directive(file, old, &shapes);
    let words: Vec<String> = words.iter().enumerate().map(|(at, word)| headless(at, word)).collect();
    let lines = frame.fill(&words);
    let line_end = line_end(file, old.span.start);
    let line = lines_of(file, Span { start: old.span.start, end: old.span.start });
    let indent = file.slice(Span { start: line.start, end: old.span.start });
    let width = lines.last().map_or(0, String::len);
    let lines = lines.join(line_end).into_bytes();
    let mut text = lines.get(indent.len()..).unwrap_or_default().to_vec();
    let (before, after, end) = comments_of(file, old, &shapes, width, &frame);
    let before = before.iter().map(|comment| [file.slice(*comment), line_end.as_bytes(), indent].concat());
    let before: Vec<u8> = before.collect::<Vec<_>>().concat();
    text.splice(..0, before);
    if let Some(comment) = after {
        text.extend_from_slice(&[b" ", file.slice(comment)].concat());
    }
    Edit { span: Span { end, ..old.span }, text }
}

/// The comments that go before the new directive, the one that goes after it on its last line, and the offset of the
/// old text's end. A comment that is after the old directive stays where it is, if there is room.
fn comments_of(
    file: &SourceFile,
    old: &DirectiveText,
    shapes: &[Shape],
    width: usize,
    frame: &Frame,
) -> (Vec<Span>, Option<Span>, u32) {
    let mut before: Vec<Span> = old.comments.iter().copied().filter(|one| old.span.contains(*one)).collect();
    let has_room = |comment: Span| width + 1 + comment.len() <= frame.limit;
    let Some(last) = old.comments.last().filter(|one| !old.span.contains(**one)) else {
        let follows = |comment: Span| {
            let shape = shapes.iter().find(|shape| shape.comment == Some(comment));
            shape.is_some_and(|shape| shape.words.is_some()) && file.slice(comment).starts_with(b"!")
        };
        return match before.as_slice() {
            [one] if has_room(*one) && follows(*one) => (Vec::new(), Some(*one), old.span.end),
            _ => (before, None, old.span.end),
        };
    };
    let gap = last.start.saturating_sub(old.span.end) as usize;
    if width + gap + last.len() <= style::FREE || style::form(file) == Form::Fixed {
        return (before, None, old.span.end);
    }
    if width + 1 + last.len() <= style::FREE {
        return (before, Some(*last), last.end);
    }
    before.push(*last);
    (before, None, last.end)
}

/// A word of the new directive; the first may still have OpenMP's name before it.
fn headless(at: usize, word: &str) -> String {
    let rest = word.strip_prefix("omp").filter(|rest| at == 0 && rest.starts_with(' '));
    rest.map_or(word, str::trim_start).to_owned()
}

/// The edit that has every compiler read what stands after a sentinel.
pub fn without_sentinel(file: &SourceFile, sentinel: Span) -> Edit {
    if file.language == Language::Fortran(Form::Fixed) {
        return Edit { span: sentinel, text: vec![b' '; sentinel.len()] };
    }
    let after = file.bytes.get(sentinel.end as usize..).unwrap_or_default();
    let blanks = after.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    Edit { span: Span { end: sentinel.end + blanks as u32, ..sentinel }, text: Vec::new() }
}

/// The edit that takes a directive or a statement away. Its comments stay, each on a line of its own; where something
/// else stands on its lines, a statement that does nothing takes its place.
pub fn removed(file: &SourceFile, span: Span) -> Edit {
    if !stands_alone(file, span) {
        return Edit { span, text: b"continue".to_vec() };
    }
    let end = line_end(file, span.start);
    let indent = indentation(file, file.lines.line(span.start));
    let lines = lines_of(file, span);
    // To us, the lines of an OpenMP directive are comments: all of them go.
    let is_openmp = file.slice(span).get(1..5).is_some_and(|mark| mark.eq_ignore_ascii_case(b"$omp"));
    let after = Span { start: span.end, end: lines.end };
    let comments = if is_openmp { Vec::new() } else { comments(file, span, after) };
    let kept =
        comments.iter().map(|comment| [indent.as_bytes(), file.slice(*comment), end.as_bytes()].concat());
    Edit { span: lines, text: kept.collect::<Vec<_>>().concat() }
}

/// The comments on the lines of `span`, those that stand in it or in `after`.
fn comments(file: &SourceFile, span: Span, after: Span) -> Vec<Span> {
    let shapes = scan::fortran_shapes(file, span);
    let comments = shapes.iter().filter_map(|shape| shape.comment);
    comments.filter(|comment| span.contains(*comment) || after.contains(*comment)).collect()
}

/// Whether nothing but a comment stands beside `span` on its lines.
pub fn stands_alone(file: &SourceFile, span: Span) -> bool {
    let lines = lines_of(file, span);
    let before = file.slice(Span { start: lines.start, end: span.start });
    before.iter().all(u8::is_ascii_whitespace) && ends_line(file, span.end)
}

/// Whether nothing but a comment, or columns that are not read, stand after the code that ends at `offset`.
fn ends_line(file: &SourceFile, offset: u32) -> bool {
    let line = file.lines.span(file.lines.line(offset.max(1) - 1));
    let mut end = line.end.max(offset);
    if style::form(file) == Form::Fixed && !unread::has_tab(file.slice(line)) {
        end = end.min(unread::unread_from(file, file.lines.line(line.start))).max(offset);
    }
    let rest = file.slice(Span { start: offset, end }).trim_ascii_start();
    rest.first().is_none_or(|byte| *byte == b'!')
}

/// The edit that puts lines in place of code that stands alone; the comments in it go before them, and so does the one
/// after it if several lines take its place.
pub fn replaced(file: &SourceFile, span: Span, lines: &[String]) -> Edit {
    let end = line_end(file, span.start).as_bytes();
    let line = file.lines.line(span.start);
    let start = file.lines.span(line).start;
    let indent = indentation(file, line);
    let after = Span { start: span.end, end: before_line_end(file, span.end).max(span.end) };
    // In fixed form, columns that are not read may stand there, too.
    let is_comment = lines.len() > 1 && file.slice(after).trim_ascii_start().starts_with(b"!");
    let after = if is_comment { after } else { Span { start: span.end, end: span.end } };
    let comments = comments(file, span, after);
    let comments = comments.iter().map(|comment| {
        let text = file.slice(*comment);
        // The letters that begin a comment do so in column 1.
        let indent = if text.starts_with(b"!") { indent.as_bytes() } else { b"" };
        [indent, text].concat()
    });
    let lines = lines.iter().flat_map(|text| laid(file, line, text)).map(String::into_bytes);
    let all: Vec<Vec<u8>> = comments.chain(lines).collect();
    Edit { span: Span { start, end: after.end }, text: all.join(end) }
}

/// A directive, a statement or a line of the preprocessor as the lines that it takes near line `line`, without line ends.
fn laid(file: &SourceFile, line: usize, text: &str) -> Vec<String> {
    let form = style::form(file);
    let mut words = fill::words(text);
    if words.first().is_some_and(|word| word == "associate") {
        // Its list begins on its own line.
        words = vec![words.join(" ")];
    }
    let deeper = text.get(..text.len() - text.trim_start_matches(' ').len()).unwrap_or_default();
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
    if first == "!$" && !rest.is_empty() {
        return style::of_conditional(form, &indent).fill(rest);
    }
    if first.starts_with('!') {
        let indent = if form == Form::Free { indent } else { String::new() };
        return vec![format!("{indent}{text}")];
    }
    style::of_statement(form, &(indent + deeper)).fill(&words)
}

/// As `laid` for all of `lines`.
fn all_laid(file: &SourceFile, line: usize, lines: &[String]) -> Vec<String> {
    lines.iter().flat_map(|text| text.lines()).flat_map(|text| laid(file, line, text)).collect()
}

/// As `all_laid`, each with its line end.
fn ended(file: &SourceFile, line: usize, lines: &[String], end: &str) -> String {
    all_laid(file, line, lines).iter().map(|line| format!("{line}{end}")).collect()
}

/// Lines with their ends, indented like the code at `offset`.
pub fn lines_near(file: &SourceFile, offset: u32, lines: &[String]) -> String {
    ended(file, file.lines.line(offset), lines, line_end(file, offset))
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

/// The edit that puts a line before the line of `offset`, indented like the line of `like`.
pub fn above_code(file: &SourceFile, offset: u32, like: u32, text: &str) -> Edit {
    let start = file.lines.span(file.lines.line(offset)).start;
    let text = ended(file, file.lines.line(like), &[text.to_owned()], line_end(file, start));
    Edit { span: Span { start, end: start }, text: text.into_bytes() }
}

fn put_before(file: &SourceFile, line: usize, lines: &[String]) -> Edit {
    let start = file.lines.span(line).start;
    let end = line_end(file, start);
    let text = ended(file, line, lines, end);
    Edit { span: Span { start, end: start }, text: text.into_bytes() }
}

/// The edits that put lines before a statement. An `if` on one line with it becomes a construct around them.
pub fn braced(file: &SourceFile, stmt: Span, lines: &[String]) -> [Edit; 2] {
    let line = file.lines.line(stmt.start);
    let start = file.lines.span(line).start;
    let before = file.text(Span { start, end: stmt.start }).into_owned();
    let code = before.trim_start_matches(|c| is_lead(&c)).trim_end();
    let is_continued = line.checked_sub(1).is_some_and(|above| {
        let above = file.text(file.lines.span(above)).into_owned();
        code == "&" || code.is_empty() && above.trim_end().ends_with('&')
    });
    if !is_continued && !code.ends_with(')') {
        let before = put_before(file, line, lines);
        let nothing = Edit { span: before.span, text: Vec::new() };
        return [before, nothing];
    }
    in_condition(file, stmt, lines, true)
}

/// The edits that make an `if` on one line with a statement a construct, with lines before the statement, or after it.
pub fn in_condition(file: &SourceFile, stmt: Span, lines: &[String], before: bool) -> [Edit; 2] {
    let start = file.lines.span(file.lines.line(stmt.start)).start;
    let lead = file.text(Span { start, end: stmt.start }).into_owned();
    let lead = lead.chars().take_while(is_lead);
    let mut indent: String = lead.map(|c| if c.is_ascii_digit() { ' ' } else { c }).collect();
    if file.language == Language::Fortran(Form::Fixed) && !indent.contains('\t') {
        indent = format!("{indent:6}");
    }
    let (end, laid) = (line_end(file, start), lines_near(file, stmt.start, lines));
    let (first, last) = if before { (laid.as_str(), "") } else { ("", laid.as_str()) };
    let open = format!("then{end}{first}{indent}  ");
    let close = format!("{end}{last}{indent}end if");
    [(stmt.start, open), (stmt.end, close)]
        .map(|(at, text)| Edit { span: Span { start: at, end: at }, text: text.into_bytes() })
}

/// What may stand before the code of a line.
fn is_lead(c: &char) -> bool {
    c.is_whitespace() || c.is_ascii_digit()
}

/// What puts lines before a directive, in front of its own text.
pub fn above(file: &SourceFile, old: &DirectiveText, lines: &[String]) -> String {
    let line = file.lines.line(old.span.start);
    let start = file.lines.span(line).start;
    let indent = file.text(Span { start, end: old.span.start }).into_owned();
    let end = line_end(file, old.span.start);
    let text = ended(file, line, lines, end);
    // What stands before the sentinel stands before the first of the lines, too.
    let text = text.strip_prefix(&indent).unwrap_or(text.trim_start());
    format!("{text}{indent}")
}

/// The edit that puts lines after the code that ends at `offset`, indented like `like`. `None` if other code stands
/// after it.
pub fn lines_after(file: &SourceFile, offset: u32, like: Span, lines: &[String]) -> Option<Edit> {
    ends_line(file, offset).then(|| {
        let end = line_end(file, like.start);
        let laid = all_laid(file, file.lines.line(like.start), lines);
        let text: String = laid.iter().map(|line| format!("{end}{line}")).collect();
        let at = before_line_end(file, offset);
        Edit { span: Span { start: at, end: at }, text: text.into_bytes() }
    })
}

/// The edit that puts a line before a statement: where another one stands before it on its line, in place of the
/// semicolon between the two.
pub fn before_statement(file: &SourceFile, stmt: Span, text: &str) -> Option<Edit> {
    let start = file.lines.span(file.lines.line(stmt.start)).start;
    let before = file.slice(Span { start, end: stmt.start });
    let code = before.trim_ascii_end();
    match code.strip_suffix(b";") {
        Some(other) => {
            let span = Span { start: start + other.len() as u32, end: stmt.start };
            Some(between(file, span, text))
        }
        None => inserted(file, stmt.start, text),
    }
}

/// The same after a statement.
pub fn after_statement(file: &SourceFile, stmt: Span, text: &str) -> Option<Edit> {
    let line = file.lines.span(file.lines.line(stmt.end.max(1) - 1));
    let rest = file.slice(Span { start: stmt.end, end: line.end.max(stmt.end) });
    let blanks = |bytes: &[u8]| bytes.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let lead = blanks(rest);
    match rest.get(lead..).and_then(|rest| rest.strip_prefix(b";")) {
        Some(other) if !other.trim_ascii().is_empty() => {
            let length = lead + 1 + blanks(other);
            Some(between(file, Span { start: stmt.end, end: stmt.end + length as u32 }, text))
        }
        Some(_) => lines_after(file, stmt.end + lead as u32 + 1, stmt, &[text.to_owned()]),
        None => lines_after(file, stmt.end, stmt, &[text.to_owned()]),
    }
}

/// Whether a label stands before `offset`, and no more.
pub fn is_labelled(file: &SourceFile, offset: u32) -> bool {
    let start = file.lines.span(file.lines.line(offset)).start;
    let before = file.slice(Span { start, end: offset }).trim_ascii();
    !before.is_empty() && before.iter().all(u8::is_ascii_digit)
}

/// The edit that puts lines between the statement at `stmt` and the label before it, which gets a `continue` of its own.
pub fn below_label(file: &SourceFile, stmt: u32, lines: &[String]) -> Edit {
    let (end, text) = (line_end(file, stmt), lines_near(file, stmt, lines));
    let indent = statement_indent(file, stmt);
    Edit { span: Span { start: stmt, end: stmt }, text: format!("continue{end}{text}{indent}").into_bytes() }
}

/// What stands before a new statement near `offset`.
fn statement_indent(file: &SourceFile, offset: u32) -> String {
    style::of_statement(style::form(file), &style::code_indentation(file, file.lines.line(offset))).first
}

/// The edit that puts a line in place of what stands between two statements of one line.
fn between(file: &SourceFile, span: Span, text: &str) -> Edit {
    let line = file.lines.line(span.start);
    let end = line_end(file, span.start);
    let lines = laid(file, line, text).join(end);
    let indent = statement_indent(file, span.start);
    Edit { span, text: format!("{end}{lines}{end}{indent}").into_bytes() }
}

/// The edit that puts a directive on a line of its own after the line of `offset`.
pub fn after_line(file: &SourceFile, offset: u32, text: &str) -> Edit {
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
