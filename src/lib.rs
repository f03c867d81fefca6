//! acc2omp moves OpenACC programs off OpenACC: see `docs/architecture.md` for the road of a file.
//!
//! Invariant: this library does no I/O outside the rooms `cli` and `verify` and never fails on what a user wrote.

pub mod budget;

pub mod source;

pub mod diag;

pub mod scan;

pub mod acc;

pub mod host;

pub mod edit;

pub mod bind;

pub mod sema;

pub mod plan;

pub mod advise;

pub mod rules;

pub mod cuda;

pub mod omp;

pub mod cxx;

pub mod layout;

mod translate;

pub mod pins;

pub mod report;

pub mod verify;

pub mod cli;

pub use omp::{Nest, Queues};
pub use report::{LoopFeedback, LoopVerdict};
pub use translate::{
    Advice, Beside, DataUse, DirectiveReport, Existing, Extent, Guards, Header, Options, Outcome, Profile,
    RUNTIME, RUNTIME_MODULE, SUPPORT, Source, To, Translation, Version, Wish, advice, extents, instrument,
    lines_of, support, support_names, translate, whole_support,
};
