//! Which functions of a long file are one part, and which stand apart.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

#![allow(clippy::unwrap_used)]
use crate::scan::{View, parts, scan};
use crate::source::{Language, SourceFile};

/// The functions of each part, by their first words.
fn check(text: &str, expected: Option<&[&[&str]]>) {
    let file = SourceFile::new("a.c", text.into(), Language::C);
    let (scan, _) = scan(&file, &View::default());
    let is_local = |text: &crate::scan::DirectiveText| !file.text(text.span).contains("routine");
    let found = parts(&file, &scan, &[], &is_local, 0);
    let functions = |found: &super::Parts, part: usize| -> Vec<String> {
        let gone = found.gone(part);
        let own = found.functions().iter().filter(|span| !gone.contains(span));
        own.map(|span| file.text(*span).split('(').next().unwrap().to_owned()).collect()
    };
    let found = found.map(|found| (0..found.count()).map(|at| functions(&found, at)).collect::<Vec<_>>());
    let expected = expected.map(|all| {
        all.iter().map(|one| one.iter().map(|name| format!("void {name}")).collect()).collect::<Vec<_>>()
    });
    assert_eq!(found, expected, "{text}");
}

fn construct(name: &str, body: &str) -> String {
    format!("void {name}(int n) {{\n#pragma acc parallel loop\nfor (int i = 0; i < n; i++) {body};\n}}\n")
}

#[test]
fn functions_that_share_nothing_are_parts() {
    let [f, g, h] = ["f", "g", "h"].map(|name| construct(name, "p(i)"));
    check(&format!("{f}{g}{h}"), Some(&[&["f"], &["g"], &["h"]]));
    check(&f, None);
}

#[test]
fn functions_that_share_something_are_in_one() {
    let (f, g, h) = (construct("f", "v += i"), construct("g", "p(i)"), construct("h", "v--"));
    check(&format!("int v;\n{f}{g}{h}"), Some(&[&["f", "h"], &["g"]]));
    check(&format!("{f}{g}void h(void) {{ f(1); }}\n"), Some(&[&["f", "h"], &["g"]]));
    check(&format!("#define P v\nint v;\n{f}{g}{}", construct("h", "P--")), Some(&[&["f", "h"], &["g"]]));
}

#[test]
fn what_leads_nowhere_is_in_none() {
    let (f, g) = (construct("f", "p(i)"), construct("g", "p(i)"));
    check(&format!("{f}void h(void) {{ }}\n{g}"), Some(&[&["f"], &["g"]]));
}
