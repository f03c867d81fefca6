//! Who is what in a program: the source and its headers, macros and choices of the preprocessor, names.
//!
//! Invariant: says what the program has; decides nothing and writes no device code.

pub mod choices;
pub mod declared;
pub mod defines;
pub mod effects;
pub mod functions;
pub mod input;
pub mod levels;
pub mod macros;
pub mod members;
pub mod names;
pub mod operators;
pub mod predefined;
pub mod privates;
pub mod qualified;
pub mod renamed;
pub mod repeated;
pub mod routines;
pub mod sizes;
pub mod type_uses;
pub mod uncopyable;
pub mod units;
pub mod uses;

pub use input::{Input, Refused, Seen, refused};
