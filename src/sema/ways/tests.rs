//! Which macros hide the ways of a program.
//!
//! Invariant: a macro that is a statement of its own, or an expression, hides nothing.

use super::hides;

#[test]
fn macros_hide_heads_and_jumps() {
    for body in [
        "if (c)",
        "else",
        "for (int i = 0; i < (n); i++)",
        "if (c) goto fail",
        "do { if (c) break; } while (0)",
        "{ int t;",
        "}",
    ] {
        assert!(hides(body), "{body}");
    }
}

#[test]
fn statements_and_expressions_hide_nothing() {
    for body in [
        "((a) < (b) ? (a) : (b))",
        "do { if (c) stop(1); } while (0)",
        "({ int t = 0; for (int i = 0; i < 3; i++) t += i; t; })",
        "if (c) { n++; }",
        "return n;",
    ] {
        assert!(!hides(body), "{body}");
    }
}
