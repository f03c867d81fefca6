//! What stands at the outermost level of a file, as the search for islands sees it.
//!
//! Invariant: names are slices of one text, in which the same name is always spelled alike.

use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::source::Span;

/// What stands outside of functions, and where the functions are.
#[derive(Default)]
pub(super) struct Found<'t> {
    /// The functions, by place: none stands in another one.
    pub(super) functions: Vec<Function<'t>>,
    /// The names of variables that more than one function may see.
    pub(super) variables: FxHashSet<&'t [u8]>,
    /// The names that stand for other ones.
    pub(super) leads: FxHashMap<&'t [u8], Vec<&'t [u8]>>,
    /// Initialisers, and what else is read of which each word may name a function.
    pub(super) read: Vec<Span>,
}

/// A function with its body.
#[derive(Debug)]
pub(super) struct Function<'t> {
    /// The names that it may have.
    pub(super) names: Vec<&'t [u8]>,
    /// From its first word to its end.
    pub(super) whole: Span,
    /// All that it names is read, whether or not it is reached: it defines types, or something else that a file needs as a whole.
    pub(super) is_kept: bool,
    /// It is certainly not a function, and its text stays in any case.
    pub(super) stays: bool,
}

/// The names that text has: the words of the shadow, as they are spelled in another text of the same length.
#[derive(Clone, Copy)]
pub(super) struct Text<'t> {
    /// The shadow.
    pub(super) shadow: &'t [u8],
    /// The bytes of names.
    pub(super) names: &'t [u8],
}

impl<'t> Text<'t> {
    /// The words of a part, those in its literals among them.
    pub(super) fn words(self, span: Span) -> impl Iterator<Item = &'t [u8]> {
        let part = self.shadow.get(span.range()).unwrap_or_default();
        let names = self.names.get(span.range()).unwrap_or_default();
        places(part).filter_map(|place| names.get(place))
    }
}

/// The words of a text.
pub(super) fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    places(text).filter_map(|place| text.get(place))
}

/// Where the words of a text stand.
fn places(text: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let start = at + text.get(at..)?.iter().position(is_part)?;
            let rest = &text[start..];
            at = start + rest.iter().position(|byte| !is_part(byte)).unwrap_or(rest.len());
            if is_word(rest) {
                return Some(start..at);
            }
        }
    })
}

/// Whether a token is a word.
pub(super) fn is_word(token: &[u8]) -> bool {
    token.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_' || *byte >= 0x80)
}

/// Whether a byte is one of a word or a number.
pub(super) fn is_part(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80
}
