//! The words of source text, whatever its language.
//!
//! Invariant: what stands in strings and comments counts, too; `cuda::code::text` has the names of C outside of them.

/// The names and numbers in a text.
pub fn words(text: &str) -> impl Iterator<Item = &str> + Clone {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// The names in a text.
pub fn names(text: &str) -> impl Iterator<Item = &str> {
    words(text).filter(|word| word.starts_with(|c: char| c.is_alphabetic() || c == '_'))
}

/// The names in a text, with their places.
pub fn placed_names(text: &str) -> impl Iterator<Item = (usize, &str)> {
    names(text).map(|name| (name.as_ptr() as usize - text.as_ptr() as usize, name))
}

/// A name of C++ without what qualifies it, and without template arguments.
pub fn plain_name(name: &str) -> &str {
    let name = name.split('<').next().unwrap_or(name);
    name.rsplit("::").next().unwrap_or(name).trim()
}

/// The length of the string or character of C that a text begins with, its quotes among it; one that is not closed ends with its
/// line.
pub fn literal_length(text: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while let Some(byte) = text.get(at).filter(|byte| **byte != b'\n') {
        if *byte == quote {
            return at + 1;
        }
        at += if *byte == b'\\' { 2 } else { 1 };
    }
    at.min(text.len())
}

#[cfg(test)]
mod tests;
