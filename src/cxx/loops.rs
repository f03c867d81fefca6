//! The variables of counted loops.
//!
//! Invariant: a variable that only its own loops name needs no declaration but in their heads.

use std::collections::BTreeMap;

use crate::acc::ast::ClauseKind;
use crate::bind::Bound;
use crate::host::ir::{Concurrent, ExprKind, StmtId, StmtKind, Unit};
use crate::plan;
use crate::sema::{SymbolId, Symbols, Texts};
use crate::source::Span;

use super::ground::Ground;
use super::types::plain_code;

/// The variable of a counted loop.
pub fn variable(unit: &Unit, symbols: &Symbols, id: StmtId) -> Option<SymbolId> {
    let StmtKind::For { init: Some(init), .. } = &unit.stmt(id).kind else { return None };
    let StmtKind::Expr(init) = unit.stmt(*init).kind else { return None };
    let ExprKind::Assign(None, var, _) = unit.expr(init).kind else { return None };
    symbols.named(unit, var)
}

/// The loops of a directive whose bodies are nothing but the next loop that becomes one with them.
pub fn leads(ground: &Ground, one: &Bound) -> Vec<StmtId> {
    let count = plan::effective(&one.directive, ground.device_type)
        .0
        .into_iter()
        .filter_map(|at| match &one.directive.clauses.get(at)?.kind {
            ClauseKind::Collapse { count, .. } => count.text.trim().parse().ok(),
            ClauseKind::Tile(sizes) => Some(sizes.len()),
            _ => None,
        })
        .max()
        .unwrap_or(1usize);
    let unit = ground.files.own.unit;
    std::iter::successors(one.stmt(), |stmt| only_loop(unit, *stmt)).take(count.saturating_sub(1)).collect()
}

/// The loop that is all there is in a loop.
pub fn only_loop(unit: &Unit, stmt: StmtId) -> Option<StmtId> {
    let StmtKind::For { body, .. } = unit.stmt(stmt).kind else { return None };
    let is_loop = |stmt: &StmtId| matches!(unit.stmt(*stmt).kind, StmtKind::For { .. });
    match &unit.stmt(body).kind {
        StmtKind::Block(list) => match list.as_slice() {
            [only] => Some(*only).filter(is_loop),
            _ => None,
        },
        _ => Some(body).filter(is_loop),
    }
}

/// The `do concurrent` that stands for itself.
pub fn concurrent(unit: &Unit, id: StmtId) -> Option<&Concurrent> {
    unit.concurrent.iter().find(|one| one.stmt == id && one.nested.is_none())
}

/// What the head of the `do concurrent` around `at` says of the type of an index, without blanks; nothing if it leaves that to
/// the code around.
pub fn stated_type(seen: Texts, name: &str, at: Span) -> Option<String> {
    let unit = seen.unit;
    let is_it = |one: &&Concurrent| {
        unit.stmt(one.stmt).span.contains(at) && one.indices.iter().any(|index| index.name == name)
    };
    let around = unit.concurrent.iter().filter(is_it);
    let one = around.min_by_key(|one| unit.stmt(one.stmt).span.len())?;
    let first = one.indices.first()?.span.start;
    let before = plain_code(seen, Span { start: one.header.start, end: first });
    let (kind, _) = before.split_once("::")?;
    kind.split_once('(').map(|(_, kind)| kind.to_owned())
}

/// A variable of loops.
#[derive(Default)]
pub struct Counter {
    /// Its loops.
    pub loops: Vec<Span>,
    /// Where it is named, in its loops and beside them.
    pub uses: Vec<Span>,
    /// One of its loops is a `do concurrent`, whose index is none of the code around.
    pub is_index: bool,
}

impl Counter {
    /// Whether only its loops name it.
    pub fn is_apart(&self) -> bool {
        self.uses.iter().all(|at| self.loops.iter().any(|extent| extent.contains(*at)))
    }
}

/// The variables of the loops in `extent`.
pub fn counters(unit: &Unit, symbols: &Symbols, extent: Span) -> BTreeMap<SymbolId, Counter> {
    let mut counters: BTreeMap<SymbolId, Counter> = BTreeMap::new();
    for id in unit.stmt_ids_in(extent) {
        if let Some(symbol) = variable(unit, symbols, id) {
            counters.entry(symbol).or_default().loops.push(unit.stmt(id).span);
        }
    }
    for one in unit.concurrent.iter().filter(|one| one.nested.is_none()) {
        let whole = unit.stmt(one.stmt).span;
        for index in one.indices.iter().filter(|_| extent.contains(whole)) {
            if let Some(symbol) = symbols.lookup(&index.name, index.span.start) {
                let counter = counters.entry(symbol).or_default();
                counter.loops.push(whole);
                counter.is_index = true;
            }
        }
    }
    for id in unit.expr_ids_in(extent) {
        if let Some(counter) = symbols.named(unit, id).and_then(|symbol| counters.get_mut(&symbol)) {
            counter.uses.push(unit.expr(id).span);
        }
    }
    counters
}
