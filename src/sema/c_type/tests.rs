//! Types of C: which are the same, and what they are made of.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

#![allow(clippy::unwrap_used)]
use super::*;
use crate::host;
use crate::scan::{View, scan};
use crate::sema::Others;
use crate::source::Language;

/// The type of the last expression statement of `f`, in words.
fn typed(code: &str) -> String {
    let head = "typedef float real; typedef enum { A, B } letter; struct s { float x; double *p; short n; };\n\
                    float g(int); double *h(void);\n\
                    void f(int i, unsigned u, long l, float *x, double d, char c, real r, struct s *q, letter e, real m[3][4]) {\n";
    let text = format!("{head} r = {code}; }}\n");
    let file = SourceFile::new("a.c".to_owned(), text.clone().into_bytes(), Language::C);
    let seen = scan(&file, &View::default()).0;
    let unit = host::parse(&file, &seen);
    let symbols = Symbols::new(&unit, text.as_bytes(), Others::default(), &[]);
    let chosen = BTreeSet::new();
    let types = CTypes { file: &file, unit: &unit, headers: &[], symbols: &symbols, chosen: &chosen };
    let mut all = unit.exprs.iter().filter_map(|expr| match expr.kind {
        ExprKind::Assign(None, _, right) => Some(right),
        _ => None,
    });
    shown(&types.of(all.next_back().unwrap()))
}

fn shown(found: &CType) -> String {
    match found {
        CType::Number(number) => number.words().to_owned(),
        CType::Pointer(to) => format!("{}*", shown(to)),
        CType::Array(of) => format!("{}[]", shown(of)),
        CType::Record(tag) => tag.clone(),
        other => format!("{other:?}"),
    }
}

#[test]
fn expressions_have_the_types_of_c() {
    let all = [
        ("i + c", "int"),
        ("c + c", "int"),
        ("u + l", "long"),
        ("i + u", "unsigned int"),
        ("x[i] * i", "float"),
        ("r * 2.0", "double"),
        ("r * 2.0f", "float"),
        ("x[i] < d", "int"),
        ("'a'", "int"),
        ("!d", "int"),
        ("i ? x[0] : d", "double"),
        ("(i, c)", "char"),
        ("q->x", "float"),
        ("q->p", "double*"),
        ("q[1].n + 0", "int"),
        ("*q->p", "double"),
        ("&x[3]", "float*"),
        ("m[1]", "float[]"),
        ("m[1][2]", "float"),
        ("*m[1]", "float"),
        ("g(3)", "float"),
        ("h()[1]", "double"),
        ("(real)i", "float"),
        ("(const struct s *)0", "s*"),
        ("e + 1", "int"),
        ("-2.0 * sqrtf(d)", "double"),
        ("-2l + i", "long"),
        ("sizeof i", "unsigned long"),
        ("sqrt(x[i])", "double"),
        ("sqrtf(d)", "float"),
        ("x + 1", "float*"),
        ("(x + 1) - x", "long"),
        ("0xffffffff", "unsigned int"),
        ("5000000000", "long"),
        ("unknown(i)", "Unknown"),
    ];
    for (code, expected) in all {
        assert_eq!(typed(code), expected, "{code}");
    }
}
