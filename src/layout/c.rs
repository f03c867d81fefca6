//! Pragmas: indentation, continuation lines, comments, line ends, `_Pragma` strings.
//!
//! Invariant: bytes before the word `acc` and after the directive stay as they are.

use crate::edit::Edit;
use crate::scan::{self, DirectiveText, Form};
use crate::source::{SourceFile, Span};

use super::lines::{before_line_end, indentation, line_end, lines_of, whole_line};

/// A directive that was on one line stays on one line up to this many columns.
const COLUMNS: usize = 132;

/// The edit that puts the words of a new directive in place of an old one.
pub fn relaid(file: &SourceFile, old: &DirectiveText, words: &[String]) -> Edit {
    let start = sentinel(file, old);
    let span = Span { start, end: old.span.end };
    let text = match old.form {
        // Quotes in the words have their backslashes: they come from a string.
        Form::Operator => format!("{}\")", words.join(" ")),
        Form::Pragma | Form::Sentinel => pragma(file, old, start, words),
    };
    Edit { span, text: text.into_bytes() }
}

/// Offset of the word `acc`.
fn sentinel(file: &SourceFile, old: &DirectiveText) -> u32 {
    let end = old.words.first().map_or(old.span.end, |words| words.start);
    let head = file.slice(Span { start: old.span.start, end });
    let at = head.windows(3).rposition(|word| word == b"acc").unwrap_or(0);
    old.span.start + at as u32
}

fn pragma(file: &SourceFile, old: &DirectiveText, start: u32, words: &[String]) -> String {
    let end = line_end(file, old.span.start);
    let first = file.lines.line(old.span.start);
    let last = file.lines.line(old.span.end.max(old.span.start + 1) - 1);
    let column = (start - file.lines.span(first).start) as usize;
    let one_line = column + words.iter().map(|word| word.len() + 1).sum::<usize>();
    let widest = (first..=last).map(|line| file.lines.span(line).len()).max().unwrap_or(0);
    let (limit, indent) = if last > first {
        (widest.max(80), indentation(file, first + 1))
    } else {
        (COLUMNS.max(widest), format!("{}    ", indentation(file, first)))
    };
    let mut text = String::new();
    let mut at = column;
    let fits = one_line <= limit && last == first;
    for (index, word) in words.iter().enumerate() {
        if index > 0 && !fits && at + word.len() + 3 > limit {
            text.push_str(" \\");
            text.push_str(end);
            text.push_str(&indent);
            at = indent.len();
        } else if index > 0 {
            text.push(' ');
            at += 1;
        }
        text.push_str(word);
        at += word.len();
    }
    for comment in old.comments.iter().filter(|comment| old.span.contains(**comment)) {
        text.push(' ');
        text.push_str(&block_comment(&file.text(*comment)));
    }
    text
}

/// A comment from inside a directive, so that it can stand before more code of its line.
fn block_comment(comment: &str) -> String {
    match comment.strip_prefix("//") {
        Some(words) => format!("/*{words} */"),
        None => comment.to_owned(),
    }
}

/// The edit that takes a directive away: with its line, if nothing else stands there.
pub fn removed(file: &SourceFile, span: Span) -> Edit {
    Edit { span: whole_line(file, span).unwrap_or(span), text: Vec::new() }
}

/// Whether nothing else stands on the lines of `span`.
pub fn stands_alone(file: &SourceFile, span: Span) -> bool {
    whole_line(file, span).is_some()
}

/// Whether nothing but a comment after it stands on the lines of `span`.
pub fn stands_before_comment(file: &SourceFile, span: Span) -> bool {
    let lines = lines_of(file, span);
    let before = file.slice(Span { start: lines.start, end: span.start });
    let after = file.text(Span { start: span.end, end: lines.end });
    let after = after.trim();
    before.trim_ascii().is_empty() && is_comment(after) && !after.ends_with('\\')
}

/// Whether the rest of a line, without blanks around it, is one comment.
fn is_comment(rest: &str) -> bool {
    let is_block = || rest.starts_with("/*") && rest.ends_with("*/") && rest.matches("*/").count() == 1;
    rest.starts_with("//") || is_block()
}

/// The edit that puts directives, each on a line of its own, in place of code that stands alone.
pub fn replaced(file: &SourceFile, span: Span, directives: &[String]) -> Edit {
    let indent = indentation(file, file.lines.line(span.start));
    let between = format!("{}{indent}", line_end(file, span.start));
    Edit { span, text: directives.join(&between).into_bytes() }
}

/// Lines as one line: a pragma among other code is an operator.
pub fn on_one_line(lines: &[String]) -> String {
    let each = lines.iter().map(|line| match line.strip_prefix("#pragma ") {
        Some(words) => format!("_Pragma(\"{}\")", words.replace('\\', "\\\\").replace('"', "\\\"")),
        None => line.clone(),
    });
    each.collect::<Vec<_>>().join(" ")
}

/// The edit that puts a directive on a line of its own before the code at `offset`, indented like it.
/// `None` if other code stands before it on its line.
pub fn inserted(file: &SourceFile, offset: u32, text: &str) -> Option<Edit> {
    above_code(file, offset, offset, text)
}

