//! The text of kernels and of the launchers that call them.
//!
//! Invariant: what is written follows from the schedule; device code is text of the source with edits.

pub mod atomic;
mod barriers;
pub mod body;
mod changes;
mod combine;
pub mod counted;
pub mod flat;
pub mod grid;
mod heads;
pub mod inside;
mod kept;
mod kinds;
pub mod launcher;
pub mod parts;
pub mod place;
pub mod privates;
pub mod routine;
pub mod shared;
mod sharers;
pub mod table;
pub mod this;
pub mod tiles;
pub mod variable;
pub mod whole;
pub mod window;
