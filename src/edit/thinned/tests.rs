//! Thinned texts: what the check need not read.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::*;

#[test]
fn statements_are_distinguished() {
    for text in ["a = 1", "a(i, (j))=b", "a%b(i)%c = 2 == 3", "a (i) % b = x", "real :: a = 1"] {
        assert_eq!(line(text.as_bytes()), Line::Statement, "{text}");
    }
    for text in ["Integer, intent(in) :: n", "real(8) :: a(n), b", "double precision :: x"] {
        assert_eq!(line(text.as_bytes()), Line::Statement, "{text}");
    }
    for text in [
        "do10i=1,9",
        "do 10 i = 1, 9",
        "do while (a)",
        "do",
        "if (a == b) c = 1",
        "where (a) b = 1",
        "a => b",
        "a = 1; b = 2",
        "10 a = 1",
        "call f(a = 1)",
        "a = 'x'",
        "a(i = 1",
        "type :: t",
        "integer function f(x)",
        "real a",
        "else if (a) then",
        "x: do i = 1, n",
    ] {
        assert_eq!(line(text.as_bytes()), Line::Unknown, "{text}");
    }
    assert_eq!(line(b"DO i = 1, n"), Line::Begin(Block::Loop));
    assert_eq!(line(b"if (a(i) > 1) then"), Line::Begin(Block::Branch));
}

/// What remains of a procedure, in words.
fn check(old: &str, new: &str, expected: &str) {
    let mut text = format!("  x = 1\n{new}").into_bytes();
    let start = text.len() - new.len();
    thin(&mut text, Span::new(start, start + new.len()), old.as_bytes());
    assert_eq!(text.len(), start + new.len());
    let kept: Vec<&[u8]> = lines(&text).into_iter().map(|span| &text[span.range()]).collect();
    let kept: Vec<String> = kept.iter().map(|line| String::from_utf8_lossy(line).into_owned()).collect();
    assert_eq!(kept.join(" / "), format!("x = 1 / {expected}"));
}

#[test]
fn what_is_beside_a_change_stays() {
    let old = "subroutine s\n  a = 1\n  b = 2\n  c = 3\n\n  d = 4\nend subroutine\n";
    let new = "subroutine s\n  a = 1\n  integer :: i\n  b = 2\n  c = 3\n\n  d = 4\nend subroutine\n";
    check(old, new, "subroutine s / a = 1 / integer :: i / b = 2 / end subroutine");
}

#[test]
fn whole_loops_and_branches_go() {
    let nest = |inner: &str| {
        format!("do i = 1, n\nif (a) then\nb = 1\nelse\ndo j = 1, i\n{inner}\nend do\nend if\nend do")
    };
    let code = |first: &str, nest: &str| format!("subroutine s\n{first}\nc = 1\n{nest}\nd = 1\nend\n");
    let (whole, part) = (nest("e = 2"), nest("call f(i)"));
    check(&code("use m", &whole), &code("use k", &whole), "subroutine s / use k / c = 1 / end");
    check(
        &code("use m", &part),
        &code("use k", &part),
        "subroutine s / use k / c = 1 / do i = 1, n / if (a) then / else / do j = 1, i / call f(i) / end do \
             / end if / end do / end",
    );
    let (old, new) = ("do i = 1, n\na = 1\nb = 1\nend do\n", "do i = 1, n\na = 1\nb = 1\nx\nend do\n");
    check(
        &format!("s\nc = 1\n{old}end\n"),
        &format!("s\nc = 1\n{new}end\n"),
        "s / do i = 1, n / b = 1 / x / end do / end",
    );
}
