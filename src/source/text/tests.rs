//! Tests of `text.rs`.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::{bytes, readable, text};

#[test]
fn bytes_become_text_and_the_same_bytes() {
    let all: Vec<u8> = (0..=255).collect();
    let private = "a\u{10ff41}b\u{10fe41}\u{e4}".as_bytes();
    for sample in [&all[..], private, b"plain", b"", "\u{e4}".as_bytes(), b"\xe4\xf4\x8f\xbd"] {
        let made = text(sample).into_owned();
        assert_eq!(bytes(made.into_bytes()), sample);
    }
}

#[test]
fn people_see_one_character_for_each_byte() {
    assert_eq!(readable(&text(b"caf\xe9")), "caf\u{fffd}");
    assert_eq!(readable("caf\u{e9}"), "caf\u{e9}");
}
