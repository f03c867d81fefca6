//! Which expressions are floating-point numbers.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

#![allow(clippy::unwrap_used)]
use super::*;
use crate::host;
use crate::scan::{Define, View, scan};
use crate::sema::Others;
use crate::source::{Language, SourceFile};

/// Whether the last value of `value` in a function is one, after declarations of the file.
fn is_one(head: &str, code: &str, language: Language) -> bool {
    asked(head, code, language, is_floating)
}

/// What a function says of the last value of `value`.
fn asked(head: &str, code: &str, language: Language, question: fn(&Unit, &Symbols, ExprId) -> bool) -> bool {
    let text = format!("{head}\nvoid f(int n, double d, int *p) {{ value = {code}; }}\n");
    let file = SourceFile::new("a".to_owned(), text.clone().into_bytes(), language);
    let seen = scan(&file, &View::default()).0;
    let unit = host::parse(&file, &seen);
    let macros: Vec<&Define> = seen.defines.iter().collect();
    let symbols = Symbols::new(&unit, text.as_bytes(), Others::default(), &macros);
    let mut all = unit.exprs.iter().filter_map(|expr| match expr.kind {
        ExprKind::Assign(None, left, right) => {
            matches!(&unit.expr(left).kind, ExprKind::Name(name) if name == "value").then_some(right)
        }
        _ => None,
    });
    question(&unit, &symbols, all.next_back().unwrap())
}

#[test]
fn macros_are_what_they_stand_for() {
    let head = "#define N 10.5\n#define F(x) ((x) * 1.5)\n#define G(x) ((int)F(x))\n#define MAX(a, b) ((a) > (b) ? (a) : (b))\n\
        #define REAL double\n#define n2 n2\nint n2;\n\
        #define D(a, b) (a) - (b)\n#define BOTH(a, b) ({ __typeof__(a) x = (a); x; })\n\
        #define TWICE(x) (MANY(x) + MANY(x))\n#define MANY(x) (TWICE(x) + 1)\n#define SET 1\n#undef SET\n#define SET 1.5\n";
    for code in ["N", "F(n)", "MAX(n, 4.5)", "(REAL)n", "(REAL)(n)", "D(n, d)", "BOTH(N, 1)", "SET"] {
        assert!(is_one(head, code, Language::C), "{code}");
    }
    for code in ["(int)N", "G(n)", "MAX(n, 4)", "n2", "D(n, n)", "BOTH(1, N)", "p[(int)N]", "TWICE(n)"] {
        assert!(!is_one(head, code, Language::C), "{code}");
    }
}

#[test]
fn members_are_those_of_their_record() {
    let head = "typedef struct { double x; int y; } A; struct B { int x; double y; A a, *q; union { float u; int w; }; };\n\
        A a; struct B b, *pb; struct { float x; int z; } c; double (*fp)(int); int (*fi)(double); A make(void);\n";
    for code in [
        "a.x", "b.y", "pb->a.x", "pb->q->x", "b.u", "c.x", "fp(1)", "(*fp)(1)", "make().x", "(&a)->x",
        "b.q[1].x",
    ] {
        assert!(is_one(head, code, Language::C), "{code}");
    }
    for code in
        ["a.y", "b.x", "pb->a.y", "pb->q->y", "b.w", "c.z", "fi(1)", "make().y", "b.a.x > 1", "sizeof a.x"]
    {
        assert!(!is_one(head, code, Language::C), "{code}");
    }
}

#[test]
fn templates_give_what_they_are_given() {
    let head = "template <class T> T same(T x) { return x; } template <class K, class T> struct Pair { K k; T t; T get(); static T one() { return T(1); } };\n\
        template <class T> T Pair::get() { return t; } double over(double); int over(int);\n\
        int over(int a) { return a; } double over(double a) { return a; }\n\
        Pair<int, double> pair; auto automatic = 1.5; auto whole = 1; decltype(pair.k) key;\n";
    for code in [
        "same(1.5)",
        "same<double>(1)",
        "pair.t",
        "pair.get()",
        "over(1.5)",
        "automatic",
        "double(n)",
        "std::max(n, 1.5)",
        "static_cast<float>(n)",
        "Pair<int, double>::one()",
    ] {
        assert!(is_one(head, code, Language::Cpp), "{code}");
    }
    for code in [
        "same(1)",
        "same<int>(1.5)",
        "pair.k",
        "over(1)",
        "whole",
        "key",
        "int(d)",
        "std::max(n, 1)",
        "static_cast<int>(d)",
        "Pair<double, int>::one()",
        "std::lround(d)",
    ] {
        assert!(!is_one(head, code, Language::Cpp), "{code}");
    }
}

#[test]
fn words_that_are_not_understood_are_known_as_such() {
    let head = "#include <vector>\nstd::vector<int> v; auto g = [](int k) { return k * 0.5; }; int plain(int);\n\
        long double operator\"\"_m(long double); template <class T> struct Most { static constexpr T most = T(4); };\n";
    for code in ["[]() { return 4.5; }()", "g(9)", "n + g(9)", "4_m"] {
        assert!(asked(head, code, Language::Cpp, is_unseen), "{code}");
    }
    for code in
        ["v.size()", "n", "plain(n)", "unknown(n)", "OTHER", "v.size() - 1", "Most<int>::most", "2.5_m"]
    {
        assert!(!asked(head, code, Language::Cpp, is_unseen), "{code}");
    }
    assert!(is_one(head, "2.5_m", Language::Cpp) && is_one(head, "Most<double>::most", Language::Cpp));
    assert!(asked("", "_Generic(d, double: 4.5, default: 3)", Language::C, is_unseen));
}
