//! Where variables of Fortran get other memory than before, except `allocate` and `deallocate`.
//!
//! Invariant: an assignment is passed over only where the shapes of both sides are surely the same.

use std::collections::BTreeSet;

use crate::host::ir::{ExprId, ExprKind, Unit};
use crate::source::Span;

use super::components::{Place, place};
use super::elemental::{is_intrinsic, is_transformational};
use super::symbol::{Class, SymbolId};
use super::symbols::Symbols;

/// How a variable gets other memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moved {
    /// `move_alloc`, from or to it.
    MoveAlloc,
    /// It is assigned a value that may have another shape.
    Assignment,
    /// It is passed to a dummy argument that is allocatable or a pointer.
    Argument,
    /// A pointer assignment.
    Target,
}

/// The places in `within` where one of `variables` gets other memory.
pub fn moves(
    unit: &Unit,
    symbols: &Symbols,
    within: Span,
    variables: &BTreeSet<SymbolId>,
) -> Vec<(Span, SymbolId, Moved)> {
    let mut found = Vec::new();
    let symbol_of = |expr: ExprId| symbols.named(unit, expr).filter(|symbol| variables.contains(symbol));
    for expr in unit.exprs_in(within) {
        match &expr.kind {
            ExprKind::Assign(None, left, right) => {
                let Some(symbol) = symbol_of(*left) else { continue };
                let known = symbols.get(symbol);
                let span = unit.expr(*left).span;
                if let ExprKind::AddressOf(_) = unit.expr(*right).kind {
                    found.push((span, symbol, Moved::Target));
                } else if known.fortran.allocatable
                    && known.class == Class::Array
                    && !keeps_shape(unit, symbols, symbol, *right)
                {
                    found.push((span, symbol, Moved::Assignment));
                }
            }
            ExprKind::Call { callee, args } => {
                let ExprKind::Name(name) = &unit.expr(*callee).kind else { continue };
                for (place, arg) in args.iter().enumerate() {
                    let Some(symbol) = symbol_of(*arg) else { continue };
                    let how = if name == "move_alloc" { Moved::MoveAlloc } else { Moved::Argument };
                    if how == Moved::MoveAlloc || symbols.may_move(name, keyword(unit, *arg), place) {
                        found.push((unit.expr(*arg).span, symbol, how));
                    }
                }
            }
            _ => {}
        }
    }
    found
}

/// Where pointers get other targets than before: each place in the code, and the pointer.
pub fn retargets(unit: &Unit, symbols: &Symbols) -> Vec<(Span, Place)> {
    let mut found = Vec::new();
    let mut add =
        |expr: ExprId| found.extend(place(unit, symbols, expr).map(|one| (unit.expr(expr).span, one)));
    for expr in &unit.exprs {
        match &expr.kind {
            ExprKind::Assign(None, left, right) if is_address(unit, *right) => add(*left),
            ExprKind::Call { callee, args } => {
                let ExprKind::Name(name) = &unit.expr(*callee).kind else { continue };
                let moved = args.iter().enumerate();
                let moved = moved.filter(|(at, arg)| symbols.may_move(name, keyword(unit, **arg), *at));
                moved.for_each(|(_, arg)| add(*arg));
            }
            _ => {}
        }
    }
    let allocations = unit.allocations.iter().filter(|one| !one.frees);
    allocations.flat_map(|one| &one.objects).for_each(|object| add(*object));
    found
}

/// Where pointers get targets whose elements do not stand side by side: sections with a stride, and those of which an
/// earlier dimension is one element. With each pointer, the array that the section is of.
pub fn gapped(unit: &Unit, symbols: &Symbols) -> Vec<(Span, Place, Option<Place>)> {
    let found = unit.exprs.iter().filter_map(|expr| {
        let ExprKind::Assign(None, left, right) = &expr.kind else { return None };
        let ExprKind::AddressOf(target) = unit.expr(*right).kind else { return None };
        has_gaps(unit, target).then_some(())?;
        Some((unit.expr(*left).span, place(unit, symbols, *left)?, place(unit, symbols, target)))
    });
    found.collect()
}

