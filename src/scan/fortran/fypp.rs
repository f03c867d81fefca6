//! Whether a file is for Fypp, another preprocessor of Fortran.
//!
//! Invariant: no line of Fortran or of C's preprocessor begins so.

use crate::source::Span;

use super::line;

/// The first line of Fypp's: it begins with `#:` or `$:`.
pub fn fypp(bytes: &[u8]) -> Option<Span> {
    let mark = |at: &usize| matches!(bytes[at.saturating_sub(1)], b'#' | b'$');
    let is_first = |at: &usize| {
        let before = &bytes[..at - 1];
        let start = memchr::memrchr(b'\n', before).map_or(0, |end| end + 1);
        before[start..].iter().all(u8::is_ascii_whitespace)
    };
    let marks = memchr::memchr_iter(b':', bytes).filter(|at| *at > 0);
    let at = marks.filter(mark).find(is_first)?;
    Some(Span::new(at - 1, line::ends(bytes, at).0))
}

#[cfg(test)]
mod tests;
