//! Names that get another in device code.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::{renamed, with_own_macro};

fn check(text: &str, taken: &[&str], wanted: &str) {
    let taken = taken.iter().map(|word| (*word).to_owned()).collect();
    assert_eq!(renamed(text, &taken, true), wanted);
}

#[test]
fn names_that_are_words_of_cpp_get_another() {
    check(
        "double or = new[i]; /* or */ f(\"new\", new_);",
        &[],
        "double or_ = new__[i]; /* or */ f(\"new\", new_);",
    );
    check("a || b", &[], "a || b");
    check("template <typename Index>\nint template;", &[], "template <typename Index>\nint template_;");
}

#[test]
fn what_we_add_keeps_its_words() {
    check(
        "#define x y\nint threadIdx = blockIdx.x * p.x;",
        &["x", "threadIdx"],
        "#define x_ y\nint threadIdx_ = blockIdx.x * p.x_;",
    );
    check("const dim3 gangs(1); dim3 d;", &["dim3"], "const dim3 gangs(1); dim3_ d;");
}

#[test]
fn conditions_ask_for_the_translation() {
    let text = "#if _OPENACC > 1 // _OPENACC\nMY_OPENACC";
    assert_eq!(with_own_macro(text), "#if ACC2OMP_CUDA > 1 // _OPENACC\nMY_OPENACC");
}
