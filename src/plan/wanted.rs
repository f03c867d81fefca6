//! Which scalars that a region changes are wanted after it, and which only count the iterations of its loops.
//!
//! Invariant: what is not known counts as wanted.

use crate::host::ir::{StmtId, Unit};
use crate::sema::{self, SymbolId, Symbols};

use super::{Code, Names};
use crate::bind::Bound;

/// Those of the variables `changed` whose values may be read after `stmt`, in the function of directive `index`.
pub fn live_after(code: Code, index: usize, stmt: StmtId, changed: &Names) -> Names {
    let Code { unit, symbols, bound, .. } = code;
    let Some(function) = bound[index].function.filter(|_| !changed.is_empty()) else {
        return changed.clone();
    };
    let body = unit.function(function).body;
    let escaping = sema::escaping(unit, symbols, body);
    sema::live_after(unit, symbols, body, stmt, changed, &escaping)
}

/// Whether `symbol` is the variable of a `for` loop in `stmt` (and of nothing else there).
pub(super) fn is_loop_variable(unit: &Unit, symbols: &Symbols, stmt: StmtId, symbol: SymbolId) -> bool {
    let beside = sema::uses_beside_headers(unit, symbols, stmt);
    beside.of(symbol).is_none_or(|used| !(used.written || used.address_taken))
}

/// Whether `symbol` is a loop variable in the region `stmt` that nothing outside of its loops gets a value from: in C, that
/// of a loop without a directive is a scalar like others (2.6.1).
pub fn is_own_counter(
    (unit, symbols, bound): (&Unit, &Symbols, &[Bound]),
    stmt: StmtId,
    symbol: SymbolId,
) -> bool {
    if !is_loop_variable(unit, symbols, stmt, symbol) {
        return false;
    }
    let mut pending = if unit.is_fortran() { Vec::new() } else { vec![stmt] };
    while let Some(at) = pending.pop() {
        let header = sema::header(unit, symbols, at);
        let is_governed = || bound.iter().any(|one| one.stmt() == Some(at) && one.directive.kind.is_loop());
        if header.is_ok_and(|header| header.var == symbol && !header.declared) && !is_governed() {
            return false;
        }
        pending.extend(sema::children(unit, at));
    }
    true
}
