//! C and C++ as structure.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use crate::host::parse;
use crate::scan::{View, scan};
use crate::source::{Language, SourceFile};

fn read(text: &str, language: Language) -> super::Unit {
    let file = SourceFile::new("a.h".to_owned(), text.as_bytes().to_vec(), language);
    parse(&file, &scan(&file, &View::default()).0)
}

#[test]
fn a_header_is_what_its_words_say() {
    let is_cpp = |text: &str| read(text, Language::Header).is_cpp();
    assert!(is_cpp("namespace n { static double f(double x) { return x; } }\n"));
    assert!(is_cpp("struct A { void f(); };\nvoid g(int &x);\n"));
    assert!(!is_cpp("struct a { int n; };\nint f(struct a *new);\n"));
    assert!(!is_cpp("int class;\nint f(int this);\n"));
}

#[test]
fn functions_know_their_class() {
    let text = "struct A { void f() {} struct B { void g() {} }; };\n\
                namespace N { void A::h() {} template <class T> int C<T>::i(int &, const int &) { return 0; } }\n\
                void j() { struct D { void k() {} }; }\n";
    let unit = read(text, Language::Cpp);
    let known: Vec<(&str, Option<&str>)> = unit
        .functions
        .iter()
        .map(|function| (function.name.as_str(), function.member_of.as_deref()))
        .collect();
    let expected = [("f", Some("A")), ("g", Some("B")), ("h", Some("A")), ("i", Some("C")), ("j", None)];
    assert_eq!(known, expected);
    assert_eq!(unit.by_reference, [("i".to_owned(), 0)]);
}
