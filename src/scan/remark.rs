//! Comments that are meant for acc2omp.
//!
//! Invariant: such a comment has the lead as its first word, in any case of letters; what its words mean is not known here.

use crate::source::{Form, Language, SourceFile, Span};

use super::c::{self, Event};
use super::fortran;
use super::preproc::{self, View};

/// How such a comment begins.
const LEAD: &[u8] = b"acc2omp";

/// A comment that is meant for acc2omp.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// From the lead to the end of the words.
    pub span: Span,
    /// What follows the lead, in lower case.
    pub words: String,
    /// Nothing but the comment stands on its line, and it ends there.
    pub is_alone: bool,
}

/// The comments of a source that are meant for acc2omp, of all branches except those that options rule out.
pub fn remarks(file: &SourceFile) -> Vec<Remark> {
    let places = leads(&file.bytes);
    if places.is_empty() {
        return Vec::new();
    }
    let is_fortran = file.language.is_fortran();
    let events = if is_fortran { fortran::events(file) } else { c::events(&file.bytes) };
    let shown = preproc::shown(file, &events, &View::default());
    let comments: Vec<Span> = events.iter().flat_map(comments_of).collect();
    let is_comment = |at: u32| {
        let next = comments.partition_point(|comment| comment.end <= at);
        is_fortran || comments.get(next).is_some_and(|comment| comment.start <= at)
    };
    let places = places.into_iter().filter(|at| !shown.rules_out(*at) && is_comment(*at));
    places.filter_map(|at| remark(file, at)).collect()
}

/// The remark on a line, if the line is a comment and nothing else.
pub fn remark_of_line(file: &SourceFile, number: usize) -> Option<Remark> {
    let line = file.lines.span(number);
    let at = *leads(file.slice(line)).first()?;
    remark(file, line.start + at).filter(|remark| remark.is_alone)
}

/// Where the lead stands before a colon.
fn leads(bytes: &[u8]) -> Vec<u32> {
    let is_lead = |at: &usize| {
        let after = bytes.get(at + LEAD.len()..).unwrap_or_default();
        bytes.get(*at..at + LEAD.len()).is_some_and(|word| word.eq_ignore_ascii_case(LEAD))
            && after.iter().find(|byte| !matches!(byte, b' ' | b'\t')) == Some(&b':')
    };
    // The rarest of its letters leads to it.
    let starts = memchr::memchr_iter(b'2', bytes).filter_map(|at| at.checked_sub(3));
    starts.filter(is_lead).map(|at| at as u32).collect()
}

fn comments_of(event: &Event) -> Vec<Span> {
    match event {
        Event::Comment(span) => vec![*span],
        Event::Line(line) => line.comments.clone(),
        Event::Operator(_) | Event::Word(_) => Vec::new(),
    }
}

/// The remark whose lead stands at a place; `None` if the lead is not the first word of a comment.
fn remark(file: &SourceFile, at: u32) -> Option<Remark> {
    let line = file.lines.span(file.lines.line(at));
    let before = file.slice(Span { start: line.start, end: at }).trim_ascii_end();
    let is_alone = match file.language {
        Language::Fortran(form) => leads_comment(before, form)?,
        _ => {
            let marks = before.iter().rev().take_while(|byte| matches!(byte, b'/' | b'*' | b'!')).count();
            let code = before.get(..before.len() - marks)?.trim_ascii();
            let opens =
                ["//", "/*"].iter().any(|open| before[before.len() - marks..].starts_with(open.as_bytes()));
            // Later lines of a comment often begin with an asterisk, or with nothing.
            if !opens && !code.is_empty() {
                return None;
            }
            opens && code.is_empty()
        }
    };
    let rest = file.text(Span { start: at, end: line.end }).into_owned();
    let (words, ends) = match rest.split_once("*/").filter(|_| !file.language.is_fortran()) {
        Some((words, after)) => (words.to_owned(), after.trim().is_empty()),
        // The comment goes on.
        None => (rest, !before.ends_with(b"*")),
    };
    let asked = words.split_once(':').map_or("", |(_, asked)| asked).trim().to_lowercase();
    let end = at + words.trim_end().len() as u32;
    Some(Remark {
        span: Span { start: at, end: end.min(line.end) },
        words: asked,
        is_alone: is_alone && ends,
    })
}

/// Whether what stands before a place of Fortran begins a comment there, and if so, whether the line is nothing but the comment.
fn leads_comment(before: &[u8], form: Form) -> Option<bool> {
    let code = before.iter().rposition(|byte| *byte != b'!').map_or(0, |last| last + 1);
    let (code, marks) = before.split_at(code);
    if marks.is_empty() {
        return (form == Form::Fixed && matches!(code, b"c" | b"C" | b"*")).then_some(true);
    }
    let is_closed = |quote: u8| code.iter().filter(|byte| **byte == quote).count() % 2 == 0;
    (is_closed(b'\'') && is_closed(b'"')).then(|| code.trim_ascii().is_empty())
}

#[cfg(test)]
mod tests;
