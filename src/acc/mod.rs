//! OpenACC as a language: the words between the sentinel and the end of a directive.
//!
//! Invariant: knows nothing of C, Fortran, OpenMP or CUDA; never fails, every error is a diagnostic.

pub mod ast;

mod nearest;

mod lex;

mod parse;

mod queue;

mod check;

pub use check::{check, is_idle};
pub use nearest::nearest;
pub use parse::{name, parse};
pub use queue::Queue;
