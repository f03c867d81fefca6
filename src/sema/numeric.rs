//! The types of Fortran's numbers and truth values, with their kinds.
//!
//! Invariant: two types are called equal only if every compiler stores them alike; in doubt a type is not known.

use crate::host::ir::{BinaryOp, Decl, ExprId, ExprKind, UnaryOp};
use crate::source::Span;

use super::array::Texts;
use super::subscript::plain;
use super::symbols::{SymbolKind, Symbols};

/// Constants that name kinds are followed no further than this.
const DEPTH: usize = 4;

/// An intrinsic type; numbers in the order in which one becomes another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Word {
    Logical,
    Integer,
    Real,
    Complex,
}

/// How a value of a type is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// As without a kind.
    Default,
    /// `double precision`
    Double,
    /// A number, or a name with the place that it comes from.
    Named(String),
}

/// A type with its kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Number {
    pub(super) word: Word,
    pub(super) kind: Kind,
}

impl Number {
    pub(super) fn new(word: Word, kind: Kind) -> Number {
        Number { word, kind }
    }

    /// The type that a declaration states.
    pub(super) fn of_decl(texts: Texts, symbols: &Symbols, decl: &Decl) -> Option<Number> {
        let before = Span { start: decl.span.start, end: decl.name_span.start };
        let stated = plain(&texts.code(before));
        let behind = Span { start: decl.name_span.end, end: decl.span.end };
        // An old way to state a kind behind the name.
        if plain(&texts.code(behind)).starts_with('*') {
            return None;
        }
        if stated.starts_with("doubleprecision") {
            return Some(Number::new(Word::Real, Kind::Double));
        }
        let words = [
            ("logical", Word::Logical),
            ("integer", Word::Integer),
            ("real", Word::Real),
            ("complex", Word::Complex),
        ];
        let (name, word) = words.into_iter().find(|(name, _)| stated.starts_with(name))?;
        let rest = stated.get(name.len()..)?;
        let kind = match rest.strip_prefix(['(', '*']) {
            // What counts there are the bytes of both parts.
            Some(_) if rest.starts_with('*') && word == Word::Complex => return None,
            Some(inner) if rest.starts_with('*') => {
                let digits = inner.find(|char: char| !char.is_ascii_digit()).unwrap_or(inner.len());
                Kind::Named(inner.get(..digits).filter(|digits| !digits.is_empty())?.to_owned())
            }
            Some(inner) => Kinds { texts, symbols }.of(enclosed(inner)?, decl.span.start, DEPTH)?,
            None => Kind::Default,
        };
        Some(Number::new(word, kind))
    }

    /// The type of an expression.
    pub(super) fn of_expr(texts: Texts, symbols: &Symbols, expr: ExprId) -> Option<Number> {
        Typing { texts, symbols }.typed(expr).map(|(number, _)| number)
    }
}

/// What stands before the parenthesis that ends a list.
fn enclosed(inner: &str) -> Option<&str> {
    let mut depth = 0;
    for (at, char) in inner.char_indices() {
        match char {
            '(' => depth += 1,
            ')' if depth == 0 => return inner.get(..at),
            ')' => depth -= 1,
            _ => {}
        }
    }
    None
}

struct Kinds<'a> {
    texts: Texts<'a>,
    symbols: &'a Symbols,
}

impl Kinds<'_> {
    /// The kind that a text without blanks means at a place.
    fn of(&self, text: &str, at: u32, depth: usize) -> Option<Kind> {
        let depth = depth.checked_sub(1)?;
        let text = text.strip_prefix("kind=").unwrap_or(text);
        if let Some(value) = text.strip_prefix("kind(").and_then(|rest| rest.strip_suffix(')')) {
            let is_number = value.starts_with(|char: char| char.is_ascii_digit() || char == '.');
            let (_, literal) = number(value).filter(|_| is_number && !value.contains('_'))?;
            return Some(literal.kind);
        }
        let mut words = text.split(|char: char| !char.is_alphanumeric() && char != '_');
        if text.starts_with("selected_") {
            let is_known = |word: &str| {
                let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
                is_number || matches!(word, "selected_real_kind" | "selected_int_kind" | "p" | "r")
            };
            return words.all(is_known).then(|| Kind::Named(text.to_owned()));
        }
        let is_word = text.chars().all(|char| char.is_alphanumeric() || char == '_');
        if !is_word || text.is_empty() {
            return None;
        }
        if text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Some(Kind::Named(text.to_owned()));
        }
        self.named(text, at, depth)
    }

    /// The kind that a constant stands for.
    fn named(&self, name: &str, at: u32, depth: usize) -> Option<Kind> {
        let symbol = self.symbols.lookup(name, at).map(|id| self.symbols.get(id));
        if let Some(symbol) = symbol {
            if let Some(decl) = symbol.decl.map(|decl| self.texts.unit.decl(decl)) {
                let init = decl.init.filter(|_| symbol.kind == SymbolKind::Constant)?;
                let span = self.texts.unit.expr(init).span;
                return self.of(&plain(&self.texts.code(span)), span.start, depth);
            }
            if let Some(home) = &symbol.home {
                return Some(Kind::Named(format!("{}@{home}", symbol.name)));
            }
            // It is the name of a macro.
            if symbol.kind == SymbolKind::Constant {
                return None;
            }
        }
        // The module that it comes from is not seen.
        let unit = self.texts.unit;
        let mut scope = unit.scope_at(at);
        while let Some(id) = scope {
            for used in &unit.scope(id).uses {
                let listed = used.names.iter().find(|(local, _)| local == name);
                if listed.is_some() || !used.only {
                    let original = listed.map_or(name, |(_, original)| original.as_str());
                    let is_intrinsic = matches!(used.module.as_str(), "iso_fortran_env" | "iso_c_binding");
                    let bytes = bytes(original).filter(|_| is_intrinsic || listed.is_none());
                    let other = || format!("{original}@{}", used.module);
                    let is_sure = listed.is_some() || bytes.is_some() || unit.scope(id).uses.len() == 1;
                    return is_sure.then(|| Kind::Named(bytes.map_or_else(other, str::to_owned)));
                }
            }
            scope = unit.scope(id).parent;
        }
        None
    }
}

/// The bytes of the kinds that Fortran's own modules name.
fn bytes(name: &str) -> Option<&'static str> {
    match name {
        "int32" | "real32" | "c_int" | "c_float" => Some("4"),
        "int64" | "real64" | "c_double" | "c_long_long" | "c_int64_t" => Some("8"),
        _ => None,
    }
}

/// The type of a number in small letters without blanks, and its kind as it is written.
fn number(text: &str) -> Option<(Option<&str>, Number)> {
    let (value, kind) = text.split_once('_').map_or((text, None), |(value, kind)| (value, Some(kind)));
    if !value.starts_with(|char: char| char.is_ascii_digit() || char == '.') {
        return None;
    }
    let word = if value.contains(['.', 'e', 'd']) { Word::Real } else { Word::Integer };
    let is_double = value.contains('d');
    Some((kind, Number::new(word, if is_double { Kind::Double } else { Kind::Default })))
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
                let read = self.texts.designator(self.symbols, expr)?.ok()?;
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
