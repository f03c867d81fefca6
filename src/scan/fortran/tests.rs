//! What the walk finds in small sources.
//!
//! Invariant: each case is one line of a table.

#![allow(clippy::unwrap_used)]

use super::*;
use crate::scan::{View, scan};
use crate::source::{Form, Language};

fn read(form: Form, text: &str) -> (SourceFile, Scan) {
    let file = SourceFile::new("t", text.as_bytes().to_vec(), Language::Fortran(form));
    let (scan, _) = scan(&file, &View::default());
    (file, scan)
}

/// The lines of the shadow without blanks at their ends; a run of blanks is shown as one.
fn shadow(form: Form, text: &str, expected: &[&str]) {
    let (_, scan) = read(form, text);
    let shadow = String::from_utf8_lossy(&scan.shadow).into_owned();
    let lines = shadow.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    let lines: Vec<String> = lines.filter(|line| !line.is_empty()).collect();
    assert_eq!(lines, expected, "{text}");
}

/// The directives: their bytes, their words joined by a blank, and their comments.
fn directives(form: Form, text: &str, expected: &[(&str, &str, &[&str])]) {
    let (file, scan) = read(form, text);
    let text_of = |span| file.text(span).into_owned();
    let found: Vec<(String, String, Vec<String>)> = scan
        .directives
        .iter()
        .map(|one| {
            let words: Vec<String> = one.words.iter().copied().map(text_of).collect();
            let comments = one.comments.iter().copied().map(text_of).collect();
            (text_of(one.span), words.join(" "), comments)
        })
        .collect();
    let expected: Vec<(String, String, Vec<String>)> = expected
        .iter()
        .map(|(span, words, comments)| {
            let comments = comments.iter().map(|comment| (*comment).to_owned()).collect();
            ((*span).to_owned(), (*words).to_owned(), comments)
        })
        .collect();
    assert_eq!(found, expected, "{text}");
}

#[test]
fn free_lines_are_joined() {
    use Form::Free;
    shadow(Free, "x = 1 ! one\n! two\ny = 2\n", &["x = 1", "y = 2"]);
    shadow(Free, "x = 1 & ! one\n  ! two\n\n  & + 2\ny = 2\n", &["x = 1 + 2", "y = 2"]);
    shadow(Free, "x = 'a!b' // \"it's\" ! c\n", &["x = 'a!b' // \"it's\""]);
    shadow(Free, "x = 'a!&\n  &b! c' ! d\ny = 1\n", &["x = 'a! b! c'", "y = 1"]);
    shadow(Free, "x = 'it''s' ! c\n", &["x = 'it''s'"]);
    shadow(Free, "x = 'open\ny = 1 ! c\n", &["x = 'open", "y = 1"]);
    shadow(Free, "x = 1 &\r\n  + 2\r\n", &["x = 1 + 2"]);
    shadow(Free, "x = 1 &\n", &["x = 1"]);
    shadow(Free, "x = 1 &\n  &\n  + 2\n", &["x = 1 + 2"]);
    shadow(Free, "a = 1; b = 2\n", &["a = 1; b = 2"]);
    shadow(Free, "!$ use omp_lib\n!$omp parallel\n!@acc use openacc\n", &["use openacc"]);
    shadow(Free, "call f(a, &\n!$acc loop\n  b)\n", &["call f(a, b)"]);
    shadow(Free, "include 'a.h' ! c\nx = 1\n", &["x = 1"]);
    shadow(Free, "\u{feff}x = 1\n", &["x = 1"]);
}

#[test]
fn fixed_lines_are_joined() {
    use Form::Fixed;
    shadow(Fixed, "c one\nC two\n* three\nd four\n      x = 1 ! five\n! six\n", &["x = 1"]);
    shadow(Fixed, "      x = 1\nc one\n\n     &  + 2\n  10  y = 2\n", &["x = 1 + 2", "10 y = 2"]);
    shadow(Fixed, "     0x = 1\n     1  + 2\n", &["x = 1 + 2"]);
    shadow(Fixed, &format!("{:72}SEQ00010\n     +  + 2\n", "      x = 1"), &["x = 1 + 2"]);
    shadow(Fixed, "      x = 'a!\n     &b! c' ! d\n", &["x = 'a! b! c'"]);
    shadow(Fixed, "      x = 1\n     !  + 2\n    ! c\n", &["x = 1 + 2"]);
    shadow(Fixed, "\tx = 1\n\t1 + 2\n\ty = 2\n", &["x = 1 + 2", "y = 2"]);
    shadow(Fixed, &format!("\tx = 1 + {:80}\n", "2 +"), &["x = 1 + 2 +"]);
    shadow(Fixed, "c@acc use openacc\n!@acc&, only: a\n", &["use openacc , only: a"]);
    shadow(Fixed, "      x = 1\r\n     & + 2\r\n", &["x = 1 + 2"]);
}

