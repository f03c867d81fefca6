//! Expressions: what they give, and what they assign.
//!
//! Invariant: an operand is read before what is made of it is assigned.

use crate::host::ir::{BinaryOp, Derived, ExprId, ExprKind, UnaryOp};
use crate::sema::{Class, SymbolId, SymbolKind};
use crate::source::Span;

use super::access::{Nest, Place, Step};
use super::affine::{Atom, Poly};

/// What an expression gives.
#[derive(Clone, Debug, Default)]
pub(super) struct Value {
    pub(super) number: Option<Poly>,
    pub(super) leads_to: Option<Place>,
}

impl Nest<'_> {
    pub(super) fn set(&mut self, symbol: SymbolId, value: Value) {
        let known = self.facts.symbols.get(symbol);
        let number = value.number.filter(|_| !known.is_floating);
        let number = match number {
            Some(number) => self.held_by(symbol, number),
            None => self.atoms.unknown(self.inside),
        };
        self.known.set_value(symbol, number);
        if known.class == Class::Pointer {
            let is_restrict = self.facts.decl(symbol).is_some_and(|decl| decl.is_restrict);
            let leads_to = value.leads_to.map(|place| {
                let mut place = self.kept_in(place, symbol);
                place.via.extend(is_restrict.then_some(symbol));
                place
            });
            self.known.set_pointer(symbol, leads_to);
        }
    }

    pub(super) fn value(&mut self, expr: ExprId) -> Value {
        stacker::maybe_grow(64 * 1024, 4 * 1024 * 1024, || self.value_here(expr))
    }

    pub(super) fn number(&mut self, expr: ExprId) -> Option<Poly> {
        self.value(expr).number
    }

    pub(super) fn value_here(&mut self, expr: ExprId) -> Value {
        let unit = self.facts.unit;
        let of = |number: Option<Poly>| Value { number, leads_to: None };
        if self.facts.symbols.runs_operator(unit, expr) {
            self.trouble(unit.expr(expr).span, "an operator or a conversion of the program runs here");
        }
        match &unit.expr(expr).kind {
            ExprKind::Name(_) => self.named(expr),
            ExprKind::Int(value) => of(i64::try_from(*value).ok().map(Poly::constant)),
            ExprKind::Literal | ExprKind::Sizeof => Value::default(),
            ExprKind::Unary(op, operand) => {
                let number = self.number(*operand);
                of(match op {
                    UnaryOp::Minus => number.and_then(|number| number.scaled(-1)),
                    UnaryOp::Plus => number,
                    UnaryOp::Not | UnaryOp::BitNot => None,
                })
            }
            ExprKind::Binary(op, left, right) => {
                if matches!(op, BinaryOp::And | BinaryOp::Or) && self.facts.changes(*right) {
                    self.trouble(unit.expr(*right).span, "it assigns under a condition");
                }
                let (left, right) = (self.value(*left), self.value(*right));
                let number = left.number.as_ref().zip(right.number.as_ref());
                let number = number.and_then(|(left, right)| self.combined(*op, left, right));
                let number = number.map(|number| self.computed_value(expr, number));
                Value { number, leads_to: moved(*op, left, right) }
            }
            ExprKind::Assign(op, left, right) => self.assign(*op, *left, *right),
            ExprKind::Step { up, operand, postfix } => {
                let by = if *up { 1 } else { -1 };
                let (old, new) = self.update(*operand, |old| {
                    let number = old.number.as_ref().and_then(|number| number.shifted(by));
                    Value { number, leads_to: None }
                });
                if *postfix { of(old.number) } else { new }
            }
            ExprKind::Index(..) | ExprKind::Member { .. } | ExprKind::Deref(_) => self.part(expr),
            ExprKind::AddressOf(operand) => {
                let place = self.place(*operand);
                if place.is_none() {
                    self.trouble(unit.expr(expr).span, "an address is taken");
                }
                let leads_to = place.map(|place| self.address(place));
                Value { number: None, leads_to }
            }
            ExprKind::Call { callee, args } => of(self.call(expr, *callee, args)),
            ExprKind::Cast { to, operand } => {
                let value = self.value(*operand);
                let is_floating = ["float", "double"].iter().any(|word| to.contains(word));
                let leads_to = value.leads_to.map(|place| self.cast(place, to));
                let number = value.number.filter(|_| !is_floating);
                Value { number: number.map(|number| self.cast_value(to, number)), leads_to }
            }
            ExprKind::Conditional(cond, first, second) => {
                if [first, second].into_iter().any(|one| self.facts.changes(*one)) {
                    self.trouble(unit.expr(expr).span, "it assigns under a condition");
                }
                self.value(*cond);
                let (first, second) = (self.value(*first), self.value(*second));
                of(first.number.filter(|number| second.number.as_ref() == Some(number)))
            }
            ExprKind::Comma(left, right) => {
                self.value(*left);
                self.value(*right)
            }
            ExprKind::Initialiser(parts) => {
                parts.iter().for_each(|part| drop(self.value(*part)));
                Value::default()
            }
            ExprKind::Triplet(parts) => {
                parts.iter().flatten().for_each(|part| drop(self.value(*part)));
                Value::default()
            }
            ExprKind::Opaque(parts) => {
                self.trouble(unit.expr(expr).span, "this expression is not understood");
                parts.iter().for_each(|part| drop(self.value(*part)));
                Value::default()
            }
        }
    }

    /// Two values by an operator; of a division that does not come out, that it is the same for the same values.
    pub(super) fn combined(&mut self, op: BinaryOp, left: &Poly, right: &Poly) -> Option<Poly> {
        let is_whole =
            matches!(op, BinaryOp::Divide | BinaryOp::Remainder | BinaryOp::ShiftRight | BinaryOp::BitAnd);
        combined(op, left, right).or_else(|| {
            is_whole.then(|| Poly::atom(self.atoms.id(Atom::Of(op, left.clone(), right.clone()))))
        })
    }

    pub(super) fn named(&mut self, expr: ExprId) -> Value {
        let unit = self.facts.unit;
        let span = unit.expr(expr).span;
        if let ExprKind::Name(name) = &unit.expr(expr).kind
            && self.facts.is_macro(name)
        {
            let number = self.facts.constant(expr).map(Poly::constant);
            if number.is_none() && !self.is_harmless(name, span) {
                self.trouble(span, format!("the macro `{name}` is more than a number"));
            }
            return Value { number, leads_to: None };
        }
        let Some(symbol) = self.facts.symbols.named(unit, expr) else {
            let number = self.facts.constant(expr).map(Poly::constant);
            return Value { number, leads_to: None };
        };
        if let Some(place) = self.names_of.get(&symbol).cloned() {
            self.access(place, false, span);
            return Value::default();
        }
        if self.is_unclear_name(symbol) {
            self.trouble(span, "this is a second name of something that the loop changes");
        }
        self.names.push((symbol, span));
        if let Some(value) = self.facts.constant(expr) {
            return Value { number: Some(Poly::constant(value)), leads_to: None };
        }
        self.by_name(symbol, false, span);
        self.other_name(symbol, false, span);
        match self.facts.symbols.get(symbol).class {
            // It may lead elsewhere each time.
            Class::Pointer if self.is_unsteady(symbol) => Value::default(),
            Class::Pointer => {
                let place = self.known.pointer(symbol).cloned();
                Value { number: None, leads_to: place.unwrap_or_else(|| self.aim_at_entry(symbol, 8)) }
            }
            Class::Array if !unit.is_fortran() => Value {
                number: None,
                leads_to: Some(Place::new(symbol, vec![Step::Index(Some(Poly::default()))])),
            },
            Class::Array | Class::Record => {
                self.access(Place::new(symbol, Vec::new()), false, span);
                Value::default()
            }
            Class::Scalar | Class::Unknown => Value { number: self.held(symbol), leads_to: None },
        }
    }

    /// A name that was given to something outside of the nest is read or assigned: so is what it stands for.
    fn other_name(&mut self, symbol: SymbolId, writes: bool, at: Span) {
        let decl = self.facts.decl(symbol).filter(|decl| decl.derived.first() == Some(&Derived::Reference));
        let Some(init) = decl.and_then(|decl| decl.init) else { return };
        if !matches!(self.facts.symbols.get(symbol).class, Class::Scalar | Class::Unknown) {
            return;
        }
        let quiet = (self.accesses.len(), self.names.len(), self.troubles.len());
        let place = self.place(init);
        self.accesses.truncate(quiet.0);
        self.names.truncate(quiet.1);
        self.troubles.truncate(quiet.2);
        let Some(mut place) = place else { return };
        for step in &mut place.steps {
            // What is in the subscripts may have changed since.
            if let Step::Index(index) = step
                && index.as_ref().is_some_and(|index| index.value().is_none())
            {
                *index = None;
            }
        }
        self.access(place, writes, at);
    }

    /// Whether a name stands for something that it was given to outside of the nest, and that the nest may change.
    pub(super) fn is_unclear_name(&self, symbol: SymbolId) -> bool {
        let facts = self.facts;
        let Some(decl) = facts.decl(symbol).filter(|decl| decl.derived.first() == Some(&Derived::Reference))
        else {
            return false;
        };
        let Some(init) = decl.init.filter(|_| !self.names_of.contains_key(&symbol)) else { return false };
        if facts.symbols.get(symbol).class == Class::Array {
            return !facts.unit.is_fortran();
        }
        let mut at = init;
        loop {
            at = match &facts.unit.expr(at).kind {
                ExprKind::Name(_) => {
                    let root = facts.symbols.named(facts.unit, at);
                    return root.is_none_or(|root| self.assigned.contains(&root));
                }
                ExprKind::Member { base, name, .. } if !self.assigned_members.contains(name) => *base,
                ExprKind::Literal | ExprKind::Int(_) => return false,
                _ => return true,
            }
        }
    }

    pub(super) fn assign(&mut self, op: Option<BinaryOp>, left: ExprId, right: ExprId) -> Value {
        let value = self.value(right);
        let Some(op) = op else {
            self.write(left, value.clone());
            return value;
        };
        let (_, new) = self.update(left, |old| {
            let number = old.number.as_ref().zip(value.number.as_ref());
            let number = number.and_then(|(old, by)| combined(op, old, by));
            Value { number, leads_to: moved(op, old.clone(), value) }
        });
        new
    }

    /// A target is read, and assigned what `change` makes of its value; what is in its subscripts happens once. Gives the
    /// old value and the new one.
    fn update(&mut self, target: ExprId, change: impl FnOnce(&Value) -> Value) -> (Value, Value) {
        let unit = self.facts.unit;
        let is_part = matches!(
            unit.expr(target).kind,
            ExprKind::Index(..) | ExprKind::Member { .. } | ExprKind::Deref(_)
        );
        if !is_part {
            let old = self.value(target);
            let new = change(&old);
            self.write(target, new.clone());
            return (old, new);
        }
        let span = unit.expr(target).span;
        let Some(place) = self.place(target) else {
            self.trouble(span, "it is not known what memory this is");
            let new = change(&Value::default());
            return (Value::default(), new);
        };
        let old = self.part_at(place.clone(), span);
        let new = change(&old);
        self.access(place, true, span);
        if let Some(last) = self.accesses.last_mut() {
            last.is_update = true;
        }
        (old, new)
    }

    pub(super) fn write(&mut self, target: ExprId, value: Value) {
        let unit = self.facts.unit;
        let span = unit.expr(target).span;
        if let ExprKind::Name(name) = &unit.expr(target).kind {
            if self.facts.is_macro(name) {
                return self.trouble(span, format!("the macro `{name}` is more than a number"));
            }
            let Some(symbol) = self.facts.symbols.named(unit, target) else {
                return self.trouble(span, "it is not known what this name means");
            };
            if let Some(place) = self.names_of.get(&symbol).cloned() {
                return self.access(place, true, span);
            }
            self.names.push((symbol, span));
            let known = self.facts.symbols.get(symbol);
            let derived = self.facts.decl(symbol).and_then(|decl| decl.derived.first());
            if known.kind == SymbolKind::Local && derived == Some(&Derived::Reference) {
                self.trouble(span, format!("`{}` is another name of something", known.name));
            }
            match known.class {
                Class::Array | Class::Record => {
                    self.access(Place::new(symbol, Vec::new()), true, span);
                }
                Class::Unknown if unit.is_fortran() && self.facts.decl(symbol).is_none() => {
                    self.trouble(span, format!("the declaration of `{}` is not seen", known.name));
                }
                Class::Scalar | Class::Pointer | Class::Unknown => {
                    self.by_name(symbol, true, span);
                    self.other_name(symbol, true, span);
                    let is_unseen = self.facts.has_unseen_type(symbol);
                    let number = value.number.filter(|_| !is_unseen);
                    self.set(symbol, Value { number, ..value });
                }
            }
            return;
        }
        match self.place(target) {
            Some(place) => self.access(place, true, span),
            None => self.trouble(span, "it is not known what memory this is"),
        }
    }
}

