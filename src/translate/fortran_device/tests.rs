//! Tests of `fortran_device.rs`.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use std::collections::BTreeSet;

use super::{Names, functions_of, with_places};

#[test]
fn variables_of_kernels_are_not_declared_twice() {
    let host = "#include \"x.h\"\nextern \"C\" void f(int n)\n{\n    double t;\n    int u[4];\n    int v;\n    f_9(n, v);\n}\n";
    let own = "extern \"C\" void f(int n)\n{\n    int v;\n    f_9(n, v);\n}\n";
    assert_eq!(functions_of(host), own);
}

#[test]
fn places_are_those_of_the_source() {
    let place_of = |line: usize| (line > 4).then(|| format!("x.f90:{}", line + 1));
    let code = "f(\"x.cpp:7\", \"x.cpp:2\"); // \"x.cpp:";
    let own = "f(\"x.f90:8\", \"x.cpp:2\"); // \"x.cpp:";
    assert_eq!(with_places(code, "x.cpp", &place_of), own);
}

#[test]
fn launchers_are_named_after_constructs() {
    let code = "x_x_s_4_17_kernel x_x_s_4_17 x_x_s_46_3 x_x_s_46_29 x_x_s_46_29_kernel x_x_t_1_2 x_s_4";
    let names = Names::of(code, "x", &BTreeSet::from(["x_s_4", "x_s_46"]));
    let own = "x_s_4_kernel x_s_4_launch x_s_46_1_launch x_s_46_2_launch x_s_46_2_kernel x_x_t_1_2 x_s_4";
    assert_eq!(names.put(code), own);
}
