//! What directives need in branches of the preprocessor that hold a part of their code.
//!
//! Invariant: each branch has it, or it is said that the branches differ.

use acc2omp::source::{Form, Language};
use acc2omp::{Code, Options, Source, To, Translation, translate};

fn translated(text: &str, language: Language, to: To) -> Translation {
    let source = Source::new("branches", text.as_bytes().to_vec(), language);
    translate(&source, &Options { to, ..Options::default() })
}

fn says(made: &Translation, code: u16) -> bool {
    made.diagnostics.iter().any(|one| one.code == Code(code))
}

/// How often a text is in what a source becomes, and whether it is said that branches differ.
fn count(made: &Translation, word: &str) -> (usize, bool) {
    (String::from_utf8_lossy(&made.text).matches(word).count(), says(made, 250))
}

#[test]
fn an_else_belongs_to_its_own_if() {
    let code = "void f(int n, double *a)\n{\n    if (n > 3)\n#pragma acc parallel loop copy(a[0:n])\n        for (int i = 0; i < n; i++)\n\
                #ifdef B\n            a[i] = 2;\n#else\n            a[i] = 3;\n#endif\n    else\n        a[0] = 1;\n}\n";
    let made = translated(code, Language::C, To::Cuda);
    assert_eq!(String::from_utf8_lossy(&made.text), code);
    assert!(says(&made, 401), "{:?}", made.diagnostics);
}

#[test]
fn lines_at_the_ends_of_code_are_in_each_branch() {
    let record = "typedef struct { double *a; } S;\n";
    let at_the_end = "void f(int n, S *o)\n{\n#pragma acc parallel loop present(o) attach(o->a)\n    for (int i = 0; i < n; i++)\n\
                      #ifdef B\n    {\n        o->a[i] = 2;\n    }\n#else\n    {\n        o->a[i] = 3;\n    }\n#endif\n}\n";
    let made = translated(&format!("{record}{at_the_end}"), Language::C, To::OpenMp);
    assert_eq!(count(&made, "acc2omp_detach"), (2, false));
    let at_the_start = "void f(int n, S *o)\n{\n#pragma acc data present(o) attach(o->a)\n#ifdef B\n    {\n#else\n    {\n\
                        n++;\n#endif\n        o->a[0] = n;\n    }\n}\n";
    let made = translated(&format!("{record}{at_the_start}"), Language::C, To::OpenMp);
    assert_eq!(count(&made, "acc2omp_attach"), (2, false));
}

#[test]
fn regions_end_in_each_branch_and_before_its_jumps() {
    let data = "void f(int n, double *a)\n{\n#pragma acc data copy(a[0:n])\n    {\n";
    for (rest, ends) in [
        ("#ifdef B\n        a[0] = 2;\n    }\n#else\n    }\n#endif\n}\n", 2),
        ("#ifdef B\n        if (n > 3)\n            return;\n#endif\n    }\n}\n", 2),
        // Conditions on one name are more than the views that are tried, and choose alike.
        (
            &format!(
                "{}    }}\n}}\n",
                "#ifdef B\n        if (n > 3)\n            return;\n#endif\n".repeat(12)
            ),
            13,
        ),
    ] {
        for text in [format!("{data}{rest}"), format!("#ifdef A\n{data}{rest}#endif\n")] {
            let made = translated(&text, Language::C, To::Cuda);
            assert_eq!(
                count(&made, "acc2omp_end();"),
                (ends, false),
                "{}",
                String::from_utf8_lossy(&made.text)
            );
        }
    }
}

#[test]
fn names_have_their_meaning_in_each_branch() {
    let text = "void g(double *);\nvoid f(double *a)\n{\n#pragma acc host_data use_device(a)\n    {\n#ifdef B\n        g(a);\n#endif\n\
                g(a);\n    }\n}\n";
    let made = translated(text, Language::C, To::Cuda);
    assert_eq!(count(&made, "g(a_device)"), (2, false));
}

#[test]
fn allocations_are_followed_in_each_branch() {
    let text = "module m\nreal, allocatable :: q(:)\n!$acc declare create(q)\ncontains\nsubroutine s(n)\ninteger :: n\n\
                #ifdef B\nallocate(q(n))\n#else\nallocate(q(2*n))\n#endif\nend subroutine\nend module\n";
    let language = Language::Fortran(Form::Free);
    assert_eq!(count(&translated(text, language, To::OpenMp), "enter data map(alloc: q)"), (2, false));
    assert_eq!(count(&translated(text, language, To::Cuda), "call acc2omp_enter_create"), (2, false));
    // Where the procedure has no `use` for it in the other view, it is said.
    let text = text.replace("#else\nallocate(q(2*n))\n", "");
    assert!(says(&translated(&text, language, To::Cuda), 250));
}

#[test]
fn what_begins_in_one_branch_differs() {
    let text = "subroutine k(n, a)\ninteger :: n, i\nreal :: a(n), b(10)\n!$acc declare create(b)\n#ifdef B\nif (n > 3) return\n#endif\n\
                !$acc parallel loop\ndo i = 1, n\na(i) = b(i)\nend do\nend subroutine\n";
    for to in [To::OpenMp, To::Cuda] {
        assert!(says(&translated(text, Language::Fortran(Form::Free), to), 250));
    }
}

