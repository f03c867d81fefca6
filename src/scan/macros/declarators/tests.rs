//! Macros that declare something: examples.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

#![allow(clippy::unwrap_used)]
use super::*;
use crate::source::Language;

fn written(text: &str) -> Vec<String> {
    let file = SourceFile::new("a.c", text.as_bytes().to_vec(), Language::C);
    let found = declarators(&file, &[], HashSet::new());
    found.into_iter().map(|(_, text)| String::from_utf8(text).unwrap()).collect()
}

#[test]
fn declarators_are_written_out() {
    let define = "#define ROW(x, n) x[n]\n#define P(x) *restrict x\n#define ID(x) x\n#define CR *restrict\n";
    let check = |code: &str, expected: &[&str]| assert_eq!(written(&format!("{define}{code}")), expected);
    check("void f(int n, double ROW(x, n + 1), T P(y));", &["x[n + 1]", "*restrict y"]);
    check("static double a, ROW(b, 3), *ROW(c, (4));", &["b[3]"]);
    check("void f(const double *ROW(c, 2), double CR p);", &["c[2]", "*restrict"]);
    check("double ROW(ID(x), 4) = {0};", &["x[4]"]);
    check("void f() { return ROW(x, 3); }\nint g() { return a * ROW(x, 2) + f(b, ROW(y, 1)); }", &[]);
    check("void f(int n,\n double ROW(x,\n n));", &["x[n]\n"]);
}

#[test]
fn declarations_and_types_are_written_out() {
    let define = "#define DECL(T, x, n) T x[n]\n#define PTR(T) T *\n#define MAX(a, b) a > b ? a : b\n\
        #define P(T, x) T *x\n#define S(a, b) a\n#define DATA_TYPE int\n#define D(x) (*x)\n#define A2(v, d, e) v[S(d, e)]\n\
        #define DECL2(v, T, d, e) T A2(D(v), d, e); v = 0;\n";
    let check = |code: &str, expected: &[&str]| assert_eq!(written(&format!("{define}{code}")), expected);
    check(
        "void f(DECL(double, x, 3), PTR(double) y) { DECL(int, z, 2); }",
        &["double x[3]", "double *", "int z[2]"],
    );
    check("typedef int T;\nvoid f(P(T, x), g(P(a, b)));", &["T *x"]);
    check("void f() { DECL2(A, DATA_TYPE, 2, n); }", &["DATA_TYPE (*A)[S(2, n)]; A = 0;"]);
    check("void f() { MAX(a, b); g(MAX(a, b), 2); }", &[]);
}

#[test]
fn names_that_are_pasted_together_are_written_out() {
    let define = "#define F(x) x##_f\n#define N(a, b) a ## b\n#define O(x) F(x)\n";
    assert_eq!(written(&format!("{define}double F(a) = N(b, 2)[0] + N(1, 2);")), ["a_f", "b2"]);
}

#[test]
fn what_has_two_meanings_stays() {
    assert!(written("#ifdef A\n#define R(x) *x\n#else\n#define R(x) x[3]\n#endif\ndouble R(x);").is_empty());
    assert!(written("#define R(x) x[3]\ndouble R(x);\n#undef R\n").is_empty());
    assert!(written("double R(x);\n#define R(x) x[3]\n").is_empty());
}
