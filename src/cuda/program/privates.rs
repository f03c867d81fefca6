//! What loops make private, and where code outside of these loops uses variables of the same names.
//!
//! Invariant: a variable of such a name outside of the loop is another one.

use super::Input;
use crate::acc::ast::{ClauseKind, DirectiveKind, ListItem};
use crate::bind::Bound;
use crate::host::ir::ExprKind;
use crate::sema::SymbolId;
use crate::source::Span;

/// The loop directives in a region.
pub fn loops<'a>(input: &Input<'a>, region: Span) -> impl Iterator<Item = &'a Bound> {
    let all = input.bound.iter().filter(move |one| region.contains(one.directive.span));
    all.filter(|one| one.directive.kind == DirectiveKind::Loop)
}

/// What the clauses of a directive make private.
pub fn private(one: &Bound) -> impl Iterator<Item = &ListItem> {
    one.directive.clauses.iter().flat_map(|clause| match &clause.kind {
        ClauseKind::Private(list) => list.as_slice(),
        _ => &[],
    })
}

/// The variable of a clause of the loop in `span`, if code of the region outside of the loop names it, and no other loop around
/// that code has it private.
pub fn used_outside(input: &Input, item: &ListItem, span: Span, region: Span) -> Option<SymbolId> {
    let symbol = input.symbols.lookup(&item.base.text, span.start)?;
    let is_others = |at: Span| {
        loops(input, region).any(|one| {
            let other = one.stmt().map(|stmt| input.stmt_span(stmt));
            let holds = other.is_some_and(|other| other.contains(at) && !other.contains(span));
            holds && private(one).any(|known| known.base.text == item.base.text)
        })
    };
    let unit = input.unit();
    let mut names = unit.exprs_in(region).filter(|expr| {
        matches!(&expr.kind, ExprKind::Name(name) if *name == item.base.text)
            && input.symbols.lookup(&item.base.text, expr.span.start) == Some(symbol)
    });
    names.any(|expr| !span.contains(expr.span) && !is_others(expr.span)).then_some(symbol)
}
