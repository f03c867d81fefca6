//! What conditions on OpenACC choose beside directives.
//!
//! Invariant: code, and lines of the preprocessor that give names a meaning; what is to go does not count.

use crate::source::{SourceFile, Span};

use super::c::{self, Event};
use super::preproc::{self, View};
use super::{defined, forks, fortran, shadow};

/// The name of the macro that a line defines, if it stands for a directive.
fn maker(file: &SourceFile, event: &Event) -> Option<String> {
    let Event::Line(line) = event else { return None };
    let (word, rest) = preproc::keyword(&file.bytes, line);
    let is_maker = word == "define" && memchr::memmem::find(&rest, b"_Pragma").is_some();
    is_maker.then(|| defined::definition(&rest).0)
}

/// The first condition with one of these words that chooses more than directives and what is to go, and how many there are.
pub fn woken(file: &SourceFile, words: &[Span], gone: &[Span]) -> Option<(Span, usize)> {
    if words.is_empty() {
        return None;
    }
    let is_fortran = file.language.is_fortran();
    let events = if is_fortran { fortran::events(file) } else { c::events(&file.bytes) };
    let shown = preproc::shown(file, &events, &View::default());
    let assemble = if is_fortran { fortran::assemble } else { shadow::assemble };
    let all = assemble(file, &events, &shown.of_all());
    let mut code = all.shadow;
    gone.iter().for_each(|span| shadow::blank(&mut code, *span));
    let is_gone = |at: u32| gone.iter().any(|span| span.contains(Span::at(at as usize)));
    // Macros that a branch makes directives of: what stands for them elsewhere is nothing but their lack.
    let makers: Vec<String> = events.iter().filter_map(|event| maker(file, event)).collect();
    let says = |line: &c::Line| match preproc::keyword(&file.bytes, line) {
        ("define", rest) => !makers.contains(&defined::definition(&rest).0),
        ("undef", _) => true,
        ("include", _) => !is_gone(line.span.start),
        _ => false,
    };
    let lines: Vec<Span> = events
        .iter()
        .filter_map(|event| match event {
            Event::Line(line) if says(line) => Some(line.span),
            _ => None,
        })
        .collect();
    let chooses = |inside: Span| {
        let text = code.get(inside.range()).unwrap_or_default();
        text.iter().any(|byte| byte.is_ascii_alphanumeric())
            || lines.iter().any(|line| inside.contains(*line))
    };
    let asks = |head: Span| words.iter().any(|word| head.contains(*word));
    let mut found = forks(file).into_iter().filter_map(|fork| {
        let asking = fork.branches.iter().find(|branch| asks(branch.head))?.head;
        fork.branches.iter().any(|branch| chooses(branch.inside)).then_some(asking)
    });
    let first = found.next()?;
    Some((first, 1 + found.count()))
}
