//! In which order the loops of a nest that runs as one are counted: neighbouring threads take neighbouring elements.
//!
//! Invariant: this says in which order independent iterations run, and nothing else.

use super::reuse;
use crate::cuda::program::Input;
use crate::host::ir::{BinaryOp, ExprId, ExprKind};
use crate::sema::{self, Header, SymbolId};

/// The loops of a nest by their places in it, that which neighbouring threads differ in last: the innermost one, unless more
/// elements lie side by side for another one.
pub fn of_loops(input: &Input, headers: &[Header]) -> Vec<usize> {
    let natural: Vec<usize> = (0..headers.len()).collect();
    let (Some(last), true) = (headers.last(), headers.len() > 1) else { return natural };
    let elements = sema::elements(input.unit(), input.stmt_span(last.body));
    let all: Vec<Vec<ExprId>> =
        elements.into_iter().map(|element| sema::subscripts(input.unit(), element).1).collect();
    let near = |at: usize| all.iter().filter(|one| is_near(input, one, headers[at].var)).count();
    let innermost = headers.len() - 1;
    // Of several that are equal, the innermost.
    let Some(best) = natural.iter().copied().max_by_key(|at| (near(*at), *at)) else { return natural };
    if best == innermost {
        return natural;
    }
    natural.into_iter().filter(|at| *at != best).chain([best]).collect()
}

/// Whether an element is the same for neighbouring values of a variable, or the next one.
fn is_near(input: &Input, subscripts: &[ExprId], var: SymbolId) -> bool {
    let Some((last, others)) = subscripts.split_last() else { return false };
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
    reuse::names(input, &[expr]).contains(&var)
}
