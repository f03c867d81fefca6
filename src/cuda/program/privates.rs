//! What loops make private, and where code outside of these loops uses variables of the same names.
//!
//! Invariant: a variable of such a name outside of the loop is another one.

use super::Input;
use crate::acc::ast::{DirectiveKind, ListItem};
use crate::bind::Bound;
use crate::plan;
use crate::sema::SymbolId;
use crate::source::Span;

pub use crate::plan::private;

/// The loop directives in a region.
pub fn loops<'a>(input: &Input<'a>, region: Span) -> impl Iterator<Item = &'a Bound> {
    let first = input.bound.partition_point(|one| one.directive.span.start < region.start);
    let all = input.bound[first..].iter().take_while(move |one| region.contains(one.directive.span));
    all.filter(|one| one.directive.kind == DirectiveKind::Loop)
}

/// The variable of a clause of the loop in `span`, if code of the region outside of the loop names it, and no other loop around
/// that code has it private.
pub fn used_outside(input: &Input, item: &ListItem, span: Span, region: Span) -> Option<SymbolId> {
    plan::used_outside(input.code(), item, span, region)
}
