//! How the user writes directives of Fortran: sentinel, indentation, continuation.
//!
//! Invariant: says how new lines begin and end, and writes none.

use crate::scan::{self, DirectiveText, Shape};
use crate::source::{Form, Language, SourceFile, Span};

use super::super::lines::indentation;
use super::fill::{Frame, Tail};

/// A directive that was on one line may grow up to here …
const GROWN: usize = 100;
/// … and one that was on several lines up to here, unless they were longer.
const PARTED: usize = 80;
/// Ampersands before this column are not kept in one: there would be no room before them.
const FAR: usize = 60;
/// The last column that counts in free form …
pub const FREE: usize = 132;
/// … and in fixed form.
const FIXED: usize = 72;
/// The last column that counts in a form.
pub fn last_column(form: Form) -> usize {
    if form == Form::Free { FREE } else { FIXED }
}

/// Lines that are looked at for the habits of their neighbours.
const NEAR: usize = 200;

/// The last column for lines that are new, which is a later one where the indentation leaves little room.
fn grown(indent: &str) -> usize {
    if indent.len() * 2 > GROWN { FREE } else { GROWN }
}

/// The form of a file.
pub fn form(file: &SourceFile) -> Form {
    if let Language::Fortran(form) = file.language { form } else { Form::Free }
}

/// How the lines of a directive begin and end that takes the place of `old`, whose lines have these shapes.
pub fn of_directive(file: &SourceFile, old: &DirectiveText, shapes: &[Shape]) -> Frame {
    let form = form(file);
    let lines: Vec<&Shape> = shapes.iter().filter(|shape| shape.sentinel.is_some()).collect();
    let widest = lines.iter().filter_map(|shape| Some(end(shape)? - shape.whole.start)).max().unwrap_or(0);
    let is_one = lines.len() < 2;
    let line = file.lines.span(file.lines.line(old.span.start));
    let indent = file.text(Span { start: line.start, end: old.span.start }).into_owned();
    let sentinel = sentinel(file.slice(Span { start: old.span.start, end: old.span.start + 5 }));
    let gap = lines.first().map_or_else(|| " ".to_owned(), |shape| gap(file, shape, form));
    let default = match form {
        Form::Free => format!("{indent}{sentinel}{gap}  "),
        Form::Fixed => format!("{sentinel}&{gap}  "),
    };
    let second = lines.get(1).filter(|shape| shape.words.is_some());
    let next = second.map(|shape| {
        let start = shape.sentinel.map_or(shape.whole.start, |sentinel| sentinel.start);
        let before = file.text(Span { start: shape.whole.start, end: start });
        let old = self::sentinel(file.slice(Span { start, end: start + 5 }));
        let mark = mark(file, shape, form);
        format!("{before}{old}{mark}")
    });
    let limit = match form {
        Form::Free => (widest as usize).max(if is_one { grown(&indent) } else { PARTED }).min(FREE),
        Form::Fixed => FIXED,
    };
    let next = next.filter(|next| next.len() * 2 <= limit).unwrap_or(default);
    Frame { first: format!("{indent}{sentinel}{gap}"), next, tail: tail(&lines, form), limit }
}

/// The offset after the last byte of a line that is not a comment.
fn end(shape: &Shape) -> Option<u32> {
    shape.ampersand.map(|at| at + 1).or(shape.words.map(|words| words.end))
}

/// OpenMP's sentinel in the manner of one of OpenACC.
pub fn sentinel(old: &[u8]) -> String {
    let first = old.first().map_or('!', |byte| char::from(*byte));
    let is_large = old.get(2).is_some_and(u8::is_ascii_uppercase);
    format!("{first}${}", if is_large { "OMP" } else { "omp" })
}

/// What stands between the sentinel and the first word.
fn gap(file: &SourceFile, shape: &Shape, form: Form) -> String {
    let text = between(file, shape);
    let blanks: String = match form {
        Form::Free => text.chars().filter(|char| *char != '&').collect(),
        // Column 6 may have a zero.
        Form::Fixed => text.replacen(['0', '\t'], " ", 1),
    };
    if blanks.is_empty() { " ".to_owned() } else { blanks }
}

/// What stands between the sentinel of a continuation line and its first word.
fn mark(file: &SourceFile, shape: &Shape, form: Form) -> String {
    let text = between(file, shape);
    match form {
        Form::Free if text.is_empty() => " ".to_owned(),
        Form::Fixed if text.trim().is_empty() => "& ".to_owned(),
        _ => text,
    }
}