/// Moves a place that ends in an element on by some elements.
pub(super) fn shift(place: &mut Place, by: Option<Poly>) {
    match place.steps.last_mut() {
        Some(Step::Index(last)) => *last = last.take().zip(by).and_then(|(old, by)| old.plus(&by, 1)),
        // After a member, or a variable, lies something else.
        _ if by.as_ref().and_then(Poly::value) == Some(0) => {}
        _ => place.steps.extend([Step::As(None), Step::Index(by)]),
    }
}

/// A pointer and a number: where it leads then.
pub(super) fn moved(op: BinaryOp, left: Value, right: Value) -> Option<Place> {
    let (mut place, by) = match (op, left, right) {
        (BinaryOp::Add, Value { leads_to: Some(place), .. }, Value { number, .. })
        | (BinaryOp::Add, Value { number, .. }, Value { leads_to: Some(place), .. }) => (place, number),
        (BinaryOp::Subtract, Value { leads_to: Some(place), .. }, Value { number, leads_to: None }) => {
            (place, number.and_then(|number| number.scaled(-1)))
        }
        _ => return None,
    };
    shift(&mut place, by);
    Some(place)
}

pub(super) fn combined(op: BinaryOp, left: &Poly, right: &Poly) -> Option<Poly> {
    let values = left.value().zip(right.value());
    match op {
        BinaryOp::Add => left.plus(right, 1),
        BinaryOp::Subtract => left.plus(right, -1),
        BinaryOp::Multiply => left.times(right),
        BinaryOp::Divide => match values {
            Some((left, right)) => left.checked_div(right).map(Poly::constant),
            None => left.quotient(right.value()?),
        },
        BinaryOp::Remainder => values.and_then(|(left, right)| left.checked_rem(right)).map(Poly::constant),
        BinaryOp::ShiftLeft => {
            let by = right.value().and_then(|by| u32::try_from(by).ok()).filter(|by| *by < 32)?;
            left.scaled(1 << by)
        }
        _ => None,
    }
}
