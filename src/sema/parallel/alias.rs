//! Whether two variables can alias.
//!
//! Invariant: different names are taken for the same memory unless the language, an allocation in this file, or the user
//! says otherwise.

use std::rc::Rc;

use crate::host::ir::ExprKind;
use crate::sema::{Class, Symbol, SymbolId, SymbolKind};

use super::access::{Access, Nest, Place, Step};
use super::facts::Facts;
use super::origin::Origin;

impl Nest<'_> {
    /// Whether two accesses of different variables surely touch different memory in the iterations of loop `carrier`; without
    /// one, wherever they happen.
    pub(super) fn are_distinct(&self, one: &Access, two: &Access, carrier: Option<usize>) -> bool {
        let facts = self.facts;
        if facts.no_alias {
            return true;
        }
        if facts.unit.is_fortran() {
            return self.are_fortran_distinct(one, two);
        }
        self.is_restrict_apart(one, two, carrier)
            || self.is_restrict_apart(two, one, carrier)
            || self.lead_apart(one, two)
            || facts.origin(one.place.root) != facts.origin(two.place.root) && self.hold_other_types(one, two)
            || self.is_kept_apart(one, two)
            || self.is_kept_apart(two, one)
    }

    /// Whether two accesses of one nest may touch the same memory, in whatever iterations.
    pub(super) fn may_be_same(&self, one: &Access, two: &Access) -> bool {
        match one.place.root == two.place.root {
            true => self.are_pointers_apart(one, two) || !self.are_other_parts(one, two),
            false => !self.are_distinct(one, two, None),
        }
    }

    /// Whether a variable without parts may be read or changed by another name.
    pub(super) fn has_other_name(&self, symbol: SymbolId) -> bool {
        let known = self.facts.symbols.get(symbol);
        if !matches!(known.class, Class::Scalar | Class::Pointer | Class::Unknown)
            || matches!(known.kind, SymbolKind::Constant | SymbolKind::Function | SymbolKind::Type)
        {
            return false;
        }
        match self.facts.unit.is_fortran() {
            true => {
                let fortran = &known.fortran;
                fortran.pointer || fortran.target || fortran.is_equivalent || self.facts.is_lent(symbol)
            }
            false => known.is_reference || self.facts.origins().is_taken(symbol),
        }
    }

    /// Whether `one` surely goes by a `restrict` pointer that `two` is surely not based on.
    fn is_restrict_apart(&self, one: &Access, two: &Access, carrier: Option<usize>) -> bool {
        let facts = self.facts;
        let inside = match carrier {
            Some(at) => facts.unit.stmt(self.loops[at].stmt).span,
            None => self.whole,
        };
        let origins = facts.origins();
        let other = self.led_from(&two.place);
        let others = self.restricts(&two.place);
        self.restricts(&one.place).into_iter().any(|pointer| {
            let known = facts.symbols.get(pointer);
            // Each time that the block of its declaration runs, it promises anew.
            if !known.scope.contains(inside) || others.contains(&pointer) {
                return false;
            }
            let is_seen = matches!(known.kind, SymbolKind::Local | SymbolKind::Parameter);
            // Of what lives longer than the function, others have had the value before.
            let has_leaked = if is_seen { origins.has_leaked(pointer) } else { others.is_empty() };
            let is_based = other.values.contains(&pointer)
                || has_leaked && (other.memory || !is_seen && facts.is_given(&other));
            let own = origins.of(facts, pointer);
            let is_made_of = match goes_through(&two.place) {
                true => own.leads(two.place.root),
                false => own.objects.contains(&two.place.root),
            };
            // Two that promise, and change places: each time, the other one leads elsewhere.
            let changes_places =
                |other: &SymbolId| own.leads(*other) && origins.of(facts, *other).leads(pointer);
            others.iter().any(changes_places) || !is_based && !is_made_of
        })
    }

    /// The `restrict` pointers that a place surely goes by.
    fn restricts(&self, place: &Place) -> Vec<SymbolId> {
        let facts = self.facts;
        let is_restrict = |symbol: &SymbolId| facts.decl(*symbol).is_some_and(|decl| decl.is_restrict);
        let is_direct = is_direct(place) && facts.symbols.get(place.root).class == Class::Pointer;
        let chain = facts.aims(place.root).into_iter().filter(|_| is_direct);
        // What was found in memory is not based on the pointer that led there.
        let via = place.via.iter().copied().filter(|_| is_direct || place.hops() == 0);
        via.chain(chain).filter(is_restrict).collect()
    }

    /// What the address of a place is made from.
    fn led_from(&self, place: &Place) -> Rc<Origin> {
        let facts = self.facts;
        let known = facts.symbols.get(place.root);
        let is_direct = is_direct(place) && known.class == Class::Pointer;
        match place.hops() {
            0 if !known.is_reference => Rc::new(Origin::of_object(place.root)),
            0 => facts.origins().of(facts, place.root),
            _ if is_direct => facts.origins().of(facts, place.root),
            _ => Rc::new(Origin::of_memory()),
        }
    }

    /// Whether two places are apart by all that their addresses may be made from.
    fn lead_apart(&self, one: &Access, two: &Access) -> bool {
        let (a, b) = (self.led_from(&one.place), self.led_from(&two.place));
        self.facts.lead_apart(&a, &b)
    }

    /// Whether what two accesses touch holds values of types that never share memory.
    pub(super) fn hold_other_types(&self, one: &Access, two: &Access) -> bool {
        let held = |access: &Access| self.held_at(access);
        held(one).zip(held(two)).is_some_and(|(one, two)| one.is_apart_from(&two))
    }

    /// Whether `kept` reads a member that the nest does not assign, that has no other name in the file, and that `other` does
    /// not name by a struct.
    fn is_kept_apart(&self, kept: &Access, other: &Access) -> bool {
        let origins = self.facts.origins();
        let Some(Step::Member(name)) = kept.place.steps.last().filter(|_| kept.is_kept) else { return false };
        if origins.is_member_taken(name) || origins.has_overlays() || self.held_at(other).is_none() {
            return false;
        }
        let (a, b) = (self.led_from(&kept.place.start()), self.led_from(&other.place.start()));
        a.values.is_disjoint(&b.values) && a.objects.is_disjoint(&b.objects)
    }

    fn members<'n>(&self, access: &'n Access) -> impl Iterator<Item = &'n String> {
        access.place.steps.iter().filter_map(|step| match step {
            Step::Member(name) => Some(name),
            _ => None,
        })
    }

    /// The array or pointer as it is called in a message.
    pub(super) fn name_of(&self, access: &Access) -> String {
        let mut name = self.facts.symbols.get(access.place.root).name.clone();
        for step in &access.place.steps {
            match step {
                Step::Member(member) => {
                    name.push_str(if self.facts.unit.is_fortran() { "%" } else { "." });
                    name.push_str(member);
                }
                Step::As(Some(known)) if !known.base.is_empty() => {
                    name = format!("(({} *){name})", known.base);
                }
                Step::As(_) => name = format!("(&{name})"),
                Step::Index(_) | Step::Hop => {}
            }
        }
        name
    }
}

