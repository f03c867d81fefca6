//! Procedures of Fortran with `declare`, however they are entered and left. Compilers of OpenACC differ here (gfortran takes no
//! `return` after `declare`), so that these are not fixtures.
//!
//! Invariant: gfortran compiles what each procedure has become.

use std::process::Command;

use acc2omp::source::{Form, Language};
use acc2omp::{Options, Outcome, RUNTIME_MODULE, Source, To, Translation, translate};

/// A procedure with `declare` that ends with `last`.
fn procedure(last: &str) -> String {
    let text = "subroutine f(n, a)\n  implicit none\n  integer :: n, i\n  real :: a(n), w(5)\n  !$acc declare create(w)\n";
    format!("{text}{last}end subroutine\n")
}

/// The same, where the run-time library is used.
fn with_library(last: &str) -> String {
    procedure(last).replace("implicit none", "use openacc\n  implicit none")
}

fn translated(text: &str, to: To) -> Translation {
    let source = Source::new("f.f90", text.into(), Language::Fortran(Form::Free));
    translate(&source, &Options { to, ..Options::default() })
}

/// The lines from `declare` on, which gfortran takes.
fn lines(text: &str, to: To) -> Vec<String> {
    let made = translated(text, to);
    assert!(made.directives.iter().all(|one| one.outcome == Outcome::Exact), "{text}{:?}", made.diagnostics);
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(RUNTIME_MODULE.0), RUNTIME_MODULE.1).unwrap();
    std::fs::write(folder.path().join("f.f90"), &made.text).unwrap();
    let mut command = Command::new("gfortran");
    command.current_dir(folder.path()).args(["-c", "-fopenmp", RUNTIME_MODULE.0, "f.f90"]);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let all = trimmed(&made).into_iter();
    let body = all.skip_while(|line| !line.contains("w(5)")).skip(1);
    body.take_while(|line| line != "end subroutine").collect()
}

/// All lines without blanks around them.
fn trimmed(made: &Translation) -> Vec<String> {
    String::from_utf8_lossy(&made.text).lines().map(|line| line.trim().to_owned()).collect()
}

const BEGIN: &str = "!$omp target enter data map(alloc: w)";
const END: &str = "!$omp target exit data map(release: w)";
const CALLS: [&str; 2] = ["call acc2omp_begin(\"f.f90:5\")", "call acc2omp_create(\"w\", w)"];
const LAST_CALL: &str = "call acc2omp_end()";

#[test]
fn jumps_to_a_return_find_the_end_of_the_data() {
    let text = procedure("  if (n > 3) goto 100\n  a(1) = 1\n100 return\n");
    let (head, tail) = (["if (n > 3) goto 100", "a(1) = 1", "100 continue"], "return");
    assert_eq!(lines(&text, To::OpenMp), [&[BEGIN], &head[..], &[END, tail]].concat());
    assert_eq!(lines(&text, To::Cuda), [&CALLS, &head[..], &[LAST_CALL, tail]].concat());
}

#[test]
fn a_label_that_nothing_jumps_to_stays_with_its_return() {
    let text = procedure("  a(1) = 1\n100 return\n");
    assert_eq!(lines(&text, To::OpenMp), [BEGIN, "a(1) = 1", END, "100 return"]);
}

#[test]
fn a_return_may_be_all_that_a_procedure_does() {
    let text = procedure("  return\n");
    assert_eq!(lines(&text, To::OpenMp), [BEGIN, END, "return"]);
    assert_eq!(lines(&text, To::Cuda), [&CALLS[..], &[LAST_CALL, "return"]].concat());
}

#[test]
fn an_entry_that_passes_over_the_begin_of_the_data_leaves_the_directive() {
    let after = procedure("  a(1) = 1\n  entry e(n, a)\n  a(2) = 1\n");
    for to in [To::OpenMp, To::Cuda] {
        let made = translated(&after, to);
        assert_eq!(made.text, after.as_bytes());
        assert!(made.directives.iter().all(|one| one.outcome == Outcome::Left));
    }
    let before = after.replace("  entry e(n, a)\n", "").replace("  !$acc", "  entry e(n, a)\n  !$acc");
    let wanted = ["entry e(n, a)", BEGIN, "a(1) = 1", "a(2) = 1", END];
    assert_eq!(lines(&before, To::OpenMp), wanted);
}

#[test]
fn calls_that_go_leave_a_statement_where_one_must_stand() {
    let text = with_library(
        "  if (n > 3) goto 10\n  if (n > 2) call acc_init(acc_device_default)\n10 call acc_init(acc_device_default)\n",
    );
    let wanted = [BEGIN, "if (n > 3) goto 10", "if (n > 2) continue", "10 continue", END];
    assert_eq!(lines(&text, To::OpenMp), wanted);
}

#[test]
fn jumps_to_a_question_about_a_queue_find_the_wait_before_it() {
    let text = with_library(
        "  if (n > 3) goto 10\n  a(1) = 1\n10 if (acc_async_test(1)) n = 3\n  do 20 i = 1, n\n20 if (acc_async_test(2)) n = 3\n",
    );
    let lines = trimmed(&translated(&text, To::OpenMp));
    let label = lines.iter().position(|line| *line == "10 continue").expect("the label");
    assert!(lines[label + 1].starts_with("!$omp task if(.false.)"), "{lines:#?}");
    assert_eq!(lines[label + 3], "if (.true.) n = 3", "{lines:#?}");
    assert!(lines.iter().any(|line| line == "20 if (acc_async_test(2)) n = 3"), "{lines:#?}");
}

#[test]
fn a_statement_may_ask_about_several_queues_where_other_lines_come() {
    let text = with_library("  if (acc_async_test(1) .and. acc_async_test(2)) n = 3\n");
    let lines = trimmed(&translated(&text, To::OpenMp));
    let first = lines.iter().position(|line| *line == BEGIN).expect("the begin of the data");
    for at in [1, 3] {
        assert!(lines[first + at].starts_with("!$omp task if(.false.)"), "{lines:#?}");
    }
    assert_eq!(lines[first + 5..][..2], ["if (.true. .and. .true.) n = 3", END], "{lines:#?}");
}

#[test]
fn an_end_belongs_to_no_loop_before_another_one() {
    let text = "subroutine f(n, a)\ninteger :: n, i\nreal :: a(n)\n!$acc parallel loop\ndo i = 1, n\na(i) = 1\nend do\n\
                !$acc parallel loop gang seq\ndo i = 1, n\na(i) = 2\nend do\n!$acc end parallel loop\nend subroutine\n";
    let made = String::from_utf8(translated(text, To::OpenMp).text).unwrap();
    let wanted = text.replacen("!$acc parallel loop\n", "!$omp target teams distribute parallel do\n", 1);
    assert_eq!(made, wanted);
}

#[test]
fn what_another_build_names_is_there_after_the_data_of_declare() {
    let text = "module m\nreal :: s\n!$acc declare copyin(s)\nend module\nsubroutine f(n, a)\nuse m\nreal :: a(n), w(5)\n\
                !$acc declare copy(a)\ndo i = 1, 5\n#ifdef A\ncall g(s)\n#endif\nend do\nend subroutine\n";
    let made = translated(text, To::Cuda);
    let lines = trimmed(&made);
    let begin =
        lines.iter().position(|line| line.starts_with("call acc2omp_begin")).expect("the begin of the data");
    assert!(lines[begin..].iter().any(|line| line.starts_with("call acc2omp_declare_copyin")), "{lines:#?}");
}
