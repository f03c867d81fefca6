//! How names are used in a statement, and what was found of it so far.
//!
//! Invariant: says what `flow` has found; finds nothing.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::host::ir::StmtId;
use crate::source::Span;

use super::symbol::SymbolId;

/// How one name is used in a statement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Use {
    /// The variable itself is read (for a pointer: its address value).
    pub read: bool,
    /// The variable itself is assigned.
    pub written: bool,
    /// It is read at a place that it may reach without being assigned in this statement first.
    pub exposed: bool,
    /// Its address is taken, so a callee may read and write it.
    pub address_taken: bool,
    /// Something in it or after it is read: `a[i]`, `s.m`, `*p`.
    pub part_read: bool,
    /// Something in it or after it is assigned.
    pub part_written: bool,
    /// The first place where it is named.
    pub first: Option<Span>,
}

impl Use {
    /// Whether nothing changes the variable, or what is in it or after it.
    pub fn is_unchanged(&self) -> bool {
        !self.written && !self.part_written && !self.address_taken
    }
}

/// The uses of all names in a statement, and what it calls.
#[derive(Clone, Debug, Default)]
pub struct Uses {
    pub(super) names: BTreeMap<SymbolId, Use>,
    /// The functions called by name, with the place of the first call.
    pub calls: BTreeMap<String, Span>,
}

impl Uses {
    /// How `symbol` is used; `None` if it is not named.
    pub fn of(&self, symbol: SymbolId) -> Option<&Use> {
        self.names.get(&symbol)
    }

    /// All named symbols in a fixed order.
    pub fn iter(&self) -> impl Iterator<Item = (SymbolId, &Use)> {
        self.names.iter().map(|(symbol, used)| (*symbol, used))
    }
}

/// The variables that functions lend to what is not followed, as far as it was asked, by the bodies.
#[derive(Debug, Default)]
pub(super) struct KnownLent(RefCell<FxHashMap<StmtId, Rc<BTreeSet<SymbolId>>>>);

impl KnownLent {
    /// What was found before, or what `find` finds now.
    pub(super) fn or(
        &self,
        key: StmtId,
        find: impl FnOnce() -> BTreeSet<SymbolId>,
    ) -> Rc<BTreeSet<SymbolId>> {
        let known = self.0.borrow().get(&key).cloned();
        known.unwrap_or_else(|| {
            let lent = Rc::new(find());
            self.0.borrow_mut().insert(key, Rc::clone(&lent));
            lent
        })
    }
}

/// The uses of statements that were asked for before; the flag says that loops do not count as using their variables.
#[derive(Debug, Default)]
pub(super) struct KnownUses(RefCell<FxHashMap<(StmtId, bool), Rc<Uses>>>);

impl KnownUses {
    /// What was found before, or what `find` finds now: loops are asked again and again, and those around them, too.
    pub(super) fn or(&self, key: (StmtId, bool), find: impl FnOnce() -> Uses) -> Rc<Uses> {
        let known = self.0.borrow().get(&key).cloned();
        known.unwrap_or_else(|| {
            let used = Rc::new(find());
            self.0.borrow_mut().insert(key, Rc::clone(&used));
            used
        })
    }
}
