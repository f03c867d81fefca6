//! Loop variables, which are private to their loops by themselves (OpenACC 3.3, 2.6.1), where the code around has them on the
//! device: the clause `private` says of such a loop what OpenACC does not need to say.
//!
//! Invariant: only variables get a clause that the construct would share without it.

use std::collections::BTreeSet;

use crate::acc::ast::{Clause, ClauseKind, DirectiveKind};
use crate::bind::{Bound, governed_loops, implied_clause, implied_item, implied_loop, with_implied};
use crate::host::ir::{StmtId, Unit};
use crate::sema::{self, SymbolId, Symbols};
use crate::source::{SourceFile, Span};

use super::{Input, Settings};

/// Adds `private` to loops whose variables data clauses or `declare` directives have on the device. In Fortran, a loop without a
/// directive gets one for it.
pub fn with_predetermined(
    file: &SourceFile,
    unit: &Unit,
    symbols: &Symbols,
    mut bound: Vec<Bound>,
    settings: &Settings,
) -> Vec<Bound> {
    let (own, implied) = {
        let input = Input::new(file, unit, symbols, &bound, settings);
        let governed = governed_loops(&bound);
        let computes = (0..bound.len()).filter(|at| bound[*at].directive.kind.is_compute());
        let computes = computes.filter(|_| unit.is_fortran());
        let implied: Vec<Bound> = computes.flat_map(|index| input.plain_loops(index, &governed)).collect();
        let own = (0..bound.len()).map(|at| input.stated_counters(at)).collect::<Vec<_>>();
        (own, implied)
    };
    for (one, counters) in bound.iter_mut().zip(own).filter(|(_, counters)| !counters.is_empty()) {
        let clause = private(one.directive.span.start, counters);
        one.directive.clauses.push(clause);
    }
    with_implied(unit, bound, implied)
}

fn private(at: u32, counters: impl IntoIterator<Item = String>) -> Clause {
    let items = counters.into_iter().map(|counter| implied_item(at, counter)).collect();
    implied_clause(at, "private", ClauseKind::Private(items))
}

impl Input<'_> {
    /// The variables of the loops of directive `at` that are declared before them and on the device by what stands around.
    fn stated_counters(&self, at: usize) -> Vec<String> {
        let one = &self.bound[at];
        let compute = if one.directive.kind.is_compute() { Some(at) } else { self.compute_above(at) };
        let stmt = one.stmt().filter(|_| one.directive.kind.is_loop());
        let Some((stmt, compute)) = stmt.zip(compute) else { return Vec::new() };
        let clauses = self.clauses(at);
        let count = clauses.collapse.and_then(|(count, _)| count.text.trim().parse().ok()).unwrap_or(1);
        let count = clauses.tile.map_or(count, <[_]>::len);
        let loops = sema::nested_loops(self.unit, stmt).take(count);
        let headers = loops.filter_map(|stmt| sema::header(self.unit, self.symbols, stmt).ok());
        let counters: Vec<SymbolId> =
            headers.filter(|header| !header.declared).map(|header| header.var).collect();
        if counters.is_empty() {
            return Vec::new();
        }
        let (stated, listed) = (self.stated(compute), self.own_of(at));
        let is_shared = |counter: &SymbolId| {
            stated.contains(&self.symbols.get(*counter).name) && !listed.contains(counter)
        };
        let shared = counters.into_iter().filter(is_shared);
        shared.map(|counter| self.symbols.get(counter).name.clone()).collect()
    }

    /// Directives for the loops of Fortran in the compute construct `index` that have none, and whose variables are on the device
    /// by what stands around and count nothing but such loops.
    fn plain_loops(&self, index: usize, governed: &BTreeSet<StmtId>) -> Vec<Bound> {
        let one = &self.bound[index];
        let Some(stmt) = one.stmt() else { return Vec::new() };
        let stated = self.stated(index);
        let is_plain = |stmt: &StmtId| {
            let is_concurrent = self.unit.concurrent.iter().any(|one| one.stmt == *stmt);
            !governed.contains(stmt) && !is_concurrent && self.begins_line(*stmt)
        };
        let in_order = !matches!(one.directive.kind, DirectiveKind::Kernels | DirectiveKind::KernelsLoop);
        let loops = self.unit.stmt_ids_in(self.unit.stmt(stmt).span).filter(is_plain);
        let counters = loops.filter_map(|inner| {
            let counter = sema::header(self.unit, self.symbols, inner).ok()?.var;
            let is_own = || !self.is_named_beside(stmt, counter) && self.is_own_counter(stmt, counter);
            (stated.contains(&self.symbols.get(counter).name) && is_own()).then_some((inner, counter))
        });
        let directives = counters.map(|(inner, counter)| {
            let at = self.unit.stmt(inner).span.start;
            let mut clauses = vec![private(at, [self.symbols.get(counter).name.clone()])];
            clauses.extend(in_order.then(|| implied_clause(at, "seq", ClauseKind::Seq)));
            implied_loop(self.unit, inner, one, clauses)
        });
        directives.collect()
    }

    /// Whether code of `region` names a variable outside of the loops that it counts.
    fn is_named_beside(&self, region: StmtId, counter: SymbolId) -> bool {
        let (unit, symbols) = (self.unit, self.symbols);
        let is_its = |stmt: &StmtId| sema::header(unit, symbols, *stmt).is_ok_and(|one| one.var == counter);
        let loops = unit.stmt_ids_in(unit.stmt(region).span).filter(is_its);
        let loops: Vec<Span> = loops.map(|stmt| unit.stmt(stmt).span).collect();
        sema::is_named_outside(unit, symbols, (region, counter), &loops)
    }
}
