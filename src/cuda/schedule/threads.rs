//! The scalars of which each thread of a launch has its own, as the plan tells them for the loops that are divided here.
//!
//! Invariant: what a data clause, a reduction or an `atomic` names is not among them.

use std::collections::{BTreeSet, HashSet};

use super::nest::Nest;
use crate::acc::ast::{ClauseKind, DirectiveKind, ListItem};
use crate::bind::descendants;
use crate::cuda::program::Input;
use crate::cuda::program::privates::directives;
use crate::diag::{self, Diag};
use crate::host::ir::{ExprId, ExprKind, StmtId};
use crate::plan::{self, Own};
use crate::sema::{self, Class, SymbolId};
use crate::source::Span;

/// The scalars that the divided loops of a launch assign and that no clause shares.
pub fn own(input: &Input, index: usize, nest: &Nest, in_kernels: bool) -> Vec<Own> {
    let (unit, symbols) = (input.unit(), input.symbols);
    let shared = shared(input, index, nest);
    let controlled = nest
        .values()
        .flat_map(|one| one.division.stmts.iter().copied().zip(one.headers.iter().map(|header| header.var)))
        .collect();
    let mut found: Vec<Own> = Vec::new();
    // Each gang has what it needs of its variables where all of its threads run the loop.
    let is_divided = |one: &super::nest::Shared| one.levels().threads() || in_kernels;
    for one in nest.values().filter(|one| is_divided(one)) {
        let Some(body) = one.headers.last().map(|header| header.body) else { continue };
        let used = sema::uses_beside(unit, symbols, body, &controlled);
        let live = match in_kernels {
            true => live_after(input, index, one.stmt(), &used),
            false => BTreeSet::new(),
        };
        let is_shared = |symbol: SymbolId, _: &sema::Symbol, _: &sema::Use| shared.contains(&symbol);
        let code = (unit, symbols);
        let own = plan::own_scalars(code, (one.stmt(), &one.headers), &used, &live, &is_shared);
        for one in own {
            match found.iter_mut().find(|known| known.symbol == one.symbol) {
                Some(known) => {
                    known.is_lost |= one.is_lost;
                    known.is_carried |= one.is_carried;
                }
                None => found.push(one),
            }
        }
    }
    found
}

/// What there is to say of them.
pub fn said(input: &Input, index: usize, own: &[Own]) -> Vec<Diag> {
    let mut said = Vec::new();
    for one in own {
        let name = &input.symbols.get(one.symbol).name;
        let at = one.at.unwrap_or(input.bound[index].directive.span);
        said.extend(one.is_carried.then(|| diag::read_before_write(at, name)));
        said.extend(one.is_lost.then(|| diag::last_value_lost(at, name)));
    }
    said
}

/// The variables that clauses on the construct, in it or around it name, and those that `atomic` statements update.
fn shared(input: &Input, index: usize, nest: &Nest) -> HashSet<SymbolId> {
    let said = input.plan.construct(index);
    let mut shared: HashSet<SymbolId> =
        said.data.iter().chain(said.around()).filter_map(|item| item.symbol).collect();
    let mut add = |at: usize, list: &[ListItem]| {
        let place = input.bound[at].directive.span.start;
        shared.extend(list.iter().filter_map(|item| input.symbols.lookup(item.variable(), place)));
    };
    for at in descendants(input.bound, index).chain([index]) {
        for kind in input.clauses(at) {
            if let ClauseKind::Private(list)
            | ClauseKind::Firstprivate(list)
            | ClauseKind::Reduction(_, list) = kind
            {
                add(at, list);
            }
        }
    }
    for one in nest.values() {
        let place = one.span(input).start;
        let items = one.division.reductions.iter().map(|(_, item)| item).chain(&one.division.private);
        shared.extend(items.filter_map(|item| input.symbols.lookup(item.variable(), place)));
    }
    shared.extend(input.symbols.on_device());
    shared.extend(atomic_scalars(input, index));
    shared
}

/// The scalars that `atomic` statements of a construct are about.
pub fn atomic_scalars(input: &Input, index: usize) -> BTreeSet<SymbolId> {
    updated(input, descendants(input.bound, index))
}

/// Those that `atomic` statements of a region update.
pub fn atomic_scalars_in(input: &Input, region: Span) -> BTreeSet<SymbolId> {
    updated(input, directives(input, region))
}

/// The scalars that those of the directives update that are `atomic`.
fn updated(input: &Input, directives: impl Iterator<Item = usize>) -> BTreeSet<SymbolId> {
    let is_atomic = |at: &usize| input.bound[*at].directive.kind == DirectiveKind::Atomic;
    let unit = input.unit();
    let mut found = BTreeSet::new();
    for at in directives.filter(is_atomic) {
        let Some(stmt) = input.bound[at].stmt() else { continue };
        let is_read = input.clauses(at).any(|kind| *kind == ClauseKind::AtomicRead);
        for expr in unit.exprs_in(input.stmt_span(stmt)) {
            let place = place(input, &expr.kind, is_read);
            let symbol = place.and_then(|place| input.symbols.variable(unit, place));
            found.extend(symbol.filter(|symbol| input.symbols.get(*symbol).class == Class::Scalar));
        }
    }
    found
}

/// The place that an expression in an `atomic` statement reads or updates: what only gets the value is not one.
fn place(input: &Input, kind: &ExprKind, is_read: bool) -> Option<ExprId> {
    let unit = input.unit();
    match kind {
        ExprKind::Assign(None, _, right) if is_read => Some(*right),
        ExprKind::Assign(None, left, right) => {
            let gets = matches!(
                unit.expr(*right).kind,
                ExprKind::Name(_) | ExprKind::Index(..) | ExprKind::Step { .. } | ExprKind::Assign(..)
            );
            (!gets && input.symbols.variable(unit, *right).is_none()).then_some(*left)
        }
        ExprKind::Assign(Some(_), left, _) => Some(*left),
        ExprKind::Step { operand, .. } => Some(*operand),
        _ => None,
    }
}

/// Those of the variables that `stmt` changes whose value may be read after it.
fn live_after(input: &Input, index: usize, stmt: StmtId, used: &sema::Uses) -> BTreeSet<SymbolId> {
    let changed = used.iter().filter(|(_, how)| how.written || how.address_taken).map(|(symbol, _)| symbol);
    plan::live_after(input.code(), index, stmt, &changed.collect())
}
