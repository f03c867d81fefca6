//! Macros where a qualifier may stand.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::{Defined, hide, spelled};

fn hidden(text: &str, words: &[&str]) -> String {
    let mut shadow = text.as_bytes().to_vec();
    hide(&mut shadow, &words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
    String::from_utf8_lossy(&shadow).into_owned()
}

#[test]
fn macros_that_spell_restrict_are_found() {
    let known = [
        ("A", "restrict"),
        ("B", "__restrict__"),
        ("C", "A"),
        ("D", "const restrict"),
        ("E", ""),
        ("F", "F"),
        ("G", "double *restrict"),
    ];
    let defined: Defined = known.into_iter().map(|(name, body)| (name.to_owned(), body.to_owned())).collect();
    assert_eq!(spelled(&defined), ["A", "B", "C", "D"]);
}

#[test]
fn macros_as_qualifiers_are_hidden() {
    assert_eq!(hidden("double *R p, *R q;", &["R"]), "double *  p, *  q;");
    assert_eq!(hidden("f(double * const NOALIAS p)", &[]), "f(double * const         p)");
    for text in ["a * N;", "a * N + b;", "R2 x;", "double *RE;", "a * b (c);", "T * const p;"] {
        assert_eq!(hidden(text, &["R"]), text);
    }
}
