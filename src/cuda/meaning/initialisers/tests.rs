//! Tests of `initialisers.rs`.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::characters;

#[test]
fn strings_have_characters() {
    let read = |text: &str| characters(text).map(|all| all.join(" "));
    assert_eq!(read("\"a'\\n\\x41\\0123\"").as_deref(), Some("'a' '\\'' '\\n' '\\x41' '\\012' '3'"));
    assert_eq!(read("\"a\" \"b\""), None);
}
