//! Tests of `holds.rs`.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::Element;

#[test]
fn types_that_share_memory_are_known() {
    let of = |words: &str| Element::of_words(words).expect(words);
    for (one, two) in [
        ("int", "unsigned"),
        ("long int", "unsigned long"),
        ("char", "double"),
        ("_Bool", "bool"),
        ("int32_t", "int"),
        ("size_t", "long"),
        ("uint8_t", "float"),
    ] {
        assert!(!of(one).is_apart_from(&of(two)), "{one}, {two}");
    }
    for (one, two) in [("int", "float"), ("double", "float"), ("int", "long"), ("short int", "int")] {
        assert!(of(one).is_apart_from(&of(two)), "{one}, {two}");
    }
    assert!(!Element::Integer.is_apart_from(&of("long")));
    assert!(Element::Integer.is_apart_from(&of("double")));
    assert!(Element::Pointer.is_apart_from(&of("double")));
}
