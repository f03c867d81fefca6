//! Tests of `record.rs`.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::*;
use crate::source::Language;

fn fingerprints(text: &str, spans: &[(usize, usize)]) -> Vec<String> {
    let file = SourceFile::new("x.c", text.as_bytes().to_vec(), Language::C);
    let mut seen = Seen::default();
    spans.iter().map(|(from, to)| seen.fingerprint(&file, "A0201", Span::new(*from, *to))).collect()
}

#[test]
fn fingerprints_do_not_know_of_lines() {
    let [first, second] = &fingerprints("a b\na b\n", &[(0, 1), (4, 5)])[..] else { unreachable!() };
    assert_ne!(first, second);
    assert_eq!(&fingerprints("\n\n  a   b\n", &[(4, 5)])[0], first);
    assert_ne!(&fingerprints("a c\n", &[(0, 1)])[0], first);
}

#[test]
fn columns_count_characters() {
    let file = SourceFile::new("x.c", "\u{e4} b\nc".as_bytes().to_vec(), Language::C);
    let place = Place::of(&file, Span::new(3, 6));
    assert_eq!(place, Place { line: 1, column: 3, end_line: 2, end_column: 2 });
}
