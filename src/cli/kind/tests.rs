//! Tests of `kind.rs`.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::*;

#[test]
fn a_carriage_return_before_code_is_found() {
    for text in ["a\r\nb\r\r\n", "a\r", "a \r \r\n", ""] {
        assert_eq!(carriage_return(text.as_bytes()), None, "{text:?}");
    }
    assert_eq!(carriage_return(b"a\r\nb // c\r d\n"), Some(2));
}

#[test]
fn sources_are_recognised_by_what_they_hold() {
    let c = b"int a;\n  #pragma acc loop\n";
    let fortran = b"      end\n  !$ACC loop\n";
    for name in ["a.tpp", "a.ipp", "a.inl", "a.i", "a.def", "a.c.in", "a.h.in", "kernels"] {
        assert_eq!(foreign(Path::new(name), c), Some("c++"), "{name}");
    }
    for name in ["a.cuf", "a.pf", "a.f90.in", "a.INC", "a.fypp"] {
        assert_eq!(foreign(Path::new(name), fortran), Some("fortran"), "{name}");
    }
    assert_eq!(foreign(Path::new("a.inc"), b"c$acc loop\n"), Some("fortran"));
    for name in ["a.txt", "README", "Makefile.am", "guide.md", "fix.patch", "run.sh"] {
        assert_eq!(foreign(Path::new(name), c), None, "{name}");
    }
    assert_eq!(foreign(Path::new("a.tpp"), b"// see #pragma acc loop\n#pragma accurate\n"), None);
    assert_eq!(foreign(Path::new("a.tpp"), b"\0#pragma acc loop\n\n#pragma acc loop\n"), None);
}
