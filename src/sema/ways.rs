//! Places in which a program may go other ways than its structure shows: `try`, and macros that hide jumps or heads of statements.
//!
//! Invariant: too many places may be among them, never too few of those that are visible in the file and its headers.

use rustc_hash::FxHashSet;

use crate::scan::Define;
use crate::source;

/// Words that leave a place for another one.
const JUMPS: [&str; 6] = ["break", "continue", "cycle", "exit", "goto", "throw"];

/// Words of statements that hold others.
const HEADS: [&str; 11] =
    ["if", "else", "elseif", "for", "while", "do", "switch", "case", "default", "try", "catch"];

/// Where such words stand in a text, in order. In Fortran, case does not matter.
pub(super) fn other_ways(text: &[u8], macros: &[&Define], is_fortran: bool, has_try: bool) -> Vec<u32> {
    let macros = hiding(macros, is_fortran);
    let tries = has_try && memchr::memmem::find(text, b"try").is_some();
    if macros.is_empty() && !tries {
        return Vec::new();
    }
    let is_inner = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80;
    let (mut places, mut at) = (Vec::new(), 0);
    while at < text.len() {
        let length = text[at..].iter().take_while(|byte| is_inner(byte)).count();
        let word = &text[at..at + length];
        let is_try = || word == b"try" && text[at + length..].trim_ascii_start().starts_with(b"{");
        let is_macro = || {
            let word = String::from_utf8_lossy(word);
            macros.contains(&*if is_fortran { word.to_ascii_lowercase().into() } else { word })
        };
        if length > 0 && (tries && is_try() || is_macro()) {
            places.push(at as u32);
        }
        at += length.max(1);
    }
    places
}

/// The macros that hide a jump, or the head of a statement whose body stands after them.
fn hiding(macros: &[&Define], is_fortran: bool) -> FxHashSet<String> {
    let folded = |name: &str| if is_fortran { name.to_ascii_lowercase() } else { name.to_owned() };
    let all: Vec<(String, String)> =
        macros.iter().map(|define| (folded(&define.name), folded(&define.body))).collect();
    let bodies: Vec<(&str, &str)> = all.iter().map(|(name, body)| (name.as_str(), body.as_str())).collect();
    let first = bodies.iter().filter(|(_, body)| hides(body)).map(|(name, _)| *name);
    super::macros::leading_to(&bodies, first.collect())
}

fn hides(body: &str) -> bool {
    let count = |wanted: char| body.chars().filter(|c| *c == wanted).count();
    let body = body.trim();
    let has = |words: &[&str]| source::names(body).any(|word| words.contains(&word));
    let is_whole = body.ends_with([';', '}'])
        // `do … while (…)`, and statements in an expression.
        || body.ends_with(')') && (source::names(body).next() == Some("do") || body.starts_with('('));
    has(&JUMPS) || has(&HEADS) && !is_whole || count('{') != count('}')
}

#[cfg(test)]
mod tests;
