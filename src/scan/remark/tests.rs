//! Comments that are meant for acc2omp.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::remarks;
use crate::source::{Form, Language, SourceFile};

fn check(language: Language, text: &str, expected: &[(&str, bool)]) {
    let file = SourceFile::new("a", text.into(), language);
    let found: Vec<(String, bool)> =
        remarks(&file).into_iter().map(|remark| (remark.words, remark.is_alone)).collect();
    let expected: Vec<(String, bool)> =
        expected.iter().map(|(words, is_alone)| ((*words).to_owned(), *is_alone)).collect();
    assert_eq!(found, expected, "{text}");
}

#[test]
fn comments_are_found_and_nothing_else() {
    check(Language::C, "// acc2omp: leave\n  /* acc2omp: seq */\n", &[("leave", true), ("seq", true)]);
    check(Language::C, "/// ACC2OMP : Leave it\n", &[("leave it", true)]);
    check(Language::C, "x = 1; // acc2omp: leave\n", &[("leave", false)]);
    check(Language::C, "/*\n * acc2omp: leave\n */\n", &[("leave", false)]);
    check(Language::C, "/* acc2omp: leave\n */\n", &[("leave", false)]);
    check(Language::C, "puts(\"// acc2omp: leave\");\n// see acc2omp: it reads\nacc2omp: x = 1;\n", &[]);
    check(Language::C, "#pragma acc wait // acc2omp: leave\n", &[("leave", false)]);
    check(Language::Fortran(Form::Free), "! acc2omp: laeve\n", &[("laeve", true)]);
    check(
        Language::Fortran(Form::Free),
        "x = 1 !! acc2omp: seq\nprint *, '! acc2omp: seq'\n",
        &[("seq", false)],
    );
    check(Language::Fortran(Form::Fixed), "C     ACC2OMP: SEQ\n", &[("seq", true)]);
}
