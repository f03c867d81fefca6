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

/// The directives in a region, by their numbers.
pub fn directives(input: &Input, region: Span) -> impl Iterator<Item = usize> {
    let bound = input.bound;
    let first = bound.partition_point(|one| one.directive.span.start < region.start);
    (first..bound.len()).take_while(move |at| region.contains(bound[*at].directive.span))
}

/// The loop directives in a region.
pub fn loops<'a>(input: &Input<'a>, region: Span) -> impl Iterator<Item = &'a Bound> {
    let bound = input.bound;
    directives(input, region).map(|at| &bound[at]).filter(|one| one.directive.kind == DirectiveKind::Loop)
}

/// The variable of a clause of the loop in `span`, if code of the region outside of the loop names it, and no other loop around
/// that code has it private.
pub fn used_outside(input: &Input, item: &ListItem, span: Span, region: Span) -> Option<SymbolId> {
    plan::used_outside(input.code(), item, span, region)
}
