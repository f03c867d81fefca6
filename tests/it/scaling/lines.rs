//! Long lines, and long macros.
//!
//! Invariant: one thing is long, and everything else is short.

use acc2omp::To;
use acc2omp::source::Language;

use super::{LOOP, body, each, grows, in_c, in_fortran};

#[test]
fn long_lines_cost_alike() {
    in_c("a comment", 20_000, |n| body(&format!("/* {} */\n{LOOP}", "word ".repeat(n))));
    in_c("a literal", 20_000, |n| body(&format!("const char *text = \"{}\";\n{LOOP}", "word ".repeat(n))));
    grows("raw strings without an end", Language::Cpp, &[To::OpenMp], 500, |n| {
        format!("{LOOP}{}", "R\"abc( \n".repeat(n))
    });
    in_c("a directive with a comment", 5_000, |n| {
        body(&LOOP.replace("copy(a[0:n])", &format!("copy(a[0:n]) /* {} */", "word ".repeat(n))))
    });
    in_c("a directive on many lines", 500, |n| {
        body(&LOOP.replace("copy(a[0:n])", &format!("{}copy(a[0:n])", "\\\n ".repeat(n))))
    });
    in_c("an expression in a clause", 300, |n| {
        body(&LOOP.replace("0:n", &format!("0:n{}", " + 1".repeat(n))))
    });
    in_c("an initialiser", 2_000, |n| format!("int v[] = {{{}}};\n{}", "1, ".repeat(n), body(LOOP)));
}

#[test]
fn long_lines_of_fortran_cost_alike() {
    let procedure = |before: &str, clauses: &str, inside: &str| {
        let head = format!("subroutine f(n, a)\ninteger :: n, i\nreal :: a(n)\n{before}");
        format!("{head}!$acc parallel loop{clauses}\ndo i = 1, n\n{inside}end do\nend subroutine\n")
    };
    in_fortran("a statement on many lines", 300, |n| {
        procedure("", " copy(a)", &format!("a(i) = 1{}\n", " + &\n 1".repeat(n)))
    });
    in_fortran("a directive on many lines", 100, |n| {
        procedure("", &format!("{} copy(a)", " &\n!$acc ".repeat(n)), "a(i) = 1\n")
    });
    in_fortran("a comment", 20_000, |n| {
        procedure(&format!("! {}\n", "word ".repeat(n)), " copy(a)", "a(i) = 1\n")
    });
    in_fortran("statements of one line", 500, |n| {
        procedure(&format!("{}\n", "n = n; ".repeat(n)), " copy(a)", "a(i) = 1\n")
    });
}

#[test]
fn long_macros_cost_alike() {
    let uses = "#pragma acc parallel loop copy(a[0:n])\nfor (int i = 0; i < n; i++) a[i] = M;\n";
    in_c("a long body", 500, |n| format!("#define M x{}\n{}", " + x".repeat(n), body(uses)));
    in_c("many lines", 300, |n| format!("#define M x{}\n{}", " \\\n + x".repeat(n), body(uses)));
    in_c("parameters", 100, |n| {
        let names = each(n, |k| format!(", p{k}"));
        let sum = each(n, |k| format!(" + p{k}"));
        let call = uses.replace('M', &format!("M(x{})", ", x".repeat(n)));
        format!("#define M(p{names}) (p{sum})\n{}", body(&call))
    });
    in_c("uses", 100, |n| {
        let used = "#pragma acc parallel loop copy(a[0:n])\nfor (int i = 0; i < n; i++) {\n";
        format!("#define M(x) a[i] += x;\n{}", body(&format!("{used}{}}}\n", "M(1)\n".repeat(n))))
    });
    in_c("macros that write directives", 30, |n| {
        let define = "#define ACC(line) _Pragma(#line)\n";
        let used = "ACC(acc parallel loop copy(a[0:n]))\nfor (int i = 0; i < n; i++) a[i] = 0;\n";
        format!("{define}{}", body(&used.repeat(n)))
    });
    in_c("macros that stand for statements", 30, |n| {
        let define = "#define LOOP for (int i = 0; i < n; i++)\n";
        let used = "#pragma acc parallel loop copy(a[0:n])\nLOOP a[i] = 0;\n";
        format!("{define}{}", body(&used.repeat(n)))
    });
}
