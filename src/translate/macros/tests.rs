//! Macros that write directives: which are written out, and where.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

#![allow(clippy::unwrap_used)]
use std::sync::Arc;

use super::*;
use crate::translate::Header;

/// Translates `text` with a header; the result's lines that differ, and the codes of what is said.
fn check(header: &str, text: &str, expected: &[&str]) {
    let mut source = Source::new("a.c", text.as_bytes().to_vec(), Language::C);
    let file = SourceFile::new("a.h", header.as_bytes().to_vec(), Language::Header);
    source.headers.push(Arc::new(Header::new(file)));
    let translation = crate::translate::translate(&source, &Options::default());
    let new = String::from_utf8(translation.text).unwrap();
    let old: Vec<&str> = text.lines().collect();
    let changed = new.lines().filter(|line| !old.contains(line)).map(str::to_owned);
    let said = translation.diagnostics.iter().map(|diag| diag.code.to_string());
    let left = translation.directives.iter().filter(|one| one.outcome == Outcome::Left);
    let left = left.map(|one| format!("left {}", source.file.text(one.span)));
    assert_eq!(changed.chain(said).chain(left).collect::<Vec<_>>(), expected);
}

fn body(inside: &str) -> String {
    format!("void f(int n, double a[10]) {{\n{inside}\n}}\n")
}

const LOOP: &str = "for (int i = 0; i < 10; i++) a[i] = i;\n";

#[test]
fn a_header_may_have_the_macro_for_the_text() {
    let text = body(&format!("PRAGMA(acc parallel loop copy(a[0:10]))\n{LOOP}"));
    let new = "PRAGMA(omp target teams distribute parallel for map(tofrom: a[0:10]))";
    check("#define PRAGMA(x) _Pragma(#x)\n", &text, &[new]);
}

/// A header's macro for the words after `acc`.
const ACC: &str = "#define PRAGMA(x) _Pragma(#x)\n#define ACC(x) PRAGMA(acc x)\n";

#[test]
fn the_words_of_a_header_s_macro_change_in_the_body_that_uses_it() {
    let text = "#define SUM(op, s) ACC(parallel loop reduction(op: s))\n".to_owned()
        + &body(&format!("double s = 1;\nSUM(+, s)\n{LOOP}SUM(*, s)\n{LOOP}"));
    let new = "PRAGMA(omp target teams distribute parallel for reduction(op:s) map(tofrom: s))";
    check(ACC, &text, &[&format!("#define SUM(op, s) {new}"), "A0218", "A0218"]);
}

#[test]
fn clauses_that_another_macro_gives_such_words_leave_them() {
    let more = "#ifdef WIDE\n#define MORE num_gangs(4)\n#else\n#define MORE num_gangs(3)\n#endif\n";
    let text = more.to_owned() + "#define GO ACC(parallel loop MORE)\n" + &body(&format!("GO\n{LOOP}"));
    check(ACC, &text, &["A0015", "left parallel loop MORE"]);
}

#[test]
fn clauses_of_a_macro_in_the_words_of_a_pragma_are_known() {
    let text = "#define MORE num_gangs(4)\n".to_owned()
        + &body(&format!("PRAGMA(acc parallel loop copy(a[0:10]) MORE)\n{LOOP}"));
    let new = "PRAGMA(omp target teams distribute parallel for num_teams(4) map(tofrom: a[0:10]))";
    check(ACC, &text, &[new]);
}

#[test]
fn clauses_of_a_header_s_macro_are_known_to_a_pragma() {
    let text = body(&format!("#pragma acc parallel loop CL WIDE(32)\n{LOOP}"));
    let new = "#pragma omp target teams distribute parallel for thread_limit(32) map(tofrom: a[0:10])";
    check("#define CL copy(a[0:10])\n#define WIDE(x) vector_length(x)\n", &text, &[new]);
}

#[test]
fn a_word_that_is_put_together_is_reported() {
    let text = "// acc\n#define DO(x) _Pragma(#x)\n#define GO(n) DO(ac##c parallel n copy(a[0:10]))\n"
        .to_owned()
        + &body(&format!("GO(loop)\n{LOOP}"));
    check("", &text, &["A0010", "left GO(loop)"]);
}

#[test]
fn a_name_that_another_branch_makes_openacc_of_is_reported() {
    let names = "#ifdef HOST\n#define TO omp\n#else\n#define TO acc\n#endif\n";
    for names in [names.to_owned(), names.replace("ifdef", "ifndef")] {
        let text = "#define DO(x) _Pragma(#x)\n#define EV(x) DO(x)\n#define GO(x) EV(TO x)\n".to_owned()
            + &names
            + &body(&format!("GO(parallel loop copy(a[0:10]))\n{LOOP}"));
        check("", &text, &["A0010", "left GO(parallel loop copy(a[0:10]))"]);
    }
}