fn has_gaps(unit: &Unit, target: ExprId) -> bool {
    let mut subscripts = Vec::new();
    let mut at = target;
    loop {
        match &unit.expr(at).kind {
            ExprKind::Index(base, subscript) => {
                subscripts.insert(0, *subscript);
                at = *base;
            }
            ExprKind::Call { callee, args } => {
                subscripts.splice(0..0, args.iter().copied());
                at = *callee;
            }
            _ => break,
        }
    }
    let mut met_element = false;
    subscripts.into_iter().any(|subscript| match &unit.expr(subscript).kind {
        ExprKind::Triplet([_, _, step]) => {
            let is_one = |step: ExprId| matches!(unit.expr(step).kind, ExprKind::Int(1));
            met_element || step.is_some_and(|step| !is_one(step))
        }
        _ => {
            met_element = true;
            false
        }
    })
}

fn is_address(unit: &Unit, expr: ExprId) -> bool {
    matches!(unit.expr(expr).kind, ExprKind::AddressOf(_))
}

/// The name that an argument is passed by.
fn keyword(unit: &Unit, arg: ExprId) -> Option<&str> {
    let at = unit.keywords.binary_search_by_key(&arg, |(value, _)| *value).ok()?;
    unit.keywords.get(at).map(|(_, name)| name.as_str())
}

/// Whether a value has no shape, or that of the variable because its only array is the variable itself.
fn keeps_shape(unit: &Unit, symbols: &Symbols, variable: SymbolId, value: ExprId) -> bool {
    is_scalar(unit, symbols, value)
        || match &unit.expr(value).kind {
            ExprKind::Name(_) => symbols.named(unit, value) == Some(variable),
            ExprKind::Unary(_, operand) => keeps_shape(unit, symbols, variable, *operand),
            ExprKind::Binary(_, left, right) => {
                keeps_shape(unit, symbols, variable, *left) && keeps_shape(unit, symbols, variable, *right)
            }
            ExprKind::Call { callee, args } => {
                is_elemental(unit, *callee)
                    && args.iter().all(|arg| keeps_shape(unit, symbols, variable, *arg))
            }
            _ => false,
        }
}

/// Whether a value is surely no array.
fn is_scalar(unit: &Unit, symbols: &Symbols, value: ExprId) -> bool {
    let all = |parts: &[ExprId]| parts.iter().all(|part| is_scalar(unit, symbols, *part));
    match &unit.expr(value).kind {
        ExprKind::Int(_) | ExprKind::Literal => true,
        ExprKind::Name(_) => symbols.named(unit, value).is_some_and(|symbol| {
            let known = symbols.get(symbol);
            matches!(known.class, Class::Scalar | Class::Record) && known.shape.is_empty()
        }),
        ExprKind::Unary(_, operand) => is_scalar(unit, symbols, *operand),
        ExprKind::Binary(_, left, right) => all(&[*left, *right]),
        ExprKind::Index(base, subscript) => {
            let is_element = is_scalar(unit, symbols, *subscript);
            is_element
                && match &unit.expr(*base).kind {
                    ExprKind::Index(..) => is_scalar(unit, symbols, *base),
                    ExprKind::Name(_) => true,
                    _ => false,
                }
        }
        ExprKind::Call { callee, args } => {
            is_elemental(unit, *callee) && all(args) || is_sum(unit, *callee) && args.len() == 1
        }
        _ => false,
    }
}

fn is_elemental(unit: &Unit, callee: ExprId) -> bool {
    let ExprKind::Name(name) = &unit.expr(callee).kind else { return false };
    is_intrinsic(name) && !is_transformational(name)
}

/// Whether an intrinsic function makes one value of all elements of an array.
fn is_sum(unit: &Unit, callee: ExprId) -> bool {
    const NAMES: [&str; 9] = ["all", "any", "count", "maxval", "minval", "norm2", "product", "size", "sum"];
    matches!(&unit.expr(callee).kind, ExprKind::Name(name) if NAMES.contains(&name.as_str()))
}
