//! Tests of `check.rs`.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::*;

#[test]
fn a_call_between_statements_is_no_news() {
    let same = |old: &[u8], new: &[u8]| are_same(old, new, &[]);
    assert!(same(b"{\n a = 1;\n}\n", b"{\n a = 1;\n acc2omp_wait(1);\n}\n"));
    assert!(same(b"{\n a = 1;\n}\n", b"{\nacc2omp_wait(1);\nacc2omp_wait(n, 2);\n a =\n1;\n}\n"));
    assert!(!same(b"if (a)\n b = 1;\n", b"if (a)\nacc2omp_wait(1);\n b = 1;\n"));
    assert!(!same(b"if (a) {\n}\nelse b = 1;\n", b"if (a) {\n}\nacc2omp_wait(1);\nelse b = 1;\n"));
    assert!(!same(b"do {\n}\nwhile (a);\n", b"do {\n}\nacc2omp_wait(1);\nwhile (a);\n"));
    for call in ["acc2omp_wait(1)", "acc2omp_wait(1 +);", "acc2omp_wait(a[1);", "wait(1);", "acc2omp_wait();"]
    {
        assert!(!same(b"a;\nb;\n", format!("a;\n{call}\nb;\n").as_bytes()), "{call}");
    }
}

#[test]
fn brackets_stand_in_pairs() {
    assert!(are_balanced(b"f(a[0], '{') { return \"(\\\"[\"; } // )\n/* ] */ 1'000"));
    assert!(!are_balanced(b"f(a[0)]"));
    assert!(!are_balanced(b"f() {"));
    assert!(!are_balanced(b"}"));
}
