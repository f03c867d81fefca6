//! How types and objects of C and C++ are written for the device.
//!
//! Invariant: what has no form that means the same is refused.

pub mod complex;
pub mod cpp_complex;
pub mod declarator;
pub mod enums;
pub mod item;
pub mod layout;
pub mod motion;
pub mod own;
pub mod packed;
pub mod referred;
pub mod spelling;
pub mod unfolded;
