//! Functions of C that are passed over.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::find;

fn check(text: &str, is_cpp: bool, functions: &[&str], variables: &[&str], no_variables: &[&str]) {
    let found = find(text.as_bytes(), is_cpp).unwrap_or_default();
    let names: Vec<&[u8]> = found.functions.iter().map(|one| one.names[0]).collect();
    let expected: Vec<&[u8]> = functions.iter().map(|name| name.as_bytes()).collect();
    assert_eq!(names, expected, "{text}");
    for name in variables {
        assert!(found.variables.contains(name.as_bytes()), "{name}: {text}");
    }
    for name in no_variables {
        assert!(!found.variables.contains(name.as_bytes()), "{name}: {text}");
    }
}

#[test]
fn variables_at_file_scope_are_found() {
    let text = "int a, *b = 0, c[3]; typedef int t; extern t d; double p(int q, double *r); int (*e)(int);\nstruct s { int m; } g;";
    let none = ["t", "q", "r", "m", "p"];
    check(text, false, &[], &["a", "b", "c", "d", "e", "g"], &none);
    check("int a{3}; struct s { int m; } g; struct u v{1};", true, &[], &["a", "g", "v"], &["s", "u", "m"]);
}

#[test]
fn functions_of_cpp_are_found() {
    let text = "namespace a { namespace { std::vector<int> f(const T &x, int b = 3) { return x; } } }\nvoid A::g(int b) const { c = b; }\nextern \"C\" { static inline double *h(void) { return 0; } }";
    check(text, true, &["f", "g", "h"], &[], &["x", "b", "T", "A"]);
}

#[test]
fn what_is_no_plain_function_is_none() {
    for text in [
        "A::A(int b) : c(b) { }",
        "A::A(int b) { }",
        "A::~A() { }",
        "class A { int f(int a) { return a; } int b; };",
        "A operator+(A a, A b) { return a; }",
        "template <class T> T f(T a) { return a; }",
        "auto f = [](int a) { return a; };",
        "auto f(int a) -> int { return a; }",
        "DEFINE(f) { return 1; }",
    ] {
        let found = find(text.as_bytes(), true).unwrap_or_default();
        assert!(found.functions.iter().all(|function| function.stays), "{text}");
        assert!(!found.functions.is_empty() || !found.read.is_empty(), "{text}");
        let more = format!("{text}\nint g(int a) {{ return a; }}\n");
        let more = find(more.as_bytes(), true).unwrap_or_default();
        assert!(more.functions.last().is_some_and(|last| !last.stays), "{text}");
    }
}

#[test]
fn lambdas_are_kept() {
    let kept = |body: &str| {
        let text = format!("int f(int a) {{ {body} }}");
        find(text.as_bytes(), true).unwrap_or_default().functions.first().map(|one| one.is_kept)
    };
    assert_eq!(kept("return b[a] + (c)[1];"), Some(false));
    for body in ["auto g = [&](int x) { return x; };", "return [a] { return a; }();", "auto [x, y] = p;"] {
        assert_eq!(kept(body), Some(true), "{body}");
    }
}
