//! Statements that add to an element: in which order they are run does not count.
//!
//! Invariant: an element and what is added to it are numbers, and an integer gets no fractions, of which each sum would be cut.

use std::collections::BTreeSet;

use crate::host::ir::{BinaryOp, ExprId, ExprKind, UnaryOp};
use crate::sema::{self, CNumber, CTypes, Element, Rank, SymbolId};
use crate::source::Span;

use super::Ground;

/// Whether a statement combines an element with something else, in whatever order: what others combine with it stays.
pub fn adds(ground: &Ground, expr: ExprId) -> bool {
    let unit = ground.unit;
    let text = |expr: ExprId| -> String {
        let text = ground.file.text(unit.expr(expr).span);
        text.chars().filter(|c| !c.is_whitespace()).flat_map(char::to_lowercase).collect()
    };
    let is_apart = |target: ExprId, value: ExprId| {
        let (root, _) = sema::subscripts(ground.unit, target);
        let root = ground.symbols.named(ground.unit, root);
        let span = unit.expr(value).span;
        root.is_some_and(|root| {
            let mut all = ground.mentions(root).iter();
            !all.any(|id| span.contains(unit.expr(*id).span))
        })
    };
    let is_element = |target: ExprId| {
        matches!(unit.expr(target).kind, ExprKind::Index(..)) && !is_complex_of_c(ground, target)
    };
    match unit.expr(expr).kind {
        ExprKind::Step { operand, .. } => is_element(operand) && number(ground, operand).is_some(),
        ExprKind::Assign(Some(how), target, value) => {
            let is_known = matches!(
                how,
                BinaryOp::Add | BinaryOp::Subtract | BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor
            );
            let is_sum = matches!(how, BinaryOp::Add | BinaryOp::Subtract);
            let is_alike = may_add(ground, target, value) && (is_sum || is_whole(ground, target));
            is_known && is_element(target) && is_apart(target, value) && is_alike
        }
        ExprKind::Assign(None, target, value) if is_element(target) => {
            let is_target = |one: ExprId| text(one) == text(target);
            let is_term = |one: ExprId| is_apart(target, one) && may_add(ground, target, one);
            match unit.expr(value).kind {
                ExprKind::Binary(BinaryOp::Add, left, right) => {
                    is_target(left) && is_term(right) || is_target(right) && is_term(left)
                }
                ExprKind::Binary(BinaryOp::Subtract, left, right) => is_target(left) && is_term(right),
                _ => false,
            }
        }
        _ => false,
    }
}

/// Whether an element is a complex number of C, which `atomic` does not take.
fn is_complex_of_c(ground: &Ground, target: ExprId) -> bool {
    let (root, _) = sema::subscripts(ground.unit, target);
    let symbol = ground.symbols.named(ground.unit, root).filter(|_| !ground.unit.is_fortran());
    let decl = symbol.and_then(|symbol| ground.symbols.get(symbol).decl).map(|decl| ground.unit.decl(decl));
    decl.is_some_and(|decl| {
        let words = Span { start: decl.span.start, end: decl.name_span.start };
        ["complex", "_Complex", "__complex__"].iter().any(|word| ground.file.text(words).contains(word))
    })
}

/// A type of numbers, as far as sums ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Number {
    /// An integer.
    Whole,
    /// One with a fraction.
    Fraction,
}

/// Whether terms of the type of `term` may be added to an element in any order.
fn may_add(ground: &Ground, element: ExprId, term: ExprId) -> bool {
    match (number(ground, element), number(ground, term)) {
        (Some(own), Some(other)) => other <= own,
        // All that C adds to a number is one.
        (Some(Number::Fraction), None) => !ground.unit.is_fortran() && !ground.unit.is_cpp(),
        _ => false,
    }
}

fn is_whole(ground: &Ground, element: ExprId) -> bool {
    number(ground, element) == Some(Number::Whole)
}

/// What number an expression is; `None` if it is not one, or not surely one.
fn number(ground: &Ground, expr: ExprId) -> Option<Number> {
    stacker::maybe_grow(64 * 1024, 4 * 1024 * 1024, || match ground.unit.is_fortran() {
        true => of_fortran(ground, expr),
        false => of_c(ground, expr),
    })
}

