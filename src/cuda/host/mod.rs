//! What becomes of the host file: launches, data, run-time calls.
//!
//! Invariant: the host file stays in its language.

pub mod compute;
pub mod data;
