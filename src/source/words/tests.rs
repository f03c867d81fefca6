//! Tests of `words.rs`.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::{placed_names, words};

#[test]
fn numbers_are_words_and_not_names() {
    let text = "a_1 = 2*_b + 3;";
    assert_eq!(words(text).collect::<Vec<_>>(), ["a_1", "2", "_b", "3"]);
    assert_eq!(placed_names(text).collect::<Vec<_>>(), [(0, "a_1"), (8, "_b")]);
}
