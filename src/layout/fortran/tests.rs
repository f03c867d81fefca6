//! Small sources and what becomes of them.
//!
//! Invariant: each case shows whole texts, before and after.

#![allow(clippy::unwrap_used)]

use proptest::prelude::*;

use super::*;
use crate::edit::{EditSet, Rewrite};
use crate::scan::View;
use crate::source::Language;

fn file(form: Form, text: &str) -> SourceFile {
    SourceFile::new("t", text.as_bytes().to_vec(), Language::Fortran(form))
}

fn applied(file: &SourceFile, edits: Vec<Edit>) -> String {
    let mut set = EditSet::default();
    set.add(Rewrite { owner: 0, edits }).unwrap();
    for edit in unread_columns(file, set.edits()) {
        set.add_beside(1, edit).unwrap();
    }
    String::from_utf8(set.apply(&file.bytes)).unwrap()
}

/// Puts words, split by `|`, in place of the first directive.
fn relay(form: Form, text: &str, words: &str, expected: &str) {
    let file = file(form, text);
    let (scan, _) = scan::scan(&file, &View::default());
    let words: Vec<String> = words.split('|').map(str::to_owned).collect();
    let edit = relaid(&file, scan.directives.first().unwrap(), &words);
    assert_eq!(applied(&file, vec![edit]), expected, "{text}");
}

#[test]
fn a_directive_keeps_its_style() {
    use Form::{Fixed, Free};
    relay(Free, "  !$ACC  loop ! c\r\nx\r\n", "target|a(b)", "  !$OMP  target a(b) ! c\r\nx\r\n");
    relay(Free, "!$acc loop &\n!$acc& gang\n", "target|a", "!$omp target a\n");
    relay(Free, "!$acc parallel loop &  ! one\n!$acc&   gang\n", "target|a", "!$omp target a ! one\n");
    relay(
        Free,
        " !$acc loop & ! one\n ! two\n !$acc gang ! three\n",
        "target|a",
        " ! one\n ! two\n !$omp target a ! three\n",
    );
    relay(Fixed, "c$acc loop ! c\n", "target|a", "c$omp target a ! c\n");
    relay(Fixed, "*$ACC0loop\nC$ACC+ gang\n", "target", "*$OMP target\n");
    relay(
        Fixed,
        &format!("{:72}SEQ00010\nx\n", "!$acc loop"),
        "target|a",
        &format!("{:72}SEQ00010\nx\n", "!$omp target a"),
    );
    relay(Free, "!$acc loop", "target teams|a", "!$omp target teams a");
    let comment = format!("! {}", "c".repeat(113));
    relay(Free, &format!("!$acc loop      {comment}"), "target", &format!("!$omp target {comment}"));
    relay(
        Free,
        &format!("!$acc loop {comment}"),
        "target|map(a, b)",
        &format!("{comment}\n!$omp target map(a, b)"),
    );
}

#[test]
fn comments_keep_their_bytes() {
    let bytes = b"!$acc loop & ! \xfc\n! \xe9\n!$acc gang\n".to_vec();
    let file = SourceFile::new("t", bytes, Language::Fortran(Form::Free));
    let (scan, _) = scan::scan(&file, &View::default());
    let old = scan.directives.first().unwrap();
    let edit = relaid(&file, old, &["target".to_owned()]);
    assert_eq!(edit.text, b"! \xfc\n! \xe9\n!$omp target");
    assert_eq!(removed(&file, old.span).text, b"! \xfc\n! \xe9\n");
}

#[test]
fn a_long_directive_is_continued() {
    use Form::{Fixed, Free};
    let long = |count: usize| format!("map(to: {})", vec!["abcd"; count].join(", "));
    let words = format!("target|{}|{}", long(8), long(5));
    let (first, second) = (long(8), long(5));
    relay(Free, "  !$acc parallel\n", &words, &format!("  !$omp target {first} &\n  !$omp   {second}\n"));
    relay(
        Free,
        "  !$acc parallel  &\n  !$acc & copy(a) &\n  !$acc & copy(b)\n",
        &words,
        &format!("  !$omp target {first} &\n  !$omp & {second}\n"),
    );
    relay(
        Free,
        &format!("{:69}&\n{:69}&\n!$acc   copy(b)\n", "!$acc parallel", "!$acc   copy(a)"),
        &format!("target|{second}|{second}"),
        &format!("{:69}&\n!$omp   {second}\n", format!("!$omp target {second}")),
    );
    relay(Fixed, "!$acc parallel\n", &words, &format!("!$omp target {first}\n!$omp&   {second}\n"));
    relay(
        Fixed,
        "c$acc parallel\nc$acc1copy(a)\n",
        &format!("target|{}", long(14)),
        &format!("c$omp target map(to: {}\nc$omp1{})\n", ["abcd,"; 8].join(" "), ["abcd"; 6].join(", ")),
    );
}

