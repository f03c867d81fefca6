//! In which shape memory is touched: the types of places, and pointers that take memory for something else than it was
//! declared as.
//!
//! Invariant: the parts of memory that is touched in two shapes are never compared.

use crate::host::ir::ExprId;
use crate::sema::{Element, SymbolId, Type};

use super::access::{Access, Nest, Place, Step};
use super::affine::Poly;

impl Nest<'_> {
    /// What an access touches holds, if that is known, and nothing else lies over it.
    pub(super) fn held_at(&self, access: &Access) -> Option<Element> {
        let symbols = self.facts.symbols;
        let is_overlaid = |step: &Step| match step {
            Step::Member(name) => symbols.overlaid().contains(name),
            Step::As(_) => true,
            Step::Index(_) | Step::Hop => false,
        };
        if access.is_deep || access.place.steps.iter().any(is_overlaid) {
            return None;
        }
        self.type_at(&access.place)?.held()
    }

    /// The type of a place.
    pub(super) fn type_at(&self, place: &Place) -> Option<Type> {
        let symbols = self.facts.symbols;
        let mut known = symbols.type_of(place.root)?.clone();
        known.shape.clone_from(&symbols.get(place.root).shape);
        let mut taken = 0;
        for step in &place.steps {
            match step {
                Step::Hop => {}
                Step::Index(_) if taken < known.shape.len() => taken += 1,
                Step::Member(name) if taken == known.shape.len() => {
                    known = symbols.member(name)?.clone();
                    taken = 0;
                }
                // As an array of it.
                Step::As(other) => {
                    known = other.clone()?;
                    known.shape.insert(0, true);
                    taken = 0;
                }
                Step::Index(_) | Step::Member(_) => return None,
            }
        }
        known.shape.drain(..taken);
        Some(known)
    }

    /// Where a pointer leads once it is a pointer to another type.
    pub(super) fn cast(&self, place: Place, to: &str) -> Place {
        if !to.contains(['*', '&']) {
            return place;
        }
        let wanted = self.facts.symbols.cast_type(to).and_then(aim_of);
        self.taken_for(place, wanted)
    }

    /// The same where a pointer variable gets the value: only from `void *` or to it, another type comes without a cast.
    pub(super) fn kept_in(&self, place: Place, pointer: SymbolId) -> Place {
        let known = self.facts.symbols.type_of(pointer).cloned().and_then(aim_of);
        let is_void = |known: &Option<Type>| {
            known.as_ref().is_some_and(|known| known.base == "void" && known.shape.is_empty())
        };
        match is_void(&known) || is_void(&self.type_at(&place)) {
            true => self.taken_for(place, known),
            false => place,
        }
    }

    fn taken_for(&self, mut place: Place, wanted: Option<Type>) -> Place {
        // Where it was taken for something else before, and not moved since, that does not count.
        let is_start = |index: &Option<Poly>| index.as_ref().and_then(Poly::value) == Some(0);
        if let [.., Step::As(_), Step::Index(index)] = place.steps.as_slice()
            && is_start(index)
        {
            place.steps.truncate(place.steps.len() - 2);
        }
        let is_same = match (self.type_at(&place), &wanted) {
            (Some(known), Some(wanted)) => known.is_same(wanted),
            _ => false,
        };
        if !is_same {
            place.steps.extend([Step::As(wanted), Step::Index(Some(Poly::default()))]);
        }
        place
    }

    /// The address of an element or the first element of a row, by an expression: from there, a pointer may move into other
    /// rows.
    pub(super) fn address(&mut self, place: Place) -> Place {
        self.flattened(&place).unwrap_or(place)
    }

    /// The place as an element of all rows in one, if its rows are given by numbers.
    fn flattened(&mut self, place: &Place) -> Option<Place> {
        let facts = self.facts;
        let (steps, indices) = match place.steps.as_slice() {
            [Step::Hop, rest @ ..] => (1, rest),
            rest => (0, rest),
        };
        let numbers: Option<Vec<i64>> = indices
            .iter()
            .map(|step| match step {
                Step::Index(Some(index)) => index.value(),
                _ => None,
            })
            .collect();
        let numbers = numbers.filter(|numbers| numbers.len() > 1)?;
        let element = self.type_at(place)?;
        let sizes: Vec<Option<ExprId>> = facts.dimensions(place.root);
        let mut at = Some(0_i64);
        for (number, size) in numbers.iter().zip(sizes.into_iter().chain(std::iter::repeat(None))) {
            let size = size.and_then(|size| facts.constant(size));
            let before = match at {
                Some(0) => Some(0),
                at => at.zip(size).and_then(|(at, size)| at.checked_mul(size)),
            };
            at = before.and_then(|before| before.checked_add(*number));
        }
        let mut found = place.clone();
        found.steps.truncate(steps);
        let rows = numbers.len();
        found.steps.extend(std::iter::repeat_n(Step::Index(Some(Poly::default())), rows));
        found.steps.extend([Step::As(Some(element)), Step::Index(at.map(Poly::constant))]);
        Some(found)
    }
}

/// What a pointer of this type leads to.
fn aim_of(mut known: Type) -> Option<Type> {
    (!known.shape.is_empty()).then(|| {
        known.shape.remove(0);
        known
    })
}
