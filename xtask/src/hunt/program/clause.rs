//! The clauses of directives.
//!
//! Invariant: sections begin with 0 and say lengths, as in C.

use super::{Expr, Op, Place, VarId};

/// A clause with a list of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataKind {
    Copy,
    CopyIn,
    CopyOut,
    Create,
    Present,
    NoCreate,
    Delete,
    Attach,
    Detach,
    DevicePtr,
    UseDevice,
    /// `device` of `update`.
    Device,
    /// `self` of `update`.
    ToSelf,
    DeviceResident,
    Link,
}

/// One item of a list.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// What it is.
    pub place: Place,
    /// Lower bound and length of each dimension; empty for the whole.
    pub section: Vec<(Expr, Expr)>,
    /// The section is all that there is: Fortran does without.
    pub whole: bool,
}

impl Item {
    /// The whole of a variable.
    pub fn var(var: VarId) -> Item {
        Item { place: Place::Var(var), section: Vec::new(), whole: true }
    }
}

/// An operator of a reduction, by the operator that the statement has.
pub type Reducer = Op;

/// A clause of any directive.
#[derive(Clone, Debug, PartialEq)]
pub enum Clause {
    Data(DataKind, Vec<Item>),
    Private(Vec<VarId>),
    FirstPrivate(Vec<VarId>),
    Reduction(Reducer, Vec<Place>),
    Async(Option<Expr>),
    Wait(Vec<Expr>),
    If(Expr),
    OnSelf(Expr),
    NumGangs(Expr),
    NumWorkers(Expr),
    VectorLength(Expr),
    DefaultPresent,
    Finalize,
    IfPresent,
    Gang,
    Worker,
    Vector,
    Seq,
    Auto,
    Independent,
    Collapse(usize),
    Tile(Vec<usize>),
}
