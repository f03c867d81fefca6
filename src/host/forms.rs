//! What C writes that the structure IR has no node for, and that another language writes in another way.
//!
//! Invariant: in source order; an operand of `sizeof` has expressions of its own, as it is not evaluated.

use std::borrow::Cow;

use crate::source::{SourceFile, Span};

use super::ir::{Decl, Expr, ExprId};

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
    /// Each `({ … })`.
    pub blocks: Vec<ValueBlock>,
    /// Each name of a function with template arguments: `f<int>`.
    pub instances: Vec<Instance>,
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
    /// The words of the type that its values have by what it says: after a colon, or `char` where it is packed.
    pub underlying: Option<String>,
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

/// `({ … })`: a block that gives a value.
#[derive(Clone, Debug)]
pub struct ValueBlock {
    /// The braces and what is in them.
    pub span: Span,
    /// The variables that it declares, in order.
    pub locals: Vec<Local>,
    /// Its last expression.
    pub value: Option<ExprId>,
}

/// The name of a function with template arguments.
#[derive(Clone, Debug)]
pub struct Instance {
    /// All of it.
    pub span: Span,
    /// The same as written.
    pub text: String,
}

/// A variable of a block that gives a value.
#[derive(Clone, Debug)]
pub struct Local {
    /// Its name.
    pub name: String,
    /// The words of its type.
    pub words: String,
    /// Its first value.
    pub init: Option<ExprId>,
}

/// What has a place in the source.
pub trait Placed {
    /// Its bytes.
    fn place(&self) -> Span;
}

impl Placed for Span {
    fn place(&self) -> Span {
        *self
    }
}

macro_rules! placed {
    ($($name:ident),*) => {$(
        impl Placed for $name {
            fn place(&self) -> Span {
                self.span
            }
        }
    )*};
}
placed!(EnumSpecifier, Measured, Designated, CompoundLiteral, ValueBlock, Instance);

/// Those of a list in source order that lie in `span`.
pub fn inside<T: Placed>(all: &[T], span: Span) -> impl Iterator<Item = &T> {
    let first = all.partition_point(|one| one.place().start < span.start);
    let begun = all[first..].iter().take_while(move |one| one.place().start < span.end.max(span.start + 1));
    begun.filter(move |one| span.contains(one.place()))
}

impl Forms {
    /// Puts all of it into the order of the source.
    pub(super) fn sort(&mut self) {
        self.storage.sort_by_key(Placed::place);
        self.enums.sort_by_key(Placed::place);
        self.measured.sort_by_key(Placed::place);
        self.designated.sort_by_key(Placed::place);
        self.literals.sort_by_key(Placed::place);
        self.bound_words.sort_by_key(Placed::place);
        self.generic.sort_by_key(Placed::place);
        self.blocks.sort_by_key(Placed::place);
        self.instances.sort_by_key(Placed::place);
    }
}

/// The words before the first name of a declaration, and perhaps that name: others may stand between it and `decl`.
pub fn specifiers<'f>(file: &'f SourceFile, decl: &Decl) -> Cow<'f, str> {
    let head = Span { start: decl.span.start, end: decl.name_span.start };
    let mut depth = 0_usize;
    let length = file.slice(head).iter().take_while(|byte| {
        match byte {
            b'<' | b'(' | b'[' => depth += 1,
            b'>' | b')' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > 0 || !matches!(byte, b',' | b'=' | b'{')
    });
    file.text(Span { start: head.start, end: head.start + length.count() as u32 })
}
