//! What variables hold at a place of a nest, and where its pointers lead.
//!
//! Invariant: a branch costs what it changes, not what is known: it is taken back change by change.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::sema::SymbolId;

use super::access::Place;
use super::affine::Poly;

/// What is known of all variables.
#[derive(Debug, Default)]
pub(super) struct Known {
    values: Map<Poly>,
    pointers: Map<Option<Place>>,
}

/// A place in the history of what is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    values: usize,
    pointers: usize,
}

/// What one way through a branch has changed.
#[derive(Debug)]
pub(super) struct Changed {
    values: FxHashMap<SymbolId, Poly>,
    pointers: FxHashMap<SymbolId, Option<Place>>,
}

impl Known {
    pub(super) fn value(&self, symbol: SymbolId) -> Option<&Poly> {
        self.values.now.get(&symbol)
    }

    pub(super) fn set_value(&mut self, symbol: SymbolId, value: Poly) {
        self.values.set(symbol, value);
    }

    pub(super) fn pointer(&self, symbol: SymbolId) -> Option<&Option<Place>> {
        self.pointers.now.get(&symbol)
    }

    pub(super) fn set_pointer(&mut self, symbol: SymbolId, place: Option<Place>) {
        self.pointers.set(symbol, place);
    }

    pub(super) fn mark(&self) -> Mark {
        Mark { values: self.values.past.len(), pointers: self.pointers.past.len() }
    }

    /// The variables that have changed since `mark`, and stay so.
    pub(super) fn changed_since(&self, mark: Mark) -> (Vec<SymbolId>, Vec<SymbolId>) {
        (self.values.changed(mark.values).collect(), self.pointers.changed(mark.pointers).collect())
    }

    /// Takes back what has happened since `mark`, and says what it was.
    pub(super) fn take_back(&mut self, mark: Mark) -> Changed {
        Changed {
            values: self.values.take_back(mark.values),
            pointers: self.pointers.take_back(mark.pointers),
        }
    }

    /// Where several ways meet: what all leave alike is known, of the others `unknown` makes a value. The variables of
    /// `early` differ.
    pub(super) fn join(
        &mut self,
        ways: &[Changed],
        early: &(Vec<SymbolId>, Vec<SymbolId>),
        mut unknown: impl FnMut() -> Poly,
    ) {
        let values: Vec<_> = ways.iter().map(|way| &way.values).collect();
        self.values.join(&values, &early.0, |_| unknown());
        let pointers: Vec<_> = ways.iter().map(|way| &way.pointers).collect();
        self.pointers.join(&pointers, &early.1, |_| None);
    }
}

/// What is known of each variable, and what was known before.
#[derive(Debug)]
struct Map<T> {
    now: FxHashMap<SymbolId, T>,
    past: Vec<(SymbolId, Option<T>)>,
}

impl<T> Default for Map<T> {
    fn default() -> Map<T> {
        Map { now: FxHashMap::default(), past: Vec::new() }
    }
}

impl<T: Clone + PartialEq> Map<T> {
    fn set(&mut self, symbol: SymbolId, value: T) {
        let old = self.now.insert(symbol, value);
        self.past.push((symbol, old));
    }

    fn changed(&self, mark: usize) -> impl Iterator<Item = SymbolId> {
        self.past[mark..].iter().map(|(symbol, _)| *symbol)
    }

    fn take_back(&mut self, mark: usize) -> FxHashMap<SymbolId, T> {
        let mut changed = FxHashMap::default();
        for (symbol, old) in self.past.drain(mark..).rev() {
            let new = match old {
                Some(old) => self.now.insert(symbol, old),
                None => self.now.remove(&symbol),
            };
            // What it was last is met first.
            if let Some(new) = new {
                changed.entry(symbol).or_insert(new);
            }
        }
        changed
    }

    fn join(
        &mut self,
        ways: &[&FxHashMap<SymbolId, T>],
        early: &[SymbolId],
        mut unknown: impl FnMut(SymbolId) -> T,
    ) {
        let mut found: FxHashMap<SymbolId, (usize, Option<&T>)> = FxHashMap::default();
        let mut order: Vec<SymbolId> = Vec::new();
        for (symbol, value) in ways.iter().flat_map(|way| way.iter()) {
            let (count, same) = found.entry(*symbol).or_insert_with(|| {
                order.push(*symbol);
                (0, Some(value))
            });
            *count += 1;
            *same = same.filter(|same| *same == value);
        }
        let early: FxHashSet<SymbolId> = early.iter().copied().collect();
        order.extend(early.iter().filter(|symbol| !found.contains_key(symbol)));
        order.sort_unstable();
        for symbol in order {
            let known = found.get(&symbol).and_then(|(count, same)| {
                let same = (*same)?;
                let is_all = *count == ways.len() || self.now.get(&symbol) == Some(same);
                (is_all && !early.contains(&symbol)).then(|| same.clone())
            });
            match known {
                Some(known) if self.now.get(&symbol) == Some(&known) => {}
                Some(known) => self.set(symbol, known),
                None => {
                    let unknown = unknown(symbol);
                    self.set(symbol, unknown);
                }
            }
        }
    }
}