#[test]
fn branches_are_hidden_from_what_goes_on() {
    let text = "call f(a, &\n#ifdef X\n  & b, &\n#else\n  & c, &\n#endif\n  & d)\ny = 1\n";
    shadow(Form::Free, text, &["call f(a, c, d)", "y = 1"]);
    let text = "call f(a, &\n#ifdef _OPENACC\n  & b)\n#else\n  & c)\n#endif\ny = 1\n";
    shadow(Form::Free, text, &["call f(a, b)", "y = 1"]);
    let text = "      call f(a,\n#ifdef X\n     & b,\n#endif\n     & d)\n      y = 1\n";
    shadow(Form::Fixed, text, &["call f(a, d)", "y = 1"]);
    shadow(Form::Free, "#define X a \\\n  b\n#if 0 /* c */\nx\n#endif\ny\n", &["y"]);
    shadow(Form::Free, "  #ifdef X\nx\n  # endif\ny\n", &["y"]);
    shadow(Form::Fixed, "      x = 1\n     #if\n      #if 0\nx\n#endif\n", &["x = 1 if"]);
}

#[test]
fn names_like_statements_are_hidden() {
    use Form::Free;
    shadow(Free, "data(i) = 1; end = 2\n", &["zzzz(i) = 1; zzz = 2"]);
    shadow(Free, "Call (f(1), ')') % x [2] = 1\n", &["zzzz (f(1), ')') % x [2] = 1"]);
    shadow(Free, "open%x(1)%y => p\n10 if(i)(1:2) = 'x'\n", &["zzzz%x(1)%y => p", "10 zz(i)(1:2) = 'x'"]);
    shadow(Free, "write: do 10 while = 1, n\n", &["zzzzz: do 10 zzzzz = 1, n"]);
    shadow(Free, "if (a == b) &\n read = 2\n", &["if (a == b) zzzz = 2"]);
    shadow(Free, "x = ';'; where (a == ';') print(:) = 2\n", &["x = ';'; where (a == ';') zzzzz(:) = 2"]);
    shadow(Form::Fixed, "      DATA(1)\n     &  = 2\n", &["zzzz(1) = 2"]);
}

#[test]
fn statements_are_no_names() {
    for text in [
        "data a / 1 /",
        "if (a == b) x = 1",
        "write(*, *) (a(i), i = 1, n)",
        "open(unit = 1, file = 'x')",
        "real, parameter :: x = 1",
        "type(t), pointer :: p => null()",
        "parameter (x = 1)",
        "do i = 1, n",
        "associate (a => b)",
        "end do",
        "public :: operator(==)",
        "if (a) 10, 20, 30",
        "read (",
    ] {
        shadow(Form::Free, &format!("{text}\n"), &[text]);
    }
}

#[test]
fn free_directives_are_found() {
    use Form::Free;
    directives(Free, "  !$ACC loop ! one\n", &[("!$ACC loop", "loop", &["! one"])]);
    directives(Free, "x = 1 !$acc loop\n!$accloop\n! !$acc loop\n'!$acc'\n", &[]);
    let text = "!$acc loop & ! one\n! two\n\n!$acc&  gang & \r\n!$acc & vector(8) ! three\r\n";
    let words = "!$acc loop & ! one\n! two\n\n!$acc&  gang & \r\n!$acc & vector(8)";
    directives(Free, text, &[(words, "loop gang vector(8)", &["! one", "! two", "! three"])]);
    let both: [(&str, &str, &[&str]); 2] = [("!$acc data", "data", &[]), ("!$acc loop", "loop", &[])];
    directives(Free, "!$acc data\n!$acc loop\n! no\n", &both);
    directives(Free, "!$acc loop &\nx = 1\n", &[("!$acc loop &", "loop", &[])]);
    directives(
        Free,
        "!$acc routine bind('a!b')\n",
        &[("!$acc routine bind('a!b')", "routine bind('a!b')", &[])],
    );
    directives(Free, "!$acc &\n!$acc loop\n", &[("!$acc &\n!$acc loop", "loop", &[])]);
    directives(Free, "!$acc\tloop", &[("!$acc\tloop", "loop", &[])]);
}

#[test]
fn fixed_directives_are_found() {
    use Form::Fixed;
    directives(Fixed, "c$acc loop ! one\n", &[("c$acc loop", "loop", &["! one"])]);
    directives(Fixed, "      !$acc loop\nc$accelerated\n", &[]);
    let text = "!$ACC parallel\n! one\nC$ACC& copy(a) ! two\n*$acc0loop\n      x = 1\n!$acc& no\n";
    let first = "!$ACC parallel\n! one\nC$ACC& copy(a)";
    directives(
        Fixed,
        text,
        &[
            (first, "parallel copy(a)", &["! one", "! two"]),
            ("*$acc0loop", "loop", &[]),
            ("!$acc& no", "no", &[]),
        ],
    );
    let long = format!("{:72}SEQ00010\n", "!$acc loop");
    directives(Fixed, &long, &[("!$acc loop", "loop", &[])]);
    let tabbed = format!("!$acc\tloop {:>80}\n", "gang");
    let span = tabbed.trim_end();
    directives(Fixed, &tabbed, &[(span, &span[6..], &[])]);
}

