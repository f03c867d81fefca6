//! The memory that an expression names: elements, members, what pointers lead to.
//!
//! Invariant: a place is known as a whole, or not at all.

use crate::host::ir::{ExprId, ExprKind};
use crate::sema::{Class, SymbolKind};
use crate::source::Span;

use super::access::{Nest, Place, Step};
use super::affine::{Atom, Poly};
use super::escape::is_array_member;
use super::value::{Value, shift};

/// What a subscript is applied to.
pub(super) struct Base {
    pub(super) place: Place,
    /// It is a pointer's value: the subscript moves on from where it leads.
    pub(super) is_pointer: bool,
}

impl Nest<'_> {
    /// A part of a variable is read.
    pub(super) fn part(&mut self, expr: ExprId) -> Value {
        let span = self.facts.unit.expr(expr).span;
        let Some(place) = self.place(expr) else {
            self.trouble(span, "it is not known what memory this is");
            return Value::default();
        };
        self.part_at(place, span)
    }

    /// A part of a variable is read, whose place is known.
    pub(super) fn part_at(&mut self, place: Place, span: Span) -> Value {
        let number = self.kept_member(&place);
        let is_pointer = self.is_pointer_value(&place);
        match number {
            Some(_) => self.kept_access(place.clone(), span),
            None => self.access(place.clone(), false, span),
        }
        // The value of a pointer leads on.
        let leads_to = is_pointer.then(|| {
            let mut place = place;
            place.steps.extend([Step::Hop, Step::Index(Some(Poly::default()))]);
            place
        });
        Value { number, leads_to }
    }

    /// Whether the value of a part is a pointer: of `double **a`, `a[i]` is one.
    pub(super) fn is_pointer_value(&self, place: &Place) -> bool {
        let known = self.facts.symbols.get(place.root);
        let taken = place.steps.iter().filter(|step| matches!(step, Step::Index(_))).count();
        let plain = place.steps.iter().all(|step| !matches!(step, Step::Member(_) | Step::As(_)));
        plain && taken < known.shape.len()
    }

    /// The value of a member that the nest does not assign, if all of the way to it is fixed.
    pub(super) fn kept_member(&mut self, place: &Place) -> Option<Poly> {
        let Some(Step::Member(last)) = place.steps.last() else { return None };
        let is_plain = place.steps.iter().all(|step| match step {
            Step::Member(_) | Step::Hop => true,
            Step::Index(index) => index.as_ref().and_then(Poly::value) == Some(0),
            Step::As(_) => false,
        });
        let is_changed = self.assigned_members.contains(last) || self.is_unsteady_member(last);
        if !is_plain || is_changed || self.assigned.contains(&place.root) {
            return None;
        }
        let names = place.steps.iter().filter_map(|step| match step {
            Step::Member(name) => Some(name.as_str()),
            _ => None,
        });
        let text = names.collect::<Vec<_>>().join(".");
        Some(Poly::atom(self.atoms.id(Atom::Member(place.root, text))))
    }

    /// The part of a variable that an expression is; what is in its subscripts is read.
    pub(super) fn place(&mut self, expr: ExprId) -> Option<Place> {
        stacker::maybe_grow(64 * 1024, 4 * 1024 * 1024, || self.place_here(expr))
    }

    fn place_here(&mut self, expr: ExprId) -> Option<Place> {
        let unit = self.facts.unit;
        match &unit.expr(expr).kind {
            // What a macro of Fortran stands for looks like a part of a variable.
            ExprKind::Name(name)
                if unit.is_fortran() && (self.facts.is_macro(name) || self.facts.is_called_macro(name)) =>
            {
                None
            }
            ExprKind::Name(_) => {
                let symbol = self.facts.symbols.named(unit, expr)?;
                if let Some(place) = self.names_of.get(&symbol) {
                    return Some(place.clone());
                }
                self.names.push((symbol, unit.expr(expr).span));
                Some(Place::new(symbol, Vec::new()))
            }
            ExprKind::Index(base, index) => {
                let by = match &unit.expr(*index).kind {
                    ExprKind::Triplet(_) => {
                        self.value(*index);
                        None
                    }
                    _ => {
                        self.subscript = Some(*index);
                        self.number(*index)
                    }
                };
                let base = self.base(*base)?;
                self.element(base, by)
            }
            ExprKind::Deref(pointer) => {
                let to = self.value(*pointer).leads_to?;
                Some(to)
            }
            ExprKind::Member { base, name, arrow } => {
                let mut place = if *arrow { self.value(*base).leads_to? } else { self.place(*base)? };
                place.steps.push(Step::Member(name.clone()));
                Some(place)
            }
            ExprKind::Call { callee, args } if unit.is_fortran() => {
                let mut place = match unit.expr(*callee).kind {
                    ExprKind::Member { .. } => self.place(*callee)?,
                    _ => return None,
                };
                for arg in args {
                    let by = self.number(*arg);
                    place.steps.push(Step::Index(by));
                }
                Some(place)
            }
            ExprKind::Cast { .. } => None,
            _ => None,
        }
    }

    /// What a subscript is applied to: a variable, a part of one, or what a pointer leads to.
    pub(super) fn base(&mut self, expr: ExprId) -> Option<Base> {
        let unit = self.facts.unit;
        if unit.is_fortran() {
            return self.place(expr).map(|place| Base { place, is_pointer: false });
        }
        match &unit.expr(expr).kind {
            ExprKind::Name(_) => {
                let symbol = self.facts.symbols.named(unit, expr)?;
                let known = self.facts.symbols.get(symbol);
                // `double *q(p);` reads like the declaration of a function.
                let is_memory = !matches!(known.kind, SymbolKind::Function | SymbolKind::Type);
                is_memory.then_some(())?;
                match known.class {
                    Class::Array => {
                        self.names.push((symbol, unit.expr(expr).span));
                        Some(Base { place: Place::new(symbol, Vec::new()), is_pointer: false })
                    }
                    Class::Pointer => self.value(expr).leads_to.map(|place| Base { place, is_pointer: true }),
                    Class::Scalar | Class::Record | Class::Unknown => None,
                }
            }
            ExprKind::Index(..) => {
                let place = self.place(expr)?;
                let shape = &self.facts.symbols.get(place.root).shape;
                let taken = place.steps.iter().filter(|step| matches!(step, Step::Index(_))).count();
                let members = place.steps.iter().any(|step| matches!(step, Step::Member(_)));
                // Of a member's own dimensions nothing more is known than that they are an array's, if it is one.
                let is_array = members || shape.get(taken).copied()?;
                let mut place = place;
                if !is_array {
                    self.access(place.clone(), false, unit.expr(expr).span);
                    place.steps.extend([Step::Hop, Step::Index(Some(Poly::default()))]);
                }
                Some(Base { place, is_pointer: !is_array })
            }
            ExprKind::Member { name, .. } => {
                let mut place = self.place(expr)?;
                let is_array = is_array_member(unit, name);
                if !is_array {
                    self.access(place.clone(), false, unit.expr(expr).span);
                    place.steps.extend([Step::Hop, Step::Index(Some(Poly::default()))]);
                }
                Some(Base { place, is_pointer: !is_array })
            }
            _ => self.value(expr).leads_to.map(|place| Base { place, is_pointer: true }),
        }
    }

    pub(super) fn element(&mut self, base: Base, by: Option<Poly>) -> Option<Place> {
        let Base { mut place, is_pointer } = base;
        if !is_pointer {
            place.steps.push(Step::Index(by));
            return Some(place);
        }
        shift(&mut place, by);
        Some(place)
    }
}
