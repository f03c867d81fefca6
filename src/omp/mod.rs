//! Says an offload plan in OpenMP, for a version and a compiler.
//!
//! Invariant: analyses nothing; what a clause becomes stands on its rule page, and only here and there are OpenMP's words.

pub mod ast;
mod clause;
mod launch;
mod look;
mod lower;
mod profile;

pub use lower::{Lowered, Part, Target, lower};
pub use profile::preference;
