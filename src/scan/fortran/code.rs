//! The text of a line of Fortran: its literals, its comment, the ampersand at its end, and the names in it.
//!
//! Invariant: a comment mark or an ampersand inside a literal is part of the literal.

use crate::source::{Form, Span};

/// What a line's text holds.
#[derive(Clone, Debug, Default)]
pub struct Text {
    /// Its bytes without blanks at both ends, the ampersand and the comment.
    pub words: Option<Span>,
    /// Where the ampersand at its end stands.
    pub ampersand: Option<u32>,
    /// The comment.
    pub comment: Option<Span>,
    /// The quote of the literal that its continuation goes on with.
    pub quote: Option<u8>,
    /// The names that may be OpenACC's.
    pub names: Vec<(String, Span)>,
}

/// Reads the text in `span`, which begins within a literal if there is a `quote`.
pub fn read(bytes: &[u8], span: Span, quote: Option<u8>, form: Form) -> Text {
    let mut text = Text { quote, ..Text::default() };
    let line = bytes.get(span.range()).unwrap_or_default();
    let mut at = 0;
    let mut end = line.len();
    while let Some(byte) = line.get(at) {
        if let Some(quote) = text.quote {
            let rest = line.get(at..).unwrap_or_default();
            let Some(length) = memchr::memchr(quote, rest) else { break };
            text.quote = None;
            at += length + 1;
            continue;
        }
        match CLASSES[usize::from(*byte)] {
            Class::Other => at += 1,
            Class::Quote => {
                text.quote = Some(*byte);
                at += 1;
            }
            Class::Comment => {
                end = at;
                break;
            }
            Class::Inner => {
                let rest = line.get(at..).unwrap_or_default();
                let length = rest.iter().position(|byte| !is_inner(*byte)).unwrap_or(rest.len());
                let word = rest.get(..length).unwrap_or(rest);
                let kind = kind_of(word);
                let word = word.get(kind..).unwrap_or_default();
                // All of OpenACC's begin with one of these.
                if matches!(word.first(), Some(b'a' | b'A' | b'o' | b'O' | b'_')) {
                    let end = span.start as usize + at + length;
                    let name = name_of(word);
                    text.names.extend(name.map(|name| (name, Span::new(end - word.len(), end))));
                }
                at += length;
            }
        }
    }
    finish(line, span.start, end, form, &mut text);
    text
}

/// Finds the ends of a text whose comment begins at `end`.
fn finish(line: &[u8], start: u32, end: usize, form: Form, text: &mut Text) {
    let at = |offset: usize| start + offset as u32;
    if end < line.len() {
        let comment = line.trim_ascii_end().len();
        text.comment = Some(Span { start: at(end), end: at(comment.max(end + 1)) });
    }
    let mut words = line.get(..end).unwrap_or_default().trim_ascii_end();
    if let Some(before) = words.strip_suffix(b"&") {
        text.ampersand = Some(at(before.len()));
        words = before.trim_ascii_end();
    }
    let lead = words.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    if lead < words.len() {
        text.words = Some(Span { start: at(lead), end: at(words.len()) });
    }
    if form == Form::Free && text.ampersand.is_none() {
        text.quote = None;
    }
}

/// The name that a word may be of OpenACC's: in lower case, unless it is the macro.
pub fn name_of(word: &[u8]) -> Option<String> {
    let starts = word.get(..4).is_some_and(|start| start.eq_ignore_ascii_case(b"acc_"));
    let is_module = word.eq_ignore_ascii_case(b"openacc") || word.eq_ignore_ascii_case(b"openacc_lib");
    if word == b"_OPENACC" {
        return Some("_OPENACC".to_owned());
    }
    (starts || is_module).then(|| String::from_utf8_lossy(word).to_ascii_lowercase())
}

/// Where the name of the kind begins in a number; 0 in a name.
fn kind_of(word: &[u8]) -> usize {
    let is_number = word.first().is_some_and(u8::is_ascii_digit);
    let underscore = memchr::memchr(b'_', word).filter(|_| is_number);
    underscore.map_or(0, |at| at + 1)
}

/// The path that an `include` line names; `None` if the text is not such a line.
pub fn included(words: &[u8]) -> Option<String> {
    let (_, rest) = words.split_at_checked(7).filter(|(word, _)| word.eq_ignore_ascii_case(b"include"))?;
    let rest = rest.trim_ascii_start();
    let quote = rest.first().filter(|quote| matches!(quote, b'\'' | b'"'))?;
    let path = rest.get(1..)?.strip_suffix(&[*quote])?;
    (!path.contains(quote)).then(|| String::from_utf8_lossy(path).into_owned())
}

fn is_inner(byte: u8) -> bool {
    CLASSES[usize::from(byte)] == Class::Inner
}

/// What a byte is outside of a literal.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    /// A part of a name or a number.
    Inner,
    Quote,
    Comment,
    Other,
}

/// Every byte of a file is looked up here several times.
const CLASSES: [Class; 256] = {
    let mut classes = [Class::Other; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b'\'' | b'"' => Class::Quote,
            b'!' => Class::Comment,
            b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'_' | 0x80.. => Class::Inner,
            _ => Class::Other,
        };
        byte += 1;
    }
    classes
};
