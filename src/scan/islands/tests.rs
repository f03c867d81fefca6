//! The functions of a file, found without its grammar.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::functions_apart;
use crate::scan::{View, scan};
use crate::source::{Language, SourceFile};

fn check(text: &str, expected: &[&str]) {
    let file = SourceFile::new("a.c", text.into(), Language::C);
    let (scan, _) = scan(&file, &View::default());
    let found = functions_apart(&file, &scan, &[]);
    let found: Vec<String> = found.iter().map(|span| file.text(*span).trim().to_owned()).collect();
    assert_eq!(found, expected, "{text}");
}

const CONSTRUCT: &str = "void k(int n) {\n#pragma acc parallel loop\nfor (int i = 0; i < n; i++) f(i);\n}\n";

#[test]
fn a_function_without_directives_is_apart() {
    let plain = "int g(void) { return 1; }";
    check(&format!("{CONSTRUCT}{plain}\n"), &[plain]);
    let other = "static inline struct s *g(int a, char *b) { x = \"}\"; /* } */ }";
    check(&format!("{other}\n{CONSTRUCT}"), &[other]);
}

#[test]
fn what_a_construct_leads_to_is_not() {
    check(&format!("int h(int i) {{ return i; }}\nint f(int i) {{ return h(i); }}\n{CONSTRUCT}"), &[]);
    check(&format!("{CONSTRUCT}int main(void) {{ k(1); return 0; }}\n"), &[]);
    check(&format!("#define P k(1)\n{CONSTRUCT}int main(void) {{ P; return 0; }}\n"), &[]);
    check(&format!("int v;\nint g(void) {{ return v; }}\nint f(int i) {{ v = i; }}\n{CONSTRUCT}"), &[]);
}

#[test]
fn what_is_no_function_for_sure_is_read() {
    check(&format!("{CONSTRUCT}DEFINE(g) {{ return 1; }}\nint g(a) int a; {{ return a; }}\n"), &[]);
    check(&format!("{CONSTRUCT}struct s {{ int a; }};\nint a[] = {{ 1 }};\n"), &[]);
    check(&format!("{CONSTRUCT}int g(void) {{ struct t {{ int a; }} b; return 1; }}\n"), &[]);
}
