//! Lays out a new directive the way the user laid out the old one.
//!
//! Invariant: knows bytes and columns, not what a directive means.

mod c;

pub use c::{
    above, behind, braced, inserted, lines_after, lines_behind, relaid, removed, replaced, stands_alone,
};
