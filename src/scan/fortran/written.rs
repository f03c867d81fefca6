//! Directives that macros write: `ACC_LOOP` with `#define ACC_LOOP !$acc parallel loop`, and `!ACC loop` with `#define ACC $acc`.
//!
//! Invariant: a use is named only where the preprocessor makes a directive's beginning of it, in one branch or another.

use std::collections::HashMap;

use crate::source::{Form, Language, SourceFile, Span};

use super::super::c::Event;
use super::super::defined::definition;
use super::super::preproc::{self, View, keyword};
use super::line::{Kind, word_length};
use super::preprocessor;

/// What a macro makes where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Makes {
    /// A directive, with its sentinel.
    Directive,
    /// The sentinel after the mark of a comment.
    Sentinel,
}

/// The macros of a file, each with its body.
pub fn writing(file: &SourceFile) -> Vec<(String, String)> {
    let options = file.predefined.names().filter_map(|(_, line)| Some(definition(line?.as_bytes())));
    let mut all: Vec<(String, String)> = options.map(|(name, _, body)| (name, body)).collect();
    if memchr::memmem::find(&file.bytes, b"define").is_some() {
        let events = preprocessor::events(file);
        let shown = preproc::shown(file, &events, &View::default());
        for event in &events {
            let Event::Line(line) = event else { continue };
            if let ("define", rest) = keyword(&file.bytes, line)
                && !shown.rules_out(line.span.start)
            {
                let (name, _, body) = definition(&rest);
                all.push((name, body));
            }
        }
    }
    all
}

/// What a file, or another file that uses it, needs to know to find directives that macros write.
#[derive(Clone, Debug, Default)]
pub struct Macros {
    /// It holds the sentinel of a directive, in whatever place.
    has_sentinel: bool,
    /// Its macros, each with its body.
    all: Vec<(String, String)>,
}

impl Macros {
    /// Those of a file.
    pub fn of(file: &SourceFile) -> Macros {
        Macros { has_sentinel: has_sentinel(file), all: writing(file) }
    }
}

/// Whether a file holds the sentinel of a directive.
fn has_sentinel(file: &SourceFile) -> bool {
    let acc =
        |at: usize| file.bytes.get(at + 1..at + 4).is_some_and(|word| word.eq_ignore_ascii_case(b"acc"));
    memchr::memchr_iter(b'$', &file.bytes).any(acc)
}

/// What the macros of a file and of its headers make; directives that the file's own macros spell out are found where they
/// are defined, and not among them.
fn made(file: &SourceFile, headers: &[&Macros]) -> HashMap<String, Makes> {
    let own = writing(file);
    let all = || headers.iter().flat_map(|header| &header.all);
    let mut made: HashMap<String, Makes> = HashMap::new();
    let begins = |body: &str, word: &str| {
        let head = body.get(..word.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(word))
            && !body[word.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '_')
    };
    for (name, body) in all() {
        if begins(body, "!$acc") {
            made.insert(name.clone(), Makes::Directive);
        }
    }
    for (name, body) in own.iter().chain(all()) {
        if begins(body, "$acc") {
            made.insert(name.clone(), Makes::Sentinel);
        }
    }
    // Names of such names.
    loop {
        let before = made.len();
        for (name, body) in own.iter().chain(all()) {
            let length = word_length(body.as_bytes());
            if let Some(makes) = made.get(&body[..length]).copied().filter(|_| length > 0) {
                made.entry(name.clone()).or_insert(makes);
            }
        }
        if made.len() == before {
            return made;
        }
    }
}

/// The directives that macros of `file` and of its headers write in it, each with the macro's name; continuation lines belong to
/// the first one.
pub fn written(file: &SourceFile, headers: &[&Macros]) -> Vec<(Span, String)> {
    let mut found = Vec::new();
    let Language::Fortran(form) = file.language else { return found };
    let of_options = || file.predefined.names().any(|(_, line)| line.is_some_and(|line| line.contains('$')));
    if !headers.iter().any(|header| header.has_sentinel) && !has_sentinel(file) && !of_options() {
        return found;
    }
    let made = made(file, headers);
    if made.is_empty() {
        return found;
    }
    let events = preprocessor::events(file);
    let shown = preproc::shown(file, &events, &View::default());
    let mut goes_on = false;
    for line in preprocessor::other_lines(file, &events, form) {
        let (start, wanted) = match line.kind {
            Kind::Code => {
                let text = file.slice(line.text);
                (line.text.start + (text.len() - text.trim_ascii_start().len()) as u32, Makes::Directive)
            }
            Kind::Comment => (line.start + 1, Makes::Sentinel),
            Kind::Blank | Kind::Directive | Kind::Conditional => continue,
        };
        let text = file.slice(Span { start, end: line.whole.end });
        let name = String::from_utf8_lossy(&text[..word_length(text)]).into_owned();
        if made.get(&name) != Some(&wanted) || shown.rules_out(start) {
            goes_on = false;
            continue;
        }
        let length = text.trim_ascii_end().len() as u32;
        if !(goes_on || form == Form::Fixed && is_continued(text, name.len())) {
            let first = if wanted == Makes::Sentinel { line.start } else { start };
            found.push((Span { start: first, end: start + length }, name));
        }
        goes_on = wanted == Makes::Sentinel && form == Form::Free && text.trim_ascii_end().ends_with(b"&");
    }
    found
}

/// Whether a mark in column 6 continues a directive whose sentinel is as long as the macro's name.
fn is_continued(text: &[u8], length: usize) -> bool {
    text.get(length).is_some_and(|mark| !mark.is_ascii_whitespace() && *mark != b'0' && *mark != b'(')
}
