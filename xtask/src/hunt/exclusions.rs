//! Faults of compilers that no translation can avoid.
//!
//! Invariant: each has its reason, and a program in `fixtures/limits`.

use super::Language;
use super::program::Program;
use super::variant::Variant;

/// A fault of a compiler.
struct Exclusion {
    /// What it is.
    why: &'static str,
    /// Whether it concerns a program that is built in one of the ways.
    concerns: fn(&Program, Language, &Variant) -> bool,
}

const TABLE: &[Exclusion] = &[];

/// Why a program is not built in one of the ways, if it is not.
pub fn excluded(program: &Program, language: Language, variant: &Variant) -> Option<&'static str> {
    TABLE.iter().find(|one| (one.concerns)(program, language, variant)).map(|one| one.why)
}
