//! Which branches can be shown together.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

#![allow(clippy::unwrap_used)]
use super::Hidden;
use crate::scan::{View, scan};
use crate::source::{Language, SourceFile};

/// How many places of hidden directives the first view has, and how many of them one view reaches.
fn check(text: &str, expected: (usize, usize)) {
    let file = SourceFile::new("a.c", text.into(), Language::C);
    let (scan, _) = scan(&file, &View::default());
    let hidden = Hidden::of(&file, &scan);
    let places = scan.directives.iter().filter(|text| !text.active).map(|text| text.span.start);
    let places: Vec<u32> = places.collect();
    let together = hidden.together(places.iter().copied());
    assert_eq!((places.len(), together.len()), expected, "{text}");
}

fn function(name: &str, inside: &str) -> String {
    format!("void {name}(int n, double *a)\n{{\n{inside}}}\n")
}

const WAIT: &str = "#pragma acc wait(1)\n";

#[test]
fn branches_of_different_functions_are_shown_together() {
    let branch = |name: &str| format!("#ifdef {name}\n{WAIT}#endif\n");
    check(&[function("f", &branch("A")), function("g", &branch("B"))].concat(), (2, 2));
    check(&[function("f", &branch("A")), function("g", &branch("A"))].concat(), (2, 1));
}

#[test]
fn conditions_elsewhere_in_a_function_count() {
    let other = "#ifdef B\nacc_wait(1);\n#endif\n";
    let first = function("f", &format!("{other}#ifdef A\n{WAIT}#endif\n"));
    check(&[first, function("g", &format!("#ifdef B\n{WAIT}#endif\n"))].concat(), (2, 1));
}

#[test]
fn names_of_the_compiler_do_not_count() {
    let branch = |name: &str| format!("#ifdef _OPENACC\na[0] = 1;\n#endif\n#ifdef {name}\n{WAIT}#endif\n");
    check(&[function("f", &branch("A")), function("g", &branch("B"))].concat(), (2, 2));
}
