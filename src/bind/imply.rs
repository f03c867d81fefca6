//! Directives that the source does not have: they stand before loops, and say what was found out about them.
//!
//! Invariant: the list stays in source order, and each directive knows its parent and its partner by their new places.

use std::collections::BTreeMap;

use crate::acc::ast::{Argument, Clause, ClauseKind, DataClause, Directive, DirectiveKind, ListItem, Name};
use crate::host::ir::{StmtId, StmtKind, Unit};
use crate::source::Span;

use super::{Bound, Places, Target};

/// A clause of an implied directive.
pub fn implied_clause(at: u32, word: &str, kind: ClauseKind) -> Clause {
    let span = Span { start: at, end: at };
    Clause { kind, name: Name { text: word.to_owned(), span }, span, modifier: None, device_type: None }
}

/// A list item of an implied clause: a variable.
pub fn implied_item(at: u32, name: String) -> ListItem {
    let span = Span { start: at, end: at };
    ListItem { base: Name { text: name.clone(), span }, parts: Vec::new(), text: name, span, common: false }
}

/// The clause `copy(object)` of an object that a construct needs and does not name.
pub fn implied_copy(at: u32, object: String) -> Clause {
    implied_clause(at, "copy", ClauseKind::Data(DataClause::Copy, vec![implied_item(at, object)]))
}

/// A `loop` directive for the loop `stmt`, in the same function as the directive `like`.
pub fn implied_loop(unit: &Unit, stmt: StmtId, like: &Bound, clauses: Vec<Clause>) -> Bound {
    let at = unit.stmt(stmt).span.start;
    let place = Span { start: at, end: at };
    let directive = Directive {
        kind: DirectiveKind::Loop,
        name_span: place,
        argument: Argument::None,
        clauses,
        span: place,
    };
    let (target, function) = (Target::Stmt(stmt), like.function);
    Bound {
        text: None,
        directive,
        target,
        function,
        unbraced: false,
        is_body: false,
        parent: None,
        partner: None,
    }
}

/// Adds implied directives.
pub fn with_implied(unit: &Unit, bound: Vec<Bound>, implied: Vec<Bound>) -> Vec<Bound> {
    if implied.is_empty() {
        return bound;
    }
    let bodies = Places::new(unit).bodies;
    let old = bound.into_iter().enumerate().map(|(index, one)| (Some(index), one));
    let mut all: Vec<(Option<usize>, Bound)> =
        old.chain(implied.into_iter().map(|one| (None, one))).collect();
    all.sort_by_key(|(_, one)| one.directive.span.start);
    let mut moved = BTreeMap::new();
    for (new, (old, _)) in all.iter().enumerate() {
        moved.extend(old.map(|old| (old, new)));
    }
    let mut open: Vec<(usize, Span)> = Vec::new();
    let mut bound: Vec<Bound> = all.into_iter().map(|(_, one)| one).collect();
    for (index, one) in bound.iter_mut().enumerate() {
        if one.text.is_none() && one.stmt().is_some_and(|stmt| bodies.contains_key(&stmt)) {
            (one.unbraced, one.is_body) = (true, true);
        }
        open.retain(|(_, extent)| extent.contains(one.directive.span));
        one.parent = open.last().map(|(above, _)| *above);
        one.partner = one.partner.and_then(|old| moved.get(&old).copied());
        if let Target::Stmt(stmt) = one.target {
            open.push((index, one.directive.span.to(unit.stmt(stmt).span)));
        }
    }
    bound
}

/// Calls the `do concurrent` loops that stand directly in `kernels` regions independent, as Fortran does.
pub fn imply_concurrent(unit: &Unit, bound: Vec<Bound>) -> Vec<Bound> {
    if unit.concurrent.is_empty() {
        return bound;
    }
    let governed: Vec<StmtId> = bound
        .iter()
        .filter(|one| one.directive.kind == DirectiveKind::Loop)
        .filter_map(Bound::stmt)
        .collect();
    let mut implied = Vec::new();
    for one in bound.iter().filter(|one| one.directive.kind == DirectiveKind::Kernels) {
        let Some(StmtKind::Block(list)) = one.stmt().map(|stmt| &unit.stmt(stmt).kind) else { continue };
        let is_concurrent =
            |stmt: &&StmtId| unit.concurrent.iter().any(|one| one.stmt == **stmt) && !governed.contains(stmt);
        for stmt in list.iter().filter(is_concurrent) {
            let at = unit.stmt(*stmt).span.start;
            let independent = implied_clause(at, "independent", ClauseKind::Independent);
            implied.push(implied_loop(unit, *stmt, one, vec![independent]));
        }
    }
    with_implied(unit, bound, implied)
}
