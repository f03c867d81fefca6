//! Tests of `token.rs`.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::next;

fn tokens(text: &str) -> Option<Vec<&str>> {
    let (mut at, mut found) = (0, Vec::new());
    while let Some((_, token)) = next(text.as_bytes(), &mut at)? {
        found.push(std::str::from_utf8(token).ok()?);
    }
    Some(found)
}

#[test]
fn literals_hide_brackets() {
    assert_eq!(tokens("f('{', \"}\\\"{\")").unwrap_or_default(), ["f", "(", "'{'", ",", "\"}\\\"{\"", ")"]);
    assert_eq!(tokens("1'000 + 0x1'f '{'").unwrap_or_default(), ["1'000", "+", "0x1'f", "'{'"]);
    let raw = "R\"x(}\")\n)x\"";
    assert_eq!(tokens(&format!("{raw};")).unwrap_or_default(), [raw, ";"]);
    assert!(tokens("\"{\n\"").is_none() && tokens("/* {").is_none());
}
