//! Arrays whose type code asks for, by `sizeof`, an address or the like.
//!
//! Invariant: where an array stands as a whole and its type may count, it is told.

use super::{Input, defines};
use crate::cuda::code::text::{placed_words, words};
use crate::host::ir::StmtId;

/// Words that ask for the type of what is behind them.
const ASKING: [&str; 9] = [
    "sizeof",
    "typeof",
    "__typeof__",
    "__typeof",
    "decltype",
    "alignof",
    "_Alignof",
    "__alignof__",
    "__builtin_object_size",
];

/// Whether a region, or a macro that it uses, says an array as a whole where its type counts.
pub fn uses_type(input: &Input, stmt: StmtId, name: &str) -> bool {
    says_whole(input, stmt, name, !input.is_c)
}

/// Whether it does so where only an array will do.
pub fn asks_for_type(input: &Input, stmt: StmtId, name: &str) -> bool {
    says_whole(input, stmt, name, false)
}

/// `anywhere`: everywhere but in sums.
fn says_whole(input: &Input, stmt: StmtId, name: &str, anywhere: bool) -> bool {
    let span = input.stmt_span(stmt);
    let texts = defines::reached(input, &input.source.code(span));
    let asks = texts.iter().any(|text| words(text).iter().any(|word| ASKING.contains(word)));
    texts.iter().any(|text| {
        placed_words(text).into_iter().filter(|(_, word)| *word == name).any(|(at, _)| {
            let (before, behind) = (text[..at].trim_end(), text[at + name.len()..].trim_start());
            let is_member = before.ends_with('.') || before.ends_with("->");
            let is_part = behind.starts_with('[') && !before.ends_with("sizeof");
            let is_address = before.ends_with('&') && !before.ends_with("&&");
            let is_value = behind.starts_with(['+', '-']) || before.ends_with(['+', '-', '*']);
            !is_member && !is_part && (asks || is_address || anywhere && !is_value)
        })
    })
}
