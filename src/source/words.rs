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

#[cfg(test)]
mod tests;
