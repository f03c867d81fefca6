//! What a name is: where it comes from, and of which class its type is.
//!
//! Invariant: values of these types are facts of one declaration.

use crate::host::ir::{Attributes, DeclId};
use crate::source::{SourceFile, Span};

/// Index into the symbols of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SymbolId(pub u32);

/// Where a symbol comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymbolKind {
    /// Declared in a block or a loop header.
    Local,
    /// A parameter of the function.
    Parameter,
    /// Declared at file scope, here or in a header, or `static` in a function.
    Static,
    /// A data member of the class whose function this is, named without `this->`: a part of the object.
    Member,
    /// A function.
    Function,
    /// A type name.
    Type,
    /// An enumerator or an object-like macro: a constant.
    Constant,
}

/// The classes of types that OpenACC's rules tell apart (1.6 "aggregate" and "scalar"; a C pointer is a scalar there).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// An arithmetic type or an enumeration.
    Scalar,
    /// A pointer.
    Pointer,
    /// An array.
    Array,
    /// A struct or union.
    Record,
    /// A type we cannot see.
    Unknown,
}

/// The bounds of one dimension, as far as the declaration says them: texts that `Sum` reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// In Fortran the lower bound, where one is written.
    pub lower: Option<String>,
    /// In C the number of elements, in Fortran the upper bound; `None` where it is not said, or through a pointer.
    pub upper: Option<String>,
}

/// The dimensions of a variable or a member: `shape` and `bounds` as in `Symbol`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dimensions {
    /// `true` is a dimension of an array, `false` a pointer.
    pub shape: Vec<bool>,
    /// The bounds.
    pub bounds: Vec<Bounds>,
}

/// One declared name.
#[derive(Clone, Debug)]
pub struct Symbol {
    /// The name.
    pub name: String,
    /// Where it comes from.
    pub kind: SymbolKind,
    /// The class of its type.
    pub class: Class,
    /// Its type is a floating one.
    pub is_floating: bool,
    /// It is a variable of C or C++ of an enumeration.
    pub is_enumeration: bool,
    /// Number of array dimensions or pointer stars that a subscript may remove, outermost first: `true` is an array.
    pub shape: Vec<bool>,
    /// The bounds of each of these.
    pub bounds: Vec<Bounds>,
    /// The bytes in which it is visible (the whole file for a header's).
    pub scope: Span,
    /// It is visible after this offset.
    pub from: u32,
    /// The declaration, if it is in this file.
    pub decl: Option<DeclId>,
    /// It is `const`, and so are all its parts.
    pub is_const: bool,
    /// A part of it is `mutable`.
    pub has_mutable: bool,
    /// It is another name of an object that may outlive it.
    pub is_reference: bool,
    /// What only Fortran says of it.
    pub fortran: Attributes,
    /// Where this file spells the name; Fortran's names are kept in lower case.
    pub spelling: Option<Span>,
    /// The Fortran module that declares it.
    pub home: Option<String>,
    /// The derived type that a Fortran variable is declared with.
    pub record: Option<String>,
    /// The intrinsic type that a Fortran variable is declared with.
    pub intrinsic: Option<String>,
}

impl Symbol {
    /// A number's name that no declaration in this file gives.
    pub(super) fn constant(name: &str, scope: Span) -> Symbol {
        Symbol {
            name: name.to_owned(),
            kind: SymbolKind::Constant,
            class: Class::Scalar,
            is_floating: false,
            is_enumeration: false,
            shape: Vec::new(),
            bounds: Vec::new(),
            scope,
            from: 0,
            decl: None,
            is_const: true,
            has_mutable: false,
            is_reference: false,
            fortran: Attributes::default(),
            spelling: None,
            home: None,
            record: None,
            intrinsic: None,
        }
    }

    /// The name as the source spells it, which is in lower case for Fortran else.
    pub fn spelled(&self, file: &SourceFile) -> String {
        let spelling = self.spelling.map(|span| file.text(span).into_owned());
        spelling.filter(|text| text.eq_ignore_ascii_case(&self.name)).unwrap_or_else(|| self.name.clone())
    }
}
