//! Names that the language gives a value by their place: `__LINE__`, `__FILE__`, `__func__`.
//!
//! Invariant: device code has the values of the source.

use std::collections::BTreeSet;

use super::{Input, Refused, Seen, defines, refused};
use crate::cuda::code::text::{Edits, placed_words, words};
use crate::source::Span;

/// What asks for the line.
const LINES: [&str; 5] = ["__LINE__", "__FILE__", "__FILE_NAME__", "__BASE_FILE__", "assert"];

/// What asks for the function.
const FUNCTIONS: [&str; 3] = ["__func__", "__FUNCTION__", "__PRETTY_FUNCTION__"];

/// Whether code asks for its line, or a macro in it does.
pub fn asks_for_line(input: &Input, seen: &Seen, span: Span) -> bool {
    let code = seen.code(span);
    let named = reached(input, &code);
    LINES.iter().any(|word| named.contains(*word))
}

/// What is known of a program, where code that asks for its line says with `#line` where it comes from.
pub fn directed<'a>(input: &Input<'a>, span: Span) -> Input<'a> {
    let line_directives = input.line_directives || asks_for_line(input, &input.source, span);
    Input { line_directives, ..*input }
}

/// Writes out the name of the function in the code of a construct: the kernel has another.
pub fn name_function(input: &Input, span: Span, function: &str, edits: &mut Edits) -> Result<(), Refused> {
    let code = input.source.code(span);
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

/// The names in code, and in the macros that it leads to.
fn reached(input: &Input, code: &str) -> BTreeSet<String> {
    let texts = defines::reached(input, code);
    texts.iter().flat_map(|text| words(text)).map(str::to_owned).collect()
}
