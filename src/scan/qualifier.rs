//! Macros where a qualifier may stand: those that spell `restrict`, and those between a `*` and a name.
//!
//! Invariant: only words are hidden from the grammar that C without macros cannot have there.

use super::defined::Defined;

/// The words for `restrict` that compilers know.
const RESTRICT: [&str; 3] = ["restrict", "__restrict", "__restrict__"];

/// Other words that may stand beside it.
const BESIDE: [&str; 4] = ["const", "volatile", "__const", "__volatile__"];

/// Macros that lead to macros are followed no further than this.
const DEPTH: usize = 8;

/// Whether a word is C's `restrict`, as some compiler spells it.
pub fn is_restrict(word: &str) -> bool {
    RESTRICT.contains(&word)
}

/// The macros that spell `restrict`, in alphabetical order.
pub fn spelled(defined: &Defined) -> Vec<String> {
    let spells = |name: &&String| says_restrict(name, defined, DEPTH).unwrap_or(false);
    let mut found: Vec<String> = defined.names().filter(spells).cloned().collect();
    found.sort();
    found
}

/// Whether a macro says `restrict`; `None` if it says something other than qualifiers.
fn says_restrict(name: &str, defined: &Defined, depth: usize) -> Option<bool> {
    let body = defined.get(name).filter(|_| depth > 0)?;
    let mut says = false;
    for word in body.split_whitespace() {
        says |= is_restrict(word);
        if !is_restrict(word) && !BESIDE.contains(&word) {
            says |= says_restrict(word, defined, depth - 1)?;
        }
    }
    Some(says)
}

/// Hides the macros that stand as qualifiers: `words` wherever they are, others where `*`, the macro and a name follow one
/// another.
pub fn hide(shadow: &mut [u8], words: &[String]) {
    for word in words {
        let starts: Vec<usize> = memchr::memmem::find_iter(shadow, word.as_bytes()).collect();
        for start in starts {
            let end = start + word.len();
            let begins = start.checked_sub(1).is_none_or(|before| !is_inner(shadow[before]));
            if begins && shadow.get(end).is_none_or(|byte| !is_inner(*byte)) {
                shadow[start..end].fill(b' ');
            }
        }
    }
    let stars: Vec<usize> = memchr::memchr_iter(b'*', shadow).collect();
    for star in stars {
        while let Some((start, end)) = macro_after(shadow, star + 1) {
            shadow[start..end].fill(b' ');
        }
    }
}

/// The macro after a `*` that ends at `at`, if a declared name follows it.
fn macro_after(text: &[u8], at: usize) -> Option<(usize, usize)> {
    let mut at = at;
    let (start, end) = loop {
        let (start, end) = word_at(text, at)?;
        let word = std::str::from_utf8(&text[start..end]).ok()?;
        if !BESIDE.contains(&word) {
            break (start, end);
        }
        at = end;
    };
    let is_capital = |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_';
    let is_macro = text[start..end].iter().all(is_capital);
    let (_, after) = word_at(text, end)?;
    let next = text[after..].iter().find(|byte| !byte.is_ascii_whitespace())?;
    (is_macro && b",);=[".contains(next)).then_some((start, end))
}

/// The word that begins at `at` or after the blanks there.
fn word_at(text: &[u8], at: usize) -> Option<(usize, usize)> {
    let blanks = text.get(at..)?.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let start = at + blanks;
    let length = text[start..].iter().take_while(|byte| is_inner(**byte)).count();
    let is_word = length > 0 && !text[start].is_ascii_digit();
    is_word.then_some((start, start + length))
}

fn is_inner(byte: u8) -> bool {
    super::c::is_word_start(byte) || byte.is_ascii_digit()
}

#[cfg(test)]
mod tests;