#[test]
fn a_call_beside_a_directive_that_is_left_changes_once() {
    let more = "#ifdef WIDE\n#define MORE num_gangs(4)\n#else\n#define MORE num_gangs(3)\n#endif\n";
    let text = format!("{more}#define GO(a) ACC(parallel loop MORE) {}", LOOP.trim_end())
        + " acc_wait(1);\n#define TWICE(a) GO(a) GO(a)\n"
        + &body("TWICE(a)");
    let new = format!("#define GO(a) ACC(parallel loop MORE) {} acc2omp_wait(1);", LOOP.trim_end());
    check(ACC, &text, &["#include \"acc2omp.h\"", &new, "A0015", "left parallel loop MORE"]);
}

#[test]
fn a_directive_in_a_header_is_written_where_its_macro_is_used() {
    let text = body(&format!("#pragma acc parallel copy(a[0:10])\n{{\nINNER\n{LOOP}}}"));
    let new = "_Pragma(\"omp target teams distribute parallel for map(tofrom: a[0:10])\")";
    check("#define INNER _Pragma(\"acc loop\")\n", &text, &[new]);
    // With another definition it would be something else.
    let define = "#ifdef A\n#define INNER _Pragma(\"acc loop\")\n#else\n#define INNER\n#endif\n";
    let directive = "left #pragma acc parallel copy(a[0:10])";
    check(define, &text, &["A0010", directive, "left INNER"]);
}

#[test]
fn a_macro_that_is_empty_in_the_branch_that_is_shown_counts() {
    let define = "#define PRAGMA(x) _Pragma(#x)\n#ifdef GPU\n#define ACC(x) PRAGMA(acc x)\n\
                      #elif defined(CPU)\n#define ACC(x) PRAGMA(omp parallel for)\n#else\n#define ACC(x)\n#endif\n";
    let text = body(&format!("ACC(parallel loop copy(a[0:10]))\n{LOOP}"));
    let new = "ACC(target teams distribute parallel for map(tofrom: a[0:10]))";
    check("", &(define.to_owned() + &text), &["#define ACC(x) PRAGMA(omp x)", new]);
    // A header's stays as it is.
    check(define, &text, &["A0010", "left ACC(parallel loop copy(a[0:10]))"]);
}

#[test]
fn a_macro_counts_until_it_is_defined_again() {
    let define = |words: &str| format!("#define LOOP _Pragma(\"acc {words}\")\n");
    let region = format!("LOOP\n{LOOP}#undef LOOP\n{}LOOP\n{LOOP}", define("parallel loop num_gangs(3)"));
    let text = define("parallel loop copy(a[0:10])") + &body(&region);
    let new =
        |clause: &str| format!("#define LOOP _Pragma(\"omp target teams distribute parallel for {clause}\")");
    check("", &text, &[&new("map(tofrom: a[0:10])"), &new("num_teams(3)"), "A0218"]);
}

#[test]
fn a_use_in_a_region_that_is_left_leaves_the_other_uses() {
    let good = format!("#pragma acc parallel copy(a[0:10])\n{{\nINNER\n{LOOP}}}\n");
    let bad = format!("#pragma acc parallel frobnicate\n{{\nINNER\n{LOOP}}}\n");
    let text = "#define INNER _Pragma(\"acc loop\")\n".to_owned() + &body(&(good + &bad));
    let said = [
        "A0012",
        "A0002",
        "left _Pragma(\"acc loop\")",
        "left #pragma acc parallel copy(a[0:10])",
        "left #pragma acc parallel frobnicate",
    ];
    check("", &text, &said);
}

#[test]
fn a_block_may_begin_in_one_macro_and_end_in_another() {
    let text = "#define BEGIN _Pragma(\"acc data copy(a[0:10])\") {\n#define END }\n".to_owned()
        + &body(&format!("BEGIN\n_Pragma(\"acc parallel loop\")\n{LOOP}END"));
    let begin = "#define BEGIN _Pragma(\"omp target data map(tofrom: a[0:10])\") {";
    check("", &text, &[begin, "_Pragma(\"omp target teams distribute parallel for\")"]);
}

#[test]
fn a_header_keeps_the_macros_that_others_may_use() {
    let define = |name: &str| format!("#define {name} _Pragma(\"acc parallel loop\")\n");
    let uses = body(&format!("KEPT\n{LOOP}OWN\n{LOOP}"));
    let text = define("KEPT") + &define("OWN") + &uses + "#undef OWN\n";
    let source = Source::new("a.h", text.into_bytes(), Language::Header);
    let translation = crate::translate::translate(&source, &Options::default());
    let new = String::from_utf8(translation.text).unwrap();
    assert!(new.contains("#define KEPT _Pragma(\"acc "), "{new}");
    assert!(new.contains("#define OWN _Pragma(\"omp "), "{new}");
    assert!(translation.diagnostics.iter().any(|diag| diag.code.0 == 10));
}

#[test]
fn a_macro_that_names_itself_or_has_no_end_does_no_harm() {
    let text = "#define A B _Pragma(\"acc wait\")\n#define B A\n#define F(x) _Pragma(#x\n".to_owned();
    let text = text + &body("A; F(acc wait); F(acc wait");
    let source = Source::new("a.c", text.into_bytes(), Language::C);
    let translation = crate::translate::translate(&source, &Options::default());
    assert!(translation.edits.len() < 9);
}
