//! Program units of Fortran that are not read: examples.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::*;

fn check(text: &str, expected: Option<&[&str]>) {
    let lower = text.to_ascii_lowercase();
    let text = Text { shadow: text.as_bytes(), names: lower.as_bytes() };
    let found = find(text, &[]);
    let first = |one: &Function| {
        let text = String::from_utf8_lossy(text.shadow.get(one.whole.range()).unwrap_or_default());
        text.lines().next().unwrap_or_default().trim().to_owned()
    };
    let found = found.map(|found| found.functions.iter().map(first).collect::<Vec<_>>());
    let expected = expected.map(|all| all.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>());
    assert_eq!(found, expected, "{lower}");
}

#[test]
fn procedures_are_found() {
    let text = "module m\n integer :: a\ncontains\n subroutine s(x)\n x = 1\n contains\n integer function f(y)\n f = y\n end function\n end subroutine s\n pure real(kind=8) function g(z)\n g = z\n end\nend module\nprogram p\n call s(a)\nend program p\n";
    check(text, Some(&["subroutine s(x)", "pure real(kind=8) function g(z)", "program p"]));
    check(
        "      DOUBLE PRECISION FUNCTION F(X)\n   10 F = X\n      END\n",
        Some(&["DOUBLE PRECISION FUNCTION F(X)"]),
    );
    check(
        "subroutine s\nif (a) then\nend if\nend do\nendif\nend associate\nendsubroutine\n",
        Some(&["subroutine s"]),
    );
}

#[test]
fn interfaces_and_types_hold_no_procedures() {
    let text = "module m\n interface g\n subroutine a(x)\n end subroutine\n module procedure b\n end interface\n type t\n integer :: n\n contains\n procedure :: c\n end type\n type(t) :: v\ncontains\n subroutine b(x)\n end\nend\n";
    check(text, Some(&["subroutine b(x)"]));
}

#[test]
fn what_is_not_clear_has_no_answer() {
    for text in
        ["x = 1\nend\n", "subroutine s\n", "subroutine s\nsubroutine t\nend\nend\n", "end\n", "call f\n"]
    {
        check(text, None);
    }
}

#[test]
fn variables_of_modules_are_shared() {
    let lower = "module m\n use k, only: q => r\n real, parameter :: pi = 3.0\n real(pi), save :: a(9), b = 1\n integer c, d\n common /e/ c\nend module\n";
    let text = Text { shadow: lower.as_bytes(), names: lower.as_bytes() };
    let found = find(text, &[]).unwrap_or_default();
    for name in ["a", "b", "c", "d", "common"] {
        assert!(found.variables.contains(name.as_bytes()), "{name}");
    }
    for name in ["pi", "real", "integer", "use", "module"] {
        assert!(!found.variables.contains(name.as_bytes()), "{name}");
    }
    assert_eq!(found.leads.get(&b"q"[..]), Some(&vec![&b"r"[..]]));
}
