//! Messages of one code: examples.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::*;
use crate::diag;
use crate::source::{Language, Span};

fn groups(name: &str, lines: usize) -> Groups {
    let file = SourceFile::new(name, "a\n".repeat(lines).into_bytes(), Language::C);
    let spans = (0..lines).map(|line| Span::new(2 * line, 2 * line + 1));
    let diags: Vec<Diag> = spans.map(|span| diag::absent_unchecked(span, "update")).collect();
    Groups::of(&file, &diags.iter().collect::<Vec<_>>(), Manner::default())
}

#[test]
fn one_file_is_called_this_file() {
    let text = groups("a.c", 3).text();
    assert!(text.ends_with("… and 2 more of A0204 in this file: lines 2, 3\n\n"), "{text}");
}

#[test]
fn one_example_stands_for_all_files() {
    let mut all = Groups::default();
    for number in 1..=6 {
        all.add(groups(&format!("{number}.c"), number));
    }
    let text = all.text();
    assert_eq!(text.matches("[A0204]").count(), 1);
    let rest = "… and 20 more of A0204 (`-v` shows all):\n    2.c: lines 1, 2\n    3.c: lines 1, 2, 3\n    \
                4.c: lines 1, 2, 3, 4\n    … and 2 more files\n\n";
    assert!(text.ends_with(rest), "{text}");
}

#[test]
fn lines_are_in_order() {
    assert_eq!(named_lines(&[446, 170, 446]), "lines 170, 446");
}

#[test]
fn the_worst_message_is_the_example() {
    let file = SourceFile::new("a.c", b"a\nb\nc\n".to_vec(), Language::C);
    let mild = diag::absent_unchecked(Span::new(0, 1), "update");
    let bad = Diag { severity: Severity::Differs, ..diag::absent_unchecked(Span::new(2, 3), "update") };
    let mut all = Groups::of(&file, &[&mild, &mild], Manner::default());
    all.add(Groups::of(&file, &[&mild, &bad], Manner::default()));
    let text = all.text();
    assert!(text.contains("differs[A0204]") && text.contains("--> a.c:2:1"), "{text}");
    assert!(text.contains("… and 3 more of A0204 in this file: line 1\n"), "{text}");
}

#[test]
fn many_loops_are_counted() {
    let few = Groups::default().with_loops(&"a.c:1: loop: parallel\n".repeat(3));
    assert_eq!(few.text().lines().count(), 4);
    let many = Groups::default().with_loops(&"a.c:1: loop: parallel\n".repeat(30));
    assert!(many.text().ends_with("… and 20 more loops (`-v` shows all)\n\n"));
}
