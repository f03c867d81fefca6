//! The order of what one `update` moves: OpenACC keeps the order of the list items (3.3, 2.14.4), and OpenMP promises none
//! between the items of one directive.
//!
//! Invariant: two items of different directions that may be the same memory never stand in one directive.

use crate::acc::ast::{ClauseKind, ListItem, PathStep};
use crate::sema::{Class, Facts, Reach, SymbolId, SymbolKind};

use super::{Input, Maker};

/// A list item of an `update`.
struct Motion<'a> {
    item: &'a ListItem,
    to_device: bool,
    symbol: Option<SymbolId>,
}

impl Input<'_> {
    fn motions<'m>(&self, index: usize, counting: &[usize]) -> Vec<Motion<'m>>
    where
        Self: 'm,
    {
        let clauses = counting.iter().filter_map(|at| self.bound[index].directive.clauses.get(*at));
        let lists = clauses.filter_map(|clause| match &clause.kind {
            ClauseKind::UpdateSelf(list) => Some((false, list)),
            ClauseKind::UpdateDevice(list) => Some((true, list)),
            _ => None,
        });
        let items = lists.flat_map(|(to_device, list)| list.iter().map(move |item| (to_device, item)));
        items
            .map(|(to_device, item)| Motion { item, to_device, symbol: self.symbol_of(index, item) })
            .collect()
    }

    /// Whether two items may be the same memory.
    fn may_meet(&self, one: &Motion, two: &Motion) -> bool {
        let (Some(a), Some(b)) = (one.symbol, two.symbol) else { return true };
        let (a, b) = ((a, self.reach(one.item, a)), (b, self.reach(two.item, b)));
        let are_objects = !self.unit.is_fortran() && a.1 == Reach::Object && b.1 == Reach::Object;
        // What a file says of its variables takes time to read, and is rarely needed.
        a.0 == b.0
            || !are_objects
                && Facts::new(self.file, self.unit, self.symbols, &[], false).may_be_same_memory(a, b)
    }

    /// Whether a pointer that a list item names may lead to what another pointer leads to.
    pub(super) fn may_be_same(&self, (item, symbol): (&ListItem, SymbolId), other: SymbolId) -> bool {
        let reach = self.reach(item, symbol);
        let is_pointer = self.symbols.get(other).class == Class::Pointer;
        reach == Reach::Pointer
            && is_pointer
            && Facts::new(self.file, self.unit, self.symbols, &[], false)
                .may_be_same_memory((symbol, reach), (other, Reach::Pointer))
    }

    /// How a list item leads from its variable to memory.
    fn reach(&self, item: &ListItem, symbol: SymbolId) -> Reach {
        let known = self.symbols.get(symbol);
        let mut members = item.parts.iter().filter_map(|part| match part {
            PathStep::Member(name) => Some(name.text.as_str()),
            PathStep::Section(_) => None,
        });
        if self.unit.is_fortran() {
            return match members.any(|name| self.symbols.may_be_pointer_component(name)) {
                true => Reach::Memory,
                false if known.fortran.pointer => Reach::Pointer,
                false => Reach::Object,
            };
        }
        let is_object = |name: &str| {
            let known = self.symbols.dimensions_of_member(name);
            known.is_some_and(|known| !known.shape.contains(&false))
        };
        let own = usize::from(known.class == Class::Pointer);
        if known.kind == SymbolKind::Member
            || known.shape.iter().skip(own).any(|is_array| !is_array)
            || !members.all(is_object)
        {
            return Reach::Memory;
        }
        match known.class {
            Class::Pointer => Reach::Pointer,
            Class::Array if known.kind == SymbolKind::Parameter => Reach::Pointer,
            Class::Unknown => Reach::Memory,
            _ if known.is_reference => Reach::Pointer,
            _ => Reach::Object,
        }
    }
}

impl Maker<'_> {
    /// Notes the list items of directive `index` before which a new directive begins.
    pub(super) fn note_turns(&mut self, index: usize, counting: &[usize]) {
        let motions = self.input.motions(index, counting);
        let mut first = 0;
        for (at, one) in motions.iter().enumerate() {
            let is_met = |other: &Motion| other.to_device != one.to_device && self.input.may_meet(other, one);
            if motions[first..at].iter().any(is_met) {
                self.plan.list_items.entry(one.item.span).or_default().turns = true;
                first = at;
            }
        }
    }
}
