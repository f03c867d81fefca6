//! Tests of `interface.rs`.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::{Argument, Function, Passed, Type, module};

#[test]
fn one_order_in_all_places() {
    let arg = |name: &str, passed: Passed, ty: Type, actual: &str| Argument {
        name: name.to_owned(),
        passed,
        ty,
        actual: actual.to_owned(),
        object: None,
    };
    let args = vec![
        arg("a", Passed::Array, Type::DOUBLE, "a"),
        arg("a_n1", Passed::Size, Type::INTEGER, "size(a, 1, 8)"),
        arg("n", Passed::Value, Type::INTEGER, "n"),
        arg("s", Passed::Reference, Type::DOUBLE, "s"),
    ];
    let function = Function { name: "sum_7".to_owned(), args };
    assert_eq!(function.head(), "extern \"C\" void sum_7(double *a, long a_n1, int n, double &s)");
    assert_eq!(function.call(), "call sum_7(a, size(a, 1, 8), n, s)");
    let module = module("x_acc", "x.f90", &[function]);
    assert!(module.contains("    subroutine sum_7(a, a_n1, n, s) bind(c)\n      import\n"), "{module}");
    assert!(module.contains("      integer(c_long), value :: a_n1\n"), "{module}");
}
