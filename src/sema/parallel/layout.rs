//! How the memory that a nest of loops uses lies for neighbouring iterations of each loop: side by side, or far apart.
//!
//! Invariant: this is about speed. Where it is not known, memory counts as far apart.

use std::collections::BTreeMap;

use crate::host::ir::StmtId;
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
}

/// How many accesses are near for neighbouring iterations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Near {
    /// Those that are.
    pub near: usize,
    /// All of them.
    pub all: usize,
}

impl Layout {
    /// The accesses in loop `within`, as neighbouring iterations of loop `lane` make them, which is the same loop or one around
    /// it.
    pub fn near(&self, lane: StmtId, within: StmtId) -> Near {
        let inside = self.accesses.iter().filter(|around| around.contains_key(&within));
        let mut found = Near::default();
        for around in inside {
            found.all += 1;
            found.near += usize::from(around.get(&lane) == Some(&true));
        }
        found
    }

    /// The number of iterations of a loop, if it is a number.
    pub fn trips(&self, stmt: StmtId) -> Option<i64> {
        self.trips.get(&stmt).copied()
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
        Layout { accesses: elements.map(around).collect(), trips: trips.collect() }
    }

    /// Whether an access is to an element of memory that iterations share.
    fn is_element(&self, access: &Access) -> bool {
        let known = self.facts.symbols.get(access.place.root);
        let is_own = known.kind == SymbolKind::Local && !known.is_reference && self.whole.contains(known.scope);
        let mut steps = access.place.steps.iter();
        steps.any(|step| matches!(step, Step::Index(_)))
            && !access.is_kept
            && !access.is_deep
            && !access.by_name
            && !(is_own && !access.place.steps.contains(&Step::Hop))
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
        if !self.depends(index, lane) {
            return true;
        }
        // Of an array of objects, neighbours are an object apart.
        let is_whole = !steps[fastest..].iter().any(|step| matches!(step, Step::Member(_)));
        let counter = self.loops[lane].counter;
        let by = index.coefficient(counter).and_then(|by| by.value());
        let rest = by.and_then(|by| index.plus(&Poly::atom(counter), by.checked_neg()?));
        is_whole && by.is_some_and(|by| by.abs() == 1) && rest.is_some_and(|rest| !self.depends(&rest, lane))
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
            Atom::Counter(at) => self.is_within(Some(*at), lane) && self.begins_anew(*at, lane),
            Atom::Of(_, one, two) => self.depends(one, lane) || self.depends(two, lane),
            Atom::Converted(_, value) => self.depends(value, lane),
            Atom::Unknown(inside, _) => self.is_within(*inside, lane),
        }
    }

    /// Whether loop `at` may begin at another value in the next iteration of loop `lane`.
    fn begins_anew(&self, at: usize, lane: usize) -> bool {
        let known = &self.loops[at];
        let Ok(header) = &known.header else { return true };
        let sign = if header.counts_down() { -1 } else { 1 };
        let counter = known.counter;
        // What is not negative: the counter less its first value.
        let first = known.bounds.iter().find_map(|bound| {
            let is_first = bound.coefficient(counter).and_then(|by| by.value()) == Some(sign);
            is_first.then(|| bound.plus(&Poly::atom(counter), -sign)).flatten()
        });
        // A loop with a step counts its iterations.
        let counts = known.bounds.iter().any(|bound| *bound == Poly::atom(counter));
        !counts && first.is_none_or(|first| self.depends(&first, lane))
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