#[test]
fn names_are_put_in_the_place_of_names() {
    let check = |form: Form, text: &str, expected: Option<&str>| {
        let file = file(form, text);
        let places = text.match_indices("s%x").map(|(at, name)| Span::new(at, at + name.len()));
        let names: Vec<(Span, String)> = places.map(|span| (span, "acc2omp_s_x".to_owned())).collect();
        let edits = respelled(&file, &names).map(|edits| applied(&file, edits));
        assert_eq!(edits.as_deref(), expected, "{text}");
    };
    check(Form::Free, " a = s%x(i) + s%x(j) ! s\n", Some(" a = acc2omp_s_x(i) + acc2omp_s_x(j) ! s\n"));
    let long = "1".repeat(50);
    check(
        Form::Fixed,
        &format!("      a = s%x(i) + {long}\n"),
        Some(&format!("      a = acc2omp_s_x(i) +\n     &  {long}\n")),
    );
    check(
        Form::Free,
        &format!("  a = '{long} {long}' // s%x // &\n    'b'\n"),
        Some(&format!("  a = '{long} {long}' // acc2omp_s_x // &\n    'b'\n")),
    );
    check(
        Form::Free,
        &format!("  a = '{long} {long}' // s%x // s%x // &\n    'b'\n"),
        Some(&format!("  a = '{long} {long}' // acc2omp_s_x // &\n    acc2omp_s_x // &\n    'b'\n")),
    );
    check(Form::Fixed, &format!("      s%x='{long} {}'\n", "1".repeat(10)), None);
}

#[test]
fn directives_and_statements_are_removed() {
    let check = |form: Form, text: &str, what: &str, expected: &str| {
        let file = file(form, text);
        let start = text.find(what).unwrap();
        let span = Span::new(start, start + what.len());
        assert_eq!(applied(&file, vec![removed(&file, span)]), expected, "{text}");
    };
    check(Form::Free, "a\n  !$acc end data ! done\nb\n", "!$acc end data", "a\n  ! done\nb\n");
    check(Form::Free, "a\n  !$acc a &\n !$acc b\nb\n", "!$acc a &\n !$acc b", "a\nb\n");
    check(Form::Free, "if (x) call f()\n", "call f()", "if (x) continue\n");
    check(Form::Free, "call f(a, & ! c\n  b)\nx", "call f(a, & ! c\n  b)", "! c\nx");
    check(Form::Fixed, "c$acc end data\nb\n", "c$acc end data", "b\n");
    check(Form::Fixed, "   10 call f\n", "call f", "   10 continue\n");
}

#[test]
fn lines_are_put_beside_code() {
    let check = |form: Form, text: &str, line: &str, before: Option<&str>, after: Option<&str>| {
        let file = file(form, text);
        let start = text.find("call f").unwrap();
        let like = Span::new(start, start + 6);
        let edit = inserted(&file, like.start, line).map(|edit| applied(&file, vec![edit]));
        assert_eq!(edit.as_deref(), before, "{text}");
        let edit = lines_after(&file, like.end, like, &[line.to_owned()]);
        assert_eq!(edit.map(|edit| applied(&file, vec![edit])).as_deref(), after, "{text}");
    };
    let free = "  call f ! c\n";
    check(Form::Free, free, "!$omp x", Some("  !$omp x\n  call f ! c\n"), Some("  call f ! c\n  !$omp x\n"));
    check(Form::Free, " 10 call f", "y", Some(" y\n 10 call f"), Some(" 10 call f\n y"));
    check(Form::Free, "a; call f; b\n", "y", None, None);
    check(
        Form::Fixed,
        "  10    call f\n",
        "!$omp x",
        Some("!$omp x\n  10    call f\n"),
        Some("  10    call f\n!$omp x\n"),
    );
    let near = "C$ACC loop\n        call f\n";
    let both = ["C$ACC loop\n        y = 1\n        call f\n", "C$ACC loop\n        call f\n        y = 1\n"];
    check(Form::Fixed, near, "y = 1", Some(both[0]), Some(both[1]));
    check(
        Form::Fixed,
        near,
        "!$omp x",
        Some("C$ACC loop\nC$OMP x\n        call f\n"),
        Some("C$ACC loop\n        call f\nC$OMP x\n"),
    );
}

#[test]
fn long_lines_are_continued() {
    let args = vec!["argument"; 14].join(", ");
    let first = ["argument,"; 5].join(" ");
    let file = file(Form::Fixed, "        call f\n");
    let edit = inserted(&file, 8, &format!("call g({args})")).unwrap();
    let text = String::from_utf8(edit.text).unwrap();
    assert!(text.starts_with(&format!("        call g({first}\n     &    argument,")), "{text}");
    assert!(text.lines().all(|line| line.len() <= 72), "{text}");
    let file = self::file(Form::Free, "        call f\n");
    let edit = inserted(&file, 8, &format!("call g({args}, 'it''s a literal, with blanks')")).unwrap();
    let text = String::from_utf8(edit.text).unwrap();
    assert!(text.lines().all(|line| line.len() <= 100), "{text}");
    assert!(text.contains("'it''s a literal, with blanks')\n"), "{text}");
}

