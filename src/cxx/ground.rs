//! What code is written from.
//!
//! Invariant: one for each view of a file.

use std::cell::{OnceCell, RefCell};

use crate::acc::ast::DataClause;
use crate::bind::{Bound, Declared};
use crate::host::ir::{Scope, ScopeKind, Unit};
use crate::plan::Plan;
use crate::sema::{SymbolId, Symbols, Texts};
use crate::source::Span;

use super::Why;
use super::helpers::Used;
use super::signature::{Procedures, Written};
use super::types::{Files, Identity};
use super::value::Value;

/// What constructs are written from.
pub struct Ground<'a> {
    /// The files.
    pub files: &'a Files<'a>,
    /// Which of the other files this is about; `None` of the file that is translated.
    pub number: Option<usize>,
    /// What names mean.
    pub symbols: &'a Symbols,
    /// The directives.
    pub bound: &'a [Bound],
    /// What they amount to.
    pub plan: &'a Plan,
    /// The variables that `declare` directives give a place on the device.
    pub declared: &'a Declared,
    /// The device type whose clauses count.
    pub device_type: &'a str,
    /// The functions of ours that are used so far.
    pub used: &'a RefCell<Used>,
    /// The procedures that are called so far.
    pub procedures: &'a RefCell<Procedures>,
    /// Writes a procedure: how it is called, and its text.
    pub write: fn(&Ground, &str, Span) -> Written,
    /// The value of a constant that is not an array, which is named at a place.
    pub constant: fn(&Ground, SymbolId, Span) -> Result<Value, Why>,
    /// Reads another file whole.
    pub read: &'a dyn Fn(usize) -> Option<Elsewhere>,
    /// The other files that have been read whole, by their numbers.
    pub elsewhere: &'a [OnceCell<Option<Elsewhere>>],
}

/// Another file, as its own translation reads it.
pub struct Elsewhere {
    /// Its code.
    pub unit: Unit,
    /// What names mean.
    pub symbols: Symbols,
    /// The directives.
    pub bound: Vec<Bound>,
    /// What they amount to.
    pub plan: Plan,
}

impl Ground<'_> {
    /// Which variable a symbol is.
    pub fn identity(&self, symbol: SymbolId) -> Identity {
        let known = self.symbols.get(symbol);
        let unit = self.files.own.unit;
        let home = known.home.clone().or_else(|| {
            let decl = known.decl?;
            let is_home = |scope: &&Scope| scope.kind == ScopeKind::Module && scope.decls.contains(&decl);
            unit.scopes.iter().find(is_home).map(|scope| scope.name.clone())
        });
        (home, known.name.clone())
    }

    /// The clause of the `declare` directive that gives a variable of a module its place on the device.
    pub fn declared(&self, symbol: SymbolId) -> Option<DataClause> {
        self.has_place(&self.identity(symbol))
    }

    /// The same, by which variable it is.
    pub fn has_place(&self, identity: &Identity) -> Option<DataClause> {
        identity.0.as_ref()?;
        self.declared.get(identity).copied().filter(|clause| *clause != DataClause::Link)
    }

    /// Whether code in `extent` declares a variable for itself.
    pub fn is_declared_in(&self, symbol: SymbolId, extent: Span) -> bool {
        let decl = self.symbols.get(symbol).decl.map(|id| self.files.own.unit.decl(id));
        decl.is_some_and(|decl| extent.contains(decl.name_span))
    }

    /// What another file is written from.
    pub fn over_there<T>(&self, number: usize, work: impl FnOnce(&Ground) -> T) -> Option<T> {
        let there = self.elsewhere.get(number)?.get_or_init(|| (self.read)(number)).as_ref()?;
        let file = self.files.others.get(number)?.file;
        let files = Files::new(Texts { file, unit: &there.unit }, self.files.others.clone(), &there.symbols);
        let ground = Ground {
            files: &files,
            number: Some(number),
            symbols: &there.symbols,
            bound: &there.bound,
            plan: &there.plan,
            ..*self
        };
        Some(work(&ground))
    }
}
