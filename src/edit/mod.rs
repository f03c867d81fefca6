//! Replacements on the original bytes.
//!
//! Invariant: the edits of a set are sorted and disjoint, and a rewrite is in the set whole or not at all.

mod branch;
mod check;
mod guard;
mod set;
mod thinned;
mod unguarded;

pub use branch::has_conditions;
pub use check::{Before, Ours};
pub use guard::{Guards, side_by_side};
pub use set::{Conflict, Edit, EditSet, Rewrite, applied};
pub use unguarded::originals;
