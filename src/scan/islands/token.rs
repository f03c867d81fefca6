//! The tokens of C and C++, as far as brackets and names need them.
//!
//! Invariant: where a literal or a comment has no end, there is no answer.

use super::found::is_part;

/// The next token after blanks and comments, with its place: a word, a number, a literal, or a single byte. `Some(None)` at the
/// end of the text, `None` where a literal or a comment has no end.
#[allow(clippy::option_option)]
pub(super) fn next<'t>(text: &'t [u8], at: &mut usize) -> Option<Option<(usize, &'t [u8])>> {
    loop {
        let rest = text.get(*at..).unwrap_or_default();
        let Some(lead) = rest.iter().position(|byte| !byte.is_ascii_whitespace()) else { return Some(None) };
        *at += lead;
        let start = *at;
        let rest = &text[start..];
        *at += match rest {
            [b'/', b'/', ..] => {
                *at += memchr::memchr(b'\n', rest).unwrap_or(rest.len());
                continue;
            }
            [b'/', b'*', ..] => {
                *at += memchr::memmem::find(&rest[2..], b"*/")? + 4;
                continue;
            }
            [quote @ (b'"' | b'\''), ..] => literal(rest, *quote)?,
            [first, ..] if first.is_ascii_digit() => number(rest),
            [first, ..] if is_part(first) => {
                let length = rest.iter().position(|byte| !is_part(byte)).unwrap_or(rest.len());
                match (&rest[..length], rest.get(length)) {
                    (b"R" | b"LR" | b"uR" | b"UR" | b"u8R", Some(b'"')) => {
                        length + raw_literal(&rest[length..])?
                    }
                    _ => length,
                }
            }
            _ => 1,
        };
        return Some(Some((start, &text[start..*at])));
    }
}

/// The length of the number that a text begins with, separators of its digits included.
fn number(text: &[u8]) -> usize {
    let mut at = 1;
    loop {
        at += match text.get(at..).unwrap_or_default() {
            [b'\'', next, ..] if next.is_ascii_alphanumeric() => 2,
            [byte, ..] if is_part(byte) => 1,
            _ => return at,
        };
    }
}

/// The length of the literal that a text begins with.
fn literal(text: &[u8], quote: u8) -> Option<usize> {
    let mut at = 1;
    loop {
        match text.get(at)? {
            b'\\' => at += 2,
            b'\n' => return None,
            byte if *byte == quote => return Some(at + 1),
            _ => at += 1,
        }
    }
}

/// The length of a raw literal of C++, from its quote on.
fn raw_literal(text: &[u8]) -> Option<usize> {
    let open = memchr::memchr(b'(', text)?;
    let end = [b")", &text[1..open], b"\""].concat();
    Some(open + memchr::memmem::find(&text[open..], &end)? + end.len())
}

#[cfg(test)]
mod tests;
