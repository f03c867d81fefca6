//! Renders what was found and changed: messages with their source, differences, the closing table.
//!
//! Invariant: text in, text out; this room neither reads nor writes a file, and decides nothing about a translation.

mod advice;
mod build;
mod diff;
mod excerpt;
mod loops;
mod outside;
mod summary;
mod terminal;

pub use advice::advice;
pub use build::{Builder, nvcc};
pub use diff::unified;
pub use loops::{LoopFeedback, LoopVerdict, loops};
pub use outside::outside;
pub use summary::{Counted, Summary};
pub use terminal::{Manner, beside, diagnostics, foreign, table, unlisted};
