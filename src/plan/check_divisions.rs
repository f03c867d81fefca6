//! The invariants of how a plan divides loops.
//!
//! Invariant: what is checked here holds for all targets.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use crate::bind::{Bound, ancestors};
use crate::host::ir::{StmtId, Unit};
use crate::sema;
use crate::source::Span;

use super::{Division, Fault, Levels, Plan};

/// The faults of the divisions of a plan.
pub(super) fn faults(unit: &Unit, bound: &[Bound], plan: &Plan) -> Vec<Fault> {
    let numbers = plan.divisions.values().flat_map(|one| &one.directives);
    let mut faults: Vec<Fault> =
        numbers.filter(|at| **at >= bound.len()).map(|at| Fault::OutOfRange(*at)).collect();
    if !faults.is_empty() || plan.divisions.values().any(|one| one.directives.is_empty()) {
        return faults;
    }
    let loops = (0..bound.len()).filter(|at| bound[*at].directive.kind.is_loop());
    let divided: BTreeSet<StmtId> =
        plan.divisions.values().flat_map(|one| one.stmts.iter().copied()).collect();
    let missing = loops.filter(|at| bound[*at].stmt().is_some_and(|stmt| !divided.contains(&stmt)));
    faults.extend(missing.map(Fault::Undivided));
    for (stmt, one) in &plan.divisions {
        if one.stmts.first() != Some(stmt) || !is_nest(unit, one) {
            faults.push(Fault::NotNested(one.directives[0]));
        }
    }
    faults.extend(taken_twice(unit, bound, plan));
    faults
}

/// Whether the loops that run as one stand in one another, with tiles for all of them or none.
fn is_nest(unit: &Unit, one: &Division) -> bool {
    let inner = |stmt: StmtId| sema::nested_loops(unit, stmt).nth(1);
    let is_tiled = one.tile.is_empty() || one.tile.len() == one.stmts.len();
    is_tiled && one.stmts.windows(2).all(|pair| inner(pair[0]) == Some(pair[1]))
}

/// The loops that have a level which a loop around them has taken.
fn taken_twice(unit: &Unit, bound: &[Bound], plan: &Plan) -> Vec<Fault> {
    let region = |one: &Division| {
        let at = one.directives[0];
        let mut all = std::iter::once(at).chain(ancestors(bound, at));
        all.find(|at| bound[*at].directive.kind.is_compute())
    };
    let divided = plan.divisions.iter().filter(|(_, one)| one.levels.any());
    let mut sorted: Vec<(Span, &Division)> =
        divided.map(|(stmt, one)| (unit.stmt(*stmt).span, one)).collect();
    sorted.sort_by_key(|(span, _)| (span.start, Reverse(span.end)));
    let mut open: Vec<(Span, &Division)> = Vec::new();
    let mut faults = Vec::new();
    for (span, one) in sorted {
        open.retain(|(around, _)| around.contains(span));
        let outer = open.iter().filter(|(_, outer)| region(outer) == region(one));
        let free = outer.fold(Levels::ALL, |free, (_, outer)| free.inside(outer.levels));
        if one.levels.without(free).any() {
            faults.push(Fault::LevelTaken(one.directives[0]));
        }
        open.push((span, one));
    }
    faults
}
