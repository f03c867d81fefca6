//! Names that the language gives a value by their place: `__LINE__`, `__FILE__`, `__func__`.
//!
//! Invariant: device code has the values of the source.

use std::collections::BTreeSet;

use crate::source::Span;

use crate::cuda::code::text::{Edits, placed_words, words};
use crate::cuda::file::device;
use crate::cuda::program::{Input, Refused, Seen, refused};

/// What asks for the line.
const LINES: [&str; 5] = ["__LINE__", "__FILE__", "__FILE_NAME__", "__BASE_FILE__", "assert"];

/// What asks for the function.
const FUNCTIONS: [&str; 3] = ["__func__", "__FUNCTION__", "__PRETTY_FUNCTION__"];

/// Whether code asks for its line, or a macro in it does.
pub fn asks_for_line(input: &Input, seen: &Seen, span: Span) -> bool {
    let code = code(seen, span);
    let named = reached(input, &code);
    LINES.iter().any(|word| named.contains(*word))
}

/// Writes out the name of the function in the code of a construct: the kernel has another.
pub fn name_function(input: &Input, span: Span, function: &str, edits: &mut Edits) -> Result<(), Refused> {
    let code = code(&input.source, span);
    let own: BTreeSet<&str> = words(&code).into_iter().collect();
    let named = reached(input, &code);
    let is_in_macro = |word: &str| !own.contains(word) && named.contains(word);
    if let Some(word) = FUNCTIONS.iter().find(|word| is_in_macro(word)) {
        return Err(refused(
            Span { start: span.start, end: span.start + 1 },
            &format!("`{word}` in a macro"),
        ));
    }
    for (at, word) in placed_words(&code) {
        if FUNCTIONS.contains(&word) {
            let start = span.start + at as u32;
            edits.replace(Span { start, end: start + word.len() as u32 }, format!("\"{function}\""));
        }
    }
    Ok(())
}

/// The code of a part of a file, without what the grammar is not shown.
fn code(seen: &Seen, span: Span) -> String {
    String::from_utf8_lossy(seen.scan.shadow.get(span.range()).unwrap_or_default()).into_owned()
}

/// The names in code, and in the macros that it leads to.
fn reached(input: &Input, code: &str) -> BTreeSet<String> {
    let mut found: BTreeSet<String> = BTreeSet::new();
    let mut pending: Vec<String> = words(code).into_iter().map(str::to_owned).collect();
    while let Some(word) = pending.pop() {
        if found.insert(word.clone())
            && let Some(define) = device::define(input, &word)
        {
            pending.extend(words(&define.body).into_iter().map(str::to_owned));
        }
    }
    found
}
