//! What variables hold when a nest begins.
//!
//! Invariant: a value is followed to where it was set only if nothing else ever sets it.

use crate::host::ir::{BinaryOp, ExprId, ExprKind};
use crate::sema::{Class, SymbolId};

use super::access::{Nest, Place, Step};
use super::affine::{Atom, Poly};
use super::value::{Value, combined, moved};

impl Nest<'_> {
    /// What the variable holds here.
    pub(super) fn held(&mut self, symbol: SymbolId) -> Option<Poly> {
        let known = self.facts.symbols.get(symbol);
        if known.is_floating || !matches!(known.class, Class::Scalar | Class::Unknown) {
            return None;
        }
        if self.is_unsteady(symbol) {
            return Some(self.atoms.unknown(self.inside));
        }
        if let Some(value) = self.known.value(symbol) {
            return Some(value.clone());
        }
        Some(self.at_entry(symbol, 8))
    }

    /// Where a pointer leads when the nest begins: to where it was set to lead, if that is the same all the time, or to
    /// memory that is known by its name.
    pub(super) fn aim_at_entry(&mut self, symbol: SymbolId, depth: usize) -> Option<Place> {
        let aim = self.facts.only_aim(symbol).filter(|_| depth > 0);
        let Some(place) = aim.and_then(|aim| self.fixed_aim(aim, depth - 1)) else {
            return Some(Place::pointee(symbol));
        };
        let mut place = self.kept_in(place, symbol);
        let is_restrict = self.facts.decl(symbol).is_some_and(|decl| decl.is_restrict);
        place.via.extend(is_restrict.then_some(symbol));
        Some(place)
    }

    pub(super) fn fixed_aim(&mut self, expr: ExprId, depth: usize) -> Option<Place> {
        let unit = self.facts.unit;
        match &unit.expr(expr).kind {
            ExprKind::Name(_) => {
                let symbol = self.facts.symbols.named(unit, expr)?;
                let known = self.facts.symbols.get(symbol);
                match known.class {
                    Class::Array if !known.is_reference => {
                        Some(Place::new(symbol, vec![Step::Index(Some(Poly::default()))]))
                    }
                    Class::Pointer if self.facts.is_fixed_parameter(symbol) => self.aim_at_entry(symbol, 0),
                    Class::Pointer if self.facts.only_aim(symbol).is_some() => {
                        self.aim_at_entry(symbol, depth)
                    }
                    _ => None,
                }
            }
            ExprKind::Binary(op @ (BinaryOp::Add | BinaryOp::Subtract), pointer, by) => {
                let leads_to = Some(self.fixed_aim(*pointer, depth)?);
                let number = Some(self.fixed(*by, depth)?);
                moved(*op, Value { number: None, leads_to }, Value { number, leads_to: None })
            }
            ExprKind::AddressOf(inner) => match &unit.expr(*inner).kind {
                ExprKind::Index(pointer, by) => {
                    let leads_to = Some(self.fixed_aim(*pointer, depth)?);
                    let number = Some(self.fixed(*by, depth)?);
                    moved(BinaryOp::Add, Value { number: None, leads_to }, Value { number, leads_to: None })
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// What a variable holds when the nest begins, by what it was set from.
    pub(super) fn at_entry(&mut self, symbol: SymbolId, depth: usize) -> Poly {
        let entry = |nest: &mut Self| Poly::atom(nest.atoms.id(Atom::Entry(symbol)));
        match self.facts.only_value(symbol).filter(|_| depth > 0) {
            Some(value) => {
                let value = self.fixed(value, depth - 1).filter(|value| self.is_same_after(symbol, value));
                value.unwrap_or_else(|| entry(self))
            }
            None => entry(self),
        }
    }

    /// A value made of what never changes.
    pub(super) fn fixed(&mut self, expr: ExprId, depth: usize) -> Option<Poly> {
        let unit = self.facts.unit;
        if let Some(value) = self.facts.constant(expr) {
            return Some(Poly::constant(value));
        }
        match &unit.expr(expr).kind {
            ExprKind::Name(_) => {
                let symbol = self.facts.symbols.named(unit, expr)?;
                let is_fixed =
                    self.facts.is_fixed_parameter(symbol) && !self.facts.symbols.get(symbol).is_floating;
                match self.facts.only_value(symbol) {
                    Some(_) => Some(self.at_entry(symbol, depth)),
                    None => is_fixed.then(|| Poly::atom(self.atoms.id(Atom::Entry(symbol)))),
                }
            }
            ExprKind::Binary(op, left, right) => {
                let (left, right) = (self.fixed(*left, depth)?, self.fixed(*right, depth)?);
                combined(*op, &left, &right)
            }
            _ => None,
        }
    }
}
