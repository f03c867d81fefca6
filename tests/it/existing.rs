//! OpenMP that stands in the source beside OpenACC: the user's or ours, never both.
//!
//! Invariant: every case is a whole file, and its output is compared line by line.

use acc2omp::source::{Form, Language};
use acc2omp::{Existing, Options, Outcome, Source, translate};

const BOTH: &str = "void f(int n, double *a)\n{\n#pragma acc parallel loop copy(a[0:n])\n#pragma omp parallel for\n    \
                    for (int i = 0; i < n; i++)\n        a[i] *= 2;\n}\n";

/// Translates, and compares the lines that are no longer there and those that are new.
fn check(text: &str, language: Language, existing: Existing, gone: &[&str], new: &[&str], code: u16) {
    let source = Source::new("a", text.into(), language);
    let translation = translate(&source, &Options { existing, ..Options::default() });
    let after = String::from_utf8(translation.text).unwrap();
    let difference = similar::TextDiff::from_lines(text, &after);
    let lines = |tag| {
        let changes = difference.iter_all_changes().filter(move |change| change.tag() == tag);
        changes.map(|change| change.value().trim().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(lines(similar::ChangeTag::Delete), gone, "{after}");
    assert_eq!(lines(similar::ChangeTag::Insert), new, "{after}");
    let codes: Vec<u16> = translation.diagnostics.iter().map(|diag| diag.code.0).collect();
    assert!(codes.contains(&code), "{codes:?}");
    let is_left = translation.directives.iter().any(|one| one.outcome == Outcome::Left);
    assert_eq!(is_left, existing == Existing::Ask || code == 321 || code == 322, "{after}");
}

#[test]
fn by_default_both_stay() {
    check(BOTH, Language::C, Existing::Ask, &[], &[], 321);
}

#[test]
fn the_users_is_kept() {
    let acc = "#pragma acc parallel loop copy(a[0:n])";
    check(BOTH, Language::C, Existing::Keep, &[acc], &[], 296);
    let target =
        BOTH.replace("omp parallel for", "omp target teams distribute parallel for map(tofrom: a[0:n])");
    check(&target, Language::C, Existing::Keep, &[acc], &[], 294);
}

#[test]
fn ours_takes_its_place() {
    let gone = ["#pragma acc parallel loop copy(a[0:n])", "#pragma omp parallel for"];
    let new = ["#pragma omp target teams distribute parallel for map(tofrom: a[0:n])"];
    check(BOTH, Language::C, Existing::Replace, &gone, &new, 295);
}

#[test]
fn conditions_choose() {
    let text = BOTH
        .replace("#pragma acc", "#ifdef _OPENACC\n#pragma acc")
        .replace("#pragma omp", "#elif defined(_OPENMP)\n#pragma omp")
        .replace("    for", "#endif\n    for");
    check(&text, Language::C, Existing::Ask, &[], &[], 321);
    let gone = ["#ifdef _OPENACC", "#pragma acc parallel loop copy(a[0:n])", "#pragma omp parallel for"];
    let new = ["#ifdef _OPENMP", "#pragma omp target teams distribute parallel for map(tofrom: a[0:n])"];
    let translation = translate(
        &Source::new("a", text.clone().into(), Language::C),
        &Options { existing: Existing::Keep, ..Options::default() },
    );
    assert_eq!(String::from_utf8(translation.text).unwrap(), text);
    check(&text, Language::C, Existing::Replace, &gone, &new, 295);
    let unread = text.replace("#ifdef _OPENACC", "#if defined(_OPENACC) && !defined(_OPENMP)");
    check(&unread, Language::C, Existing::Replace, &[], &[], 322);
}

#[test]
fn loops_that_threads_share_are_not_replaced() {
    let text = BOTH.replace("omp parallel for", "omp for");
    check(&text, Language::C, Existing::Replace, &[], &[], 321);
}

#[test]
fn ends_go_along() {
    let text = "subroutine s(n, a)\n  integer :: n, j\n  real :: a(n)\n  !$acc parallel loop copy(a)\n  \
                !$omp parallel do &\n  !$omp   shared(a)\n  do j = 1, n\n    a(j) = 2 * a(j)\n  end do\n  \
                !$omp end parallel do\n  !$acc end parallel loop\nend subroutine\n";
    let free = Language::Fortran(Form::Free);
    check(text, free, Existing::Ask, &[], &[], 321);
    let acc = ["!$acc parallel loop copy(a)", "!$acc end parallel loop"];
    check(text, free, Existing::Keep, &acc, &[], 296);
    let translation = translate(
        &Source::new("a", text.into(), free),
        &Options { existing: Existing::Replace, ..Options::default() },
    );
    let after = String::from_utf8(translation.text).unwrap();
    assert_eq!(after.matches("$omp").count(), 2, "{after}");
    assert!(
        !after.contains("$acc") && after.contains("!$omp target teams distribute parallel do"),
        "{after}"
    );
}
