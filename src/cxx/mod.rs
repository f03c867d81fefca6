//! Writes a compute construct of Fortran as a function in C++ with the same OpenACC directives, which the way to CUDA
//! translates like any other C++.
//!
//! Invariant: what is written is printed from the typed tree; what has no exact counterpart is refused with its reason.

mod arrays;
mod block;
mod call;
mod clause;
mod component;
mod constant;
mod construct;
mod expression;
mod ground;
mod helpers;
mod interface;
mod intrinsic;
mod loops;
mod named;
mod procedure;
mod record;
mod signature;
mod statement;
mod structs;
mod types;
mod value;
mod variable;

use crate::source::Span;

pub use call::signature;
pub use clause::Order;
pub use component::{has_procedures, passed};
pub use constant::value as constant;
pub use construct::{Construct, Declared, construct};
pub use ground::{Elsewhere, Ground};
pub use helpers::{Used, helpers};
pub use interface::{Function, module};
pub use procedure::procedure;
pub use signature::Procedures;
pub use types::Files;
pub use variable::Passing;

/// Why something is not written in C++.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Why {
    /// Where it stands.
    pub at: Span,
    /// What it is, as the subject of "… is not translated to CUDA".
    pub what: String,
}

impl Why {
    fn new(at: Span, what: impl Into<String>) -> Why {
        Why { at, what: what.into() }
    }
}
