//! What C writes that the structure IR has no node for, and that another language writes in another way.
//!
//! Invariant: in source order; an operand of `sizeof` has expressions of its own, as it is not evaluated.

use crate::source::Span;

use super::ir::{Expr, ExprId};

/// Forms of C in one unit.
#[derive(Clone, Debug, Default)]
pub struct Forms {
    /// Words of storage before declarations and functions: `static`, `inline`, `extern`, `extern "C"`.
    pub storage: Vec<Span>,
    /// Each `enum …` that stands where a type does.
    pub enums: Vec<EnumSpecifier>,
    /// Each `sizeof` of an expression.
    pub measured: Vec<Measured>,
    /// Designated parts of initialisers.
    pub designated: Vec<Designated>,
    /// `(type){ … }`
    pub literals: Vec<CompoundLiteral>,
    /// `static` and qualifiers inside the brackets of array parameters.
    pub bound_words: Vec<Span>,
    /// Each `_Generic( … )`.
    pub generic: Vec<Span>,
}

/// `enum tag { … }`, with or without its list.
#[derive(Clone, Debug)]
pub struct EnumSpecifier {
    /// All of it.
    pub span: Span,
    /// Its tag.
    pub tag: Option<String>,
    /// It has the list of its constants.
    pub is_definition: bool,
}

/// `sizeof e` or `sizeof(e)`
#[derive(Clone, Debug)]
pub struct Measured {
    /// All of it.
    pub span: Span,
    /// The expressions of the operand, inner ones before outer ones: the last one is the operand itself.
    pub operand: Vec<Expr>,
}

/// `.name = e` or `[index] = e`
#[derive(Clone, Debug)]
pub struct Designated {
    /// All of it.
    pub span: Span,
    /// What it is about, outer parts first.
    pub path: Vec<Designator>,
    /// Its value.
    pub value: ExprId,
}

/// A part of what an initialiser makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Designator {
    /// `.name`
    Member(String),
    /// `[index]`
    Element(ExprId),
    /// `[first ... last]`, or what is not understood
    Other,
}

/// `(type){ … }`
#[derive(Clone, Debug)]
pub struct CompoundLiteral {
    /// All of it.
    pub span: Span,
    /// Its type, as written.
    pub to: String,
    /// It is an array.
    pub is_array: bool,
}
