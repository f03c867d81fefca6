//! What the bodies of macros may change.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::{names, words};

#[test]
fn names_are_whole_words() {
    assert!(names("(k)++", "k") && names("a[k]", "k") && !names("kk + k2", "k"));
}

#[test]
fn what_leads_to_memory_is_seen() {
    for body in [
        "a[i]", "s += 1", "x = 2", "*p", "(*p)", "p->x", "s.x", "i++", "--i", "&x", "{ 1 }", "x; y",
        "x <<= 1",
    ] {
        assert!(words(body).is_none(), "{body}");
    }
    for body in
        ["(N - 1)", "2 * (x)", "1.5e-3f", ".5", "a == b", "(x) > (y) ? (x) : (y)", "x & 1", "sqrt(x * x)", ""]
    {
        assert!(words(body).is_some(), "{body}");
    }
}
