//! Texts of CUDA: how they are put together.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::*;
use crate::source::Language;

#[test]
fn arguments_are_parted_outside_of_brackets_and_literals() {
    assert_eq!(arguments("a, f(b, c)[d], \"x, \\\"y\", ','"), ["a", "f(b, c)[d]", "\"x, \\\"y\"", "','"]);
    assert_eq!(arguments(""), [""]);
}

#[test]
fn bytes_that_are_no_utf_8_become_escapes_in_literals_alone() {
    let source = b"/* caf\xe9 */ f('\xe9', \"caf\xe9 1\xc3\xa4\", 'a', \"\\\"\xe4\"); // \xe4";
    let file = SourceFile::new("a.c", source.to_vec(), Language::C);
    let text = file.text(Span::new(0, source.len())).into_owned();
    let expected = b"/* caf\xe9 */ f('\\351', \"caf\\351 1\xc3\xa4\", 'a', \"\\\"\\344\"); // \xe4";
    assert_eq!(source::bytes(with_escapes(text).into_bytes()), expected);
    assert_eq!(with_escapes("'\u{e4}'".to_owned()), "'\u{e4}'");
}

/// What edits make of bytes of `0123456789`.
fn check(edit: impl Fn(&mut Edits), (start, end): (usize, usize), expected: Result<&str, (usize, usize)>) {
    let file = SourceFile::new("a.c", b"0123456789".to_vec(), Language::C);
    let mut edits = Edits::default();
    edit(&mut edits);
    let made = edits.render(&file, Span::new(start, end), 0);
    let expected = expected.map(str::to_owned);
    assert_eq!(made, expected.map_err(|(start, end)| Overlap { at: Span::new(start, end) }));
}

#[test]
fn edits_are_made_by_place_whatever_their_order() {
    check(
        |edits| {
            edits.replace(Span::new(5, 7), "five");
            edits.insert(5, "<");
            edits.insert(5, "<");
            edits.insert(7, ">");
            edits.replace(Span::new(0, 1), "");
        },
        (0, 10),
        Ok("1234<<five>789"),
    );
}

#[test]
fn edits_that_ask_for_the_same_are_one() {
    let twice = |edits: &mut Edits| (0..2).for_each(|_| edits.replace(Span::new(2, 4), "x"));
    check(twice, (0, 10), Ok("01x456789"));
}

#[test]
fn edits_that_overlap_are_an_error() {
    let two = |first: (usize, usize), second: (usize, usize)| {
        move |edits: &mut Edits| {
            edits.replace(Span::new(first.0, first.1), "x");
            edits.replace(Span::new(second.0, second.1), "y");
        }
    };
    check(two((2, 4), (3, 5)), (0, 10), Err((3, 5)));
    check(two((3, 5), (2, 4)), (0, 10), Err((2, 4)));
    check(two((2, 6), (3, 4)), (0, 10), Err((3, 4)));
    check(two((2, 4), (2, 4)), (0, 10), Err((2, 4)));
    // An insertion between bytes that another edit takes away.
    check(two((2, 6), (4, 4)), (0, 10), Err((4, 4)));
    check(two((4, 4), (2, 6)), (0, 10), Err((2, 6)));
    check(two((2, 4), (4, 5)), (0, 10), Ok("01xy56789"));
}

#[test]
fn a_whole_text_stands_for_the_edits_before_it() {
    let before = |edits: &mut Edits| {
        edits.replace(Span::new(3, 4), "x");
        edits.insert(4, "+");
        edits.insert(2, "<");
        edits.insert(6, ">");
        edits.replace_all(Span::new(2, 6), "all");
    };
    check(before, (0, 10), Ok("01<all>6789"));
    let enclosed = |edits: &mut Edits| {
        edits.enclose(Span::new(2, 6), ["(", ")"]);
        edits.insert(2, "<");
        edits.insert(6, ">");
    };
    check(enclosed, (0, 10), Ok("01<(2345)>6789"));
    let all = |edits: &mut Edits| {
        enclosed(edits);
        edits.replace_all(Span::new(2, 6), "[all]");
        edits.replace_all(Span::new(6, 8), "beside");
    };
    check(all, (0, 10), Ok("01<[all]>beside89"));
    let later = |edits: &mut Edits| {
        edits.replace_all(Span::new(2, 6), "all");
        edits.replace(Span::new(3, 4), "x");
    };
    check(later, (0, 10), Err((3, 4)));
    let partly = |edits: &mut Edits| {
        edits.replace(Span::new(1, 4), "x");
        edits.replace_all(Span::new(2, 6), "all");
    };
    check(partly, (0, 10), Err((2, 6)));
    let nested = |edits: &mut Edits| {
        edits.replace_all(Span::new(3, 4), "x");
        edits.replace_all(Span::new(2, 6), "[x]");
        edits.replace_all(Span::new(0, 8), "{[x]}");
    };
    check(nested, (0, 10), Ok("{[x]}89"));
}

#[test]
fn an_edit_that_crosses_the_ends_of_a_text_is_an_error() {
    let one = |edits: &mut Edits| edits.replace(Span::new(2, 6), "x");
    check(one, (3, 10), Err((2, 6)));
    check(one, (3, 5), Err((2, 6)));
    check(one, (6, 10), Ok("6789"));
}

#[test]
fn a_sum_takes_what_binds_as_much() {
    assert_eq!(summand(" n - 2 * m "), "n - 2 * m");
    assert_eq!(summand("n & 7"), "(n & 7)");
    assert_eq!(summand("a ? b : c"), "(a ? b : c)");
}
