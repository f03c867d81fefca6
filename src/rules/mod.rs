//! The rules that are data: language tables, and later the pages.
//!
//! Invariant: read from the files compiled in, checked by tests; nothing here computes.

pub mod openacc;
mod stub;
pub use stub::*;
