//! What conditions on OpenACC and on OpenMP choose in addition to directives.
//!
//! Invariant: code and preprocessor lines that define names count; what the translation removes does not.

use crate::source::{SourceFile, Span};

use super::c::{self, Event};
use super::forks::{Fork, forks};
use super::preproc::{self, View};
use super::{defined, fortran, shadow};

/// The name of the macro that a line defines, if it stands for a directive.
fn maker(file: &SourceFile, event: &Event) -> Option<String> {
    let Event::Line(line) = event else { return None };
    let (word, rest) = preproc::keyword(&file.bytes, line);
    let is_maker = word == "define" && memchr::memmem::find(&rest, b"_Pragma").is_some();
    is_maker.then(|| defined::definition(&rest).0)
}

/// What conditions choose of a file in addition to directives.
struct Code {
    /// All branches, without directives and lines of the preprocessor.
    text: Vec<u8>,
    /// The preprocessor lines that define something.
    lines: Vec<Span>,
}

impl Code {
    /// That of a file without what the translation removes.
    fn of(file: &SourceFile, gone: &[Span]) -> Code {
        let is_fortran = file.language.is_fortran();
        let events = if is_fortran { fortran::events(file) } else { c::events(&file.bytes) };
        let shown = preproc::shown(file, &events, &View::default());
        let assemble = if is_fortran { fortran::assemble } else { shadow::assemble };
        let mut text = assemble(file, &events, &shown.of_all()).shadow;
        gone.iter().for_each(|span| shadow::blank(&mut text, *span));
        let is_gone = |at: u32| gone.iter().any(|span| span.contains(Span::at(at as usize)));
        // Macros that one branch defines as directives: their definitions in other branches only stand for their absence.
        let makers: Vec<String> = events.iter().filter_map(|event| maker(file, event)).collect();
        let says = |line: &c::Line| match preproc::keyword(&file.bytes, line) {
            ("define", rest) => !makers.contains(&defined::definition(&rest).0),
            ("undef", _) => true,
            ("include", _) => !is_gone(line.span.start),
            _ => false,
        };
        let lines = events.iter().filter_map(|event| match event {
            Event::Line(line) if says(line) => Some(line.span),
            _ => None,
        });
        Code { text, lines: lines.collect() }
    }

    /// Whether a branch has some.
    fn is_in(&self, inside: Span) -> bool {
        let text = self.text.get(inside.range()).unwrap_or_default();
        text.iter().any(|byte| byte.is_ascii_alphanumeric())
            || self.lines.iter().any(|line| inside.contains(*line))
    }

    /// Whether one of the branches of a fork has some.
    fn is_chosen_by(&self, fork: &Fork) -> bool {
        fork.branches.iter().any(|branch| self.is_in(branch.inside))
    }
}

/// The first condition with one of these words that chooses more than directives and what the translation removes, and how many
/// there are.
pub fn woken(file: &SourceFile, words: &[Span], gone: &[Span]) -> Option<(Span, usize)> {
    if words.is_empty() {
        return None;
    }
    let code = Code::of(file, gone);
    let asks = |head: Span| words.iter().any(|word| head.contains(*word));
    let mut found = forks(file).into_iter().filter_map(|fork| {
        let asking = fork.branches.iter().find(|branch| asks(branch.head))?.head;
        code.is_chosen_by(&fork).then_some(asking)
    });
    let first = found.next()?;
    Some((first, 1 + found.count()))
}

/// The first condition that names `_OPENMP` and not `_OPENACC` and that options do not decide, and whether it chooses
/// code; one that does takes precedence.
pub fn asks_for_openmp(file: &SourceFile) -> Option<(Span, bool)> {
    memchr::memmem::find(&file.bytes, b"_OPENMP")?;
    if file.predefined.names().any(|(name, _)| name == "_OPENMP") {
        return None;
    }
    let events = if file.language.is_fortran() { fortran::events(file) } else { c::events(&file.bytes) };
    let asks = |line: &c::Line| {
        let is_condition = ["if", "ifdef", "ifndef", "elif"].contains(&preproc::keyword(&file.bytes, line).0);
        let words = || line.pieces.iter().flat_map(|piece| shadow::words_of(&file.bytes, *piece));
        let names = |name: &[u8]| words().any(|word| file.slice(word) == name);
        is_condition && names(b"_OPENMP") && !names(b"_OPENACC")
    };
    let all: Vec<Span> = events
        .into_iter()
        .filter_map(|event| match event {
            Event::Line(line) if asks(&line) => Some(line.span),
            _ => None,
        })
        .collect();
    let first = *all.first()?;
    // A branch that only includes OpenMP's library does not choose code.
    let lines = (0..file.lines.count()).map(|number| file.lines.span(number));
    let gone: Vec<Span> = lines.filter(|line| names_library(&file.text(*line))).collect();
    let code = Code::of(file, &gone);
    let forks = forks(file);
    let chooses = |at: &&Span| {
        let mut around = forks.iter().filter(|fork| fork.branches.iter().any(|one| one.head.contains(**at)));
        around.any(|fork| code.is_chosen_by(fork))
    };
    let choosing = all.iter().find(chooses);
    Some((choosing.copied().unwrap_or(first), choosing.is_some()))
}

/// Whether a line includes OpenMP's library, and does nothing else.
fn names_library(line: &str) -> bool {
    let words: String = line.to_ascii_lowercase().split_whitespace().collect();
    let is_it = |begin: &str| words.strip_prefix(begin).is_some_and(|rest| !rest.contains(';'));
    [
        "#include<omp.h>",
        "#include\"omp.h\"",
        "useomp_lib",
        "use::omp_lib",
        "include'omp_lib.h'",
        "include\"omp_lib.h\"",
    ]
    .into_iter()
    .any(is_it)
}
