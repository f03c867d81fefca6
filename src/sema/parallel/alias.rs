//! Whether two variables can lead to the same memory.
//!
//! Invariant: different names are taken for the same memory unless the language, an allocation in this file, or the user
//! says otherwise.

use crate::sema::{Class, SymbolId, SymbolKind};

use super::access::{Access, Nest, Step};

impl Nest<'_> {
    /// Whether two accesses of different variables surely touch different memory.
    pub(super) fn are_distinct(&self, one: &Access, two: &Access) -> bool {
        let facts = self.facts;
        if facts.no_alias {
            return true;
        }
        let (a, b) = (facts.origin(one.place.root), facts.origin(two.place.root));
        if a == b {
            return false;
        }
        if facts.unit.is_fortran() {
            let shares = |symbol| facts.symbols.get(symbol).fortran.is_equivalent;
            return !(self.is_pointer(one) && self.is_aim(two)
                || self.is_pointer(two) && self.is_aim(one)
                || shares(a) && shares(b)
                || self.is_given_target(a) && self.is_given_target(b));
        }
        // What a pointer leads into may be a variable by itself.
        let through = |access: &Access, origin| {
            goes_through(access)
                && (origin == access.place.root || facts.symbols.get(origin).class == Class::Pointer)
        };
        match (through(one, a), through(two, b)) {
            (false, false) => {
                let is_name = |symbol: SymbolId| facts.symbols.get(symbol).is_reference;
                !is_name(a) && !is_name(b)
            }
            (true, false) => self.leads_elsewhere(a, b) || self.have_other_elements(one, two),
            (false, true) => self.leads_elsewhere(b, a) || self.have_other_elements(one, two),
            (true, true) => {
                let restricted = |symbol| facts.decl(symbol).is_some_and(|decl| decl.is_restrict);
                let allocated = |symbol| facts.is_allocated(symbol);
                let given = |symbol| facts.is_fixed_parameter(symbol);
                let (plain, other_plain) = (is_plain(one), is_plain(two));
                restricted(a) && plain
                    || restricted(b) && other_plain
                    || plain
                        && other_plain
                        && (allocated(a) && (allocated(b) || given(b)) || allocated(b) && given(a))
                    || self.have_other_elements(one, two)
            }
        }
    }

    /// Whether another dummy argument may be the same variable: both are targets.
    fn is_given_target(&self, symbol: SymbolId) -> bool {
        let known = self.facts.symbols.get(symbol);
        known.fortran.target && known.kind == SymbolKind::Parameter
    }

    /// Whether pointer `pointer` surely leads to something else than to variable `other` itself.
    fn leads_elsewhere(&self, pointer: SymbolId, other: SymbolId) -> bool {
        let facts = self.facts;
        let other = facts.symbols.get(other);
        let is_local = other.kind == SymbolKind::Local && !other.is_reference;
        // A variable of the function cannot be what its caller gave it.
        let is_given = facts.is_fixed_parameter(pointer) && is_local;
        let is_scalar = other.class == Class::Scalar;
        is_given
            || is_scalar
            || facts.is_allocated(pointer)
            || facts.decl(pointer).is_some_and(|decl| decl.is_restrict)
    }

    /// Whether the elements that are touched have types that never share memory. Members may be of any type.
    fn have_other_elements(&self, one: &Access, two: &Access) -> bool {
        let is_element = |access: &Access| {
            let taken = access.place.steps.iter().filter(|step| matches!(step, Step::Index(_))).count();
            let plain = access.place.steps.iter().all(|step| !matches!(step, Step::Member(_)));
            plain && taken == self.facts.symbols.get(access.place.root).shape.len()
        };
        is_element(one) && is_element(two) && self.facts.have_other_types(one.place.root, two.place.root)
    }

    /// Whether the access goes through a pointer of Fortran's.
    fn is_pointer(&self, access: &Access) -> bool {
        self.facts.symbols.get(access.place.root).fortran.pointer
            || self.members(access).any(|name| self.is_pointer_member(name))
    }

    /// Whether a pointer of Fortran's may lead to what is accessed.
    fn is_aim(&self, access: &Access) -> bool {
        self.is_pointer(access) || self.facts.symbols.get(access.place.root).fortran.target
    }

    fn members<'n>(&self, access: &'n Access) -> impl Iterator<Item = &'n String> {
        access.place.steps.iter().filter_map(|step| match step {
            Step::Member(name) => Some(name),
            _ => None,
        })
    }

    /// Whether some component of this name is a pointer. One whose type is not seen counts as such.
    pub(super) fn is_pointer_member(&self, name: &str) -> bool {
        self.facts.symbols.may_be_pointer_component(name)
    }

    /// Whether different components of one Fortran variable may lead to the same memory: one is a pointer, and the other one
    /// a pointer or a target.
    pub(super) fn are_pointers_apart(&self, one: &Access, two: &Access) -> bool {
        let differs = self.members(one).ne(self.members(two));
        let meets = self.is_pointer(one) && self.is_aim(two) || self.is_pointer(two) && self.is_aim(one);
        self.facts.unit.is_fortran() && !self.facts.no_alias && differs && meets
    }

    /// The array or pointer as it is called in a message.
    pub(super) fn name_of(&self, access: &Access) -> String {
        let mut name = self.facts.symbols.get(access.place.root).name.clone();
        for member in self.members(access) {
            name.push_str(if self.facts.unit.is_fortran() { "%" } else { "." });
            name.push_str(member);
        }
        name
    }
}

/// Whether there is one pointer on the way to what is touched, and no member.
fn is_plain(access: &Access) -> bool {
    let hops = access.place.steps.iter().filter(|step| **step == Step::Hop).count();
    hops == 1 && !access.place.steps.iter().any(|step| matches!(step, Step::Member(_)))
}

/// Whether a pointer's value is on the way to what is touched.
fn goes_through(access: &Access) -> bool {
    access.place.steps.contains(&Step::Hop)
}
