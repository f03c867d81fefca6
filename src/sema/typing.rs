//! The types of Fortran's expressions of numbers and logical values.
//!
//! Invariant: an expression whose type is not surely known has none.

use crate::host::ir::{BinaryOp, ExprId, ExprKind, UnaryOp};
use crate::source::Span;

use super::designator::designator;
use super::numeric::{DEPTH, Kind, Kinds, Number, Word, number};
use super::subscript::plain;
use super::symbols::Symbols;
use super::texts::Texts;

/// The type of an expression.
pub(super) fn number_of(texts: Texts, symbols: &Symbols, expr: ExprId) -> Option<Number> {
    Typing { texts, symbols }.typed(expr).map(|(number, _)| number)
}

struct Typing<'a> {
    texts: Texts<'a>,
    symbols: &'a Symbols,
}

/// A type, and whether the value is written out.
type Typed = (Number, bool);

impl Typing<'_> {
    fn typed(&self, expr: ExprId) -> Option<Typed> {
        stacker::maybe_grow(128 * 1024, 4 * 1024 * 1024, || self.typed_here(expr))
    }

    fn typed_here(&self, expr: ExprId) -> Option<Typed> {
        let unit = self.texts.unit;
        match &unit.expr(expr).kind {
            ExprKind::Name(_) | ExprKind::Index(..) | ExprKind::Member { .. } => {
                let read = designator(self.texts, self.symbols, expr)?.ok()?;
                Some((read.number?, false))
            }
            ExprKind::Int(_) | ExprKind::Literal => self.literal(expr),
            ExprKind::Unary(UnaryOp::Not | UnaryOp::Minus | UnaryOp::Plus, operand) => self.typed(*operand),
            ExprKind::Binary(op, left, right) => self.binary(*op, *left, *right),
            ExprKind::Initialiser(parts) => match parts.as_slice() {
                // A power; one of whole numbers keeps the type of what is multiplied.
                [base, power] if self.is_power(*base, *power) => {
                    let (first, second) = (self.typed(*base)?, self.typed(*power)?);
                    if second.0.word == Word::Integer { Some(first) } else { joined(first, second) }
                }
                _ => None,
            },
            ExprKind::Call { callee, args } => self.call(*callee, args),
            _ => None,
        }
    }

    fn is_power(&self, base: ExprId, power: ExprId) -> bool {
        let [first, second] = [base, power].map(|part| self.texts.unit.expr(part).span);
        let between = Span { start: first.end.min(second.start), end: second.start };
        self.texts.code(between).contains("**")
    }

    fn literal(&self, expr: ExprId) -> Option<Typed> {
        let span = self.texts.unit.expr(expr).span;
        let text = plain(&self.texts.code(span));
        if matches!(text.as_str(), ".true." | ".false.") {
            return Some((Number::new(Word::Logical, Kind::Default), true));
        }
        let (kind, mut number) = number(&text)?;
        if let Some(kind) = kind {
            number.kind = Kinds { texts: self.texts, symbols: self.symbols }.of(kind, span.start, DEPTH)?;
        }
        Some((number, true))
    }

    fn binary(&self, op: BinaryOp, left: ExprId, right: ExprId) -> Option<Typed> {
        let (left, right) = (self.typed(left)?, self.typed(right)?);
        let is_logical = left.0.word == Word::Logical;
        match op {
            BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply | BinaryOp::Divide => joined(left, right),
            _ if is_logical => (left.0 == right.0).then_some((left.0, false)),
            _ => Some((Number::new(Word::Logical, Kind::Default), false)),
        }
    }

    fn call(&self, callee: ExprId, args: &[ExprId]) -> Option<Typed> {
        let ExprKind::Name(name) = &self.texts.unit.expr(callee).kind else { return None };
        let at = self.texts.unit.expr(callee).span.start;
        if self.symbols.lookup(name, at).is_some() {
            return None;
        }
        let first = || self.typed(*args.first()?).map(|(number, _)| number);
        let real_part = |number: Number| match number.word {
            Word::Complex => Number::new(Word::Real, number.kind),
            _ => number,
        };
        let stated = |word: Word, kind: Kind| match args.get(1) {
            None => Some(Number::new(word, kind)),
            Some(text) => {
                let text = plain(&self.texts.code(self.texts.unit.expr(*text).span));
                let kinds = Kinds { texts: self.texts, symbols: self.symbols };
                Some(Number::new(word, kinds.of(&text, at, DEPTH)?))
            }
        };
        let number = match name.as_str() {
            "abs" | "aimag" => real_part(first()?),
            "sqrt" | "exp" | "log" | "log10" | "sin" | "cos" | "tan" | "asin" | "acos" | "atan" | "sinh"
            | "cosh" | "tanh" | "erf" | "erfc" | "gamma" | "conjg" | "iand" | "ior" | "ieor" | "not" => {
                first()?
            }
            "max" | "min" | "mod" | "modulo" | "sign" | "dim" | "atan2" | "hypot" => self.alike(args)?,
            "merge" => self.alike(args.get(..2)?)?,
            "real" => {
                let own = first()?;
                let kind = if own.word == Word::Complex { own.kind } else { Kind::Default };
                stated(Word::Real, kind)?
            }
            "dble" => Number::new(Word::Real, Kind::Double),
            "int" | "nint" | "floor" | "ceiling" => stated(Word::Integer, Kind::Default)?,
            _ => return None,
        };
        Some((number, false))
    }

    /// The type that all of them have.
    fn alike(&self, args: &[ExprId]) -> Option<Number> {
        let mut all = args.iter().map(|arg| self.typed(*arg).map(|(number, _)| number));
        let first = all.next()??;
        all.all(|other| other.as_ref() == Some(&first)).then_some(first)
    }
}

/// The type of a sum or a product.
fn joined(left: Typed, right: Typed) -> Option<Typed> {
    let (high, low) = if left.0.word >= right.0.word { (left, right) } else { (right, left) };
    let is_literal = high.1 && low.1;
    if low.0.word == Word::Logical {
        return None;
    }
    let is_whole = low.0.word == Word::Integer && high.0.word != Word::Integer;
    if is_whole || high.0.kind == low.0.kind {
        return Some((high.0, is_literal));
    }
    let word = high.0.word;
    let kind = match (high.1, low.1) {
        (false, true) => wider(high.0.kind, &low.0.kind)?,
        (true, false) => wider(low.0.kind, &high.0.kind)?,
        _ => return None,
    };
    Some((Number::new(word, kind), false))
}

/// The kind of a variable, if it is surely no narrower than that of a literal.
fn wider(kind: Kind, literal: &Kind) -> Option<Kind> {
    let is_wide = match (&kind, literal) {
        (Kind::Double, Kind::Default) => true,
        (Kind::Named(name), Kind::Default) => !matches!(name.as_str(), "1" | "2"),
        (Kind::Named(name), Kind::Double) => matches!(name.as_str(), "8" | "16"),
        _ => false,
    };
    is_wide.then_some(kind)
}
