//! What one line of Fortran is, by its first columns.
//!
//! Invariant: looks at one line alone; what the lines before it mean for it is not known here.

use crate::source::{Form, SourceFile, Span};

/// What a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Nothing but blanks.
    Blank,
    /// A comment other than the sentinels of OpenACC.
    Comment,
    /// `!$acc`
    Directive,
    /// `!@acc`: code that only an OpenACC compiler reads.
    Conditional,
    /// A statement, or a part of one.
    Code,
}

/// A line.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    /// What it is.
    pub kind: Kind,
    /// From its first byte to its last, without the line end.
    pub whole: Span,
    /// The offset of its first byte that is not a blank.
    pub start: u32,
    /// The part of it that is read: from after the sentinel, the label and the mark in column 6 to the last column that counts.
    pub text: Span,
    /// The mark in column 6 that makes it the continuation of a line in fixed form.
    pub mark: Option<u8>,
}

/// The ends of the line that holds the byte at `at`: before and after its line end.
pub fn ends(bytes: &[u8], at: usize) -> (usize, usize) {
    let rest = bytes.get(at..).unwrap_or_default();
    let (length, next) = match memchr::memchr(b'\n', rest) {
        Some(length) => (length, length + 1),
        None => (rest.len(), rest.len()),
    };
    let carriage = usize::from(rest.get(..length).unwrap_or_default().ends_with(b"\r"));
    (at + length - carriage, at + next)
}

/// The length of the name that a text begins with; 0 if it begins with none.
pub fn word_length(text: &[u8]) -> usize {
    let begins = text.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_');
    let inner = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
    if begins { text.iter().take_while(inner).count() } else { 0 }
}

/// Reads the line of the bytes in `whole`.
pub fn read(file: &SourceFile, whole: Span, form: Form) -> Line {
    let text = file.bytes.get(whole.range()).unwrap_or_default();
    let lead = text.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let blank = Line {
        kind: Kind::Blank,
        whole,
        start: whole.start + lead as u32,
        text: Span { start: whole.end, end: whole.end },
        mark: None,
    };
    match form {
        _ if lead == text.len() => blank,
        Form::Free => free(text, lead, blank),
        Form::Fixed => fixed(text, lead, blank, file.last_column()),
    }
}

/// What a line that begins with these bytes is, if they are a sentinel of OpenACC.
fn sentinel(text: &[u8]) -> Option<Kind> {
    let word = text.get(1..5).filter(|word| word[1..].eq_ignore_ascii_case(b"acc"))?;
    match word[0] {
        b'$' => Some(Kind::Directive),
        b'@' => Some(Kind::Conditional),
        _ => None,
    }
}

fn free(text: &[u8], lead: usize, line: Line) -> Line {
    let rest = text.get(lead..).unwrap_or_default();
    let after = |length: usize| Span { start: line.start + length as u32, end: line.whole.end };
    let ends = rest.get(5).is_none_or(|byte| byte.is_ascii_whitespace() || matches!(byte, b'&' | b'!'));
    match sentinel(rest).filter(|_| ends) {
        _ if rest.first() != Some(&b'!') => Line { kind: Kind::Code, text: after(0), ..line },
        Some(kind) => Line { kind, text: after(5), ..line },
        None => Line { kind: Kind::Comment, ..line },
    }
}

/// `last` is the last column that is read.
fn fixed(text: &[u8], lead: usize, line: Line, last: usize) -> Line {
    let from = |start: usize, kind: Kind, mark: Option<u8>| {
        let tabbed = text.iter().take(6).any(|byte| *byte == b'\t');
        let end = if tabbed { text.len() } else { text.len().min(last) };
        let start = start.min(end);
        let span = Span { start: line.whole.start + start as u32, end: line.whole.start + end as u32 };
        Line { kind, text: span, mark, ..line }
    };
    let mark = text.get(5).copied().filter(|mark| !mark.is_ascii_whitespace() && *mark != b'0');
    let first = text.first().copied().unwrap_or(b' ');
    if matches!(first, b'!' | b'c' | b'C' | b'*' | b'd' | b'D') {
        return match sentinel(text).filter(|_| !matches!(first, b'd' | b'D')) {
            Some(kind) => from(6, kind, mark),
            None => Line { kind: Kind::Comment, ..line },
        };
    }
    if text.get(lead) == Some(&b'!') && lead != 5 {
        return Line { kind: Kind::Comment, ..line };
    }
    let label = text.iter().take(6).take_while(|byte| **byte == b' ' || byte.is_ascii_digit()).count();
    match text.get(label) {
        // A tab stands for the columns up to the sixth; a digit after it is the continuation mark.
        Some(b'\t') if label < 6 => {
            let mark = text.get(label + 1).copied().filter(|mark| matches!(mark, b'1'..=b'9'));
            from(label + 1 + usize::from(mark.is_some()), Kind::Code, mark)
        }
        _ if label >= 5 => from(6, Kind::Code, mark),
        _ => from(0, Kind::Code, None),
    }
}
