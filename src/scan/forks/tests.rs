//! The conditions of a file, and the branch of OpenMP.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

#![allow(clippy::unwrap_used)]
use super::forks;
use crate::source::{Language, SourceFile};

fn check(text: &str, branch: Option<usize>) {
    let file = SourceFile::new("a.c", text.into(), Language::C);
    let found = forks(&file);
    assert_eq!(found.first().unwrap().branch_of_openmp(), branch, "{text}");
}

#[test]
fn values_that_lead_to_a_branch_are_found() {
    let values = |text: &str, branch: usize| {
        let file = SourceFile::new("a.c", text.into(), Language::C);
        let found = forks(&file).last().unwrap().defines_for(branch);
        found
            .into_iter()
            .map(|(name, value)| format!("{name}={}", value.unwrap()))
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(values("#ifdef A\n#else\n#endif\n", 0), "A=1");
    assert_eq!(values("#ifndef A\n#else\n#endif\n", 1), "A=1");
    assert_eq!(values("#if A == 2\n#elif defined(B) && A == 3\n#endif\n", 1), "A=3 B=3");
    assert_eq!(values("#if A > 2 && A < 2\n#endif\n", 0), "");
    assert_eq!(values("#define FAST 2\n#define SAFE (1)\n#if MODE == FAST\n#endif\n", 0), "MODE=2");
    assert_eq!(values("#ifndef MODE\n#define MODE 0\n#endif\n#if MODE == 3\n#endif\n", 0), "MODE=3");
}

#[test]
fn the_branch_of_openmp_is_found() {
    check("#ifdef _OPENACC\n#else\n#endif\n", Some(0));
    check("#if defined(_OPENMP) && !defined(_OPENACC)\n#else\n#endif\n", Some(0));
    check("#ifdef _OPENMP\n#elif defined(_OPENACC)\n#endif\n", Some(0));
    check("#if defined(_OPENACC) && !defined(_OPENMP)\n#endif\n", None);
    check("#ifndef _OPENACC\n#else\n#endif\n", Some(1));
}
