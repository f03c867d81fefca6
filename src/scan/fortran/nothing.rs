//! Macros that come first on a line of code and expand to nothing, to a comment, or to the beginning of a line of OpenMP.
//!
//! Invariant: a replacement is as long as the use; a macro counts only if all definitions that a build may see agree.

use std::collections::{HashMap, HashSet};

use crate::scan::Define;
use crate::source::{Form, Language, SourceFile, Span};

use super::super::c::Event;
use super::super::defined::definition;
use super::super::preproc::{self, View, keyword};
use super::line::{Kind, word_length};
use super::preprocessor;

/// How a macro that expands to nothing is used.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Nothing {
    has_params: bool,
    /// The rest of its line is a comment.
    comments: bool,
    /// The words of OpenMP with which the line begins.
    openmp: Option<String>,
}

/// The uses of such macros, and what replaces each. `defines` are those of headers and of options.
pub fn nothing(file: &SourceFile, defines: &[&Define]) -> Vec<(Span, Vec<u8>)> {
    let events = preprocessor::events(file);
    let known = known(file, &events, defines);
    let form = if let Language::Fortran(form) = file.language { form } else { Form::Free };
    let mut found = Vec::new();
    if known.is_empty() {
        return found;
    }
    for line in preprocessor::other_lines(file, &events, form) {
        if line.kind != Kind::Code {
            continue;
        }
        let text = file.slice(line.text);
        let lead = text.len() - text.trim_ascii_start().len();
        let length = word_length(&text[lead..]);
        let name = String::from_utf8_lossy(&text[lead..lead + length]).into_owned();
        let Some(nothing) = known.get(&name) else { continue };
        let arguments = if nothing.has_params { closing(&text[lead + length..]) } else { Some(0) };
        let Some(arguments) = arguments else { continue };
        let start = line.text.start as usize + lead;
        if let Some(openmp) = &nothing.openmp {
            found.push((Span::new(start, start + length), openmp.clone().into_bytes()));
            continue;
        }
        let end = if nothing.comments { line.text.end as usize } else { start + length + arguments };
        found.push((Span::new(start, end), vec![b' '; end - start]));
    }
    found
}

/// The macros that expand to nothing.
fn known(file: &SourceFile, events: &[Event], defines: &[&Define]) -> HashMap<String, Nothing> {
    let shown = preproc::shown(file, events, &View::default());
    let mut all: Vec<(String, Option<Nothing>)> = Vec::new();
    for define in defines {
        all.push((define.name.clone(), is_nothing(define.params.is_some(), &define.body)));
    }
    let mut gone = HashSet::new();
    for event in events {
        let Event::Line(line) = event else { continue };
        match keyword(&file.bytes, line) {
            _ if shown.rules_out(line.span.start) => {}
            ("define", rest) => {
                let (name, params, body) = definition(&rest);
                all.push((name, is_nothing(params.is_some(), &body)));
            }
            ("undef", rest) => drop(gone.insert(definition(&rest).0)),
            _ => {}
        }
    }
    let mut known: HashMap<String, Option<Nothing>> = HashMap::new();
    for (name, nothing) in all {
        let nothing = nothing.filter(|_| !gone.contains(&name));
        known
            .entry(name)
            .and_modify(|one| *one = one.take().filter(|one| Some(one) == nothing.as_ref()))
            .or_insert(nothing.clone());
    }
    known.into_iter().filter_map(|(name, nothing)| Some((name, nothing?))).collect()
}

/// Recognises a body that expands to nothing (no text, or a comment that is not a directive) or to the beginning of a line of
/// OpenMP.
fn is_nothing(has_params: bool, body: &str) -> Option<Nothing> {
    let comments = body.starts_with('!');
    let is_plain = comments && !body[1..].starts_with(['$', 'D', 'd']);
    let is_openmp = body.get(..5).is_some_and(|head| head.eq_ignore_ascii_case("!$omp")) && !has_params;
    let openmp = is_openmp.then(|| body.to_owned());
    (body.is_empty() || is_plain || is_openmp).then_some(Nothing { has_params, comments, openmp })
}

/// The length of a list in parentheses, with the blanks before it.
fn closing(text: &[u8]) -> Option<usize> {
    let lead = text.len() - text.trim_ascii_start().len();
    text[lead..].first().filter(|byte| **byte == b'(')?;
    let mut depth = 0usize;
    for (at, byte) in text.iter().enumerate().skip(lead) {
        match byte {
            b'(' => depth += 1,
            b')' if depth == 1 => return Some(at + 1),
            b')' => depth -= 1,
            _ => {}
        }
    }
    None
}