fn between(file: &SourceFile, shape: &Shape) -> String {
    match (shape.sentinel, shape.words) {
        (Some(sentinel), Some(words)) if sentinel.end <= words.start => {
            file.text(Span { start: sentinel.end, end: words.start }).into_owned()
        }
        _ => String::new(),
    }
}

/// Where the ampersands stand at the ends of lines.
fn tail(lines: &[&Shape], form: Form) -> Tail {
    if form == Form::Fixed {
        return Tail::None;
    }
    let ends: Vec<(u32, u32)> = lines
        .iter()
        .filter_map(|shape| {
            let ampersand = shape.ampersand?;
            let gap = ampersand - shape.words.map_or(shape.whole.start, |words| words.end).min(ampersand);
            Some((ampersand - shape.whole.start + 1, gap))
        })
        .collect();
    match ends.first() {
        Some((column, _))
            if (FAR..=FREE).contains(&(*column as usize))
                && ends.iter().all(|(other, _)| other == column)
                && ends.iter().any(|(_, gap)| *gap > 1) =>
        {
            Tail::Column(*column as usize)
        }
        _ => Tail::Near,
    }
}

/// How the lines of a new directive begin and end; its words begin with the sentinel.
pub fn of_new_directive(form: Form, indent: &str, sentinel: &str) -> Frame {
    match form {
        Form::Free => Frame {
            first: indent.to_owned(),
            next: format!("{indent}{sentinel}   "),
            tail: Tail::Near,
            limit: grown(indent),
        },
        Form::Fixed => {
            Frame { first: String::new(), next: format!("{sentinel}&  "), tail: Tail::None, limit: FIXED }
        }
    }
}

/// How the lines of a new statement begin and end.
pub fn of_statement(form: Form, indent: &str) -> Frame {
    match form {
        Form::Free => Frame {
            first: indent.to_owned(),
            next: format!("{indent}  "),
            tail: Tail::Near,
            limit: grown(indent),
        },
        Form::Fixed => Frame {
            first: format!("      {indent}"),
            next: format!("     &{indent}  "),
            tail: Tail::None,
            limit: FIXED,
        },
    }
}

/// How the lines of a statement begin and end that only a compiler for OpenMP reads.
pub fn of_conditional(form: Form, indent: &str) -> Frame {
    match form {
        Form::Free => Frame {
            first: format!("{indent}!$ "),
            next: format!("{indent}!$   "),
            tail: Tail::Near,
            limit: grown(indent),
        },
        Form::Fixed => {
            Frame { first: "!$    ".to_owned(), next: "!$   &  ".to_owned(), tail: Tail::None, limit: FIXED }
        }
    }
}

/// The indentation of code beside line `line`: of the line itself, or, in fixed form, of the next line of code, counted
/// from column 7.
pub fn code_indentation(file: &SourceFile, line: usize) -> String {
    if form(file) == Form::Free {
        return indentation(file, line);
    }
    let numbers = line..file.lines.count().min(line + NEAR);
    let shapes = numbers.filter_map(|number| {
        let start = file.lines.span(number).start;
        let [shape] = scan::fortran_shapes(file, Span { start, end: start }).try_into().ok()?;
        Some(shape)
    });
    let mut code = shapes.filter(|shape: &Shape| shape.sentinel.is_none() && !shape.is_continuation);
    let words = code.find_map(|shape| Some((shape.words?, shape.whole)));
    let Some((words, whole)) = words else { return String::new() };
    let before = file.slice(Span { start: whole.start, end: words.start });
    let columns = if before.contains(&b'\t') { 0 } else { before.len().saturating_sub(6) };
    " ".repeat(columns.min(FIXED / 2))
}

/// The sentinel of new directives near line `line`: in the manner of the last directive before it, or of the next.
pub fn sentinel_near(file: &SourceFile, line: usize) -> String {
    let before = (line.saturating_sub(NEAR)..=line).rev();
    let after = line + 1..file.lines.count().min(line + NEAR);
    let mut sentinels = before.chain(after).filter_map(|number| {
        let text = file.slice(file.lines.span(number));
        let text = if form(file) == Form::Free { text.trim_ascii_start() } else { text };
        let word = text.get(..5)?;
        let (first, rest) = word.split_first()?;
        (b"!cC*".contains(first) && rest.eq_ignore_ascii_case(b"$acc")).then(|| sentinel(word))
    });
    sentinels.next().unwrap_or_else(|| sentinel(b"!$acc"))
}
