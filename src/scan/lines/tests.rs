//! Tests of `lines.rs`.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::macro_lines;
use crate::source::{Language, SourceFile};

#[test]
fn lines_of_all_branches_are_read() {
    let text = "#define W 3\n#if 0\n# undef W // no more\n#define F(a, b) a \\\n + b\n#endif\n";
    let file = SourceFile::new("a.c", text.into(), Language::C);
    let found = macro_lines(&file);
    let said: Vec<(&str, bool, &str)> =
        found.iter().map(|line| (line.name.as_str(), line.is_undef, line.body.as_str())).collect();
    assert_eq!(said, [("W", false, "3"), ("W", true, ""), ("F", false, "a + b")]);
}

#[test]
fn what_is_pushed_counts_again() {
    let text = "#define W 3\n#pragma push_macro(\"W\")\n#undef W\n#define W 4\n#pragma pop_macro(\"W\")\n\
        #pragma pop_macro(\"V\")\n";
    let file = SourceFile::new("a.c", text.into(), Language::C);
    let found = macro_lines(&file);
    let said: Vec<Option<&str>> = found.iter().map(|line| line.instead.as_deref()).collect();
    assert_eq!(said[3], Some("#undef W\n#define W 3"));
    assert!(said[4].is_some_and(|line| line.starts_with("#error")));
}
