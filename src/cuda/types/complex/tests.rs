//! Tests of `complex.rs`.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::rewritten;

#[test]
fn types_are_named_anew() {
    let check = |old: &str, new: &str| assert_eq!(rewritten(old, true), new);
    check("typedef double _Complex number;", "typedef acc2omp::Complex<double> number;");
    check("(complex float)x * complex y", "(acc2omp::Complex<float>)x * acc2omp::Complex<double> y");
    check("const double complex *a, b;", "const acc2omp::Complex<double> *a, b;");
    check("double a; /* double complex */ \"complex\"", "double a; /* double complex */ \"complex\"");
    check("_Complex\n    float z", "acc2omp::Complex<float> z");
    check(
        "x * 1.5e-3I - .5if + 2",
        "x * acc2omp::Complex<double>(0, 1.5e-3) - acc2omp::Complex<float>(0, .5) + 2",
    );
    check("0x1e + i - 3.f", "0x1e + i - 3.f");
}

#[test]
fn a_variable_may_have_the_name() {
    assert_eq!(rewritten("double complex = 1;", false), "double complex = 1;");
    assert_eq!(rewritten("double _Complex x;", false), "acc2omp::Complex<double> x;");
}
