//! The device file and its header: everything of the program that device code needs, in order.
//!
//! Invariant: what stands in the file is complete and stands before its use.

pub mod assembled;
pub mod declare;
pub mod device;
pub mod hidden;
pub mod layouts;
pub mod options;
pub mod unseen;
