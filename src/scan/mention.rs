//! A cheap look at a file's bytes, before anything is read.
//!
//! Invariant: a "no" is never wrong; a "yes" may be.

use crate::source::Language;

/// Bytes tested at once.
const PIECE: usize = 4096;

/// Bytes that are compared side by side.
const LANES: usize = 32;

/// Whether the bytes may hold OpenACC: `acc` or `ACC`, which every sentinel, run-time routine and `_OPENACC` holds. In
/// Fortran, each letter may be written large.
pub fn mentions_openacc(bytes: &[u8], language: Language) -> bool {
    let starts = (0..bytes.len()).step_by(PIECE);
    let mut pieces = starts.filter_map(|at| bytes.get(at..bytes.len().min(at + PIECE + 2)));
    if language.is_fortran() { pieces.any(holds_any_acc) } else { pieces.any(holds_acc) }
}

/// Whether the bytes may hold the operator that writes directives, be it on two lines.
pub fn mentions_operator(bytes: &[u8]) -> bool {
    memchr::memmem::find(bytes, b"_P").is_some()
}

/// The words after `pragma` on lines of C that may be OpenACC's.
pub fn words_of_pragmas(bytes: &[u8]) -> impl Iterator<Item = &str> {
    let lines = memchr::memmem::find_iter(bytes, b"pragma").map(|at| {
        let rest = &bytes[at..];
        let ends =
            memchr::memchr_iter(b'\n', rest).find(|end| !rest[..*end].trim_ascii_end().ends_with(b"\\"));
        &rest[..ends.unwrap_or(rest.len())]
    });
    let lines = lines.filter(|line| memchr::memmem::find(line, b"acc").is_some());
    let is_inner = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let words = lines.flat_map(move |line| line.split(move |byte| !is_inner(byte)));
    words.filter_map(|word| std::str::from_utf8(word).ok())
}

/// As `holds_acc`, whatever the case of each letter.
fn holds_any_acc(piece: &[u8]) -> bool {
    holds(piece, |a, c, last| (a | 32 == b'a') & (c | 32 == b'c') & (last | 32 == b'c'))
}

fn holds_acc(piece: &[u8]) -> bool {
    // In either case, the code of `c` is that of `a` plus two.
    holds(piece, |a, c, last| (a | 32 == b'a') & (c == a.wrapping_add(2)) & (last == c))
}

/// Whether three bytes in a row are such ones. Looks at every byte, found or not, and at so many at once that the compiler makes
/// vector instructions of it, even where it is to make little code.
fn holds(piece: &[u8], acc: impl Fn(u8, u8, u8) -> bool) -> bool {
    let count = piece.len().saturating_sub(2);
    let [one, two, three] =
        [0, 1, 2].map(|from| piece.get(from..from + count).unwrap_or_default().as_chunks::<LANES>());
    let lanes = one.0.iter().zip(two.0).zip(three.0);
    let among_lanes = lanes.fold(false, |found, ((one, two), three)| {
        (0..LANES).fold(found, |found, at| found | acc(one[at], two[at], three[at]))
    });
    let mut rest = one.1.iter().zip(two.1).zip(three.1);
    among_lanes || rest.any(|((one, two), three)| acc(*one, *two, *three))
}

#[cfg(test)]
mod tests;
