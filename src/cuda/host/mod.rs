//! What becomes of the host file: launches, data, run-time calls.
//!
//! Invariant: the host file stays in its language.

pub mod access;
pub mod apart;
pub mod compute;
pub mod control;
pub mod counterpart;
pub mod data;
mod launch;
pub mod lowering;
pub mod marks;
mod unstructured;
