//! The text of kernels and of the launchers that call them.
//!
//! Invariant: what is written follows from the schedule; device code is text of the source with edits.

pub mod atomic;
pub mod body;
pub mod flat;
pub mod launcher;
pub mod parts;
pub mod place;
pub mod qualified;
pub mod shared;
pub mod table;
pub mod twin;
pub mod variable;
pub mod whole;
pub mod window;
