//! acc2omp translates OpenACC in C, C++ and Fortran to OpenMP target directives or CUDA.
//!
//! ```
//! use acc2omp::{Language, Options, Source, translate};
//!
//! let text = "void f(int n, double *a)\n{\n#pragma acc parallel loop copy(a[0:n])\n    \
//!             for (int i = 0; i < n; i++)\n        a[i] *= 2.0;\n}\n";
//! let source = Source::new("a.c", text.as_bytes().to_vec(), Language::C);
//! let translation = translate(&source, &Options::default());
//! assert!(String::from_utf8_lossy(&translation.text).contains("#pragma omp target"));
//! ```
//!
//! The program is built from the same library. Modules that are hidden from the documentation are for the program, the tests and
//! the chores of the repository: they are not part of the interface and change without notice (`docs/architecture.md`).
//!
//! Invariant: this library does no I/O outside the rooms `cli` and `verify` and never fails on what a user wrote.

#[doc(hidden)]
pub mod budget;

#[doc(hidden)]
pub mod source;

#[doc(hidden)]
pub mod diag;

#[doc(hidden)]
pub mod scan;

#[doc(hidden)]
pub mod acc;

#[doc(hidden)]
pub mod host;

mod edit;

mod bind;

mod sema;

mod plan;

mod advise;

#[doc(hidden)]
pub mod rules;

mod cuda;

mod omp;

mod cxx;

mod layout;

mod translate;

#[doc(hidden)]
pub mod pins;

#[doc(hidden)]
pub mod report;

#[doc(hidden)]
pub mod verify;

#[doc(hidden)]
pub mod cli;

pub use budget::{Budget, Threads};
pub use diag::{Code, Diag, Label, Severity};
pub use edit::Edit;
pub use omp::{Nest, Queues};
pub use report::{LoopFeedback, LoopVerdict};
pub use source::{Form, Language, Languages, Predefined, SourceFile, Span};
pub use translate::{
    Advice, Beside, DataUse, Declarations, DirectiveReport, Existing, Extent, Governed, Guards, Header,
    Options, OtherBuild, Outcome, Profile, RUNTIME, RUNTIME_MODULE, SUPPORT, Source, To, Translation,
    Version, Wish, advice, extents, governed, instrument, lines_of, support, support_names, translate,
    whole_support,
};
