//! Members of anonymous unions and structs in a class: its functions name them as they name its own.
//!
//! Invariant: a class that is not seen has none.

use std::collections::BTreeSet;

use super::object::classes;
use crate::cuda::program::{Input, Seen};
use crate::host::ir::{ExprKind, Function, Record};
use crate::sema::SymbolKind;
use crate::source::Span;

/// Where the code in `within` names such members without `this->`.
pub fn named(input: &Input, function: &Function, within: Span) -> Vec<Span> {
    let members = members(input, function);
    if members.is_empty() {
        return Vec::new();
    }
    let unit = input.unit();
    let is_own = |name: &str, at: u32| {
        let known = input.symbols.lookup(name, at).map(|symbol| input.symbols.get(symbol));
        // What the function itself declares hides it.
        known.is_none_or(|known| {
            !matches!(known.kind, SymbolKind::Parameter | SymbolKind::Local)
                && !function.span.contains(known.scope)
        })
    };
    let names = unit.exprs_in(within).filter(|expr| match &expr.kind {
        ExprKind::Name(name) => members.contains(name.as_str()) && is_own(name, expr.span.start),
        _ => false,
    });
    names.map(|expr| expr.span).collect()
}

/// Whether a function sees a member of an anonymous union or struct by this name.
pub fn is_member(input: &Input, function: &Function, name: &str) -> bool {
    members(input, function).contains(name)
}

/// The members of anonymous unions and structs in the class of a function, and in its bases.
fn members<'a>(input: &Input<'a>, function: &Function) -> BTreeSet<&'a str> {
    let known = classes(input, function).unwrap_or_default();
    let of_record = |(seen, record): (Seen<'a>, &Record)| {
        let inner = seen.unit.anonymous_in(record.span);
        let members = inner.flat_map(|id| &seen.unit.record(id).members);
        members.map(|id| seen.unit.decl(*id).name.as_str()).collect::<Vec<&str>>()
    };
    known.into_iter().flat_map(of_record).collect()
}
