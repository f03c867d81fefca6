//! Tests of `openmp.rs`.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

#![allow(clippy::unwrap_used)]
use super::{name_of, openmp};
use crate::source::{Form, Language, SourceFile};

#[test]
fn names_end_where_clauses_begin() {
    assert_eq!(name_of("target teams distribute map(to: a)"), ["target", "teams", "distribute"]);
    assert_eq!(name_of("parallel do private(i)"), ["parallel", "do"]);
    assert_eq!(name_of("ENDPARALLELDO"), ["end", "parallel", "do"]);
    assert_eq!(name_of("declare target(x)"), ["declare", "target"]);
    assert_eq!(name_of("parallel if(n > 3)"), ["parallel"]);
}

#[test]
fn directives_and_lines_are_found() {
    let check = |text: &str, form: Form, expected: &[&str]| {
        let file = SourceFile::new("a", text.into(), Language::Fortran(form));
        let found = openmp(&file).unwrap();
        let texts: Vec<_> = found.directives.iter().map(|one| file.text(one.span).into_owned()).collect();
        assert_eq!(texts, expected);
    };
    check("!$omp parallel &\n!$omp do\ndo i=1,2\n", Form::Free, &["!$omp parallel &\n!$omp do"]);
    check(
        "c$omp parallel do\nc$omp&private(i)\n      do\n",
        Form::Fixed,
        &["c$omp parallel do\nc$omp&private(i)"],
    );
    check("!$ x = 1\n!$omp barrier\n", Form::Free, &["!$omp barrier"]);
}
