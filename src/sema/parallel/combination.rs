//! The ways in which reductions and atomic updates combine values.
//!
//! Invariant: each is one for which the order of the values makes no difference, except for rounding.

/// How a reduction combines values (OpenACC 3.3, 2.5.15).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub enum Combine {
    Add,
    Multiply,
    Max,
    Min,
    BitAnd,
    BitOr,
    BitXor,
    And,
    Or,
    Eqv,
    Neqv,
}
