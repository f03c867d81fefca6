//! Portable output taken apart: what may have been the original of a text in which both stand side by side.
//!
//! Invariant: an original is a guess. Only if the same text comes of it again is it one.

use crate::scan::{self, Fork};
use crate::source::{SourceFile, Span};

use super::Guards;

/// What may have been the original of a file, the likeliest first; none if there is nothing of ours in it.
pub fn originals(file: &SourceFile, guards: &Guards) -> Vec<Vec<u8>> {
    let forks = scan::forks(file);
    let sure: Vec<Cut> = forks.iter().filter_map(|fork| Cut::of(file, fork, guards, false)).collect();
    let all: Vec<Cut> = forks.iter().filter_map(|fork| Cut::of(file, fork, guards, true)).collect();
    let mut found = Vec::new();
    let has_lines = file.language.is_fortran() && guards.are_of_compilers();
    for cuts in [all, sure] {
        let text = without(file, &cuts, guards);
        if has_lines {
            found.push(without_openmp(&text));
        }
        found.push(text);
    }
    found.dedup();
    found.retain(|text| *text != file.bytes);
    found
}

/// A condition of ours: its lines, and those of the original among them.
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

/// A file without what was put into it by conditions.
fn without(file: &SourceFile, cuts: &[Cut], guards: &Guards) -> Vec<u8> {
    let mut out = Vec::new();
    let mut at = 0;
    for cut in cuts.iter().filter(|cut| cut.whole.start <= cut.whole.end) {
        if cut.whole.start < at {
            continue;
        }
        out.extend(plain(file.slice(Span { start: at, end: cut.whole.start }), guards));
        out.extend(cut.kept.into_iter().flat_map(|kept| file.slice(kept)));
        at = cut.whole.end;
    }
    out.extend(plain(file.slice(Span { start: at, end: file.bytes.len() as u32 }), guards));
    out
}

/// Lines with the conditions as they were before they held for both.
fn plain(text: &[u8], guards: &Guards) -> Vec<u8> {
    let both = guards.both();
    let mut out = Vec::with_capacity(text.len());
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let is_one = line.trim_ascii_start().starts_with(b"#")
            && memchr::memmem::find(line, both.as_bytes()).is_some();
        match std::str::from_utf8(line).ok().filter(|_| is_one) {
            Some(words) => {
                let words = words.replacen(&format!("#if {both}"), "#ifdef _OPENACC", 1);
                let words = words.replacen(&format!("#if !{both}"), "#ifndef _OPENACC", 1);
                out.extend(words.replace(&both, "defined(_OPENACC)").into_bytes());
            }
            None => out.extend_from_slice(line),
        }
    }
    out
}

/// Fortran without the lines that only compilers for OpenMP read.
fn without_openmp(text: &[u8]) -> Vec<u8> {
    let is_ours = |line: &[u8]| {
        let words = line.trim_ascii_start();
        let is_directive = words.get(..5).is_some_and(|word| word.eq_ignore_ascii_case(b"!$omp"));
        is_directive || words.starts_with(b"!$ ")
    };
    text.split_inclusive(|byte| *byte == b'\n').filter(|line| !is_ours(line)).flatten().copied().collect()
}
