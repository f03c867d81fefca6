//! Renders what was found and changed: messages with their source, differences, the closing table.
//!
//! Invariant: text in, text out; this room neither reads nor writes a file, and decides nothing about a translation.

mod advice;
mod baseline;
mod build;
mod diff;
mod excerpt;
mod github;
mod groups;
mod html;
mod loops;
mod outside;
mod record;
mod sarif;
mod summary;
mod terminal;

pub use advice::advice;
pub use baseline::{Baseline, baseline};
pub use build::{Builder, nvcc};
pub use diff::{changes, unified};
pub use groups::Groups;
pub use loops::{LoopFeedback, LoopVerdict, loops, verdict};
pub use outside::outside;
pub use record::{
    DataRecord, DiagnosticRecord, DirectiveRecord, EditRecord, ErrorRecord, FileRecord, LoopRecord, Place,
    Report, RuleRecord, Seen, Status,
};
pub use summary::{Counted, Summary};
pub use terminal::{Manner, beside, diagnostics, foreign, table, unlisted};
