//! What the preprocessor shows of branches.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::*;
use crate::scan::c;
use crate::source::{Language, Predefined};

/// The letters in branches that options rule out: the options define A and undefine U.
fn check(text: &str, wanted: &str) {
    let mut file = SourceFile::new("a.c", text.as_bytes().to_vec(), Language::C);
    let mut said = Predefined::default();
    said.define("A");
    said.undefine("U");
    file.predefined = said.into();
    let shown = shown(&file, &c::events(&file.bytes), &View::default());
    let small = text.char_indices().filter(|(at, _)| shown.rules_out(*at as u32)).map(|(_, c)| c);
    assert_eq!(small.filter(|c| "xyzw".contains(*c)).collect::<String>(), wanted, "{text}");
    assert!(shown.ruled_out.is_sorted() && shown.ruled_out.iter().all(|span| !shown.shows(span.start)));
}

#[test]
fn the_branch_that_options_choose_rules_out_the_others() {
    check("#ifdef A\nx\n#else\ny\n#endif\n", "y");
    check("#ifdef U\nx\n#elif defined(Z)\ny\n#else\nz\n#endif\n", "x");
    check("#ifdef Z\nx\n#elif defined(A)\ny\n#elif Y\nz\n#else\nw\n#endif\n", "zw");
    check("#ifdef Z\n#ifdef A\nx\n#else\ny\n#endif\n#endif\n", "y");
    check("#ifdef U\n#ifdef Z\nx\n#else\ny\n#endif\nz\n#endif\n", "xyz");
}

#[test]
fn what_is_not_known_of_a_name_decides_nothing() {
    let after = |lines: &str| format!("{lines}\n#ifdef A\nx\n#else\ny\n#endif\n");
    check(&after("#pragma push_macro(\"A\")\n#undef A\n#pragma pop_macro(\"A\")"), "");
    check(&after("#include WHO_KNOWS"), "");
    check(&after("#define FILE \"a.h\"\n#include FILE"), "y");
}

#[test]
fn lines_of_the_file_say_what_names_mean_after_them() {
    check("#undef A\n#ifdef A\nx\n#else\ny\n#endif\n", "x");
    check("#ifndef A\n#define A 2\n#endif\n#if A == 2\nx\n#endif\n", "x");
    check("#ifdef A\n#define B 3\n#endif\n#if B == 3\nx\n#else\ny\n#endif\n", "y");
    check("#define B 3\n#if B == 3\nx\n#else\ny\n#endif\n", "");
    check("#ifdef Z\n#undef A\n#endif\n#ifdef A\nx\n#else\ny\n#endif\n", "");
    check("#ifdef U\n#undef A\n#endif\n#ifdef A\nx\n#else\ny\n#endif\n", "y");
}
