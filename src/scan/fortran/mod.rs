//! A walk over the lines of Fortran, in free and in fixed form: directives, comments, continuations, literals.
//!
//! Invariant: linear in the bytes; the shadow has the source's length, and a logical line is one line of it.

mod code;
mod form;
mod fypp;
mod include;
mod line;
mod modules;
mod names;
mod nothing;
mod open;
mod preprocessor;
mod shape;
mod split;
mod walk;
mod written;

use crate::source::SourceFile;

use super::c::{Event, Line};
use super::preproc::Shown;
use super::{Include, Scan, shadow};

pub use form::form_of;
pub use fypp::fypp;
pub use modules::{defined as defined_modules, used as used_modules};
pub use nothing::nothing;
pub use preprocessor::events;
pub use shape::{Shape, shapes};
pub use split::{Split, constructs, splits};
pub use written::{Macros, written};

/// Stands for the macro's name of a directive that is divided by preprocessor conditions.
const PARTED: &str = "#if";

/// Makes the scan of what is shown.
pub fn scan_shown(file: &SourceFile, shown: &Shown) -> Scan {
    assemble(file, &events(file), shown)
}

/// Makes the scan of a file from its preprocessor lines.
pub fn assemble(file: &SourceFile, events: &[Event], shown: &Shown) -> Scan {
    let scan = walk::walk(file, events, shown);
    debug_assert_eq!(scan.shadow.len(), file.bytes.len(), "the shadow of {}", file.name);
    scan
}

/// The lines that include other files, of all branches: those of the preprocessor and those of the language.
pub fn includes(file: &SourceFile) -> Vec<Include> {
    let events = events(file);
    let lines = events.iter().filter_map(|event| match event {
        Event::Line(line) => Some(line),
        Event::Operator(_) | Event::Comment(_) | Event::Word(_) => None,
    });
    let lines: Vec<&Line> = lines.collect();
    let mut found: Vec<Include> = lines.iter().filter_map(|line| shadow::include_of(file, line)).collect();
    let is_preprocessor = |at: u32| {
        let next = lines.partition_point(|line| line.whole.end <= at);
        lines.get(next).is_some_and(|line| line.whole.start <= at)
    };
    let places = words_include(&file.bytes).filter(|at| !is_preprocessor(*at));
    let mut numbers: Vec<usize> = places.map(|at| file.lines.line(at)).collect();
    numbers.dedup();
    for number in numbers {
        match include::line(file, number) {
            include::Line::Includes(include) => found.push(include),
            include::Line::Other => {}
            include::Line::Unclear => return assemble(file, &events, &Shown::default()).includes,
        }
    }
    found.sort_by_key(|include| include.span.start);
    found
}

/// Where the word `include` stands in a text, be it in a comment.
fn words_include(text: &[u8]) -> impl Iterator<Item = u32> {
    const WORD: &[u8] = b"include";
    // The rarest of its letters leads to it.
    memchr::memchr2_iter(b'u', b'U', text).filter_map(|at| {
        let start = at.checked_sub(4)?;
        text.get(start..start + WORD.len()).filter(|word| word.eq_ignore_ascii_case(WORD))?;
        Some(start as u32)
    })
}

/// Whether a directive may stand before one of these preprocessor lines, with no code between. A "no" is never wrong.
pub fn may_follow_directive<'a>(file: &SourceFile, mut lines: impl Iterator<Item = &'a Line>) -> bool {
    let text = |number: usize| file.slice(file.lines.span(number));
    let goes_on = |number: usize| text(number).trim_ascii_end().ends_with(b"\\");
    let is_code = |number: usize| is_code(text(number)) && !number.checked_sub(1).is_some_and(goes_on);
    let holds_acc = |number: &usize| {
        let is_sentinel = |word: &[u8]| word.eq_ignore_ascii_case(b"$acc");
        let line = text(*number);
        !line.trim_ascii_start().starts_with(b"#") && line.windows(4).any(is_sentinel)
    };
    let mut checked = 0;
    lines.any(|line| {
        let here = file.lines.line(line.whole.start);
        let mut before = (checked..here).rev();
        checked = here;
        before.find(|number| holds_acc(number) || is_code(*number)).is_some_and(|number| holds_acc(&number))
    })
}

/// Whether a line that is not part of a preprocessor line is certainly code.
fn is_code(text: &[u8]) -> bool {
    let rest = text.trim_ascii();
    let lead = text.len() - text.trim_ascii_start().len();
    // Column 6 may hold a continuation mark, and what follows column 72 may be ignored.
    let is_plain = lead < 72 && lead != 5 && rest.first().is_some_and(|first| first.is_ascii_alphabetic());
    let may_comment = lead == 0 && matches!(rest.first(), Some(b'c' | b'C' | b'd' | b'D'));
    let includes = rest.get(..7).is_some_and(|word| word.eq_ignore_ascii_case(b"include"));
    is_plain && !may_comment && !includes
}

#[cfg(test)]
mod tests;
