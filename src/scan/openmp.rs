//! The OpenMP that a source has already, beside its OpenACC.
//!
//! Invariant: finds places and names, whatever the preprocessor's conditions show; what they mean for the OpenACC is for others.

use std::collections::BTreeMap;

use crate::source::{Form, Language, SourceFile, Span};

use super::c::{self, Event};
use super::preproc::{self, View};
use super::{Fork, forks, fortran, shadow};

/// An OpenMP directive of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Existing {
    /// From the first byte of the sentinel (`#`, `_Pragma`) to the last byte of the directive.
    pub span: Span,
    /// The words of its name, in lower case: `target`, `teams`, `distribute`.
    pub name: Vec<String>,
    /// Offset of the first code after it, in any branch of conditions.
    pub next_code: u32,
}

/// What a source has of OpenMP.
#[derive(Clone, Debug, Default)]
pub struct OpenMp {
    /// The directives, by place.
    pub directives: Vec<Existing>,
    /// The first line that only a compiler for OpenMP reads: Fortran's `!$`.
    pub first_line: Option<Span>,
    /// The first of these lines that does more than name things.
    pub first_code: Option<Span>,
    /// The conditions of the preprocessor.
    pub conditions: Vec<Fork>,
    /// Offset of the first code after each directive of OpenACC, in any branch of conditions, by the directive's first byte.
    pub next_code: BTreeMap<u32, u32>,
}

/// Finds the OpenMP of a source; `None` if there is none.
pub fn openmp(file: &SourceFile) -> Option<OpenMp> {
    if !mentions(&file.bytes) {
        return None;
    }
    let is_fortran = file.language.is_fortran();
    let events = if is_fortran { fortran::events(file) } else { c::events(&file.bytes) };
    let shown = preproc::shown(file, &events, &View::default());
    let assemble = if is_fortran { fortran::assemble } else { shadow::assemble };
    let all = assemble(file, &events, &shown.of_all());
    let mut found = if is_fortran { in_fortran(file) } else { in_c(file, &events) };
    found.directives.retain(|one| !shown.rules_out(one.span.start));
    let code: Vec<u32> = starts(&all.shadow);
    for one in &mut found.directives {
        let next = code.partition_point(|at| *at < one.span.end);
        one.next_code = code.get(next).copied().unwrap_or(all.shadow.len() as u32);
    }
    found.next_code = all.directives.iter().map(|text| (text.span.start, text.next_code)).collect();
    found.conditions = forks(file);
    (!found.directives.is_empty() || found.first_line.is_some()).then_some(found)
}

/// Whether the bytes may hold OpenMP. A "no" is never wrong.
fn mentions(bytes: &[u8]) -> bool {
    // In `compute` and the like, it does not begin a word.
    let begins = |at: usize| at.checked_sub(1).is_none_or(|before| !bytes[before].is_ascii_alphanumeric());
    // The sentinels of Fortran, except those of OpenACC.
    let is_sentinel = |at: usize| {
        let is_acc = bytes.get(at + 1..at + 4).is_some_and(|word| word.eq_ignore_ascii_case(b"acc"));
        !is_acc && at.checked_sub(1).is_some_and(|before| matches!(bytes[before], b'!' | b'c' | b'C' | b'*'))
    };
    memchr::memmem::find_iter(bytes, b"omp").any(begins)
        || memchr::memmem::find_iter(bytes, b"OMP").any(begins)
        || memchr::memchr_iter(b'$', bytes).any(is_sentinel)
        || memchr::memmem::find(bytes, b"$o").is_some()
        || memchr::memmem::find(bytes, b"$O").is_some()
}

/// Where code continues after blanks.
fn starts(shadow: &[u8]) -> Vec<u32> {
    let mut found = Vec::new();
    let mut is_after_blank = true;
    for (at, byte) in shadow.iter().enumerate() {
        let is_blank = byte.is_ascii_whitespace();
        if !is_blank && is_after_blank {
            found.push(at as u32);
        }
        is_after_blank = is_blank;
    }
    found
}

fn in_c(file: &SourceFile, events: &[Event]) -> OpenMp {
    let mut found = OpenMp::default();
    for event in events {
        let (span, text) = match event {
            Event::Line(line) => {
                let Some(words) = shadow::words_after(file, line, b"omp") else { continue };
                let pieces: Vec<String> = words.iter().map(|piece| file.text(*piece).into_owned()).collect();
                (line.span, pieces.join(" "))
            }
            Event::Operator(operator) => {
                let text = file.text(operator.text);
                let Some(words) = text.trim_start().strip_prefix("omp") else { continue };
                if !words.starts_with(char::is_whitespace) {
                    continue;
                }
                (operator.span, words.to_owned())
            }
            Event::Comment(_) | Event::Word(_) => continue,
        };
        found.directives.push(Existing { span, name: name_of(&text), next_code: 0 });
    }
    found
}

/// A directive of Fortran while its lines are read.
struct Open {
    span: Span,
    text: String,
    /// In free form, the last line ends with an ampersand.
    goes_on: bool,
}

/// Bytes as a text of the same length, in which those that are not ASCII are others.
fn ascii(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| if byte.is_ascii() { char::from(*byte) } else { '?' }).collect()
}

