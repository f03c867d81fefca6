//! Tests of `origin.rs`.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::*;

#[test]
fn a_directive_stands_where_the_number_does_not_follow() {
    let lines = [(Some(7), "a();"), (None, "{"), (Some(8), "b(1,"), (Some(12), "  2);"), (Some(13), "c();")];
    let said = "#line 7 \"x.c\"\na();\n{\n#line 8 \"x.c\"\nb(1,\n  2);\n#line 13 \"x.c\"\nc();";
    assert_eq!(directed(&lines, "x.c"), said);
}

#[test]
fn after_the_code_the_lines_are_the_files_own() {
    assert_eq!(resolved("a\n#line 0\nb\n", "x_acc.cu"), "a\n#line 3 \"x_acc.cu\"\nb\n");
}
