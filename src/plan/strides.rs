//! How the accesses of a loop's body go through memory as a variable counts, by what the subscripts say.
//!
//! Invariant: this is about speed, never about what a program computes.

use crate::host::ir::{BinaryOp, ExprId, ExprKind, UnaryOp, Unit};
use crate::sema::{self, Class, Symbol, SymbolId, SymbolKind, Symbols};
use crate::source::Span;

/// How the accesses of a nest go through memory as one variable counts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Strides {
    /// From element to neighbouring element.
    pub unit: usize,
    /// Farther.
    pub far: usize,
}

impl Strides {
    /// Whether memory suits loops that count as `other` better for the lanes than one that counts as this.
    pub fn are_worse_than(self, other: Strides) -> bool {
        self.far > self.unit && other.unit > other.far && other.far < self.far && other.unit > self.unit
    }
}

/// How the accesses in some bytes to arrays declared outside of them go through memory as a variable counts.
pub fn strides(unit: &Unit, symbols: &Symbols, span: Span, variable: SymbolId) -> Strides {
    let mut found = Strides::default();
    for element in sema::elements(unit, span) {
        let (root, all) = sema::subscripts(unit, element);
        let root = symbols.named(unit, root);
        let is_shared = root.is_some_and(|root| {
            let known = symbols.get(root);
            let is_memory = matches!(known.class, Class::Array | Class::Pointer);
            is_memory && !span.contains(known.scope)
        });
        if !is_shared {
            continue;
        }
        let fastest = if unit.is_fortran() { 0 } else { all.len() - 1 };
        let steps: Vec<Step> =
            all.iter().map(|subscript| step((unit, symbols), *subscript, variable)).collect();
        let is_far = steps.iter().enumerate().any(|(at, step)| at != fastest && *step != Step::Zero);
        match steps[fastest] {
            Step::Zero if !is_far => {}
            Step::One if !is_far => found.unit += 1,
            Step::Unknown => {}
            _ => found.far += 1,
        }
    }
    found
}

/// By how much a subscript grows as a variable does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Zero,
    One,
    More,
    /// Read from memory, or made in some other way.
    Unknown,
}

fn step((unit, symbols): (&Unit, &Symbols), expr: ExprId, variable: SymbolId) -> Step {
    let step = |expr: ExprId| step((unit, symbols), expr, variable);
    match &unit.expr(expr).kind {
        ExprKind::Name(_) if symbols.named(unit, expr) == Some(variable) => Step::One,
        ExprKind::Name(_) | ExprKind::Int(_) | ExprKind::Literal => Step::Zero,
        ExprKind::Cast { operand, .. } => step(*operand),
        ExprKind::Unary(UnaryOp::Minus | UnaryOp::Plus, operand) => step(*operand),
        ExprKind::Binary(BinaryOp::Add | BinaryOp::Subtract, left, right) => {
            match (step(*left), step(*right)) {
                (Step::Zero, one) | (one, Step::Zero) => one,
                (Step::Unknown, _) | (_, Step::Unknown) => Step::Unknown,
                _ => Step::More,
            }
        }
        ExprKind::Binary(BinaryOp::Multiply, left, right) => {
            let is_fixed = |known: &Symbol| known.is_const || known.kind == SymbolKind::Constant;
            let is_one = |expr: ExprId| sema::constant(unit, symbols, expr, &is_fixed) == Some(1);
            match (step(*left), step(*right)) {
                (Step::Zero, Step::Zero) => Step::Zero,
                (Step::Zero, one) if is_one(*left) => one,
                (one, Step::Zero) if is_one(*right) => one,
                (Step::Unknown, _) | (_, Step::Unknown) => Step::Unknown,
                _ => Step::More,
            }
        }
        _ => {
            let mut names = unit.exprs_in(unit.expr(expr).span);
            let name = &symbols.get(variable).name;
            let is_named = names.any(|inner| matches!(&inner.kind, ExprKind::Name(word) if word == name));
            if is_named { Step::Unknown } else { Step::Zero }
        }
    }
}