fn of_c(ground: &Ground, expr: ExprId) -> Option<Number> {
    // An operator of a class may give what it likes.
    let is_number = |id: &ExprId| number(ground, *id).is_some();
    let is_built_in = match &ground.unit.expr(expr).kind {
        ExprKind::Binary(_, left, right) => [left, right].into_iter().all(is_number),
        ExprKind::Unary(_, operand) => is_number(operand),
        _ => true,
    };
    if ground.unit.is_cpp() && !is_built_in {
        return None;
    }
    match of_cpp(ground, expr)? {
        CNumber::Integer(Rank::Bool, _) => None,
        CNumber::Integer(..) => Some(Number::Whole),
        CNumber::Float | CNumber::Double | CNumber::LongDouble => Some(Number::Fraction),
    }
}

/// The type of a number, those of logical values among them.
fn of_cpp(ground: &Ground, expr: ExprId) -> Option<CNumber> {
    types(ground).of(expr).number().or_else(|| of_header(ground, expr))
}

fn types<'a>(ground: &Ground<'a>) -> CTypes<'a> {
    static NONE: BTreeSet<&str> = BTreeSet::new();
    CTypes { file: ground.file, unit: ground.unit, headers: &[], symbols: ground.symbols, chosen: &NONE }
}

/// The type of an element of an array, where a header names it.
fn of_header(ground: &Ground, expr: ExprId) -> Option<CNumber> {
    let mut at = expr;
    while let ExprKind::Index(base, _) = ground.unit.expr(at).kind {
        at = base;
    }
    let known = ground.symbols.type_of(ground.symbols.named(ground.unit, at)?)?;
    match known
        .element
        .as_ref()
        .filter(|_| known.shape.len() == sema::subscripts(ground.unit, expr).1.len())?
    {
        Element::Number(words) => CNumber::of_words(words),
        Element::Byte | Element::Integer => Some(CNumber::Integer(Rank::Int, true)),
        Element::Pointer => None,
    }
}

fn of_fortran(ground: &Ground, expr: ExprId) -> Option<Number> {
    let all = |parts: &[ExprId]| {
        let numbers: Option<Vec<Number>> = parts.iter().map(|part| number(ground, *part)).collect();
        numbers?.into_iter().max()
    };
    match &ground.unit.expr(expr).kind {
        ExprKind::Int(_) => Some(Number::Whole),
        ExprKind::Literal => {
            let text = ground.file.text(ground.unit.expr(expr).span).to_ascii_lowercase();
            let is_number =
                text.starts_with(|c: char| c.is_ascii_digit() || c == '.' && !text.ends_with('.'));
            is_number.then_some(Number::Fraction)
        }
        ExprKind::Name(_) => of_variable(ground, ground.symbols.named(ground.unit, expr)?),
        ExprKind::Index(base, _) => number(ground, *base),
        ExprKind::Unary(UnaryOp::Minus | UnaryOp::Plus, operand) => number(ground, *operand),
        ExprKind::Binary(op, left, right) => {
            let is_arithmetic =
                matches!(op, BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply | BinaryOp::Divide);
            if is_arithmetic { all(&[*left, *right]) } else { None }
        }
        // A power.
        ExprKind::Initialiser(parts) if parts.len() == 2 => all(parts),
        ExprKind::Call { callee, args } => {
            let ExprKind::Name(name) = &ground.unit.expr(*callee).kind else { return None };
            let at = ground.unit.expr(*callee).span.start;
            let is_intrinsic = sema::is_pure_intrinsic(name) && ground.symbols.lookup(name, at).is_none();
            let given = all(args).filter(|_| is_intrinsic)?;
            match name.as_str() {
                "int" | "nint" | "floor" | "ceiling" => Some(Number::Whole),
                "abs" | "mod" | "modulo" | "max" | "min" | "sign" | "dim" => Some(given),
                "iand" | "ior" | "ieor" | "ishft" | "not" => Some(given),
                _ => Some(Number::Fraction),
            }
        }
        _ => None,
    }
}

fn of_variable(ground: &Ground, symbol: SymbolId) -> Option<Number> {
    let known = ground.symbols.get(symbol);
    match known.intrinsic.as_deref() {
        Some("integer") => Some(Number::Whole),
        Some(word) => ["real", "double", "complex"]
            .iter()
            .any(|lead| word.starts_with(lead))
            .then_some(Number::Fraction),
        None if known.is_floating => Some(Number::Fraction),
        None => None,
    }
}
