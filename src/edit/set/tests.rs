//! Sets of edits: which conflict, and in which order they stand.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

#![allow(clippy::unwrap_used)]
use proptest::prelude::*;

use super::*;

fn edit(start: usize, end: usize, text: &str) -> Edit {
    Edit { span: Span::new(start, end), text: text.into() }
}

/// Adds one rewrite for each list; the numbers of the owners count from 0.
fn check(lists: &[&[Edit]], expected: Result<&str, Conflict>) {
    let mut set = EditSet::default();
    let outcomes =
        lists.iter().zip(0..).map(|(edits, owner)| set.add(Rewrite { owner, edits: edits.to_vec() }));
    let outcome: Result<Vec<()>, Conflict> = outcomes.collect();
    let text = outcome.map(|_| String::from_utf8(set.apply(b"0123456789")).unwrap());
    assert_eq!(text.as_deref(), expected.as_ref().map(|text| *text));
}

#[test]
fn edits_apply_by_place_whatever_their_order() {
    check(&[&[edit(5, 6, "five")], &[edit(0, 1, ""), edit(10, 10, "!")]], Ok("1234five6789!"));
}

#[test]
fn an_insertion_may_touch_a_replacement() {
    check(&[&[edit(2, 4, "x")], &[edit(2, 2, "<"), edit(4, 4, ">")]], Ok("01<x>456789"));
}

#[test]
fn identical_edits_unite() {
    check(&[&[edit(4, 8, "x")], &[edit(4, 8, "x")]], Ok("0123x89"));
    check(&[&[edit(3, 3, "new ")], &[edit(3, 3, "new ")]], Ok("012new 3456789"));
    check(&[&[edit(3, 3, "new ")], &[edit(3, 3, "old ")]], Err(Conflict { with: 0 }));
}

#[test]
fn overlapping_rewrites_name_the_first_owner() {
    check(&[&[edit(0, 1, "")], &[edit(4, 8, "x")], &[edit(7, 9, "y")]], Err(Conflict { with: 1 }));
    check(&[&[edit(4, 8, "x")], &[edit(5, 5, "y")]], Err(Conflict { with: 0 }));
    check(&[&[edit(4, 8, "x")], &[edit(4, 8, "y")]], Err(Conflict { with: 0 }));
    check(&[&[edit(4, 8, "x"), edit(6, 7, "y")]], Err(Conflict { with: 0 }));
}

#[test]
fn a_rewrite_in_conflict_adds_nothing() {
    let mut set = EditSet::default();
    set.add(Rewrite { owner: 0, edits: vec![edit(4, 8, "x")] }).unwrap();
    set.add(Rewrite { owner: 1, edits: vec![edit(0, 1, "y"), edit(7, 9, "z")] }).unwrap_err();
    assert_eq!(set.edits().cloned().collect::<Vec<_>>(), [edit(4, 8, "x")]);
}

#[test]
fn what_another_owner_asks_for_stays() {
    let mut set = EditSet::default();
    set.add(Rewrite { owner: 0, edits: vec![edit(4, 8, "x"), edit(2, 2, "a")] }).unwrap();
    set.add(Rewrite { owner: 1, edits: vec![edit(4, 8, "x"), edit(9, 9, "b")] }).unwrap();
    set.withdraw(&BTreeSet::from([0]));
    assert_eq!(set.edits().cloned().collect::<Vec<_>>(), [edit(4, 8, "x"), edit(9, 9, "b")]);
    set.withdraw(&BTreeSet::from([1]));
    assert_eq!(set.edits().count(), 0);
}

/// A text and rewrites of it, many of which are in conflict.
fn rewrites() -> impl Strategy<Value = (Vec<u8>, Vec<Rewrite>)> {
    prop::collection::vec(any::<u8>(), 0..60).prop_flat_map(|text| {
        let length = text.len();
        let one = (0..=length, 0..6usize, prop::collection::vec(any::<u8>(), 0..4))
            .prop_map(move |(at, size, text)| Edit { span: Span::new(at, length.min(at + size)), text });
        let edits = prop::collection::vec(one, 1..4);
        let lists = prop::collection::vec(edits, 0..12);
        let owned = lists.prop_map(|lists| {
            lists.into_iter().zip(0..).map(|(edits, owner)| Rewrite { owner, edits }).collect()
        });
        (Just(text), owned)
    })
}

proptest! {
    #[test]
    fn bytes_outside_edits_are_identical((text, rewrites) in rewrites()) {
        let mut set = EditSet::default();
        for rewrite in rewrites {
            let _ = set.add(rewrite);
        }
        let out = set.apply(&text);
        let (mut read, mut written) = (0, 0);
        for edit in set.edits() {
            let kept = &text[read..edit.span.start as usize];
            prop_assert_eq!(kept, &out[written..written + kept.len()]);
            written += kept.len();
            prop_assert_eq!(&edit.text[..], &out[written..written + edit.text.len()]);
            written += edit.text.len();
            read = edit.span.end as usize;
        }
        prop_assert_eq!(&text[read..], &out[written..]);
    }

    #[test]
    fn the_order_of_rewrites_does_not_matter((text, rewrites) in rewrites()) {
        let mut set = EditSet::default();
        let fitting: Vec<Rewrite> =
            rewrites.into_iter().filter(|rewrite| set.add(rewrite.clone()).is_ok()).collect();
        let mut again = EditSet::default();
        for rewrite in fitting.into_iter().rev() {
            prop_assert!(again.add(rewrite).is_ok());
        }
        prop_assert_eq!(again.apply(&text), set.apply(&text));
    }
}
