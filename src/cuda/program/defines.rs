//! The macros of a program by name.
//!
//! Invariant: the source's own definition counts before one of a header.

use std::collections::BTreeSet;

use super::Input;
use crate::cuda::code::text::words;
use crate::scan::Define;

/// The macro of this name.
pub fn define<'a>(input: &Input<'a>, name: &str) -> Option<&'a Define> {
    let own = input.source.scan.defines_named(name).next_back();
    own.or_else(|| {
        let mut headers = input.headers.iter().flat_map(|seen| seen.scan.defines_named(name));
        headers.next()
    })
}

/// A text and the bodies of the macros that it leads to.
pub fn reached(input: &Input, own: &str) -> Vec<String> {
    let mut known: BTreeSet<String> = BTreeSet::new();
    let mut texts = vec![own.to_owned()];
    let mut at = 0;
    while let Some(text) = texts.get(at) {
        let new: Vec<String> = words(text).into_iter().map(str::to_owned).collect();
        for word in new {
            if known.insert(word.clone()) {
                texts.extend(define(input, &word).map(|define| define.body.clone()));
            }
        }
        at += 1;
    }
    texts
}
