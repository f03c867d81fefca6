//! What an object of C or C++ holds, as far as it tells whether two objects can be the same memory (C11, 6.5, 7).
//!
//! Invariant: a type that is not seen, and one that may be read as another one, holds nothing that is known.

use super::type_names::is_standard_scalar;

/// What an object holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Element {
    /// A character, or a byte: it may be a part of anything.
    Byte,
    /// A number of this type: its words without those that do not make another type.
    Number(String),
    /// An integer whose type the file does not show, but no character.
    Integer,
    /// A pointer.
    Pointer,
}

/// A type of C or C++.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Type {
    /// Its pointers (`false`) and dimensions (`true`), outermost first.
    pub shape: Vec<bool>,
    /// What comes after them: the words of a built-in type, the name of another one; empty for one without a name.
    pub base: String,
    /// What the elements hold, if that is known.
    pub element: Option<Element>,
}

impl Element {
    /// Whether objects that hold these are never the same memory.
    pub fn is_apart_from(&self, other: &Element) -> bool {
        use Element::{Byte, Integer, Number, Pointer};
        let is_floating = |words: &String| words.contains("float") || words.contains("double");
        match (self, other) {
            (Byte, _) | (_, Byte) | (Pointer, Pointer) | (Integer, Integer) => false,
            (Pointer, _) | (_, Pointer) => true,
            (Number(one), Number(two)) => one != two,
            (Integer, Number(words)) | (Number(words), Integer) => is_floating(words),
        }
    }

    /// What the words of a built-in type say. The grammar takes some names of the standard headers for such.
    pub(super) fn of_words(words: &str) -> Option<Element> {
        if words.ends_with("_t") {
            return standard(words);
        }
        let passed = ["signed", "unsigned", "int", "const", "volatile"];
        let mut kept: Vec<&str> = words.split_whitespace().filter(|word| !passed.contains(word)).collect();
        kept.sort_unstable();
        kept.dedup();
        Some(match kept.as_slice() {
            [] => Element::Number("int".to_owned()),
            _ if kept.contains(&"char") || kept.contains(&"byte") => Element::Byte,
            ["_Bool"] => Element::Number("bool".to_owned()),
            _ => Element::Number(kept.join(" ")),
        })
    }
}

impl Type {
    /// What an object of this type holds: for an array, what its elements hold.
    pub fn held(&self) -> Option<Element> {
        match self.shape.iter().find(|is_array| !**is_array) {
            Some(_) => Some(Element::Pointer),
            None => self.element.clone(),
        }
    }

    /// Whether both are the same type, as far as memory is concerned.
    pub fn is_same(&self, other: &Type) -> bool {
        self.shape == other.shape && self.base == other.base && !self.base.is_empty()
    }
}

impl Type {
    /// The type that the words of a built-in one name.
    pub(super) fn of_words(words: &str) -> Type {
        let element = Element::of_words(words);
        let base = match &element {
            Some(Element::Number(words)) => words.clone(),
            _ => words.to_owned(),
        };
        Type { shape: Vec::new(), base, element }
    }
}

/// What an object of a type of the standard headers holds.
pub(super) fn standard(name: &str) -> Option<Element> {
    let name = name.strip_prefix("std::").unwrap_or(name);
    let is_byte = name.ends_with("t8_t") || name == "char8_t";
    let is_floating = ["float_t", "double_t"].contains(&name);
    match name {
        "bool" | "_Bool" => Some(Element::Number("bool".to_owned())),
        _ if is_byte => Some(Element::Byte),
        _ if is_standard_scalar(name) && !is_floating => Some(Element::Integer),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