fn in_fortran(file: &SourceFile) -> OpenMp {
    let is_free = file.language == Language::Fortran(Form::Free);
    let mut found = OpenMp::default();
    let mut open: Option<Open> = None;
    for number in 0..file.lines.count() {
        let whole = file.lines.span(number);
        let text = ascii(file.slice(whole));
        let line = text.trim_end();
        let Some((at, rest)) = sentinel(line, is_free) else {
            if found.first_code.is_none() && is_conditional(line, is_free) {
                let lead = (line.len() - line.trim_start().len()) as u32;
                let span = Span { start: whole.start + lead, end: whole.start + line.len() as u32 };
                found.first_line.get_or_insert(span);
                found.first_code = Some(span).filter(|_| !only_names(line.trim_start()));
            }
            // A comment may stand between.
            if !line.trim_start().is_empty() && !line.trim_start().starts_with('!') {
                found.directives.extend(open.take().map(Open::closed));
            }
            continue;
        };
        let words = match rest.find('!') {
            Some(comment) => rest[..comment].trim(),
            None => rest.trim(),
        };
        let asks = words.ends_with('&');
        let words = words.trim_end_matches('&').trim();
        let mark = line.as_bytes().get(5).copied().unwrap_or(b' ');
        let is_marked = !is_free && !matches!(mark, b' ' | b'0');
        let words = if is_marked { line.get(6..).unwrap_or_default().trim() } else { words };
        let end = whole.start + line.len() as u32;
        match &mut open {
            Some(open) if open.goes_on && is_free || is_marked => {
                open.text += " ";
                open.text += words.trim_start_matches('&').trim();
                open.span.end = end;
                open.goes_on = asks;
            }
            _ => {
                found.directives.extend(open.take().map(Open::closed));
                let span = Span { start: whole.start + at as u32, end };
                open = Some(Open { span, text: words.to_owned(), goes_on: asks });
            }
        }
    }
    found.directives.extend(open.take().map(Open::closed));
    found
}

impl Open {
    fn closed(self) -> Existing {
        Existing { span: self.span, name: name_of(&self.text), next_code: 0 }
    }
}

/// Where OpenMP's sentinel stands in a line, and what follows it.
fn sentinel(line: &str, is_free: bool) -> Option<(usize, &str)> {
    let at = if is_free { line.len() - line.trim_start().len() } else { 0 };
    let start = line.get(at..at + 5)?;
    let first = start.chars().next()?;
    let is_mark = if is_free { first == '!' } else { matches!(first, '!' | 'c' | 'C' | '*') };
    let rest = line.get(at + 5..)?;
    let ends = rest.is_empty() || rest.starts_with([' ', '\t', '&']) || !is_free;
    (is_mark && start[1..].eq_ignore_ascii_case("$omp") && ends).then_some((at, rest))
}

/// Whether a line of Fortran is code to a compiler for OpenMP alone (OpenMP 4.5, 2.2).
fn is_conditional(line: &str, is_free: bool) -> bool {
    if is_free {
        return line.trim_start().strip_prefix("!$").is_some_and(|rest| rest.starts_with([' ', '\t']));
    }
    let begins = ["!$", "c$", "C$", "*$"].iter().any(|mark| line.starts_with(mark));
    let label = line.get(2..5).unwrap_or_default();
    begins && line.len() > 6 && label.chars().all(|c| c == ' ' || c.is_ascii_digit())
}

/// Whether a conditional line names modules, files or variables only.
fn only_names(line: &str) -> bool {
    const BEGIN: [&str; 9] =
        ["use ", "use,", "include", "integer", "real", "logical", "external", "type(", "double precision"];
    let statement =
        line.get(2..).unwrap_or_default().trim_start_matches(['&', ' ', '\t']).to_ascii_lowercase();
    let is_name = BEGIN.iter().any(|begin| statement.starts_with(begin)) && !statement.contains(';');
    statement.is_empty() || is_name && !statement.contains('=')
}

/// The words that the names of directives are made of.
const WORDS: [&str; 44] = [
    "atomic",
    "barrier",
    "begin",
    "cancel",
    "cancellation",
    "critical",
    "data",
    "declare",
    "depobj",
    "dispatch",
    "distribute",
    "do",
    "end",
    "enter",
    "exit",
    "flush",
    "for",
    "interop",
    "loop",
    "masked",
    "master",
    "metadirective",
    "ordered",
    "parallel",
    "point",
    "reduction",
    "requires",
    "scan",
    "scope",
    "section",
    "sections",
    "simd",
    "single",
    "target",
    "task",
    "taskgroup",
    "taskloop",
    "taskwait",
    "taskyield",
    "teams",
    "tile",
    "unroll",
    "update",
    "variant",
];

/// The words of a directive's name, of all its words: some write them in one.
fn name_of(text: &str) -> Vec<String> {
    let mut name = Vec::new();
    for word in text.split_whitespace() {
        let head = word.split('(').next().unwrap_or_default().trim_end_matches(',').to_ascii_lowercase();
        let Some(parts) = parts(&head) else { break };
        name.extend(parts);
        if head.len() < word.len() {
            break;
        }
    }
    name
}

/// The words of names that a word is made of: `enddo` is two. `None` if it is not a name.
fn parts(word: &str) -> Option<Vec<String>> {
    if WORDS.contains(&word) {
        return Some(vec![word.to_owned()]);
    }
    let mut firsts = WORDS.iter().filter(|first| word.len() > first.len());
    firsts.find_map(|first| {
        let rest = parts(word.strip_prefix(first)?)?;
        Some(std::iter::once((*first).to_owned()).chain(rest).collect())
    })
}

#[cfg(test)]
mod tests;
