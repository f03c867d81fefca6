//! Directives that the user wants left.
//!
//! Invariant: asked for by a line, or by a comment on the line before the directive, and by nothing else.

use crate::diag::{self, Diag};
use crate::scan::DirectiveText;
use crate::source::SourceFile;

use super::Options;

/// What a comment says that asks for it.
const WORDS: &[u8] = b"acc2omp: leave";

/// What is said of a directive that shall stay as it is.
pub fn left(file: &SourceFile, text: &DirectiveText, options: &Options) -> Option<Diag> {
    let line = file.lines.line(text.span.start);
    let is_named = options.left.contains(&file.line_number(text.span.start));
    let before = line.checked_sub(1).map(|before| file.slice(file.lines.span(before)));
    let is_asked = is_named || before.is_some_and(|before| asks(before, file.language.is_fortran()));
    is_asked.then(|| diag::left_as_asked(text.span))
}

/// Whether a line is a comment that asks to leave what follows.
fn asks(line: &[u8], is_fortran: bool) -> bool {
    let line = line.trim_ascii();
    let marks: &[&[u8]] = if is_fortran { &[b"!", b"c", b"C", b"*"] } else { &[b"//", b"/*"] };
    let inside = marks.iter().find_map(|mark| line.strip_prefix(*mark));
    inside
        .is_some_and(|inside| inside.trim_ascii().strip_suffix(b"*/").unwrap_or(inside).trim_ascii() == WORDS)
}
