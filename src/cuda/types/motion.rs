//! The names by which the run-time library knows what happens to memory.
//!
//! Invariant: each is a member of a data region, and, after `acc2omp_`, a routine.

use crate::plan::Motion;

/// The name of a motion's routine.
pub fn word(motion: Motion) -> &'static str {
    match motion {
        Motion::Copy => "copy",
        Motion::Copyin => "copyin",
        Motion::Copyout { zero: false } => "copyout",
        Motion::Copyout { zero: true } => "copyout_zero",
        Motion::Create { zero: false } => "create",
        Motion::Create { zero: true } => "create_zero",
        Motion::Present => "present",
        Motion::NoCreate => "no_create",
        Motion::Find => "pointer",
    }
}
