//! A program as CUDA is made of it: the source, its headers, what is known of both, and why something stays as it was.
//!
//! Invariant: holds what other rooms found; finds nothing itself.

use std::borrow::Cow;

use super::choices::Choices;
use super::effects::Effects;
use super::members;
use super::repeated::Repeated;
use super::type_uses::LastTexts;
use super::uncopyable::Uncopyable;
use super::units::own_name;
use crate::acc::ast::ClauseKind;
use crate::bind::{Bound, Declared};
use crate::cuda::code::text::Overlap;
use crate::diag::{self, Diag};
use crate::host::ir::{Decl, ExprId, StmtId, Unit};
use crate::plan::{self, Plan};
use crate::scan::Scan;
use crate::sema::{SymbolId, SymbolKind, Symbols};
use crate::source::{self, SourceFile, Span};

/// One file as this room sees it: a source, or a header that it includes.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// The file.
    pub file: &'a SourceFile,
    /// What the host grammar made of it.
    pub unit: &'a Unit,
    /// Its preprocessor lines.
    pub scan: &'a Scan,
    /// The variables that it places on the device.
    pub declared: &'a Declared,
}

impl<'a> Seen<'a> {
    /// The code of a part of the file, with blanks for what the grammar is not shown.
    pub fn code(&self, span: Span) -> Cow<'a, str> {
        source::in_place(self.scan.shadow.get(span.range()).unwrap_or_default())
    }

    /// An expression, as written.
    pub fn text(&self, expr: ExprId) -> String {
        self.file.text(self.unit.expr(expr).span).trim().to_owned()
    }
}

/// What is lowered.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// The source.
    pub source: Seen<'a>,
    /// The headers that it includes.
    pub headers: &'a [Seen<'a>],
    /// Those of them that have directives, each as it is read itself.
    pub read: &'a [Input<'a>],
    /// The names of all of them.
    pub symbols: &'a Symbols,
    /// The directives.
    pub bound: &'a [Bound],
    /// What they amount to.
    pub plan: &'a Plan,
    /// The device type whose clauses count.
    pub device_type: &'a str,
    /// The program is C, whose code means something else in C++.
    pub is_c: bool,
    /// The code stays where it stands: all names and types of the source are known there.
    pub in_place: bool,
    /// The name of the object on the device, where an inline construct needs the object itself.
    pub object: Option<&'static str>,
    /// What the calls of the program's functions do.
    pub effects: Option<&'a Effects>,
    /// What names of its device code begin with.
    pub unit_name: &'a str,
    /// Functions that the device file can have no copy of.
    pub uncopyable: Option<&'a Uncopyable>,
    /// What the preprocessor chooses.
    pub choices: Option<&'a Choices>,
    /// What headers bring that are included several times.
    pub repeated: Option<&'a Repeated>,
    /// The texts of the region of the source that was asked for last.
    pub texts: Option<&'a LastTexts>,
    /// No two pointers alias.
    pub assume_no_alias: bool,
    /// Device code says with `#line` where it comes from.
    pub line_directives: bool,
}

impl<'a> Input<'a> {
    /// Whether device code says where it comes from: code that stays inline need not.
    pub fn says_lines(&self) -> bool {
        self.line_directives && !self.in_place
    }

    /// The source.
    pub fn file(&self) -> &'a SourceFile {
        self.source.file
    }

    /// What the host grammar made of the source.
    pub fn unit(&self) -> &'a Unit {
        self.source.unit
    }

    /// All files that are seen, the source first.
    pub fn files(&self) -> impl Iterator<Item = Seen<'a>> + use<'a> {
        [self.source].into_iter().chain(self.headers.iter().copied())
    }

    /// The number of a file among the headers; the source has the one after theirs.
    pub fn number(&self, seen: &Seen) -> usize {
        let mut headers = self.headers.iter();
        headers.position(|other| std::ptr::eq(other.unit, seen.unit)).unwrap_or(self.headers.len())
    }

    /// The line of `offset`, as a message names it: `jacobi.c:28`.
    pub fn place(&self, offset: u32) -> String {
        let name = own_name(&self.file().name);
        format!("{name}:{}", self.file().line_number(offset))
    }

    /// The declaration of a variable, and the file that it stands in.
    pub fn declaration(&self, symbol: SymbolId) -> Option<(Seen<'a>, &'a Decl)> {
        let known = self.symbols.get(symbol);
        if let Some(decl) = known.decl {
            return Some((self.source, self.unit().decl(decl)));
        }
        if known.kind == SymbolKind::Member {
            return members::member(self, symbol);
        }
        self.headers.iter().find_map(|seen| {
            seen.unit.decls_named(&known.name).next()?;
            let named = |id: &&crate::host::ir::DeclId| seen.unit.decl(**id).name == known.name;
            seen.unit.globals.iter().find(named).map(|id| (*seen, seen.unit.decl(*id)))
        })
    }

    /// A header as it is read itself, if it has directives.
    pub fn reading(&self, header: &Seen) -> Option<&'a Input<'a>> {
        self.read.iter().find(|read| std::ptr::eq(read.source.unit, header.unit))
    }

    /// The clauses of directive `index` that count.
    pub fn clauses(&self, index: usize) -> impl Iterator<Item = &'a ClauseKind> + use<'a> {
        let directive = &self.bound[index].directive;
        let (counting, _) = plan::effective(directive, self.device_type);
        counting.into_iter().map(|at| &directive.clauses[at].kind)
    }

    /// The source's code with its names and directives, as the plan reads it.
    pub fn code(&self) -> plan::Code<'a> {
        let (symbols, bound, device_type) = (self.symbols, self.bound, self.device_type);
        plan::Code { unit: self.source.unit, symbols, bound, device_type }
    }

    /// Where a statement of the source stands.
    pub fn stmt_span(&self, stmt: StmtId) -> Span {
        self.unit().stmt(stmt).span
    }
}

/// Why something is left untranslated: the diagnostic that says so.
pub type Refused = Box<Diag>;

impl From<Overlap> for Refused {
    fn from(overlap: Overlap) -> Refused {
        Box::new(diag::edit_conflict(overlap.at))
    }
}

/// What the device file does not take yet.
pub fn refused(at: Span, what: &str) -> Refused {
    Box::new(diag::not_yet_cuda(at, what))
}
