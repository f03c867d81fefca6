//! Tests of `predefined.rs`.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::Predefined;

#[test]
fn the_last_word_counts() {
    let mut said = Predefined::default();
    ["A", "B=2", "C=", "F(x)=x = 1", "D"].iter().for_each(|text| said.define(text));
    ["D", "E"].iter().for_each(|name| said.undefine(name));
    said.define("E=5");
    let all: Vec<_> = said.names().map(|(name, line)| (name, line.unwrap_or("-"))).collect();
    let wanted = [("A", "A 1"), ("B", "B 2"), ("C", "C "), ("D", "-"), ("E", "E 5"), ("F", "F(x) x = 1")];
    assert_eq!(all, wanted);
    let mut other = Predefined::default();
    ["A", "B=3"].iter().for_each(|text| other.define(text));
    said.keep_common(&other);
    assert_eq!(said.names().map(|(name, _)| name).collect::<Vec<_>>(), ["A"]);
}
