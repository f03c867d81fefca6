//! Integer values as polynomials over what a loop nest does not change and what its loops count.
//!
//! Invariant: a sum, a product or a quotient that does not fit is not a polynomial, never a wrong one.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::budget;
use crate::host::ir::BinaryOp;
use crate::sema::SymbolId;

/// A value that a polynomial is made of: an index into the nest's `Atoms`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct AtomId(u32);

/// What a value is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Atom {
    /// What the variable holds when the nest begins.
    Entry(SymbolId),
    /// A member that the nest does not assign, by its text.
    Member(SymbolId, String),
    /// What the loop with this number counts.
    Counter(usize),
    /// What remains of two values by a division or the like: the same where both are the same.
    Of(BinaryOp, Poly, Poly),
    /// A value that a narrow type of this name may hold only a part of: the same where the value is.
    Converted(String, Poly),
    /// A value that is not known: the number of the innermost loop around the place where it was set, and a number of its own.
    Unknown(Option<usize>, u32),
}

/// The atoms of a nest.
#[derive(Debug, Default)]
pub(super) struct Atoms {
    all: Vec<Atom>,
    known: FxHashMap<Atom, AtomId>,
    fresh: u32,
}

impl Atoms {
    pub(super) fn id(&mut self, atom: Atom) -> AtomId {
        let next = AtomId(self.all.len() as u32);
        let id = *self.known.entry(atom.clone()).or_insert(next);
        if id == next {
            self.all.push(atom);
        }
        id
    }

    /// A value that nothing is known of but the loop that it was set in.
    pub(super) fn unknown(&mut self, inside: Option<usize>) -> Poly {
        self.fresh += 1;
        self.all.push(Atom::Unknown(inside, self.fresh));
        Poly::atom(AtomId(self.all.len() as u32 - 1))
    }

    /// Whether `is_fixed` holds for all that a value is made of.
    pub(super) fn is_fixed(&self, id: AtomId, is_fixed: &dyn Fn(&Atom) -> bool) -> bool {
        let mut met = FxHashSet::default();
        let mut pending = vec![id];
        while let Some(id) = pending.pop() {
            match self.get(id) {
                Atom::Of(_, one, two) => {
                    budget::spend(1);
                    pending.extend(one.atoms().chain(two.atoms()).filter(|inner| met.insert(*inner)));
                }
                Atom::Converted(_, value) => {
                    budget::spend(1);
                    pending.extend(value.atoms().filter(|inner| met.insert(*inner)));
                }
                atom if is_fixed(atom) => {}
                _ => return false,
            }
        }
        true
    }

    pub(super) fn get(&self, id: AtomId) -> &Atom {
        &self.all[id.0 as usize]
    }
}

/// A product of atoms, sorted; the empty one is the number one.
pub(super) type Monomial = Vec<AtomId>;

/// Products of more atoms than this are not followed.
const DEGREE: usize = 4;

/// Sums of more products than this are not followed.
const TERMS: usize = 64;

/// A polynomial with integer coefficients, none of which is zero.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Poly {
    terms: BTreeMap<Monomial, i64>,
}

impl Poly {
    pub(super) fn constant(value: i64) -> Poly {
        let terms = if value == 0 { BTreeMap::new() } else { BTreeMap::from([(Monomial::new(), value)]) };
        Poly { terms }
    }

    pub(super) fn atom(id: AtomId) -> Poly {
        Poly { terms: BTreeMap::from([(vec![id], 1)]) }
    }

    pub(super) fn terms(&self) -> impl Iterator<Item = (&Monomial, i64)> {
        self.terms.iter().map(|(monomial, factor)| (monomial, *factor))
    }

    /// Its value, if it has no atoms.
    pub(super) fn value(&self) -> Option<i64> {
        match self.terms.len() {
            0 => Some(0),
            1 => self.terms.get(&Monomial::new()).copied(),
            _ => None,
        }
    }

