//! What stands in one another.
//!
//! Invariant: the depth is in proportion to the length of the source.

use acc2omp::source::Language;
use acc2omp::{Options, Source, translate};

use super::{LOOP, body, each, in_c, in_fortran, kernels};

/// A subroutine with a loop in the middle of something.
fn around(before: &str, after: &str) -> String {
    let construct = "!$acc parallel loop copy(a)\ndo i = 1, n\na(i) = 0\nend do\n";
    format!("subroutine f(n, a)\ninteger :: n, i\nreal :: a(n)\n{before}{construct}{after}end subroutine\n")
}

#[test]
fn regions_of_data_cost_alike() {
    in_c("regions of data", 50, |n| {
        let open = "#pragma acc data copyin(b[0:n])\n{\n".repeat(n);
        body(&format!("{open}{LOOP}{}", "}\n".repeat(n)))
    });
    in_fortran("regions of data", 50, |n| {
        around(&"!$acc data copy(a)\n".repeat(n), &"!$acc end data\n".repeat(n))
    });
}

#[test]
fn statements_around_a_construct_cost_alike() {
    in_c("ifs", 200, |n| body(&format!("{}{{\n{LOOP}}}\n", "if (n > 0)\n".repeat(n))));
    in_c("whiles", 200, |n| body(&format!("{}{{\n{LOOP}}}\n", "while (n > 0)\n".repeat(n))));
    in_fortran("ifs", 200, |n| around(&"if (n > 0) then\n".repeat(n), &"end if\n".repeat(n)));
    in_fortran("blocks", 200, |n| around(&"block\n".repeat(n), &"end block\n".repeat(n)));
    in_fortran("loops", 200, |n| around(&"do while (n > 0)\n".repeat(n), &"end do\n".repeat(n)));
}

#[test]
fn statements_in_a_construct_cost_alike() {
    let construct = |inside: &str| {
        body(&format!("#pragma acc parallel loop copy(a[0:n])\nfor (int i = 0; i < n; i++)\n{inside}"))
    };
    in_c("ifs inside", 200, |n| construct(&format!("{}a[i] = 0;\n", "if (n > 0)\n".repeat(n))));
    in_c("braces inside", 200, |n| construct(&format!("{}a[i] = 0;\n{}", "{\n".repeat(n), "}\n".repeat(n))));
    in_c("types", 200, |n| {
        let open = "struct {\n".repeat(n);
        let close: String = (0..n).map(|k| format!("}} m{k};\n")).collect();
        format!("struct s {{\n{open}int x;\n{close}}};\n{}", body(LOOP))
    });
}

#[test]
fn chains_of_calls_cost_alike() {
    let chain = |n: usize| each(n, |k| format!("static double g{}(double x) {{ return g{k}(x); }}\n", k + 1));
    let of = |n: usize| {
        let last = kernels(&format!("a[i] = g{n}(i);\n"));
        format!("static double g0(double x) {{ return x; }}\n{}{last}", chain(n))
    };
    in_c("calls", 250, of);
    // Much deeper than the stack of a thread.
    let source = Source::new("a.c", of(6000).into_bytes(), Language::C);
    let made = translate(&source, &Options::default());
    assert!(made.diagnostics.iter().all(|one| one.code.0 == 218), "{:?}", made.diagnostics);
}
