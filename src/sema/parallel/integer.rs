//! Integer types: those whose sizes are known well enough to compute with.
//!
//! Invariant: a type that is not seen whole is not known.

use std::cmp::Ordering;

use crate::host::ir::{BaseType, BinaryOp, Decl, DeclKind, ExprId, ExprKind, UnaryOp};
use crate::sema::{Class, SymbolId};
use crate::source::{self, Span};

use super::facts::Facts;

/// An integer type: its size in bits, and whether it has a sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Integer {
    /// 32 or 64; in expressions also less.
    pub bits: u8,
    /// It has a sign.
    pub is_signed: bool,
}

/// The type of an integer variable; `None` if it is another one, or not known well enough.
pub fn integer(facts: &Facts, symbol: SymbolId) -> Option<Integer> {
    let known = facts.symbols.get(symbol);
    if known.class != Class::Scalar || known.is_floating {
        return None;
    }
    if facts.unit.is_fortran() {
        let is_integer = known.intrinsic.as_deref() == Some("integer");
        let bits = if facts.decl(symbol).is_some_and(|decl| is_default(facts, decl)) { 32 } else { 64 };
        return is_integer.then_some(Integer { bits, is_signed: true });
    }
    let decl = facts.decl(symbol)?;
    let words = declared_words(facts, decl);
    if words
        .iter()
        .any(|word| matches!(word.as_str(), "volatile" | "_Atomic" | "thread_local" | "_Thread_local"))
    {
        return None;
    }
    let (bits, is_signed) = match &decl.base {
        BaseType::Builtin(base) => {
            let has = |wanted: &str| base.split(' ').any(|word| word == wanted);
            let narrow = ["char", "short", "bool", "_Bool", "float", "double", "_Complex", "wchar_t"];
            let known = ["int", "long", "signed", "unsigned"];
            if narrow.into_iter().any(has) || !known.into_iter().any(has) || has("__int128") {
                return None;
            }
            (if has("long") { 64 } else { 32 }, !has("unsigned"))
        }
        BaseType::Named(name) => match name.strip_prefix("std::").unwrap_or(name) {
            "size_t" | "uint64_t" => (64, false),
            "ptrdiff_t" | "ssize_t" | "int64_t" => (64, true),
            "int32_t" => (32, true),
            "uint32_t" => (32, false),
            _ => return None,
        },
        _ => return None,
    };
    decl.derived.is_empty().then_some(Integer { bits, is_signed })
}

/// The integer type that a variable of C or C++ is declared with; `None` if it is another one, or not seen.
pub fn declared(facts: &Facts, symbol: SymbolId) -> Option<Integer> {
    let decl = facts.decl(symbol)?;
    let odd = ["volatile", "_Atomic", "thread_local", "_Thread_local"];
    let is_odd = declared_words(facts, decl).iter().any(|word| odd.contains(&word.as_str()));
    if is_odd || !decl.derived.is_empty() { None } else { width(facts, decl) }
}

/// Whether a Fortran declaration of an integer names no kind.
fn is_default(facts: &Facts, decl: &Decl) -> bool {
    let text = facts.file.text(Span { start: decl.span.start, end: decl.name_span.start });
    let text = text.trim_start();
    let rest = text.get(..7).filter(|word| word.eq_ignore_ascii_case("integer")).and(text.get(7..));
    rest.is_some_and(|rest| {
        rest.starts_with(|c: char| c.is_whitespace() || matches!(c, ',' | ':'))
            && !rest.trim_start().starts_with(['(', '*'])
    })
}

/// The integer type of an expression of C or C++, as it is computed; `None` if it is another one, or not seen.
pub fn computed(facts: &Facts, expr: ExprId) -> Option<Integer> {
    stacker::maybe_grow(64 * 1024, 4 * 1024 * 1024, || computed_here(facts, expr))
}

