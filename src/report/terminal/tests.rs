//! Messages in a terminal: what is shown of them.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::*;
use crate::diag;
use crate::source::{Language, Span};

fn file(bytes: &[u8]) -> SourceFile {
    SourceFile::new("x.c", bytes.to_vec(), Language::C)
}

#[test]
fn a_message_shows_its_line() {
    let file = file(b"int a;\r\n#pragma acc parallel async\r\n{ }\r\n");
    let text = diagnostics(&file, &[diag::synchronous(Span::new(29, 34), "async")], Manner::default());
    let expected = "\
weaker[A0205]: the host waits here, for `async`
 --> x.c:2:22
  |
2 | #pragma acc parallel async
  |                      ^^^^^ now synchronous
  |
  = help: results are the same; overlap of transfers and kernels is lost

";
    assert_eq!(text, expected);
}

#[test]
fn further_notes_of_one_code_are_counted() {
    let file = file(b"a\nb\nc\n");
    let notes: Vec<Diag> = [0, 2, 4].map(|at| diag::absent_unchecked(Span::new(at, at + 1), "update")).into();
    let text = diagnostics(&file, &notes, Manner::default());
    assert!(text.ends_with("… and 2 more of A0204 in this file: lines 2, 3\n\n"), "{text}");
    let full = diagnostics(&file, &notes, Manner { verbose: true, color: false });
    assert_eq!(full.matches("[A0204]").count(), 3);
}

#[test]
fn information_waits_for_the_table() {
    let file = file(b"a\n");
    let note = [diag::cache_dropped(Span::new(0, 1))];
    assert_eq!(diagnostics(&file, &note, Manner::default()), "");
    let mut summary = Summary::default();
    summary.note(&note);
    let text = table(&summary, Manner::default());
    assert!(text.contains("A0222  note") && text.contains("`-v`"), "{text}");
    assert!(!summary.something_left());
}

#[test]
fn a_long_line_is_cut_around_its_mark() {
    let mut bytes = b"int before;\n".to_vec();
    bytes.extend(b"copy(a) ".repeat(1000));
    let at = bytes.len() + 3;
    bytes.extend("\u{e4}\u{e4}".as_bytes());
    bytes.extend(b"coppy(zz) ");
    bytes.extend(b"copy(a) ".repeat(1000));
    bytes.extend(b"\nint after;\n");
    let file = file(&bytes);
    let note = diag::not_understood(Span::new(at + 1, at + 6)).with(Span::new(0, 3), "and here");
    let text = diagnostics(&file, &[note], Manner::default());
    assert!(text.contains("--> x.c:2:8003\n") && text.contains("::: x.c:1:1\n"), "{text}");
    assert!(text.contains("…") && text.lines().all(|line| line.chars().count() < 500), "{text}");
    assert!(text.contains("coppy(zz)"), "{text}");
}

#[test]
fn odd_bytes_and_places_do_not_break_a_message() {
    let file = file("\u{e4}\t\u{1b}[31mé\r\n".as_bytes());
    let length = file.bytes.len();
    for start in 0..=length {
        for end in start..=length {
            let note = diag::not_understood(Span::new(start, end)).with(Span::at(length), "here");

            assert!(diagnostics(&file, &[note], Manner::default()).contains("A0009"));
        }
    }
    let latin = SourceFile::new("l.c", b"\xe4\xf6\xfc x\n".to_vec(), Language::C);
    let text = diagnostics(&latin, &[diag::not_understood(Span::new(4, 5))], Manner::default());
    assert!(text.contains("l.c:1:5"), "{text}");
    let empty = SourceFile::new("e.c", Vec::new(), Language::C);
    assert!(diagnostics(&empty, &[diag::not_understood(Span::at(0))], Manner::default()).contains("A0009"));
}
