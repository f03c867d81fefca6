//! Functions that the program defines itself, though a library may have one of the same name.
//!
//! Invariant: what a C program defines is what its device code calls: device code stands in a namespace of its own, whose names
//! hide those of CUDA's headers.

use crate::cuda::program::Input;

/// Whether the program defines a function of this name.
pub fn is_own(input: &Input, name: &str) -> bool {
    input.files().any(|seen| seen.unit.functions_named(name).next().is_some())
}
