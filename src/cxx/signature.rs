//! How procedures are called in C++.
//!
//! Invariant: the arguments are in the order of the procedure's own.

use std::collections::BTreeMap;

use crate::sema::SymbolId;

use super::Why;
use super::structs::Record;
use super::types::{Identity, Type};
use super::variable::BoundQuery;

/// The procedures that are written so far.
#[derive(Default)]
pub struct Procedures {
    /// How each is called, or why it is not written; by the number of another file, and its name.
    pub known: BTreeMap<Place, Result<Signature, Why>>,
    /// The derived types that are structs so far.
    pub records: Vec<Record>,
    /// Their texts, and those of constants and structs, each before what names it.
    pub texts: Vec<(String, String)>,
    /// Those that are being written.
    pub active: Vec<Place>,
}

/// The number of another file, if it is not in the file that is translated, and the name of a procedure.
pub type Place = (Option<usize>, String);

/// How a procedure is called.
#[derive(Clone, Debug)]
pub struct Signature {
    /// How C++ calls it.
    pub name: String,
    /// Its arguments.
    pub dummies: Vec<Dummy>,
    /// The variables around it that it uses, which are passed after its arguments.
    pub captured: Vec<Captured>,
    /// What it gives, if anything.
    pub result: Option<Type>,
}

/// A dummy argument.
#[derive(Clone, Debug)]
pub struct Dummy {
    /// Its name in Fortran.
    pub name: String,
    /// Its type, or that of its elements.
    pub ty: Type,
    /// How it is passed.
    pub kind: DummyKind,
    /// The dimensions whose number of elements is passed, too.
    pub extents: Vec<usize>,
}

/// A variable of a module or of the host scoping unit that a procedure uses.
#[derive(Clone, Debug)]
pub struct Captured {
    /// Which it is.
    pub identity: Identity,
    /// What it is in the file of the procedure.
    pub symbol: SymbolId,
    /// The number of that file.
    pub number: Option<usize>,
    /// Its type, or that of its elements.
    pub ty: Type,
    /// How it is passed.
    pub kind: DummyKind,
    /// The bounds that are passed, too.
    pub bounds: Vec<(usize, BoundQuery)>,
}

/// How a dummy argument is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DummyKind {
    /// A number or logical value that the procedure does not assign.
    Value,
    /// One that it may assign.
    Reference,
    /// The address of an array's first element.
    Array,
}

/// How a procedure is called, and its text; or why it is not written.
pub type Written = Result<(Signature, String), Why>;
