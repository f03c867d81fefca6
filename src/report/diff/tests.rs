//! Unified differences.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::*;

fn check(old: &str, new: &str, expected: &str) {
    let made = unified("./x.c", old.as_bytes(), new.as_bytes());
    assert_eq!(String::from_utf8_lossy(&made), expected);
}

#[test]
fn equal_texts_have_no_difference() {
    check("a\nb\n", "a\nb\n", "");
}

#[test]
fn three_lines_of_context() {
    check(
        "1\n2\n3\n4\nold\n5\n6\n7\n8\n",
        "1\n2\n3\n4\nnew\n5\n6\n7\n8\n",
        "--- a/x.c\n+++ b/x.c\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-old\n+new\n 5\n 6\n 7\n",
    );
}

#[test]
fn a_missing_last_line_end_is_said() {
    check(
        "a\nb",
        "a\nc",
        "--- a/x.c\n+++ b/x.c\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n",
    );
}

#[test]
fn carriage_returns_belong_to_their_line() {
    check(
        "a\r\nb\r\nx\ry\r\n",
        "a\r\nc\r\nx\ry\r\n",
        "--- a/x.c\n+++ b/x.c\n@@ -1,3 +1,3 @@\n a\r\n-b\r\n+c\r\n x\ry\r\n",
    );
}

#[test]
fn names_are_quoted_as_git_does() {
    let of = |name: &str| String::from_utf8(unified(name, b"1\n", b"2\n")).unwrap_or_default();
    assert!(of("a b.c").starts_with("--- a/a b.c\t\n+++ b/a b.c\t\n@@"));
    assert!(of("a\tb\n.c").starts_with("--- \"a/a\\tb\\n.c\"\n+++ \"b/a\\tb\\n.c\"\n@@"));
    assert!(of("\"\\\u{e4} .c").starts_with("--- \"a/\\\"\\\\\\303\\244 .c\"\t\n"));
}

#[test]
fn bytes_that_are_no_text_stay() {
    let made = unified("x.c", b"\xe4\n1\n", b"\xe4\n2\n");
    assert_eq!(made, b"--- a/x.c\n+++ b/x.c\n@@ -1,2 +1,2 @@\n \xe4\n-1\n+2\n");
}
