//! Tests of `nearest.rs`.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::*;

const WORDS: [&str; 5] = ["copy", "copyin", "copyout", "collapse", "seq"];

#[test]
fn finds_typing_errors() {
    let near = |word: &str| nearest(word, WORDS.into_iter());
    assert_eq!(near("cpoy"), Some("copy"));
    assert_eq!(near("CopyIn"), Some("copyin"));
    assert_eq!(near("copyot"), Some("copyout"));
    assert_eq!(near("colapse"), Some("collapse"));
    assert_eq!(near("sqe"), Some("seq"));
    assert_eq!(near("simd"), None);
    assert_eq!(nearest("_Bad", ["read", "bind"].into_iter()), None);
    assert_eq!(near(""), None);
    assert_eq!(near(&"c".repeat(100_000)), None);
}

#[test]
fn counts_edits() {
    let count = |a: &str, b: &str| distance(&a.chars().collect::<Vec<_>>(), &b.chars().collect::<Vec<_>>());
    assert_eq!(count("abcd", "abdc"), 1);
    assert_eq!(count("abcd", ""), 4);
    assert_eq!(count("kitten", "sitting"), 3);
}
