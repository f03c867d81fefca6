//! What the device may have, and where: in its file, in place, hoisted, or not at all.
//!
//! Invariant: answers about the program; writes no device code.

pub mod access;
pub mod anonymous;
pub mod callable;
pub mod copied;
pub mod counterpart;
pub mod cpp;
pub mod hoisted;
pub mod hosts;
pub mod implied;
pub mod kept;
pub mod left;
pub mod object;
pub mod obstacle;
pub mod placement;
pub mod uncopyable;
pub mod undeclared;
