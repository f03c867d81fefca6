//! Nests of two loops of which neighbouring iterations read the same memory, as those of a product of matrices and of a
//! stencil: a gang takes tiles of them, so that what it reads is read again from its cache.
//!
//! Invariant: this says in which order independent iterations run, and nothing else.

use std::collections::HashMap;

use super::nest::Shared;
use crate::cuda::program::Input;
use crate::host::ir::{BinaryOp, ExprId, ExprKind, StmtKind};
use crate::sema::{self, Header, SymbolId};

/// Whether a tight nest of two loops is such a nest.
pub fn is_in(input: &Input, shared: &Shared) -> bool {
    let [outer, inner] = shared.headers.as_slice() else { return false };
    is_product(input, outer.var, inner) || reads_rows(input, outer.var, inner)
}

/// Whether a sequential loop inside reads arrays by the outer variable alone and by the inner one alone.
fn is_product(input: &Input, outer: SymbolId, inner: &Header) -> bool {
    let unit = input.unit();
    let within = input.stmt_span(inner.body);
    let loops = unit.stmt_ids_in(within);
    let mut sequential = loops.filter(|stmt| matches!(unit.stmt(*stmt).kind, StmtKind::For { .. }));
    sequential.any(|stmt| {
        let Ok(header) = sema::header(unit, input.symbols, stmt) else { return false };
        let body = input.stmt_span(header.body);
        let reads = |wanted: SymbolId, other: SymbolId| {
            unit.exprs_in(body).any(|expr| match expr.kind {
                ExprKind::Index(base, index) => {
                    let names = names(input, &[base, index]);
                    names.contains(&wanted) && names.contains(&header.var) && !names.contains(&other)
                }
                _ => false,
            })
        };
        reads(outer, inner.var) && reads(inner.var, outer)
    })
}

/// Whether an array is used in several rows, `a[j - 1][i]` beside `a[j][i]`, as in a stencil.
fn reads_rows(input: &Input, outer: SymbolId, inner: &Header) -> bool {
    let unit = input.unit();
    let body = input.stmt_span(inner.body);
    let mut rows: HashMap<SymbolId, i128> = HashMap::new();
    unit.exprs_in(body).any(|expr| {
        let ExprKind::Index(base, index) = expr.kind else { return false };
        let Some(array) = names(input, &[base]).first().copied() else { return false };
        let Some(row) = offset(input, index, outer) else { return false };
        *rows.entry(array).or_insert(row) != row
    })
}

/// What is added to a variable where an expression names it.
fn offset(input: &Input, expr: ExprId, var: SymbolId) -> Option<i128> {
    let unit = input.unit();
    let is_var = |expr: ExprId| match &unit.expr(expr).kind {
        ExprKind::Name(name) => input.symbols.lookup(name, unit.expr(expr).span.start) == Some(var),
        _ => false,
    };
    let mut pending = vec![expr];
    while let Some(expr) = pending.pop() {
        if is_var(expr) {
            return Some(0);
        }
        let kind = &unit.expr(expr).kind;
        if let ExprKind::Binary(op @ (BinaryOp::Add | BinaryOp::Subtract), left, right) = *kind
            && is_var(left)
            && let ExprKind::Int(number) = unit.expr(right).kind
        {
            return Some(if op == BinaryOp::Add { number } else { -number });
        }
        pending.extend(kind.children());
    }
    None
}

/// The variables that expressions name.
pub(super) fn names(input: &Input, exprs: &[ExprId]) -> Vec<SymbolId> {
    let unit = input.unit();
    let mut found = Vec::new();
    let mut pending = exprs.to_vec();
    while let Some(expr) = pending.pop() {
        found.extend(input.symbols.named(unit, expr));
        pending.extend(unit.expr(expr).kind.children());
    }
    found
}
