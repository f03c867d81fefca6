//! Texts without what their procedures execute.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::without_execution;

#[test]
fn declarations_stay_with_their_procedures() {
    let text = "module m\n  real :: x = 1\ncontains\nsubroutine s(a)\n  real, intent(in) :: a\n  f(t) = t + 1\n  10 x = a\n  if (x > 1) then\n    x = 2\n  end if\n  end = 3\ncontains\n  integer function g()\n  g = 1\n  end\nendsubroutine\nend module\n";
    let bare = without_execution(text.as_bytes()).unwrap_or_default();
    let bare = String::from_utf8_lossy(&bare);
    assert_eq!(bare.len(), text.len());
    let left: Vec<&str> = bare.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    assert_eq!(
        left,
        [
            "module m",
            "real :: x = 1",
            "contains",
            "subroutine s(a)",
            "real, intent(in) :: a",
            "f(t) = t + 1",
            "contains",
            "integer function g()",
            "end",
            "endsubroutine",
            "end module",
        ]
    );
    assert_eq!(without_execution(b"subroutine s\ncall t; end subroutine\n"), None);
}
