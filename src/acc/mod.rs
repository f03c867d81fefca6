//! OpenACC as a language: the words between the sentinel and the end of a directive.
//!
//! Invariant: knows nothing of C, Fortran, OpenMP or CUDA; never fails, every error is a diagnostic.

pub mod ast;

pub fn name(_: ast::DirectiveKind) -> &'static str {
    ""
}