#[test]
fn lines_take_the_place_of_code() {
    let check = |form: Form, text: &str, what: &str, lines: &[&str], expected: &str| {
        let file = file(form, text);
        let start = text.find(what).unwrap();
        let lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        let edit = replaced(&file, Span::new(start, start + what.len()), &lines);
        assert_eq!(applied(&file, vec![edit]), expected, "{text}");
    };
    check(Form::Free, "  call f ! c\n", "call f", &["!$omp x"], "  !$omp x ! c\n");
    check(
        Form::Fixed,
        "       a = 0 +\nC c\n     &  1\n",
        "a = 0 +\nC c\n     &  1",
        &["b"],
        "C c\n       b\n",
    );
    check(Form::Free, "  a = 0 ! c\n", "a = 0", &["do", "  a = 0"], "  ! c\n  do\n    a = 0\n");
    check(Form::Fixed, "       call f\n", "call f", &["!$omp x", "y = 1"], "!$omp x\n       y = 1\n");
    check(Form::Fixed, "!$acc wait\n       x\n", "!$acc wait", &["y = 1"], "       y = 1\n       x\n");
    let file = file(Form::Fixed, "!$acc loop\n       do i\n");
    let (scan, _) = scan::scan(&file, &View::default());
    let old = scan.directives.first().unwrap();
    assert_eq!(above(&file, old, &["y = 1".to_owned(), "!$omp x".to_owned()]), "       y = 1\n!$omp x\n");
}

/// Lines of a directive in some style, each with a comment if its bit is set.
fn written(form: Form, words: &[&str], sentinel: &str, indent: usize, comments: u8) -> String {
    let indent = " ".repeat(if form == Form::Free { indent } else { 0 });
    let mut text = String::new();
    for (at, word) in words.iter().enumerate() {
        let is_last = at + 1 == words.len();
        let mark = if form == Form::Fixed && at > 0 { "&" } else { " " };
        let tail = if form == Form::Free && !is_last { " &" } else { "" };
        let comment = if comments >> at & 1 == 1 { format!(" ! no {at}") } else { String::new() };
        text += &format!("{indent}{sentinel}{mark} {word}{tail}{comment}\n");
        if comments >> (at + 4) & 1 == 1 && !is_last {
            text += &format!("! line {at}\n");
        }
    }
    text + "      x = 1\n"
}

/// The words of the only directive, without blanks, and its comments in the order of their text.
fn content(form: Form, text: &str) -> (String, Vec<String>) {
    let file = file(form, text);
    let (scan, _) = scan::scan(&file, &View::default());
    assert_eq!(scan.directives.len(), 1, "{text}");
    let one = scan.directives.first().unwrap();
    let words: String = one.words.iter().map(|span| file.text(*span)).collect();
    let found = text.match_indices("! no ").chain(text.match_indices("! line "));
    let mut comments: Vec<String> =
        found.filter_map(|(at, _)| text.get(at..)?.lines().next().map(str::to_owned)).collect();
    comments.sort();
    (words.split_whitespace().collect(), comments)
}

proptest! {
    #[test]
    fn words_and_comments_survive(
        old in prop::collection::vec(prop::sample::select(&["loop", "gang", "copy(a, b)", "if('!' == \"&\")"][..]), 1..4),
        new in prop::collection::vec((0..5usize, 1..30usize), 1..8),
        fixed in any::<bool>(),
        large in any::<bool>(),
        indent in 0..30usize,
        comments in any::<u8>(),
    ) {
        let form = if fixed { Form::Fixed } else { Form::Free };
        let sentinel = if large { "!$ACC" } else { "!$acc" };
        let text = written(form, &old, sentinel, indent, comments);
        let words: Vec<String> = new.iter().map(|(kind, count)| match kind {
            0 => "x".repeat(*count),
            1 => format!("map(to: {})", vec!["abc"; *count].join(", ")),
            2 => format!("if({})", vec!["f(a, b) > 1"; *count / 4 + 1].join(" .and. ")),
            3 => format!("y('{}')", "! &".repeat(*count / 3)),
            _ => format!("z({})", vec!["a(1:n,2:m)"; *count].join(",")),
        }).collect();
        let source = file(form, &text);
        let (scan, _) = scan::scan(&source, &View::default());
        let edit = relaid(&source, scan.directives.first().unwrap(), &words);
        let made = applied(&source, vec![edit]);
        prop_assert_eq!(made.contains("!$OMP"), large);
        let again = made.replace("!$OMP", "!$ACC").replace("!$omp", "!$acc");
        let wanted: String = words.concat().split_whitespace().collect();
        prop_assert_eq!(content(form, &again), (wanted, content(form, &text).1), "{}", made);
        let limit = if fixed { 72 } else { 132 };
        for line in made.lines() {
            let code = line.rfind("! no").map_or(line, |at| &line[..at]);
            prop_assert!(code.trim_end().len() <= limit, "{}", made);
        }
    }
}