/// The same, indented like the line of `like`.
pub fn above_code(file: &SourceFile, offset: u32, like: u32, text: &str) -> Option<Edit> {
    let line = file.lines.line(offset);
    let start = file.lines.span(line).start;
    let before = file.slice(Span { start, end: offset });
    let indent = indentation(file, file.lines.line(like));
    let end = line_end(file, offset);
    let clear = before.iter().all(|byte| matches!(byte, b' ' | b'\t'));
    clear
        .then(|| Edit { span: Span { start, end: start }, text: format!("{indent}{text}{end}").into_bytes() })
}

/// The edits that put directives before and after a function, on lines of their own: what else stands on its lines goes on a
/// line of its own, too.
pub fn around(file: &SourceFile, function: Span, [before, after]: [&str; 2]) -> [Edit; 2] {
    let at = |offset| Span { start: offset, end: offset };
    let end = line_end(file, function.start);
    // Attributes belong to the function.
    let start = scan::start_with_hidden(&file.bytes, function.start as usize) as u32;
    let broken = || Edit { span: at(start), text: format!("{end}{before}{end}").into_bytes() };
    let first = inserted(file, start, before).unwrap_or_else(broken);
    let line = file.lines.span(file.lines.line(function.end.max(1) - 1));
    let rest = file.text(Span { start: function.end, end: line.end });
    let rest = rest.trim();
    let is_last = rest.is_empty() || rest == ";" || is_comment(rest);
    // Before the line end, so that what is put before the next line does not meet it.
    let last = match is_last {
        true => {
            Edit { span: at(before_line_end(file, function.end)), text: format!("{end}{after}").into_bytes() }
        }
        false => Edit { span: at(function.end), text: format!("{end}{after}{end}").into_bytes() },
    };
    [first, last]
}

/// The edits that put lines before a statement, and braces around all of it.
pub fn braced(file: &SourceFile, stmt: Span, lines: &[String]) -> [Edit; 2] {
    let indent = indentation(file, file.lines.line(stmt.start));
    let end = line_end(file, stmt.start);
    let text = lines.join(&format!("{end}{indent}"));
    let at = |offset| Span { start: offset, end: offset };
    let (open, close) = match whole_line(file, stmt) {
        Some(lines) => {
            let open = format!("{indent}{{{end}{indent}{text}{end}");
            (Edit { span: at(lines.start), text: open.into_bytes() }, format!("{end}{indent}}}"))
        }
        None => {
            let open = format!("{{{end}{indent}{text}{end}{indent}");
            (Edit { span: at(stmt.start), text: open.into_bytes() }, " }".to_owned())
        }
    };
    [open, Edit { span: at(stmt.end), text: close.into_bytes() }]
}

/// What puts lines before a directive, in front of its own text. `None` if other code stands on its lines, or for
/// `_Pragma`, which has none.
pub fn above(file: &SourceFile, old: &DirectiveText, lines: &[String]) -> Option<String> {
    let room = old.form == Form::Pragma && stands_alone(file, old.span);
    let between =
        format!("{}{}", line_end(file, old.span.start), indentation(file, file.lines.line(old.span.start)));
    room.then(|| lines.iter().flat_map(|line| [line.as_str(), between.as_str()]).collect())
}

/// The edit that puts statements on lines of their own after a directive, indented like it. `None` if other code stands
/// on its lines.
pub fn lines_after_directive(file: &SourceFile, directive: Span, statements: &[String]) -> Option<Edit> {
    whole_line(file, directive)?;
    lines_after(file, directive.end, directive, statements)
}

/// The edit that puts lines after the code that ends at `offset`, indented like `like`. `None` if other code stands after
/// it on its line.
pub fn lines_after(file: &SourceFile, offset: u32, like: Span, lines: &[String]) -> Option<Edit> {
    let line = file.lines.span(file.lines.line(offset.max(1) - 1));
    let after = Span { start: offset, end: line.end };
    let rest = file.text(after);
    let words = rest.trim();
    if !(words.is_empty() || is_comment(words)) || words.ends_with('\\') {
        return None;
    }
    let end = line_end(file, like.start);
    let text = indented(file, like, lines);
    // Before the line end, so that what is put before the next line does not meet it.
    let at = before_line_end(file, offset);
    let text = format!("{end}{}", text.trim_end_matches(['\r', '\n']));
    Some(Edit { span: Span { start: at, end: at }, text: text.into_bytes() })
}

/// Lines with the indentation of `like`, each with its line end.
fn indented(file: &SourceFile, like: Span, lines: &[String]) -> String {
    let indent = indentation(file, file.lines.line(like.start));
    let end = line_end(file, like.start);
    lines.iter().map(|line| format!("{indent}{line}{end}")).collect()
}

/// The edit that puts a directive on a line of its own after the line of `offset`.
pub fn after_line(file: &SourceFile, offset: u32, text: &str) -> Edit {
    // Before the line end, so that what is put before the next line does not meet it.
    let at = before_line_end(file, offset);
    let text = format!("{}{text}", line_end(file, offset.max(1) - 1));
    Edit { span: Span { start: at, end: at }, text: text.into_bytes() }
}
