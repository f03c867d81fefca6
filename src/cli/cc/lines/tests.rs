//! Lines of a translation, named as those of its source.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::*;

fn c(old: &str, new: &str) -> String {
    String::from_utf8_lossy(&numbered(old.as_bytes(), new.as_bytes(), "a.c", Language::C, false)).into_owned()
}

#[test]
fn lines_keep_their_numbers() {
    assert_eq!(c("a\nb\n", "a\nb\n"), "#line 1 \"a.c\"\na\nb\n");
    assert_eq!(c("a\nb\nc\n", "a\nx\ny\nc\n"), "#line 1 \"a.c\"\na\nx\ny\n#line 3 \"a.c\"\nc\n");
    assert_eq!(c("\u{feff}a\n", "\u{feff}b\n"), "\u{feff}#line 1 \"a.c\"\nb\n");
    assert_eq!(c("a\nb\nc\n", "a\nc\n"), "#line 1 \"a.c\"\na\n#line 3 \"a.c\"\nc\n");
    assert_eq!(c("a\nb\n", "x\na\nb\n"), "#line 1 \"a.c\"\nx\n#line 1 \"a.c\"\na\nb\n");
}

#[test]
fn a_line_that_goes_on_is_not_parted() {
    assert_eq!(
        c("a\n#define b \\\nc\nd\n", "a\nx\n#define y \\\nc\nd\n"),
        "#line 1 \"a.c\"\na\nx\n#define y \\\nc\n#line 4 \"a.c\"\nd\n"
    );
    let free = |old: &str, new: &str| {
        let language = Language::Fortran(Form::Free);
        String::from_utf8_lossy(&numbered(old.as_bytes(), new.as_bytes(), "a.f90", language, false))
            .into_owned()
    };
    assert_eq!(
        free("!$acc x\na = &\n 1\nb\n", "!$omp x &\n!$omp& y\na = &\n 1\nb\n"),
        "# 1 \"a.f90\"\n!$omp x &\n!$omp& y\n# 2 \"a.f90\"\na = &\n 1\nb\n"
    );
}
