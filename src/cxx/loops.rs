//! The variables of counted loops.
//!
//! Invariant: a variable that only its own loops name needs no declaration but in their heads.

use std::collections::BTreeMap;

use crate::host::ir::{ExprKind, StmtId, StmtKind, Unit};
use crate::sema::{SymbolId, Symbols};
use crate::source::Span;

/// The variable of a counted loop.
pub fn variable(unit: &Unit, symbols: &Symbols, id: StmtId) -> Option<SymbolId> {
    let StmtKind::For { init: Some(init), .. } = &unit.stmt(id).kind else { return None };
    let StmtKind::Expr(init) = unit.stmt(*init).kind else { return None };
    let ExprKind::Assign(None, var, _) = unit.expr(init).kind else { return None };
    symbols.named(unit, var)
}

/// A variable of loops.
#[derive(Default)]
pub struct Counter {
    /// Its loops.
    pub loops: Vec<Span>,
    /// Where it is named, in its loops and beside them.
    pub uses: Vec<Span>,
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
    for id in unit.expr_ids_in(extent) {
        if let Some(counter) = symbols.named(unit, id).and_then(|symbol| counters.get_mut(&symbol)) {
            counter.uses.push(unit.expr(id).span);
        }
    }
    counters
}
