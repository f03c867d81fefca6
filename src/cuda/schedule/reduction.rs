//! Reduction operators as the run-time library names them (OpenACC 3.3, 2.5.15).
//!
//! Invariant: identity and operator belong together.

use std::collections::HashSet;

use crate::acc::ast::{ClauseKind, ListItem, ReductionOp};
use crate::host::ir::{ExprKind, StmtId};
use crate::sema::{self, SymbolId};
use crate::source::Span;

use super::levels::Nest;
use crate::cuda::program::Input;

/// The class of the run-time library for an operator.
pub fn operator(op: ReductionOp) -> &'static str {
    match op {
        ReductionOp::Add => "acc2omp::Plus",
        ReductionOp::Multiply => "acc2omp::Times",
        ReductionOp::Max => "acc2omp::Max",
        ReductionOp::Min => "acc2omp::Min",
        ReductionOp::BitAnd => "acc2omp::BitAnd",
        ReductionOp::BitOr => "acc2omp::BitOr",
        ReductionOp::BitXor => "acc2omp::BitXor",
        ReductionOp::And | ReductionOp::Eqv => "acc2omp::And",
        ReductionOp::Or | ReductionOp::Neqv => "acc2omp::Or",
    }
}

/// The value that a private copy begins with.
pub fn identity(op: ReductionOp, base: &str) -> String {
    match op {
        ReductionOp::Add | ReductionOp::BitOr | ReductionOp::BitXor | ReductionOp::Or => "0".to_owned(),
        ReductionOp::Multiply | ReductionOp::And => "1".to_owned(),
        _ => format!("{}::identity<{base}>()", operator(op)),
    }
}

/// Two values combined.
pub fn combined(op: ReductionOp, left: &str, right: &str) -> String {
    let sign = match op {
        ReductionOp::Add => "+",
        ReductionOp::Multiply => "*",
        ReductionOp::BitAnd => "&",
        ReductionOp::BitOr => "|",
        ReductionOp::BitXor => "^",
        ReductionOp::And => "&&",
        ReductionOp::Or => "||",
        _ => return format!("{}()({left}, {right})", operator(op)),
    };
    format!("{left} {sign} {right}")
}

/// A reduction is named on every loop between where it is combined and where it is computed (2.9.11); a reduction of the
/// construct, on all of its loops.
pub fn reductions_through<'a>(input: &Input<'a>, index: usize, nest: &mut Nest<'a>) {
    let symbol_of = |item: &ListItem, at: u32| input.symbols.lookup(&item.base.text, at);
    let place = input.bound[index].directive.span.start;
    let mut wanted: Vec<(StmtId, ReductionOp, &ListItem)> = Vec::new();
    let all: Vec<(Span, StmtId)> = nest.keys().map(|stmt| (input.stmt_span(*stmt), *stmt)).collect();
    let mut known: Vec<(Option<Span>, ReductionOp, &ListItem)> = Vec::new();
    for kind in input.clauses(index) {
        if let ClauseKind::Reduction(op, list) = kind {
            known.extend(list.iter().map(|item| (None, *op, item)));
        }
    }
    for (stmt, shared) in nest.iter() {
        known.extend(shared.reductions.iter().map(|(op, item)| (Some(input.stmt_span(*stmt)), *op, *item)));
    }
    for (from, op, item) in known {
        let at = from.map_or(place, |span| span.start);
        let Some(symbol) = symbol_of(item, at) else { continue };
        let scope = input.symbols.get(symbol).scope;
        for (span, stmt) in &all {
            let uses = sema::uses(input.unit(), input.symbols, *stmt);
            let used = uses.of(symbol);
            let inside = from.is_none_or(|from| from != *span && from.contains(*span));
            let is_updated = used.is_some_and(|used| used.written || used.part_written);
            // Outside, only what lives there and is carried from one iteration to the next.
            let body = nest[stmt].headers.last().map(|header| header.body);
            let outside = from.is_some_and(|from| from != *span && span.contains(from))
                && !span.contains(scope)
                && body.is_some_and(|body| {
                    sema::uses(input.unit(), input.symbols, body).of(symbol).is_some_and(|used| used.exposed)
                });
            let is_private =
                nest[stmt].private.iter().any(|item| symbol_of(item, span.start) == Some(symbol));
            let is_known =
                nest[stmt].reductions.iter().any(|(_, item)| symbol_of(item, span.start) == Some(symbol));
            let seen = wanted.iter().any(|(other, _, one)| other == stmt && one.base.text == item.base.text);
            if (inside && is_updated || outside) && !is_known && !is_private && !seen {
                wanted.push((*stmt, op, item));
            }
        }
    }
    for (stmt, op, item) in wanted {
        if let Some(shared) = nest.get_mut(&stmt) {
            shared.reductions.push((op, item));
        }
    }
}

/// Whether a region uses a variable outside the loops that reduce it.
pub fn used_beside(input: &Input, nest: &Nest, stmt: StmtId, symbol: SymbolId) -> bool {
    let unit = input.unit();
    let inside = input.stmt_span(stmt);
    let reducing: Vec<Span> = nest
        .values()
        .filter(|shared| shared.reduces(input, symbol).next().is_some())
        .map(|shared| shared.span(input))
        .collect();
    // One result cannot be combined in two ways.
    let operators: HashSet<ReductionOp> =
        nest.values().flat_map(|shared| shared.reduces(input, symbol)).collect();
    if operators.len() > 1 {
        return true;
    }
    unit.exprs_in(inside).any(|expr| match &expr.kind {
        ExprKind::Name(name) => {
            input.symbols.lookup(name, expr.span.start) == Some(symbol)
                && !reducing.iter().any(|span| span.contains(expr.span))
        }
        _ => false,
    })
}