#[test]
fn directives_in_branches_are_found() {
    let text = "#ifdef X\n!$acc data\n#else\n!$acc loop\n#endif\nx = 1\n";
    let (_, scan) = read(Form::Free, text);
    let active: Vec<bool> = scan.directives.iter().map(|one| one.active).collect();
    assert_eq!(active, [false, true]);
    assert_eq!(scan.directives.last().unwrap().next_code, text.find("x = 1").unwrap() as u32);
    for parted in [
        "!$acc data &\n#ifdef X\n!$acc copy(a)\n#else\n!$acc copy(b)\n#endif\n",
        "!$acc data &\n#ifdef X\n!$acc copy(a)\n#endif\nx = 1\n",
    ] {
        let (_, scan) = read(Form::Free, parted);
        let places: Vec<Option<&str>> = scan.directives.iter().map(|one| one.in_macro.as_deref()).collect();
        assert_eq!(places, [Some("#if")], "{parted}");
    }
    let (_, scan) = read(Form::Fixed, "#define LOOP !$acc loop\n");
    assert_eq!(scan.directives.first().unwrap().in_macro.as_deref(), Some("LOOP"));
}

#[test]
fn names_and_includes_are_found() {
    let text = "use OpenACC ! acc_no\n#define N Acc_Init\n#if defined(_OPENACC)\n  x = ACC_get + 1_acc_k\n#else\n\
                print *, 'acc_no', _OPENACC\n#endif\ninclude \"openacc_lib.h\"\n#include \"a.h\"\n#include <b.h>\n";
    let (file, scan) = read(Form::Free, text);
    let names: Vec<(&str, bool, bool)> =
        scan.names.iter().map(|one| (one.name.as_str(), one.active, one.in_macro)).collect();
    assert_eq!(
        names,
        [
            ("openacc", true, false),
            ("acc_init", true, true),
            ("acc_get", true, false),
            ("acc_k", true, false),
            ("_OPENACC", false, false)
        ]
    );
    let paths: Vec<(&str, bool)> = scan.includes.iter().map(|one| (one.path.as_str(), one.quoted)).collect();
    assert_eq!(paths, [("openacc_lib.h", true), ("a.h", true), ("b.h", false)]);
    let mut met = Vec::new();
    let outline = crate::scan::Outline::of(&file);
    outline.follow(&mut crate::scan::Defined::default(), &mut |path, is_quoted, active, _| {
        met.extend(is_quoted.then(|| (path.to_owned(), active)));
    });
    assert_eq!(met, [("openacc_lib.h".to_owned(), true), ("a.h".to_owned(), true)]);
    assert_eq!(scan.guards.len(), 1);
    assert_eq!(scan.defines.len(), 1);
    let (file, scan) = read(Form::Fixed, "*@acc use openacc\n      end\n");
    assert_eq!(file.text(*scan.conditionals.first().unwrap()), "*@acc");
}

#[test]
fn includes_are_read_as_the_walk_reads_them() {
    let free = [
        "include 'a'\nx = 1\n INCLUDE \"b.h\" ! c\r\n",
        "x = 1 &\ninclude 'a'\n",
        "x = 'a&\ninclude \"b\"\n",
        "call f(& ! c\n! c\n\n#if X\ninclude 'a'\n#endif\n",
        "x = a & b\ninclude 'c'\ninclude 'd'\n",
        "! include 'a'\n!$acc include\n!@acc include 'b'\nprint *, 'include', \"include 'a'\"\n",
        "#define include 'a' \\\ninclude 'b'\ninclude 'c'; include 'd'\n#include \"e\"\n",
        "\u{feff}include 'a'\n",
        "include 'it''s'\ninclude a\n& include 'b'\n10 include 'c'",
    ];
    let fixed = [
        "      include 'a'\n   include 'b'\n\tinclude 'c'\n",
        "      x = 1\n     &include 'a'\n     1include 'b'\n",
        "c     include 'a'\n*$acc include\nc@acc include 'b'\n     0include 'c'\n",
        "      include                                                         'a'\n",
        "      call f('a\n     & include\n      include 'b'\n",
    ];
    let all = free.map(|text| (Form::Free, text)).into_iter().chain(fixed.map(|text| (Form::Fixed, text)));
    for (form, text) in all {
        let file = SourceFile::new("t", text.as_bytes().to_vec(), Language::Fortran(form));
        let walked = assemble(&file, &events(&file), &Shown::default()).includes;
        assert_eq!(format!("{:?}", includes(&file)), format!("{walked:?}"), "{text}");
    }
}
