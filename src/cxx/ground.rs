//! What code is written from.
//!
//! Invariant: one for each view of a file.

use std::cell::RefCell;

use crate::bind::Bound;
use crate::plan::Plan;
use crate::sema::Symbols;
use crate::source::Span;

use super::helpers::Used;
use super::signature::{Procedures, Written};
use super::types::Files;

/// What constructs are written from.
pub struct Ground<'a> {
    /// The files.
    pub files: &'a Files<'a>,
    /// What names mean.
    pub symbols: &'a Symbols,
    /// The directives.
    pub bound: &'a [Bound],
    /// What they amount to.
    pub plan: &'a Plan,
    /// The device type whose clauses count.
    pub device_type: &'a str,
    /// The functions of ours that are used so far.
    pub used: &'a RefCell<Used>,
    /// The procedures that are called so far.
    pub procedures: &'a RefCell<Procedures>,
    /// Writes a procedure: how it is called, and its text.
    pub write: fn(&Ground, &str, Span) -> Written,
}
