//! Whether code names an array of C for its address alone, so that a pointer could stand for it.
//!
//! Invariant: what is not understood may ask for the array itself, its size or its own address.

use crate::host::forms::inside;
use crate::host::ir::{ExprId, ExprKind, Unit};
use crate::source::{SourceFile, Span};

use super::symbol::SymbolId;
use super::symbols::Symbols;

/// Whether each use of the array `symbol` in `span` is a use of the address of its first element.
pub fn decays(file: &SourceFile, unit: &Unit, symbols: &Symbols, symbol: SymbolId, span: Span) -> bool {
    let is_named = |kind: &ExprKind, at: u32| match kind {
        ExprKind::Name(name) => symbols.lookup(name, at) == Some(symbol),
        _ => false,
    };
    let is_array = |id: &ExprId| {
        let expr = unit.expr(*id);
        is_named(&expr.kind, expr.span.start)
    };
    let measured = inside(&unit.forms.measured, span).flat_map(|one| &one.operand);
    let is_measured = measured.into_iter().any(|expr| is_named(&expr.kind, expr.span.start));
    let text = file.text(span);
    let asks_for_type = ["typeof", "decltype", "alignof", "_Generic"].iter().any(|word| text.contains(word));
    let is_whole = |kind: &ExprKind| match kind {
        ExprKind::AddressOf(operand) | ExprKind::Step { operand, .. } => is_array(operand),
        ExprKind::Assign(_, left, _) => is_array(left),
        ExprKind::Opaque(all) => all.iter().any(is_array),
        ExprKind::Call { callee, args } => args.iter().any(is_array) && may_measure(unit, symbols, *callee),
        _ => false,
    };
    !is_measured && !asks_for_type && !unit.exprs_in(span).any(|expr| is_whole(&expr.kind))
}

/// Whether what is called may be a macro that asks for the size or the address of an argument.
fn may_measure(unit: &Unit, symbols: &Symbols, callee: ExprId) -> bool {
    let ExprKind::Name(name) = &unit.expr(callee).kind else { return false };
    match symbols.macro_of(name) {
        Some((_, body)) => body.contains("sizeof") || body.contains("typeof") || body.contains('&'),
        None => !name.contains(|char: char| char.is_ascii_lowercase()),
    }
}