fn computed_here(facts: &Facts, expr: ExprId) -> Option<Integer> {
    let int = Integer { bits: 32, is_signed: true };
    let unit = facts.unit;
    match &unit.expr(expr).kind {
        ExprKind::Int(value) => {
            let text = facts.file.text(unit.expr(expr).span).to_ascii_lowercase();
            let is_wide = text.ends_with(['l', 'z']) || text.contains('l') || *value > i128::from(u32::MAX);
            let is_decimal = !text.starts_with('0');
            let is_unsigned = text.contains('u') || !is_decimal && !is_wide && *value > i128::from(i32::MAX);
            let is_long = is_decimal && !is_unsigned && *value > i128::from(i32::MAX);
            let bits = if is_wide || is_long { 64 } else { 32 };
            Some(Integer { bits, is_signed: !is_unsigned })
        }
        ExprKind::Sizeof => Some(Integer { bits: 64, is_signed: false }),
        ExprKind::Name(_) => {
            let symbol = facts.symbols.named(unit, expr)?;
            width(facts, facts.decl(symbol)?)
        }
        ExprKind::Index(base, _) | ExprKind::Deref(base) => computed(facts, *base),
        ExprKind::Cast { to, .. } => of_words(to),
        ExprKind::Unary(UnaryOp::Not, _) => Some(int),
        ExprKind::Unary(_, operand) => Some(computed(facts, *operand)?.promoted()),
        ExprKind::Binary(op, left, right) => match op {
            BinaryOp::ShiftLeft | BinaryOp::ShiftRight => Some(computed(facts, *left)?.promoted()),
            BinaryOp::Add
            | BinaryOp::Subtract
            | BinaryOp::Multiply
            | BinaryOp::Divide
            | BinaryOp::Remainder
            | BinaryOp::BitAnd
            | BinaryOp::BitOr
            | BinaryOp::BitXor => Some(computed(facts, *left)?.with(computed(facts, *right)?)),
            _ => Some(int),
        },
        ExprKind::Conditional(_, first, second) => {
            Some(computed(facts, *first)?.with(computed(facts, *second)?))
        }
        ExprKind::Assign(_, left, _) | ExprKind::Step { operand: left, .. } => computed(facts, *left),
        ExprKind::Comma(_, right) => computed(facts, *right),
        _ => None,
    }
}

/// What the elements of a variable are, whatever its dimensions.
pub(super) fn width(facts: &Facts, decl: &Decl) -> Option<Integer> {
    let mut base = &decl.base;
    for _ in 0..4 {
        match base {
            BaseType::Builtin(words) => return of_words(words),
            BaseType::Named(name) => {
                let is_meant = |one: &&Decl| one.kind == DeclKind::Typedef && one.name == *name;
                match facts.unit.decls.iter().find(is_meant) {
                    Some(typedef) if typedef.derived.is_empty() => base = &typedef.base,
                    Some(_) => return None,
                    None => return of_words(name),
                }
            }
            _ => return None,
        }
    }
    None
}

/// The integer type that words name.
fn of_words(words: &str) -> Option<Integer> {
    let plain = words.strip_prefix("std::").unwrap_or(words);
    let named = match plain {
        "size_t" | "uint64_t" | "uintptr_t" => Some((64, false)),
        "ptrdiff_t" | "ssize_t" | "int64_t" | "intptr_t" => Some((64, true)),
        "int32_t" => Some((32, true)),
        "uint32_t" => Some((32, false)),
        "int16_t" => Some((16, true)),
        "uint16_t" => Some((16, false)),
        "int8_t" => Some((8, true)),
        "uint8_t" => Some((8, false)),
        "bool" | "_Bool" => Some((1, false)),
        _ => None,
    };
    let has = |wanted: &str| plain.split(' ').any(|word| word == wanted);
    let known = ["int", "long", "signed", "unsigned", "short", "char", "const"];
    let bits = match () {
        () if !plain.split(' ').all(|word| known.contains(&word)) => None,
        () if has("char") => Some(8),
        () if has("short") => Some(16),
        () if has("long") => Some(64),
        () => Some(32),
    };
    let (bits, is_signed) = named.or_else(|| Some((bits?, !has("unsigned"))))?;
    Some(Integer { bits, is_signed })
}

impl Integer {
    /// What it becomes in a computation.
    fn promoted(self) -> Integer {
        if self.bits < 32 { Integer { bits: 32, is_signed: true } } else { self }
    }

    /// The type in which the two are combined (C11, 6.3.1.8).
    fn with(self, other: Integer) -> Integer {
        let (one, two) = (self.promoted(), other.promoted());
        match one.bits.cmp(&two.bits) {
            Ordering::Greater => one,
            Ordering::Less => two,
            Ordering::Equal => Integer { is_signed: one.is_signed && two.is_signed, ..one },
        }
    }

    /// Whether it holds all values of another type.
    pub(super) fn holds(self, other: Integer) -> bool {
        match (self.is_signed, other.is_signed) {
            (true, false) => other.bits < self.bits,
            (false, true) => false,
            _ => other.bits <= self.bits,
        }
    }
}

/// The words before the name in a declaration.
fn declared_words(facts: &Facts, decl: &Decl) -> Vec<String> {
    let text = facts.file.text(Span { start: decl.span.start, end: decl.name_span.start });
    source::words(&text).map(str::to_owned).collect()
}
