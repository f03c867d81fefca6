//! Who is what in a program: the source and its headers, macros and choices of the preprocessor, names.
//!
//! Invariant: says what the program has; decides nothing and writes no device code.

pub mod choices;
pub mod effects;
pub mod input;
pub mod macros;
pub mod names;
pub mod predefined;
pub mod renamed;

pub use input::{Input, Refused, Seen, refused};
