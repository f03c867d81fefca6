//! Objects of which a construct maps what a member points to, and uses more. OpenACC copies an object that a construct uses
//! and no clause names (3.3, 2.6.2), and attaches the member in it. OpenMP takes the member in `map` for all that is wanted
//! of the object (4.5, 2.15.5), and the rest of it has no value on the device.
//!
//! Invariant: only what the construct uses beside the members that it names makes an object be named.

use std::collections::BTreeSet;

use crate::acc::ast::ClauseKind;
use crate::bind::{Bound, ancestors, implied_copy};
use crate::host::ir::Unit;
use crate::plan;
use crate::sema::{self, Class, Path, Place, SymbolId, SymbolKind, Symbols};

use super::partial::{allocates, has_member, may_be_pointer, path_outside};
use super::pointers::place;

/// Adds `copy(object)` to compute constructs that name what a member points to and use another member. For members of the
/// object whose function this is, the object is `this`.
pub fn with_used_objects(unit: &Unit, symbols: &Symbols, mut bound: Vec<Bound>) -> Vec<Bound> {
    if unit.is_fortran() {
        return bound;
    }
    let named: Vec<(usize, Vec<Place>)> =
        (0..bound.len()).map(|index| (index, named(symbols, &bound[index]))).collect();
    let roots: BTreeSet<SymbolId> =
        named.iter().flat_map(|(_, places)| places).map(|place| place.0).collect();
    if roots.is_empty() {
        return bound;
    }
    let paths = sema::paths(unit, symbols, &roots);
    for (index, places) in named {
        let roots: BTreeSet<SymbolId> = places.iter().map(|place| place.0).collect();
        let used = roots.into_iter().filter(|root| uses_more(unit, &bound[index], *root, &places, &paths));
        let objects: BTreeSet<String> = used.map(|root| object(symbols, root)).collect();
        for object in objects {
            if !is_named(&bound, index, &object) {
                let start = bound[index].directive.span.end;
                bound[index].directive.clauses.insert(0, implied_copy(start, object));
            }
        }
    }
    bound
}

/// The members of objects whose targets a compute construct itself puts on the device.
fn named(symbols: &Symbols, one: &Bound) -> Vec<Place> {
    if !one.directive.kind.is_compute() {
        return Vec::new();
    }
    let items = one.directive.clauses.iter().flat_map(|clause| match &clause.kind {
        ClauseKind::Data(kind, list) if allocates(kind) => list.as_slice(),
        _ => &[],
    });
    let is_object = |place: &Place| {
        let around = place.1.split_last().map(|(_, around)| around);
        symbols.get(place.0).class == Class::Record
            && around.is_some_and(|around| !around.iter().any(|member| may_be_pointer(symbols, member)))
    };
    items.filter_map(|item| place(symbols, item)).filter(is_object).collect()
}

/// Whether the construct uses another part of `root` than its clauses name.
fn uses_more(unit: &Unit, one: &Bound, root: SymbolId, named: &[Place], paths: &[Path]) -> bool {
    let Some(stmt) = one.stmt() else { return false };
    let within = unit.stmt(stmt).span;
    path_outside(paths, root, within, named).is_some()
}

/// What a clause calls the object.
fn object(symbols: &Symbols, root: SymbolId) -> String {
    let known = symbols.get(root);
    match known.kind {
        SymbolKind::Member => "this".to_owned(),
        _ => known.name.clone(),
    }
}

/// Whether a clause of the construct, or of a construct around it, is about all of the object.
fn is_named(bound: &[Bound], index: usize, object: &str) -> bool {
    let mut clauses = ancestors(bound, index)
        .chain([index])
        .flat_map(|at| &bound[at].directive.clauses)
        .map(|clause| &clause.kind);
    clauses.any(|kind| match kind {
        ClauseKind::Default { none } => !none,
        kind => plan::list(kind).iter().any(|item| item.variable() == object && !has_member(item)),
    })
}
