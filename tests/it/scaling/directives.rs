//! Many directives, and many clauses.
//!
//! Invariant: each stands for itself.

use super::{LOOP, body, each, function, in_c, in_c_for_openmp, in_fortran};

#[test]
fn directives_of_a_function_cost_alike() {
    in_c("constructs", 60, |n| body(&LOOP.repeat(n)));
    in_c("updates", 500, |n| body(&"#pragma acc update self(a[0:n])\n".repeat(n)));
    in_c("waits", 80, |n| body(&each(n, |k| format!("#pragma acc wait({k})\n"))));
    in_c("regions of data", 60, |n| {
        body(&format!("#pragma acc data copy(a[0:n])\n{{\n{LOOP}}}\n").repeat(n))
    });
    in_c("data on the device", 60, |n| {
        body(&"#pragma acc enter data copyin(a[0:n])\n#pragma acc exit data copyout(a[0:n])\n".repeat(n))
    });
}

#[test]
fn directives_of_a_construct_cost_alike() {
    in_c("loops", 50, |n| {
        let inner = "#pragma acc loop vector\nfor (int j = 0; j < n; j++) a[j] = x;\n".repeat(n);
        body(&format!(
            "#pragma acc parallel loop gang copy(a[0:n])\nfor (int i = 0; i < n; i++) {{\n{inner}}}\n"
        ))
    });
    in_c("arrays of gangs", 25, |n| {
        let declared = each(n, |k| format!("int t{k}[4];\n"));
        let filled =
            each(n, |k| format!("#pragma acc loop vector\nfor (int j = 0; j < 4; j++) t{k}[j] = i;\n"));
        let read = each(n, |k| format!("a[i] += t{k}[2];\n"));
        body(&format!(
            "#pragma acc parallel loop gang copy(a[0:n])\nfor (int i = 0; i < n; i++) {{\n{declared}{filled}{read}}}\n"
        ))
    });
    in_c("atomics", 50, |n| {
        let inner = "#pragma acc atomic update\na[p[i]] += x;\n".repeat(n);
        body(&format!("#pragma acc parallel loop copy(a[0:n])\nfor (int i = 0; i < n; i++) {{\n{inner}}}\n"))
    });
    in_c("loops of kernels", 50, |n| {
        let inner = "for (int i = 0; i < n; i++) a[i] = x;\n".repeat(n);
        body(&format!("#pragma acc kernels copy(a[0:n])\n{{\n{inner}}}\n"))
    });
}

#[test]
fn directives_of_a_file_cost_alike() {
    in_c("routines", 60, |n| {
        let routine = |k: usize| format!("#pragma acc routine seq\n{}", function(k, "a[0] = x;\n"));
        each(n, routine)
    });
    in_c("routines that are called", 30, |n| {
        let routine = |k: usize| format!("#pragma acc routine seq\ndouble g{k}(double x) {{ return x; }}\n");
        let called = each(n, |k| format!("a[i] += g{k}(x);\n"));
        let head = "#pragma acc parallel loop copy(a[0:n])\nfor (int i = 0; i < n; i++) {\n";
        format!("{}{}", each(n, routine), body(&format!("{head}{called}}}\n")))
    });
    in_c_for_openmp("uses of a macro", 100, |n| {
        let used = |k: usize| function(k, "LOOP\nfor (int i = 0; i < n; i++) a[i] = 0;\n");
        format!("#define LOOP _Pragma(\"acc parallel loop copy(a[0:n])\")\n{}", each(n, used))
    });
    in_c("declares", 100, |n| each(n, |k| format!("double v{k}[10];\n#pragma acc declare create(v{k})\n")));
}

#[test]
fn clauses_of_a_directive_cost_alike() {
    let arrays = |n: usize| each(n, |k| format!(", double *a{k}"));
    let used = |n: usize| each(n, |k| format!("a{k}[i] = 1;\n"));
    in_c("clauses", 100, |n| {
        let clauses = each(n, |k| format!(" copy(a{k}[0:n])"));
        let head = format!("#pragma acc parallel loop{clauses}\nfor (int i = 0; i < n; i++) {{\n");
        format!("void f(int n{})\n{{\n{head}{}}}\n}}\n", arrays(n), used(n))
    });
    in_c("names of a clause", 100, |n| {
        let names = each(n, |k| format!("{}a{k}[0:n]", if k > 0 { ", " } else { "" }));
        let head = format!("#pragma acc parallel loop copy({names})\nfor (int i = 0; i < n; i++) {{\n");
        format!("void f(int n{})\n{{\n{head}{}}}\n}}\n", arrays(n), used(n))
    });
}

#[test]
fn variables_of_declare_cost_alike() {
    in_c("functions that use variables of declare", 100, |n| {
        let declared = each(n, |k| format!("double v{k}[10];\n#pragma acc declare create(v{k})\n"));
        let construct =
            |k| format!("#pragma acc parallel loop\nfor (int i = 0; i < 10; i++) v{k}[i] += i;\n");
        declared + &each(n, |k| super::function(k, &construct(k)))
    });
}

#[test]
fn directives_of_fortran_cost_alike() {
    let construct = "!$acc parallel loop copy(a)\ndo i = 1, n\na(i) = 0\nend do\n";
    let head = "subroutine f(n, a)\ninteger :: n, i\nreal :: a(n)\n";
    in_fortran("constructs", 40, |n| format!("{head}{}end subroutine\n", construct.repeat(n)));
    in_fortran("updates", 200, |n| format!("{head}{}end subroutine\n", "!$acc update self(a)\n".repeat(n)));
    in_fortran("procedures", 30, |n| {
        each(n, |k| {
            let head = head.replace("f(", &format!("f{k}("));
            format!("{head}{construct}end subroutine\n")
        })
    });
    in_fortran("arrays without clauses", 50, |n| {
        let declared = each(n, |k| format!("real :: a{k}(100)\n"));
        let used = each(n, |k| format!("a{k}(i) = 0\n"));
        let lines = format!("!$acc parallel loop\ndo i = 1, n\n{used}end do\n");
        format!("subroutine f(n)\ninteger :: n, i\n{declared}{lines}end subroutine\n")
    });
}
