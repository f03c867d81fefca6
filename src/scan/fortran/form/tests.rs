//! The form of a file, by its lines.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::*;

fn check(text: &str, of_fixed: Form, of_free: Form) {
    assert_eq!(form_of(text.as_bytes(), Form::Fixed), of_fixed, "{text}");
    assert_eq!(form_of(text.as_bytes(), Form::Free), of_free, "{text}");
}

#[test]
fn lines_that_contradict_the_name_are_believed() {
    check("program p\n  integer :: i\nend\n", Form::Free, Form::Free);
    check("      call f(a, &\n        b)\n", Form::Free, Form::Free);
    check("c     a comment\n      call f(a,\n     &       b)\n", Form::Fixed, Form::Fixed);
    check("* a comment\n      x = 1\n      end\n", Form::Fixed, Form::Fixed);
    check("C\n      x = 1\n", Form::Fixed, Form::Fixed);
    check("      x = 1 +\n     1    2\n", Form::Fixed, Form::Fixed);
    check("c$acc loop\n      do i = 1, n\n", Form::Fixed, Form::Fixed);
}

#[test]
fn the_name_is_believed_otherwise() {
    for text in [
        "",
        "! only\n",
        "      x = 1\n      end\n",
        "c = 1\n",
        "call f\n",
        "\tx = 1\n",
        &format!("{:72}&\n     &    2\n", "      x = 1 +"),
        "     x = 1\n     y = 2\n",
        "10    continue\n",
    ] {
        check(text, Form::Fixed, Form::Free);
    }
}
