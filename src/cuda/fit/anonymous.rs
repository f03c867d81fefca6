//! Members of anonymous unions and structs in a class: its functions name them as they name its own.
//!
//! Invariant: a class that is not seen has none.

use std::collections::BTreeSet;

use super::object::classes;
use crate::cuda::program::Input;
use crate::host::ir::{BaseType, ExprKind, Function, Record, RecordId, Unit};
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
    known.into_iter().flat_map(|(seen, record)| of_record(seen.unit, record)).collect()
}

fn of_record<'a>(unit: &'a Unit, class: &Record) -> Vec<&'a str> {
    let mut found = Vec::new();
    for (at, inner) in unit.records.iter().enumerate() {
        let is_inside = class.span.contains(inner.span) && inner.span != class.span;
        if is_inside && belongs(unit, (at, inner), class) {
            found.extend(inner.members.iter().map(|id| unit.decl(*id).name.as_str()));
        }
    }
    found
}

/// Whether a record has no name and declares nothing, and stands in a class, or in another such record there.
fn belongs(unit: &Unit, (at, inner): (usize, &Record), class: &Record) -> bool {
    let id = RecordId(at as u32);
    let is_anonymous =
        inner.tag.is_none() && !unit.decls.iter().any(|decl| decl.base == BaseType::Record(id));
    let holds = |other: &Record| other.span != inner.span && other.span.contains(inner.span);
    let around = unit.records.iter().enumerate().filter(|(_, other)| holds(other));
    let home = around.min_by_key(|(_, other)| other.span.len());
    is_anonymous && home.is_some_and(|home| home.1.span == class.span || belongs(unit, home, class))
}
