//! Names that get another: those of a C program that C++ has other uses for, in device code, and `_OPENACC`.
//!
//! Invariant: none of these words is one that generated text uses itself.

use super::text::{placed_words, replaced, words};

/// What the run-time library defines in the place of `_OPENACC`.
pub const MACRO: &str = "ACC2OMP_CUDA";

/// Words of C++ that are names to C.
const TAKEN: [&str; 30] = [
    "and",
    "and_eq",
    "asm",
    "bitand",
    "bitor",
    "catch",
    "class",
    "compl",
    "concept",
    "delete",
    "explicit",
    "export",
    "friend",
    "mutable",
    "new",
    "not",
    "not_eq",
    "operator",
    "or",
    "or_eq",
    "private",
    "protected",
    "public",
    "requires",
    "this",
    "throw",
    "try",
    "virtual",
    "xor",
    "xor_eq",
];

/// Whether device code may have another word in the place of this one.
pub fn is_rewritten(word: &str) -> bool {
    TAKEN.contains(&word) || ["restrict", "_Bool", "complex", "_Complex", "I", "_Imaginary_I"].contains(&word)
}

/// Code that asks for the translation's macro where it asked for OpenACC's.
pub fn with_own_macro(text: &str) -> String {
    replaced(text, placed_words(text), |word| (word == "_OPENACC").then(|| MACRO.to_owned()))
}

/// Device code of a C program with names that C++ takes for names.
pub fn renamed(text: &str) -> String {
    let all = words(text);
    replaced(text, placed_words(text), |word| {
        TAKEN.contains(&word).then(|| {
            let mut name = format!("{word}_");
            while all.contains(&name.as_str()) {
                name.push('_');
            }
            name
        })
    })
}

#[cfg(test)]
mod tests {
    use super::{renamed, with_own_macro};

    #[test]
    fn names_that_are_words_of_cpp_get_another() {
        let text = "double or = new[i]; /* or */ f(\"new\", new_);";
        assert_eq!(renamed(text), "double or_ = new__[i]; /* or */ f(\"new\", new_);");
        assert_eq!(renamed("a || b"), "a || b");
    }

    #[test]
    fn conditions_ask_for_the_translation() {
        let text = "#if _OPENACC > 1 // _OPENACC\nMY_OPENACC";
        assert_eq!(with_own_macro(text), "#if ACC2OMP_CUDA > 1 // _OPENACC\nMY_OPENACC");
    }
}
