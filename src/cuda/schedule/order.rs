//! In which order the loops of a nest that runs as one are counted: neighbouring threads take neighbouring elements.
//!
//! Invariant: this says in which order independent iterations run, and nothing else.

use crate::cuda::program::Input;
use crate::host::ir::{BinaryOp, ExprId, ExprKind};
use crate::sema::{Header, SymbolId};

/// The loops of a nest by their places in it, that which neighbouring threads differ in last: the innermost one, unless more
/// elements lie side by side for another one.
pub fn of_loops(input: &Input, headers: &[Header]) -> Vec<usize> {
    let natural: Vec<usize> = (0..headers.len()).collect();
    let (Some(last), true) = (headers.last(), headers.len() > 1) else { return natural };
    let accesses = accesses(input, last);
    let near = |at: usize| accesses.iter().filter(|one| is_near(input, one, headers[at].var)).count();
    let innermost = headers.len() - 1;
    // Of several that are equal, the innermost.
    let Some(best) = natural.iter().copied().max_by_key(|at| (near(*at), *at)) else { return natural };
    if best == innermost {
        return natural;
    }
    natural.into_iter().filter(|at| *at != best).chain([best]).collect()
}

/// The subscripts of each element that the body of a loop names, that of the last dimension first.
fn accesses(input: &Input, header: &Header) -> Vec<Vec<ExprId>> {
    let unit = input.unit();
    let all: Vec<ExprId> = unit.expr_ids_in(input.stmt_span(header.body)).collect();
    let bases: Vec<ExprId> = all
        .iter()
        .filter_map(|expr| match unit.expr(*expr).kind {
            ExprKind::Index(base, _) => Some(base),
            _ => None,
        })
        .collect();
    let whole = all.into_iter().filter(|expr| !bases.contains(expr));
    let subscripts = |expr: ExprId| {
        let mut found = Vec::new();
        let mut at = expr;
        while let ExprKind::Index(base, index) = unit.expr(at).kind {
            found.push(index);
            at = base;
        }
        found
    };
    whole.map(subscripts).filter(|found| !found.is_empty()).collect()
}

/// Whether an element is the same for neighbouring values of a variable, or the next one.
fn is_near(input: &Input, subscripts: &[ExprId], var: SymbolId) -> bool {
    let Some((last, others)) = subscripts.split_first() else { return false };
    others.iter().all(|expr| !names(input, *expr, var)) && is_added(input, *last, var)
}

/// Whether an expression changes by one with a variable, or not at all.
fn is_added(input: &Input, expr: ExprId, var: SymbolId) -> bool {
    let unit = input.unit();
    match unit.expr(expr).kind {
        ExprKind::Name(_) => true,
        ExprKind::Binary(BinaryOp::Add, left, right) => {
            is_added(input, left, var)
                && is_added(input, right, var)
                && !(names(input, left, var) && names(input, right, var))
        }
        ExprKind::Binary(BinaryOp::Subtract, left, right) => {
            is_added(input, left, var) && !names(input, right, var)
        }
        _ => !names(input, expr, var),
    }
}

fn names(input: &Input, expr: ExprId, var: SymbolId) -> bool {
    let unit = input.unit();
    let mut pending = vec![expr];
    while let Some(expr) = pending.pop() {
        if input.symbols.named(unit, expr) == Some(var) {
            return true;
        }
        pending.extend(unit.expr(expr).kind.children());
    }
    false
}
