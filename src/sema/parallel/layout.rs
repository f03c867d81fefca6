//! How the memory that a nest of loops uses lies for neighbouring iterations of each loop: side by side, or far apart.
//!
//! Invariant: this is about speed. Where it is not known, memory counts as far apart.

use std::collections::{BTreeMap, BTreeSet};

use crate::host::ir::{ExprId, ExprKind, StmtId};
use crate::sema::SymbolKind;

use super::access::{Access, Nest, Step};
use super::affine::{Atom, AtomId, Poly};

/// What is known of the memory and of the sizes of the loops of a nest.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// For each access to an element, the loops around it, and whether neighbouring iterations of the loop use the same
    /// element or one beside it.
    accesses: Vec<BTreeMap<StmtId, bool>>,
    /// The number of iterations, where it is a number.
    trips: BTreeMap<StmtId, i64>,
    /// The loops that move along with the loop around them.
    windows: BTreeSet<StmtId>,
    /// The loops that have many iterations, or about as many as a loop around them.
    long: BTreeSet<StmtId>,
}

/// Loops of fewer iterations than this are not long.
const LONG: i64 = 256;

impl Layout {
    /// How many of the accesses in loop `within` neighbouring iterations of loop `lane`, which is the same loop or one around it,
    /// make to the same element or to one beside it.
    pub fn near(&self, lane: StmtId, within: StmtId) -> usize {
        let inside = self.accesses.iter().filter(|around| around.contains_key(&within));
        inside.filter(|around| around.get(&lane) == Some(&true)).count()
    }

    /// The number of iterations of a loop, if it is a number.
    pub fn trips(&self, stmt: StmtId) -> Option<i64> {
        self.trips.get(&stmt).copied()
    }

    /// Whether a loop is known to have many iterations, or has about as many as a loop around it, as in a triangle.
    pub fn is_long(&self, stmt: StmtId) -> bool {
        self.long.contains(&stmt)
    }

    /// Whether a loop moves along with the loop around it, as one over the neighbours of a point does: it is as long in each
    /// iteration, and most likely short.
    pub fn is_window(&self, stmt: StmtId) -> bool {
        self.windows.contains(&stmt)
    }
}

