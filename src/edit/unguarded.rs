//! Portable output taken apart: what may have been the original of a text in which both stand side by side.
//!
//! Invariant: an original is a guess. Only if the same text comes of it again is it one.

use std::collections::BTreeSet;

use crate::scan::{self, Fork};
use crate::source::{SourceFile, Span};

use super::Guards;

/// What may have been the original of a file.
pub struct Guess<'a> {
    file: &'a SourceFile,
    guards: &'a Guards,
    /// What is ours of its conditions.
    cuts: Vec<Cut>,
    /// Whether the lines of Fortran that only compilers for OpenMP read are ours.
    has_lines: bool,
}

/// What may have been the original of a file, the likeliest first.
pub fn originals<'a>(file: &'a SourceFile, guards: &'a Guards) -> Vec<Guess<'a>> {
    let forks = scan::forks(file);
    let has_lines = file.language.is_fortran() && guards.are_of_compilers();
    let lines: &[bool] = if has_lines { &[true, false] } else { &[false] };
    let mut found = Vec::new();
    for is_guessed in [true, false] {
        let cuts: Vec<Cut> =
            forks.iter().filter_map(|fork| Cut::of(file, fork, guards, is_guessed)).collect();
        found.extend(lines.iter().map(|lines| Guess { file, guards, cuts: cuts.clone(), has_lines: *lines }));
    }
    found.dedup_by_key(|guess| guess.text());
    found
}

impl Guess<'_> {
    /// The text of the original; none if there is nothing of ours in the file.
    pub fn text(&self) -> Option<Vec<u8>> {
        let text = self.without(|_, line| self.has_lines && is_openmp(line));
        (text != self.file.bytes).then_some(text)
    }

    /// The text with the user's lines for OpenMP in it: those that its translation, `made`, does not have where the file has them. None
    /// if all are ours, or if the other lines of the two differ.
    pub fn with_lines_of_user(&self, made: &[u8]) -> Option<Vec<u8>> {
        let users = others(&self.file.bytes, made).filter(|users| self.has_lines && !users.is_empty())?;
        Some(self.without(|at, line| is_openmp(line) && !users.contains(&at)))
    }

    /// The file without what was put into it by conditions, and without the lines that `is_ours` says of, each with its place.
    fn without(&self, is_ours: impl Fn(usize, &[u8]) -> bool) -> Vec<u8> {
        let mut out = Vec::new();
        let mut put = |part: Span, is_as_it_was: bool| {
            let mut at = part.start as usize;
            for line in self.file.slice(part).split_inclusive(|byte| *byte == b'\n') {
                match is_as_it_was {
                    _ if is_ours(at, line) => {}
                    true => out.extend_from_slice(line),
                    false => plain(line, self.guards, &mut out),
                }
                at += line.len();
            }
        };
        let mut at = 0;
        for cut in self.cuts.iter().filter(|cut| cut.whole.start <= cut.whole.end) {
            if cut.whole.start < at {
                continue;
            }
            put(Span { start: at, end: cut.whole.start }, false);
            cut.kept.into_iter().for_each(|kept| put(kept, true));
            at = cut.whole.end;
        }
        put(Span { start: at, end: self.file.bytes.len() as u32 }, false);
        out
    }
}

/// A condition of ours: its lines, and those of the original among them.
#[derive(Clone)]
struct Cut {
    whole: Span,
    kept: Option<Span>,
}

impl Cut {
    /// What to cut of a condition, if it is ours; what somebody else may have written, too, only if that `is_guessed`.
    fn of(file: &SourceFile, fork: &Fork, guards: &Guards, is_guessed: bool) -> Option<Cut> {
        let heads: Vec<String> =
            fork.branches.iter().map(|branch| file.text(branch.head).trim().to_owned()).collect();
        let other = format!("#elif defined({})", guards.openmp);
        let (ours, original) = (guards.ours(), guards.original());
        let kept = match heads.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
            [first] if *first == ours => None,
            [first, "#else"] if *first == ours => Some(1),
            [first] if *first == guards.others() => Some(0),
            [first, second] if *first == original && *second == other => Some(0),
            [first] | [first, "#else"] if *first == original && is_guessed => Some(0),
            _ => return None,
        };
        let after = |at: u32| file.lines.span(file.lines.line(at)).end;
        let lines = |at: usize| {
            let inside = fork.branches[at].inside;
            let line = file.lines.span(file.lines.line(fork.branches[at].head.start));
            Span { start: line.end, end: file.lines.span(file.lines.line(inside.end)).start.max(line.end) }
        };
        let start = file.lines.span(file.lines.line(fork.whole.start)).start;
        let end = after(fork.whole.end.saturating_sub(1));
        Some(Cut { whole: Span { start, end }, kept: kept.map(lines) })
    }
}

/// Puts out a line, with conditions as they were before they held for both.
fn plain(line: &[u8], guards: &Guards, out: &mut Vec<u8>) {
    let both = guards.both();
    let is_one =
        line.trim_ascii_start().starts_with(b"#") && memchr::memmem::find(line, both.as_bytes()).is_some();
    match std::str::from_utf8(line).ok().filter(|_| is_one) {
        Some(words) => {
            let words = words.replacen(&format!("#if {both}"), "#ifdef _OPENACC", 1);
            let words = words.replacen(&format!("#if !{both}"), "#ifndef _OPENACC", 1);
            out.extend(words.replace(&both, "defined(_OPENACC)").into_bytes());
        }
        None => out.extend_from_slice(line),
    }
}

/// Whether only compilers for OpenMP read a line of Fortran, in the form that we write.
fn is_openmp(line: &[u8]) -> bool {
    let words = line.trim_ascii_start();
    let is_directive = words.get(..5).is_some_and(|word| word.eq_ignore_ascii_case(b"!$omp"));
    is_directive || words.starts_with(b"!$ ")
}

/// The places of the lines for OpenMP that a text has and another one, `made`, has not; all that stand together if `made` has others
/// there. None if other lines differ.
fn others(text: &[u8], made: &[u8]) -> Option<BTreeSet<usize>> {
    let (mut text, mut made) = (Placed { text, at: 0 }, Placed { text: made, at: 0 });
    let mut users = BTreeSet::new();
    loop {
        let ((of_text, next), (of_made, end)) = (text.stretch(), made.stretch());
        let mut rest = of_made.iter().peekable();
        let lacking = of_text.iter().filter(|(_, line)| rest.next_if(|(_, other)| other == line).is_none());
        let lacking: Vec<usize> = lacking.map(|(at, _)| *at).collect();
        match rest.peek() {
            None => users.extend(lacking),
            Some(_) => users.extend(of_text.iter().map(|(at, _)| *at)),
        }
        match (next, end) {
            (None, None) => return Some(users),
            (next, end) if next != end => return None,
            _ => {}
        }
    }
}

/// A line with its place.
type Line<'a> = (usize, &'a [u8]);

/// A text that is read line by line.
struct Placed<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Placed<'a> {
    /// The next lines for OpenMP, each with its place, and the other line after them; none where the text ends.
    fn stretch(&mut self) -> (Vec<Line<'a>>, Option<&'a [u8]>) {
        let mut found = Vec::new();
        while let Some(line) = self.text[self.at..].split_inclusive(|byte| *byte == b'\n').next() {
            let at = self.at;
            self.at += line.len();
            if !is_openmp(line) {
                return (found, Some(line));
            }
            found.push((at, line));
        }
        (found, None)
    }
}
