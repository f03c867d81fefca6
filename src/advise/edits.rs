//! How proposals are written into the source.
//!
//! Invariant: an edit is made only where the line has room for it and is plain code; else there is none.

use crate::edit::Edit;
use crate::source::{Form, Language, Span};

use super::Ground;

/// Clauses after those of a directive.
pub fn clauses(ground: &Ground, index: usize, text: &[String]) -> Option<Edit> {
    let span = ground.bound[index].directive.span;
    let written = ground.file.text(span);
    // Where conditions choose the directive, it is one of several for the same code.
    let code = ground.bound[index].stmt().map_or(span.end, |stmt| ground.unit.stmt(stmt).span.start);
    let between = ground.file.text(Span { start: span.end.min(code), end: code }).into_owned();
    let is_chosen = between
        .lines()
        .map(str::trim_start)
        .any(|line| line.strip_prefix('#').is_some_and(|rest| !rest.trim_start().starts_with("pragma")));
    (!is_chosen).then_some(())?;
    let sentinel = sentinel(ground, &written)?;
    let line = ground.file.lines.span(ground.file.lines.line(span.end.saturating_sub(1)));
    let mut column = ground.file.text(Span { start: line.start, end: span.end }).chars().count();
    let mut added = String::new();
    for clause in text {
        let is_long = sentinel.is_some_and(|(_, last)| column + clause.len() + 3 > last);
        match sentinel {
            Some((sentinel, _)) if is_long => {
                let lead = continued(ground, sentinel);
                added += &format!("{lead}{clause}");
                column = lead.len() + clause.len();
            }
            _ => {
                added += &format!(" {clause}");
                column += clause.len() + 1;
            }
        }
    }
    Some(Edit { span: Span { start: span.end, end: span.end }, text: added.into_bytes() })
}

/// The sentinel of a directive of Fortran and the last column of its lines; `None` inside for C. Nothing for what is not a line
/// of its own.
fn sentinel(ground: &Ground, written: &str) -> Option<Option<(&'static str, usize)>> {
    if !ground.unit.is_fortran() {
        return written.trim_start().starts_with('#').then_some(None);
    }
    let is_fixed = matches!(ground.file.language, Language::Fortran(Form::Fixed));
    let lower = written.trim_start().to_ascii_lowercase();
    let is_known = lower.starts_with("!$acc") || lower.starts_with("c$acc") || lower.starts_with("*$acc");
    is_known.then_some(Some(if is_fixed { ("!$acc", 72) } else { ("!$acc", 120) }))
}

/// The end of a line of a directive, and how the next one begins.
fn continued(ground: &Ground, sentinel: &str) -> String {
    match ground.file.language {
        Language::Fortran(Form::Fixed) => format!("\n{sentinel}& "),
        _ => format!(" &\n{sentinel} "),
    }
}

/// A directive around a statement.
pub fn around(ground: &Ground, stmt: Span, directive: &str, text: &[String]) -> Option<Vec<Edit>> {
    let mut edits = vec![before(ground, stmt, directive, text)?];
    if ground.unit.is_fortran() {
        let line = ground.file.lines.line(stmt.end.saturating_sub(1));
        let after = ground.file.lines.span(line).end;
        let rest = ground.file.text(Span { start: stmt.end, end: after }).into_owned();
        (rest.trim().is_empty() || rest.trim_start().starts_with('!')).then_some(())?;
        let next = ground.file.lines.span(line + 1).start.max(after);
        let lead = lead(ground, stmt);
        let is_ended = ground.file.bytes.get(..next as usize).is_some_and(|before| before.ends_with(b"\n"));
        let break_before = if is_ended { "" } else { "\n" };
        let end = format!("{break_before}{lead}!$acc end {directive}\n");
        edits.push(Edit { span: Span { start: next, end: next }, text: end.into_bytes() });
    }
    Some(edits)
}

/// A directive on a line before a statement.
pub fn before(ground: &Ground, stmt: Span, directive: &str, text: &[String]) -> Option<Edit> {
    let line = ground.file.lines.span(ground.file.lines.line(stmt.start));
    let indentation = ground.file.text(Span { start: line.start, end: stmt.start }).into_owned();
    indentation.trim().is_empty().then_some(())?;
    let is_split = line.start > 0 && ground.file.bytes.get(..line.start as usize)?.ends_with(b"\\\n");
    (!is_split).then_some(())?;
    let lead = lead(ground, stmt);
    let words = if ground.unit.is_fortran() {
        let mut words = format!("{lead}!$acc {directive}");
        let last = if matches!(ground.file.language, Language::Fortran(Form::Fixed)) { 72 } else { 120 };
        let mut column = words.len();
        for clause in text {
            if column + clause.len() + 3 > last {
                let more = continued(ground, &format!("{lead}!$acc"));
                words += &format!("{more}{clause}");
                column = lead.len() + 7 + clause.len();
            } else {
                words += &format!(" {clause}");
                column += clause.len() + 1;
            }
        }
        words
    } else {
        format!("{lead}#pragma acc {directive} {}", text.join(" ")).trim_end().to_owned()
    };
    let end = ground.file.line_end(stmt.start);
    let at = Span { start: line.start, end: line.start };
    Some(Edit { span: at, text: format!("{words}{end}").into_bytes() })
}

/// What a line of a directive begins with.
fn lead(ground: &Ground, stmt: Span) -> String {
    if matches!(ground.file.language, Language::Fortran(Form::Fixed)) {
        return String::new();
    }
    let indentation = |start: u32| {
        let line = ground.file.lines.span(ground.file.lines.line(start));
        ground.file.text(Span { start: line.start, end: start }).into_owned()
    };
    // Some write all directives at the margin.
    match ground
        .bound
        .iter()
        .all(|one| one.text.is_none() || indentation(one.directive.span.start).is_empty())
    {
        true => String::new(),
        false => indentation(stmt.start),
    }
}

/// Another text in place of some bytes.
pub fn replace(span: Span, text: &str) -> Edit {
    Edit { span, text: text.as_bytes().to_vec() }
}

/// The words of a clause: `copyin(a, b)`.
pub fn clause(word: &str, items: &[String]) -> String {
    format!("{word}({})", items.join(", "))
}

/// Names in a sentence: `a`, `b` and `c`; of very many, the first.
pub fn listed(names: &[String]) -> String {
    const MOST: usize = 8;
    match names {
        [] => String::new(),
        [one] => one.clone(),
        many if many.len() > MOST => {
            format!("{} and {} more", many[..MOST - 1].join(", "), many.len() - (MOST - 1))
        }
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