impl Nest<'_> {
    /// How the memory of the nest lies.
    pub(super) fn layout(&self) -> Layout {
        let elements = self.accesses.iter().filter(|access| self.is_element(access));
        let around = |access: &Access| {
            let loops = self.around(access.inside).into_iter();
            loops.map(|at| (self.loops[at].stmt, self.is_near(access, at))).collect()
        };
        let trips = (0..self.loops.len()).filter_map(|at| Some((self.loops[at].stmt, self.trips_of(at)?)));
        let windows = (0..self.loops.len()).filter(|at| self.is_window(*at)).map(|at| self.loops[at].stmt);
        let is_long =
            |at: &usize| self.trips_of(*at).map_or_else(|| self.is_triangular(*at), |trips| trips >= LONG);
        let long = (0..self.loops.len()).filter(is_long).map(|at| self.loops[at].stmt);
        Layout {
            long: long.collect(),
            accesses: elements.map(around).collect(),
            trips: trips.collect(),
            windows: windows.collect(),
        }
    }

    /// Whether an access is to an element of memory that iterations share.
    fn is_element(&self, access: &Access) -> bool {
        let known = self.facts.symbols.get(access.place.root);
        let is_own =
            known.kind == SymbolKind::Local && !known.is_reference && self.whole.contains(known.scope);
        let is_shared = !is_own || access.place.steps.contains(&Step::Hop);
        let is_named = access.is_kept || access.is_deep || access.by_name;
        let mut steps = access.place.steps.iter();
        is_shared && !is_named && steps.any(|step| matches!(step, Step::Index(_)))
    }

    /// Whether neighbouring iterations of loop `lane` use the same element, or elements side by side.
    fn is_near(&self, access: &Access, lane: usize) -> bool {
        let steps = &access.place.steps;
        let memory = steps.iter().rposition(|step| *step == Step::Hop).map_or(0, |hop| hop + 1);
        let is_fixed = |step: &Step| match step {
            Step::Index(index) => index.as_ref().is_some_and(|index| !self.depends(index, lane)),
            _ => true,
        };
        let dimensions: Vec<usize> =
            (memory..steps.len()).filter(|at| matches!(steps[*at], Step::Index(_))).collect();
        let fastest = match self.facts.unit.is_fortran() {
            true => dimensions.first(),
            false => dimensions.last(),
        };
        let Some(fastest) = fastest.copied() else { return false };
        if !(0..steps.len()).filter(|at| *at != fastest).all(|at| is_fixed(&steps[at])) {
            return false;
        }
        let Step::Index(Some(index)) = &steps[fastest] else { return false };
        let Some(index) = self.at_first(index, lane) else { return false };
        if !self.depends(&index, lane) {
            return true;
        }
        // Of an array of objects, neighbours are an object apart.
        let is_whole = !steps[fastest..].iter().any(|step| matches!(step, Step::Member(_)));
        is_whole && self.moves_by(&index, lane).is_some_and(|by| by.abs() == 1)
    }

    /// By how much a value changes from one iteration of loop `lane` to the next, if it is a number.
    fn moves_by(&self, value: &Poly, lane: usize) -> Option<i64> {
        let counter = self.loops[lane].counter;
        let by = value.coefficient(counter)?.value()?;
        let rest = value.plus(&Poly::atom(counter), by.checked_neg()?)?;
        (!self.depends(&rest, lane)).then_some(by)
    }

    /// A value with the counters of the loops inside of loop `lane` at the first iterations of these.
    fn at_first(&self, value: &Poly, lane: usize) -> Option<Poly> {
        let mut value = value.clone();
        for at in (lane + 1..self.loops.len()).rev().filter(|at| self.is_within(Some(*at), lane)) {
            let by = value.coefficient(self.loops[at].counter)?;
            if by.value() == Some(0) || self.counts_iterations(at) {
                continue;
            }
            let first = self.first(at)?;
            value = value
                .plus(&Poly::atom(self.loops[at].counter).times(&by)?, -1)?
                .plus(&first.times(&by)?, 1)?;
        }
        Some(value)
    }

    /// Whether a value may differ from one iteration of loop `lane` to the next, where the loops inside are at the same
    /// iteration.
    fn depends(&self, value: &Poly, lane: usize) -> bool {
        value.atoms().any(|atom| self.atom_depends(atom, lane))
    }

    fn atom_depends(&self, atom: AtomId, lane: usize) -> bool {
        match self.atoms.get(atom) {
            Atom::Entry(_) | Atom::Member(..) => false,
            Atom::Counter(at) if *at == lane => true,
            Atom::Counter(at) => {
                let is_same = || {
                    self.counts_iterations(*at)
                        || self.first(*at).is_some_and(|first| !self.depends(&first, lane))
                };
                self.is_within(Some(*at), lane) && !is_same()
            }
            Atom::Of(_, one, two) => self.depends(one, lane) || self.depends(two, lane),
            Atom::Converted(_, value) => self.depends(value, lane),
            Atom::Unknown(inside, _) => self.is_within(*inside, lane),
        }
    }

    /// Whether the counter of a loop is the number of an iteration, not the value of its variable.
    fn counts_iterations(&self, at: usize) -> bool {
        let known = &self.loops[at];
        known.bounds.iter().any(|bound| *bound == Poly::atom(known.counter))
    }

    /// What the counter of loop `at` is at first.
    fn first(&self, at: usize) -> Option<Poly> {
        let known = &self.loops[at];
        let sign = if known.header.as_ref().ok()?.counts_down() { -1 } else { 1 };
        // What is not negative: the counter less its first value.
        let less = known
            .bounds
            .iter()
            .find(|bound| bound.coefficient(known.counter).and_then(|by| by.value()) == Some(sign))?;
        Poly::atom(known.counter).plus(less, -sign)
    }

    /// Whether the number of iterations of loop `at` depends on the counter of a loop around it: about as many as that has.
    fn is_triangular(&self, at: usize) -> bool {
        let known = &self.loops[at];
        let around = self.around(known.outer);
        let counters = || around.iter().map(|outer| self.loops[*outer].counter);
        let is_counted = |value: &Poly| value.atoms().any(|atom| counters().any(|counter| counter == atom));
        match known.bounds.as_slice() {
            [one, two] => one.plus(two, 1).is_some_and(|length| is_counted(&length)),
            // It begins at a counter and ends at a value that is not understood, but the same for all.
            [first] => {
                is_counted(first) && known.header.as_ref().is_ok_and(|header| self.is_plain(header.bound))
            }
            _ => false,
        }
    }

    /// Whether an expression reads no memory by a subscript or a pointer, and calls nothing.
    fn is_plain(&self, expr: ExprId) -> bool {
        let kind = &self.facts.unit.expr(expr).kind;
        let reads = matches!(kind, ExprKind::Index(..) | ExprKind::Deref(_) | ExprKind::Call { .. });
        !reads && kind.children().all(|child| self.is_plain(child))
    }

    /// Whether loop `at` moves along with the loop around it, as one over the neighbours of a point does.
    fn is_window(&self, at: usize) -> bool {
        let known = &self.loops[at];
        let (Some(outer), [one, two]) = (known.outer, known.bounds.as_slice()) else { return false };
        let moves = |bound: &Poly| bound.atoms().any(|atom| atom == self.loops[outer].counter);
        let length = one.plus(two, 1);
        moves(one) && moves(two) && length.is_some_and(|length| !self.depends(&length, outer))
    }

    /// The number of iterations of loop `at`, if it is a number and the loop counts by one.
    fn trips_of(&self, at: usize) -> Option<i64> {
        let known = &self.loops[at];
        let [one, two] = known.bounds.as_slice() else { return None };
        let header = known.header.as_ref().ok()?;
        header.step.is_none().then_some(())?;
        Some(one.plus(two, 1)?.value()?.checked_add(1)?.max(0))
    }
}
