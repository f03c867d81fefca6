//! The host languages: source through tree-sitter into one structure IR.
//!
//! Invariant: knows nothing of directives and targets; `c.rs` is the only file that knows tree-sitter-c's and -cpp's node names.

pub mod ir;

mod c;

pub use c::parse;
