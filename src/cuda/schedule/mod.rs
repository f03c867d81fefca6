//! What is distributed, and how: levels and sizes of launches, ways of variables, reductions.
//!
//! Invariant: decisions, no text of device code.

pub mod capture;
pub mod clause;
pub mod distinct;
pub mod grid;
pub mod levels;
pub mod reduction;
pub mod reuse;
pub mod spill;
pub mod threads;
pub mod tiles;