#[test]
fn data_that_one_branch_brings_differs() {
    let c = "double a[9], b[9];\nvoid f(void)\n{\n#ifdef ONE\n#pragma acc data copy(a)\n#else\n\
             #pragma acc data copy(a) copyin(b)\n#endif\n    {\n#pragma acc parallel loop present(a)\n\
             for (int i = 0; i < 9; i++)\n            a[i] += b[i];\n    }\n}\n";
    let fortran = "subroutine f(n, a, b)\ninteger :: n, i\nreal :: a(n), b(n)\n#ifdef ONE\n!$acc data copy(a)\n#else\n\
                   !$acc data copy(a) copyin(b)\n#endif\n!$acc parallel loop present(a)\ndo i = 1, n\na(i) = b(i)\nend do\n\
                   !$acc end data\nend subroutine\n";
    for (text, language) in [(c, Language::C), (fortran, Language::Fortran(Form::Free))] {
        assert!(says(&translated(text, language, To::Cuda), 250));
    }
}

#[test]
fn a_dummy_argument_that_is_allocated_is_not_declared_for_cuda() {
    let text = "subroutine l(n, q)\ninteger :: n, i\nreal, allocatable :: q(:)\n!$acc declare create(q)\nallocate(q(n))\n\
                !$acc parallel loop\ndo i = 1, n\nq(i) = 1\nend do\ndeallocate(q)\nend subroutine\n";
    assert!(says(&translated(text, Language::Fortran(Form::Free), To::Cuda), 401));
}

#[test]
fn lines_before_a_construct_come_before_all_of_it() {
    let text = "module m\nreal :: g\n!$acc declare copyin(g)\ncontains\nsubroutine f(n, v)\ninteger :: n, i\nreal :: v(n)\n\
                !$acc parallel loop\ndo i = 1, n\n#ifdef B\nv(i) = g\n#endif\nend do\nend subroutine\nend module\n";
    let made = translated(text, Language::Fortran(Form::Free), To::Cuda);
    let text = String::from_utf8_lossy(&made.text);
    assert!(!text.contains("!$acc") && !text.contains("do i"), "{text}");
}

#[test]
fn an_atomic_in_a_branch_of_a_construct_in_order_stays() {
    let text = "subroutine f(n, s)\ninteger :: n, i\nreal :: s\n!$acc serial\ndo i = 1, n\nend do\n#ifdef B\n!$acc atomic update\n\
                s = s + 1\n#endif\n!$acc end serial\nend subroutine\n";
    let made = translated(text, Language::Fortran(Form::Free), To::OpenMp);
    assert_eq!(count(&made, "!$omp atomic update"), (1, false));
}

#[test]
fn a_routine_that_one_view_leaves_stays_for_others() {
    let text = "#pragma acc routine seq\nint h(int n)\n{\n#ifndef B\n#pragma acc\n#endif\n    return n;\n}\n#ifdef B\n#pragma acc\n#endif\n";
    let made = translated(text, Language::Cpp, To::Cuda);
    assert!(made.edits.is_empty() && !says(&made, 902), "{:?}", made.diagnostics);
}

#[test]
fn a_build_that_passes_over_code_differs() {
    let text = "void f(int n, double *a)\n{\n    double t = 3;\n#pragma acc parallel loop copy(a[0:n])\n    for (int i = 0; i < n; i++) {\n\
                #ifndef B\n        t = i;\n#endif\n        a[i] = t;\n    }\n}\n";
    let made = translated(text, Language::C, To::OpenMp);
    assert!(count(&made, "private(t)").1);
    // Its values are known to nobody.
    let text = format!(
        "#ifndef N\n#define N 10\n#endif\n{}",
        text.replace("#ifndef B\n", "#if 1\n").replace("n,", "n ,")
    );
    let made = translated(&text, Language::C, To::OpenMp);
    assert_eq!(count(&made, "private(t)"), (1, false));
}

#[test]
fn a_condition_on_openacc_and_another_name_has_branches_of_the_translation() {
    let text = "void f(int n, double *a)\n{\n    double t = 3;\n#pragma acc parallel loop copy(a[0:n])\n    for (int i = 0; i < n; i++) {\n\
                #if defined(_OPENACC) && defined(B)\n        t = i;\n#endif\n        a[i] = t;\n    }\n}\n";
    assert!(says(&translated(text, Language::C, To::OpenMp), 250));
    let alone = translated(&text.replace(" && defined(B)", ""), Language::C, To::OpenMp);
    assert_eq!(count(&alone, "private(t)"), (1, false));
}

#[test]
fn macros_that_builds_define_otherwise_are_compared() {
    let loop_head = "#ifdef B\n#define REPEAT for (int r = 0; r < 3; r++)\n#else\n#define REPEAT\n#endif\ndouble a[9];\n\
                     double f(void)\n{\n    double t = 1;\n    REPEAT {\n        a[0] += t;\n#pragma acc kernels\n\
                     \x20       for (int i = 0; i < 9; i++) {\n            t = i + 1;\n            a[i] += t;\n        }\n    }\n\
                     \x20   return a[0];\n}\n";
    let distance = "#ifndef LAG\n#define LAG 0\n#endif\nvoid f(double *restrict a)\n{\n#pragma acc kernels copy(a[0:9])\n\
                    \x20   for (int i = 1; i < 9; i++)\n        a[i] = a[i - LAG] + 1;\n}\n";
    // An empty one keeps a file from being read twice.
    let guard = distance
        .replace("#ifndef LAG\n#define LAG 0\n#endif\n", "#ifndef GUARD\n#define GUARD\n")
        .replace(" - LAG", "")
        + "#endif\n";
    for to in [To::OpenMp, To::Cuda] {
        assert!(says(&translated(loop_head, Language::C, to), 250), "{to:?}");
        assert!(says(&translated(distance, Language::C, to), 250), "{to:?}");
        assert!(!says(&translated(&guard, Language::C, to), 250), "{to:?}");
    }
}
