//! Tests of `words.rs`.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

#![allow(clippy::unwrap_used)]
use super::{Level, Words};

#[test]
fn numbers_are_added_up_and_parentheses_kept() {
    let name = |text: &str| Words::of(text.to_owned(), Level::Whole);
    let shown = |words: Option<Words>| words.unwrap().at(Level::Sum);
    let (i, n) = (name("i"), name("n"));
    let past = i.minus(&Words::number(1)).unwrap();
    assert_eq!(shown(past.times(&n).unwrap().plus(&Words::number(3))), "(i - 1) * n + 3");
    assert_eq!(shown(past.plus(&Words::number(1))), "i");
    assert_eq!(shown(Words::number(4).minus(&past)), "5 - i");
    assert_eq!(shown(Words::number(0).minus(&i.plus(&n).unwrap())), "-(i + n)");
    assert_eq!(shown(n.plus(&Words::number(0).minus(&i).unwrap())), "n + (-i)");
    assert_eq!(past.over(2).at(Level::Product), "(i - 1) / 2");
    assert_eq!(shown(n.times(&Words::number(-2))), "n * (-2)");
}
