//! What need not be read again of a procedure of Fortran that has changed: assignments that are as they were, between lines that are.
//!
//! Invariant: a list of statements from which whole statements are taken stays one. A line holds one statement: others stay.

use rustc_hash::FxHashSet;

use crate::source::{self, Span};

/// Overwrites such assignments by blanks, in the bytes of a procedure that were others.
pub fn thin(text: &mut [u8], procedure: Span, old: &[u8]) {
    let Some(code) = text.get_mut(procedure.range()) else { return };
    let known: FxHashSet<&[u8]> = source::lines(old).map(<[u8]>::trim_ascii).collect();
    let mut start = 0;
    // The lines with code: their places, and whether they are as they were.
    let mut lines: Vec<(Span, bool)> = Vec::new();
    for line in code.split_inclusive(|byte| *byte == b'\n') {
        let words = line.trim_ascii();
        if !words.is_empty() {
            let first = start + line.len() - line.trim_ascii_start().len();
            lines.push((Span::new(first, first + words.len()), known.contains(words)));
        }
        start += line.len();
    }
    let is_kept = |at: usize| !lines[at - 1..=at + 1].iter().all(|(_, is_known)| *is_known);
    let gone = (1..lines.len().saturating_sub(1)).filter(|at| !is_kept(*at)).map(|at| lines[at].0);
    for span in gone {
        if let Some(line) = code.get_mut(span.range()).filter(|line| is_assignment(line)) {
            line.fill(b' ');
        }
    }
}

/// Whether a line is surely one assignment, and nothing else.
fn is_assignment(line: &[u8]) -> bool {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let starts = line.first().is_some_and(u8::is_ascii_alphabetic);
    // `do10i=1,9` is a loop, in fixed form.
    let is_loop = line.get(..2).is_some_and(|word| word.eq_ignore_ascii_case(b"do"));
    if !starts || is_loop || line.iter().any(|byte| matches!(byte, b';' | b'!' | b'&' | b'\'' | b'"')) {
        return false;
    }
    let mut rest = line;
    loop {
        let end = rest.iter().position(|byte| !is_word(byte)).unwrap_or(rest.len());
        rest = rest[end..].trim_ascii_start();
        if rest.first() == Some(&b'(') {
            let Some(after) = after_parentheses(rest) else { return false };
            rest = after.trim_ascii_start();
        }
        match rest {
            [b'%', ..] => rest = rest[1..].trim_ascii_start(),
            [b'=', b'=' | b'>', ..] => return false,
            [b'=', ..] => return true,
            _ => return false,
        }
    }
}

/// What comes after the parentheses that a text begins with.
fn after_parentheses(text: &[u8]) -> Option<&[u8]> {
    let mut open = 0_usize;
    for (at, byte) in text.iter().enumerate() {
        match byte {
            b'(' => open += 1,
            b')' => open -= 1,
            _ => {}
        }
        if open == 0 {
            return text.get(at + 1..);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assignments_are_distinguished_from_other_statements() {
        for line in ["a = 1", "a(i, (j))=b", "a%b(i)%c = 2 == 3", "a (i) % b = x"] {
            assert!(is_assignment(line.as_bytes()), "{line}");
        }
        for line in [
            "do i = 1, n",
            "do10i=1,9",
            "if (a == b) c = 1",
            "where (a) b = 1",
            "real :: a = 1",
            "a => b",
            "a = 1; b = 2",
            "10 a = 1",
            "call f(a = 1)",
            "a = 'x'",
            "a(i = 1",
        ] {
            assert!(!is_assignment(line.as_bytes()), "{line}");
        }
    }

    #[test]
    fn what_is_beside_a_change_stays() {
        let old = "subroutine s\n  a = 1\n  b = 2\n  c = 3\n\n  d = 4\nend subroutine\n";
        let new = "subroutine s\n  a = 1\n  integer :: i\n  b = 2\n  c = 3\n\n  d = 4\nend subroutine\n";
        let mut text = format!("  x = 1\n{new}").into_bytes();
        let start = text.len() - new.len();
        thin(&mut text, Span::new(start, start + new.len()), old.as_bytes());
        let kept =
            "  x = 1\nsubroutine s\n  a = 1\n  integer :: i\n  b = 2\n       \n\n       \nend subroutine\n";
        assert_eq!(String::from_utf8_lossy(&text), kept);
    }
}
