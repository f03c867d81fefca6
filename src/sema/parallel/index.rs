//! What was read of a nest, by the variable that it is about.
//!
//! Invariant: a question about one variable costs what is said of that one.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::host::ir::StmtId;
use crate::sema::SymbolId;
use crate::source::Span;

use super::Around;
use super::access::Nest;
use super::combine::{self, Update};
use crate::acc::ast::ReductionOp;

/// The index of a nest.
pub(super) struct Index {
    /// Where scalars are named, by place.
    names: FxHashMap<SymbolId, Vec<Span>>,
    /// The statements that combine a value into a variable, by place.
    updates: FxHashMap<SymbolId, Vec<Update>>,
    /// The accesses to each variable and what it leads to, by number.
    pub(super) accesses: FxHashMap<SymbolId, Vec<usize>>,
    /// The variables of the loops of the nest.
    pub(super) counters: FxHashSet<SymbolId>,
    /// Where atomic statements name what they update, and how.
    atomic: BTreeMap<Span, ReductionOp>,
}

impl Index {
    pub(super) fn new(nest: &Nest, around: &Around, stmt: StmtId) -> Index {
        let mut names: FxHashMap<SymbolId, Vec<Span>> = FxHashMap::default();
        for (symbol, span) in &nest.names {
            names.entry(*symbol).or_default().push(*span);
        }
        let mut updates: FxHashMap<SymbolId, Vec<Update>> = FxHashMap::default();
        for update in combine::updates(nest.facts, stmt) {
            updates.entry(update.symbol).or_default().push(update);
        }
        updates.values_mut().for_each(|all| all.sort_by_key(|update| update.span.start));
        let mut accesses: FxHashMap<SymbolId, Vec<usize>> = FxHashMap::default();
        for (number, access) in nest.accesses.iter().enumerate() {
            accesses.entry(access.place.root).or_default().push(number);
        }
        let headers = nest.loops.iter().filter_map(|one| one.header.as_ref().ok());
        let counters = headers.map(|header| header.var).collect();
        Index { names, updates, accesses, counters, atomic: around.atomic.clone() }
    }

    /// The statements within some bytes that combine a value into the variable.
    pub(super) fn updates(&self, symbol: SymbolId, within: Span) -> &[Update] {
        let all = self.updates.get(&symbol).map(Vec::as_slice).unwrap_or_default();
        let first = all.partition_point(|update| update.span.start < within.start);
        let count = all[first..].partition_point(|update| update.span.end <= within.end);
        &all[first..first + count]
    }

    /// Where the variable is named within some bytes.
    pub(super) fn names(&self, symbol: SymbolId, within: Span) -> impl Iterator<Item = Span> {
        let all = self.names.get(&symbol).map(Vec::as_slice).unwrap_or_default();
        all.iter().copied().filter(move |span| within.contains(*span))
    }

    /// How all that names a variable within some bytes combines values with it atomically, if all does, and in one way.
    pub(super) fn combined_atomically(&self, symbol: SymbolId, within: Span) -> Option<ReductionOp> {
        if self.atomic.is_empty() {
            return None;
        }
        let mut ways = self.names(symbol, within).map(|span| self.atomic.get(&span).copied());
        let first = ways.next()??;
        ways.all(|way| way == Some(first)).then_some(first)
    }
}

/// Whether a place stands in one of some statements, of which none holds another one.
pub(super) fn is_in_one(updates: &[Update], at: Span) -> bool {
    let before = updates.partition_point(|update| update.span.start <= at.start);
    before.checked_sub(1).is_some_and(|last| updates[last].span.contains(at))
}
