//! Common blocks of Fortran in clauses. Compilers take no common block in `map` and in the clauses of `target update`; they take
//! one in `declare target`.
//!
//! Invariant: a block stands for all of its variables, as the scoping unit at hand declares them.

use std::collections::BTreeSet;

use crate::acc::ast::{Clause, ClauseKind, DataClause, DirectiveKind, ListItem};
use crate::bind::{self, Bound};
use crate::host::ir::{ScopeKind, Unit};

/// Replaces common blocks by their variables in clauses about data. In a `declare` that makes blocks globals of the
/// device, the variables keep the text of their block.
pub fn with_variables(unit: &Unit, mut bound: Vec<Bound>) -> Vec<Bound> {
    if !unit.is_fortran() {
        return bound;
    }
    let globals: BTreeSet<usize> = (0..bound.len()).filter(|at| is_global(unit, &bound, *at)).collect();
    for (at, one) in bound.iter_mut().enumerate() {
        for clause in &mut one.directive.clauses {
            let list = match &mut clause.kind {
                ClauseKind::Data(_, list)
                | ClauseKind::UpdateSelf(list)
                | ClauseKind::UpdateDevice(list)
                | ClauseKind::UseDevice(list) => list,
                _ => continue,
            };
            if list.iter().any(|item| item.common) {
                *list = list.iter().flat_map(|item| items(unit, item, globals.contains(&at))).collect();
            }
        }
    }
    bound
}

/// Whether a `declare` makes common blocks globals of the device: in a module and in a main program their region is the whole
/// run, and a routine of the device has no other way to them.
pub(super) fn is_global(unit: &Unit, bound: &[Bound], index: usize) -> bool {
    let one = &bound[index];
    if one.directive.kind != DirectiveKind::Declare || one.function.is_none() {
        return one.directive.kind == DirectiveKind::Declare;
    }
    let scope = unit.scope_at(one.directive.span.start).map(|id| unit.scope(id).kind);
    let is_routine = |other: &Bound| {
        let routine = match other.target {
            bind::Target::Function(function) => Some(function),
            _ => other.function,
        };
        other.directive.kind == DirectiveKind::Routine && routine == one.function
    };
    let clauses = &one.directive.clauses;
    let is_kept = scope == Some(ScopeKind::Program) || bound.iter().any(is_routine);
    is_kept && !clauses.is_empty() && clauses.iter().all(names_blocks)
}

/// Whether a clause asks for memory on the device of nothing but common blocks.
fn names_blocks(clause: &Clause) -> bool {
    match &clause.kind {
        ClauseKind::Data(DataClause::Create { zero: false }, list)
        | ClauseKind::Data(DataClause::Copyin { .. } | DataClause::DeviceResident | DataClause::Link, list) => {
            list.iter().all(|item| item.common)
        }
        _ => false,
    }
}

/// The variables that a `declare` of common blocks in a main program brings with their values.
pub(super) fn brought(unit: &Unit, bound: &[Bound], index: usize) -> Vec<String> {
    let one = &bound[index];
    if unit.scope_at(one.directive.span.start).map(|id| unit.scope(id).kind) != Some(ScopeKind::Program) {
        return Vec::new();
    }
    let lists = one.directive.clauses.iter().filter_map(|clause| match &clause.kind {
        ClauseKind::Data(DataClause::Copyin { .. }, list) => Some(list),
        _ => None,
    });
    lists.flatten().map(|item| item.base.text.clone()).collect()
}

/// The variables of a common block, perhaps with its text; the block itself if it is not known.
fn items(unit: &Unit, item: &ListItem, is_global: bool) -> Vec<ListItem> {
    let name = item.base.text.to_ascii_lowercase();
    let mut at = unit.scope_at(item.span.start).filter(|_| item.common);
    while let Some(scope) = at.map(|id| unit.scope(id)) {
        let own = scope.commons.iter().filter(|(block, _)| *block == name);
        let variables: Vec<ListItem> =
            own.flat_map(|(_, names)| names).map(|name| variable(item, name, is_global)).collect();
        if !variables.is_empty() {
            return variables;
        }
        at = scope.parent;
    }
    vec![item.clone()]
}

fn variable(item: &ListItem, name: &str, is_global: bool) -> ListItem {
    let mut variable = item.clone();
    variable.common = is_global;
    variable.base.text = name.to_owned();
    if !is_global {
        variable.text = name.to_owned();
    }
    variable
}