/// How a variable leads to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// It is the memory.
    Object,
    /// It is a pointer to the memory, or another name of it.
    Pointer,
    /// It leads there by a pointer that lies in memory: a member, or one of several.
    Memory,
}

impl Facts<'_> {
    /// Whether two different variables may alias.
    pub fn may_be_same_memory(&self, one: (SymbolId, Reach), two: (SymbolId, Reach)) -> bool {
        let (a, b) = (self.symbols.get(one.0), self.symbols.get(two.0));
        if self.unit.is_fortran() {
            let is_pointer = |reach| reach != Reach::Object;
            let is_same = self.origin(one.0) == self.origin(two.0);
            let are_laid_together = a.fortran.is_equivalent && b.fortran.is_equivalent;
            let is_aim = |known: &Symbol, reach| is_pointer(reach) || known.fortran.target;
            let meet = is_pointer(one.1) && is_aim(b, two.1) || is_pointer(two.1) && is_aim(a, one.1);
            let are_given =
                [a, b].iter().all(|known| known.fortran.target && known.kind == SymbolKind::Parameter);
            return is_same || are_laid_together || meet || are_given;
        }
        let is_restrict = |(symbol, reach): (SymbolId, Reach)| {
            reach == Reach::Pointer && self.decl(symbol).is_some_and(|decl| decl.is_restrict)
        };
        let led_from = |(symbol, reach): (SymbolId, Reach)| match reach {
            Reach::Object => Rc::new(Origin::of_object(symbol)),
            Reach::Pointer => self.origins().of(self, symbol),
            Reach::Memory => Rc::new(Origin::of_memory()),
        };
        let are_restrict = is_restrict(one) && is_restrict(two);
        !(are_restrict || self.lead_apart(&led_from(one), &led_from(two)))
    }

    /// Whether what two values may be made from leads to different memory.
    fn lead_apart(&self, a: &Origin, b: &Origin) -> bool {
        let is_known = |origin: &Origin| {
            !origin.objects.is_empty() || !origin.fresh.is_empty() || origin.memory || self.is_given(origin)
        };
        is_known(a) && is_known(b) && !self.may_lead_to(a, b) && !self.may_lead_to(b, a)
    }

    /// Whether the caller may have given it.
    fn is_given(&self, origin: &Origin) -> bool {
        let mut leading = origin.leading.iter();
        leading.any(|symbol| self.symbols.get(*symbol).kind == SymbolKind::Parameter)
    }

    /// Whether something that `one` may be the address of may be what `two` leads to.
    fn may_lead_to(&self, one: &Origin, two: &Origin) -> bool {
        let symbols = self.symbols;
        let origins = self.origins();
        let (gives, is_met) = (self.is_given(one), self.is_given(two));
        let of_object = |object: &SymbolId| {
            let known = symbols.get(*object);
            let is_own = matches!(known.kind, SymbolKind::Local | SymbolKind::Parameter);
            let is_known = if is_own { origins.has_leaked_address(*object) } else { true };
            two.objects.contains(object) || two.memory && is_known || is_met && !is_own
        };
        let of_fresh =
            |symbol: &SymbolId| two.fresh.contains(symbol) || two.memory && origins.has_leaked(*symbol);
        one.objects.iter().any(of_object)
            || one.fresh.iter().any(of_fresh)
            || gives && (is_met || two.memory)
            || one.memory && two.memory
    }
}

