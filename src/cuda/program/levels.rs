//! Levels of parallelism, and those that routines take for themselves (OpenACC 3.3, 2.15.1).
//!
//! Invariant: a call takes the levels of the `routine` directive of what it calls, here or in a header, as the plan says.

use super::Input;
use crate::host::ir::StmtId;
use crate::plan;

pub use crate::plan::Levels;

/// The levels that a call of the function takes for itself: those of its `routine` directive, here or in a header.
pub fn routine_levels(input: &Input, name: &str) -> Levels {
    input.plan.routines.levels(name)
}

/// The levels that a `routine` directive names.
pub fn declared_levels(input: &Input, index: usize) -> Levels {
    plan::declared_levels(&input.bound[index].directive, input.device_type)
}

/// The levels that the calls in a statement take for themselves.
pub fn called_levels(input: &Input, stmt: StmtId) -> Levels {
    input.plan.routines.levels_in(input.unit(), input.symbols, stmt)
}