    /// The terms, numbers not among them, that it shares with another one, and all of whose atoms are fixed.
    pub(super) fn common(&self, other: &Poly, is_fixed: impl Fn(AtomId) -> bool) -> Poly {
        let is_shared = |(monomial, factor): &(&Monomial, &i64)| {
            !monomial.is_empty()
                && other.terms.get(*monomial) == Some(*factor)
                && monomial.iter().all(|atom| is_fixed(*atom))
        };
        let terms = self.terms.iter().filter(is_shared);
        Poly { terms: terms.map(|(monomial, factor)| (monomial.clone(), *factor)).collect() }
    }

    /// The number that is added to its other terms.
    pub(super) fn constant_term(&self) -> i64 {
        self.terms.get(&Monomial::new()).copied().unwrap_or(0)
    }

    /// All atoms in it; one may come more than once.
    pub(super) fn atoms(&self) -> impl Iterator<Item = AtomId> {
        self.terms.keys().flatten().copied()
    }

    pub(super) fn plus(&self, other: &Poly, times: i64) -> Option<Poly> {
        let mut sum = self.clone();
        for (monomial, factor) in &other.terms {
            let old = sum.terms.get(monomial).copied().unwrap_or(0);
            match old.checked_add(factor.checked_mul(times)?)? {
                0 => drop(sum.terms.remove(monomial)),
                new => drop(sum.terms.insert(monomial.clone(), new)),
            }
        }
        budget::spend((sum.terms.len() + other.terms.len()) as u64 / 4);
        (sum.terms.len() <= TERMS).then_some(sum)
    }

    pub(super) fn times(&self, other: &Poly) -> Option<Poly> {
        let mut product = Poly::default();
        for (one, factor) in &self.terms {
            for (two, times) in &other.terms {
                let mut monomial = [one.as_slice(), two].concat();
                monomial.sort_unstable();
                if monomial.len() > DEGREE {
                    return None;
                }
                let term = Poly { terms: BTreeMap::from([(monomial, factor.checked_mul(*times)?)]) };
                product = product.plus(&term, 1)?;
            }
        }
        Some(product)
    }

    pub(super) fn scaled(&self, times: i64) -> Option<Poly> {
        Poly::default().plus(self, times)
    }

    /// What it is divided by a number, if nothing is left over, whatever its atoms are.
    pub(super) fn quotient(&self, by: i64) -> Option<Poly> {
        let terms = self.terms.iter().map(|(monomial, factor)| {
            let whole = factor.checked_rem(by)? == 0;
            whole.then_some((monomial.clone(), factor.checked_div(by)?))
        });
        Some(Poly { terms: terms.collect::<Option<_>>()? })
    }

    pub(super) fn shifted(&self, by: i64) -> Option<Poly> {
        self.plus(&Poly::constant(by), 1)
    }

    /// What the atom is multiplied by; `None` if it comes in a power.
    pub(super) fn coefficient(&self, of: AtomId) -> Option<Poly> {
        let mut coefficient = Poly::default();
        for (monomial, factor) in &self.terms {
            let count = monomial.iter().filter(|atom| **atom == of).count();
            if count > 1 {
                return None;
            }
            if count == 1 {
                let rest = monomial.iter().filter(|atom| **atom != of).copied().collect();
                coefficient.terms.insert(rest, *factor);
            }
        }
        Some(coefficient)
    }

    /// Quotient and rest of the division by a polynomial: the rest holds no multiple of the divisor's leading term.
    pub(super) fn divided(&self, by: &Poly) -> Option<(Poly, Poly)> {
        let (leading, factor) = by.terms.iter().max_by_key(|(monomial, _)| (monomial.len(), *monomial))?;
        let (mut quotient, mut rest) = (Poly::default(), self.clone());
        while let Some(term) = rest.terms.iter().find_map(|(monomial, times)| {
            let monomial = without(monomial, leading)?;
            (times % factor == 0).then(|| Poly { terms: BTreeMap::from([(monomial, times / factor)]) })
        }) {
            quotient = quotient.plus(&term, 1)?;
            rest = rest.plus(&term.times(by)?, -1)?;
        }
        Some((quotient, rest))
    }
}

/// What remains of a product once another one is taken out of it.
fn without(monomial: &Monomial, part: &Monomial) -> Option<Monomial> {
    let mut rest = monomial.clone();
    for atom in part {
        let at = rest.iter().position(|other| other == atom)?;
        rest.remove(at);
    }
    Some(rest)
}

#[cfg(test)]
mod tests;
