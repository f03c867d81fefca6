//! Nests of two loops of which neighbouring iterations read the same memory, as those of a product of matrices: a gang takes
//! tiles of them, so that what it reads is read again from its cache.
//!
//! Invariant: this says in which order independent iterations run, and nothing else.

use crate::host::ir::{ExprId, ExprKind, StmtKind};
use crate::sema::{self, SymbolId};

use super::Input;
use super::levels::Shared;

/// Whether a sequential loop inside reads arrays by the outer variable alone and by the inner one alone.
pub fn is_in(input: &Input, shared: &Shared) -> bool {
    let [outer, inner] = shared.headers.as_slice() else { return false };
    let unit = input.unit();
    let within = input.stmt_span(inner.body);
    let loops = unit.stmts.iter().enumerate().filter(|(_, stmt)| within.contains(stmt.span));
    let mut sequential = loops.filter(|(_, stmt)| matches!(stmt.kind, StmtKind::For { .. }));
    sequential.any(|(at, _)| {
        let stmt = crate::host::ir::StmtId(at as u32);
        let Ok(header) = sema::header(unit, input.symbols, stmt) else { return false };
        let body = input.stmt_span(header.body);
        let reads = |wanted: SymbolId, other: SymbolId| {
            unit.exprs.iter().filter(|expr| body.contains(expr.span)).any(|expr| match expr.kind {
                ExprKind::Index(base, index) => {
                    let names = names(input, &[base, index]);
                    names.contains(&wanted) && names.contains(&header.var) && !names.contains(&other)
                }
                _ => false,
            })
        };
        reads(outer.var, inner.var) && reads(inner.var, outer.var)
    })
}

/// The variables that expressions name.
fn names(input: &Input, exprs: &[ExprId]) -> Vec<SymbolId> {
    let unit = input.unit();
    let mut found = Vec::new();
    let mut pending = exprs.to_vec();
    while let Some(expr) = pending.pop() {
        found.extend(input.symbols.named(unit, expr));
        pending.extend(unit.expr(expr).kind.children());
    }
    found
}