/// Fortran: what is not a pointer and no target has no other name.
impl Nest<'_> {
    fn are_fortran_distinct(&self, one: &Access, two: &Access) -> bool {
        let facts = self.facts;
        let (a, b) = (facts.origin(one.place.root), facts.origin(two.place.root));
        if a == b {
            return false;
        }
        let shares = |symbol| facts.symbols.get(symbol).fortran.is_equivalent;
        if shares(a) && shares(b) {
            return false;
        }
        let meets = self.is_pointer(one) && self.is_aim(two)
            || self.is_pointer(two) && self.is_aim(one)
            || self.is_given_target(a) && self.is_given_target(b);
        !meets || self.have_other_intrinsic_types(one, two)
    }

    /// Whether another dummy argument may be the same variable: both are targets.
    fn is_given_target(&self, symbol: SymbolId) -> bool {
        let known = self.facts.symbols.get(symbol);
        known.fortran.target && known.kind == SymbolKind::Parameter
    }

    /// Whether the access goes through a pointer of Fortran's.
    fn is_pointer(&self, access: &Access) -> bool {
        let symbols = self.facts.symbols;
        let names = self.facts.aims(access.place.root);
        // What `associate` gives a name may be a pointer's component.
        let selectors = names.iter().filter_map(|name| self.facts.only_aim(*name));
        let is_of_pointer = |selector| {
            let span = self.facts.unit.expr(selector).span;
            self.facts.unit.exprs_in(span).any(|expr| match &expr.kind {
                ExprKind::Member { name, .. } => self.is_pointer_member(name),
                _ => false,
            })
        };
        names.iter().any(|name| symbols.get(*name).fortran.pointer)
            || self.members(access).any(|name| self.is_pointer_member(name))
            || selectors.into_iter().any(is_of_pointer)
    }

    /// Whether a pointer of Fortran's may lead to what is accessed.
    fn is_aim(&self, access: &Access) -> bool {
        let names = self.facts.aims(access.place.root);
        self.is_pointer(access) || names.iter().any(|name| self.facts.symbols.get(*name).fortran.target)
    }

    /// Whether some component of this name is a pointer. One whose type is not seen counts as such.
    pub(super) fn is_pointer_member(&self, name: &str) -> bool {
        self.facts.symbols.may_be_pointer_component(name)
    }

    /// Whether different components of one Fortran variable may alias: one is a pointer, and the other one
    /// a pointer or a target.
    pub(super) fn are_pointers_apart(&self, one: &Access, two: &Access) -> bool {
        // What associates have for a name is looked up last: this is asked of each pair.
        let meets = || self.is_pointer(one) && self.is_aim(two) || self.is_pointer(two) && self.is_aim(one);
        self.facts.unit.is_fortran()
            && !self.facts.no_alias
            && self.members(one).ne(self.members(two))
            && meets()
            && !self.have_other_intrinsic_types(one, two)
    }

    /// Whether two accesses of Fortran are to values of intrinsic types that no pointer takes for one another.
    fn have_other_intrinsic_types(&self, one: &Access, two: &Access) -> bool {
        let types = self.intrinsic_type(one).zip(self.intrinsic_type(two));
        types.is_some_and(|(one, two)| one != two)
    }

    /// The intrinsic type of what is accessed, if it is known. A pointer may lead to a part of a complex number.
    fn intrinsic_type(&self, access: &Access) -> Option<&'static str> {
        let symbols = self.facts.symbols;
        let known = symbols.get(access.place.root);
        let (mut record, mut intrinsic) = (known.record.clone(), known.intrinsic.clone());
        for name in self.members(access) {
            let component = symbols.component(&record?, name)?;
            (record, intrinsic) = (component.record.clone(), component.intrinsic.clone());
        }
        let words = intrinsic?.to_ascii_lowercase();
        const WORDS: [(&str, &str); 6] = [
            ("integer", "integer"),
            ("real", "real"),
            ("double precision", "real"),
            ("complex", "real"),
            ("double complex", "real"),
            ("logical", "logical"),
        ];
        WORDS.into_iter().find(|(word, _)| words.starts_with(word)).map(|(_, kind)| kind)
    }
}

impl Place {
    /// The pointers' values on the way.
    pub(super) fn hops(&self) -> usize {
        self.steps.iter().filter(|step| **step == Step::Hop).count()
    }

    /// What the first step on the way leads to.
    fn start(&self) -> Place {
        let steps = self.steps.iter().take_while(|step| **step == Step::Hop).cloned().collect();
        Place { steps, ..self.clone() }
    }
}

/// Whether the value of the root itself leads to what is touched, without another pointer on the way.
fn is_direct(place: &Place) -> bool {
    place.steps.first() == Some(&Step::Hop) && place.hops() == 1
}

/// Whether a pointer's value is on the way to what is touched.
fn goes_through(place: &Place) -> bool {
    place.steps.contains(&Step::Hop)
}
