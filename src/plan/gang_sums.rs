//! Reductions that are found in `auto` loops of `parallel`, of variables of which each gang has its own (3.3, 2.6.2).
//!
//! Invariant: what such a loop combines never reaches the host's variable: no clause asks for that.

use std::collections::BTreeMap;

use crate::host::ir::StmtId;
use crate::sema::{self, Class, Finding, Kind, Obstacle, SymbolId, Verdict, uses};

use super::auto::{Settling, head};

/// What becomes of a reduction that was found.
enum Sum {
    /// The variable is shared by all gangs, or belongs to an iteration of a loop around: nothing changes.
    Plain,
    /// Nothing in the construct reads the result.
    Unread,
    /// The gang reads the result.
    Gang,
    /// Only a loop in order has the result that is read.
    InOrder,
}

impl Settling<'_, '_> {
    /// The verdict on a loop in `parallel` construct `index`, with the reductions of variables that belong to a gang settled.
    pub(super) fn of_gangs(
        &mut self,
        index: usize,
        verdict: &Verdict,
        verdicts: &BTreeMap<StmtId, Verdict>,
    ) -> Verdict {
        let mut settled = verdict.clone();
        let Finding::Parallel(needs) = &mut settled.finding else { return settled };
        if !self.input.bound[index].directive.kind.is_compute() {
            return settled;
        }
        let mut of_gang = Vec::new();
        for (how, symbol) in std::mem::take(&mut needs.reductions) {
            match self.sum(index, verdict.stmt, symbol, verdicts) {
                Sum::Plain => needs.reductions.push((how, symbol)),
                Sum::Unread => needs.unread.push(symbol),
                Sum::Gang => {
                    needs.reductions.push((how, symbol));
                    of_gang.push(symbol);
                }
                Sum::InOrder => {
                    let name = &self.facts.symbols.get(symbol).name;
                    let why = format!("each thread of a loop around starts with its own copy of `{name}`");
                    let at = head(self.facts, self.facts.unit.stmt(verdict.stmt).span);
                    let obstacle = Obstacle { at, other: None, kind: Kind::Unclear(why) };
                    settled.finding = Finding::Sequential(obstacle);
                    return settled;
                }
            }
        }
        // The clauses of the construct may say so already.
        of_gang.retain(|symbol| !self.names(index, *symbol));
        if !of_gang.is_empty() {
            self.changes.own.entry(index).or_default().extend(of_gang);
        }
        settled
    }

    /// Whether a reduction that was found is of a variable that all gangs share, or that belongs to an iteration of a loop around.
    pub(super) fn is_plain_sum(
        &self,
        index: usize,
        stmt: StmtId,
        symbol: SymbolId,
        verdicts: &BTreeMap<StmtId, Verdict>,
    ) -> bool {
        let is_orphan = !self.input.bound[index].directive.kind.is_compute();
        is_orphan || matches!(self.sum(index, stmt, symbol, verdicts), Sum::Plain)
    }

    fn sum(&self, index: usize, stmt: StmtId, symbol: SymbolId, verdicts: &BTreeMap<StmtId, Verdict>) -> Sum {
        let Some(region) = self.input.bound[index].stmt() else { return Sum::Plain };
        let around = self.loops_around(region, stmt);
        let is_named = |at: &usize| self.names(*at, symbol);
        if !self.belongs_to_gang(index, region, symbol) || around.iter().map(|(_, at)| at).any(is_named) {
            return Sum::Plain;
        }
        if sema::combined(self.facts, region, symbol).is_some() {
            return Sum::Unread;
        }
        let is_divided = |(stmt, at): &&(StmtId, usize)| {
            let clauses = self.input.clauses(*at);
            let found = verdicts.get(stmt).map(|one| &one.finding);
            !(clauses.seq || clauses.auto && matches!(found, Some(Finding::Sequential(_))))
        };
        let Some((outer, at)) = around.iter().find(is_divided) else { return Sum::Gang };
        let reduces = verdicts.get(outer).is_some_and(|one| match &one.finding {
            Finding::Parallel(needs) => needs.reductions.iter().any(|(_, other)| *other == symbol),
            Finding::Sequential(_) => false,
        });
        if reduces && self.input.clauses(*at).auto {
            return Sum::Gang;
        }
        let used = uses(self.facts.unit, self.facts.symbols, *outer);
        match used.of(symbol).is_some_and(|how| how.exposed) {
            true => Sum::InOrder,
            false => Sum::Plain,
        }
    }

    /// The loops with a directive around `stmt` in the region, outermost first.
    fn loops_around(&self, region: StmtId, stmt: StmtId) -> Vec<(StmtId, usize)> {
        let unit = self.facts.unit;
        let (all, span) = (unit.stmt(region).span, unit.stmt(stmt).span);
        let is_around = |other: StmtId| {
            let around = unit.stmt(other).span;
            other != stmt && around.contains(span) && all.contains(around)
        };
        let loops = self.at_loop.iter().filter(|(other, _)| is_around(**other));
        let mut loops: Vec<(StmtId, usize)> = loops.map(|(stmt, at)| (*stmt, *at)).collect();
        loops.sort_by_key(|(stmt, _)| unit.stmt(*stmt).span.start);
        loops
    }

    /// Whether each gang has its own of a variable that is declared outside of the region.
    fn belongs_to_gang(&self, index: usize, region: StmtId, symbol: SymbolId) -> bool {
        let known = self.facts.symbols.get(symbol);
        let input = self.input;
        let mut reduced = input.clauses(index).reduction.into_iter();
        !matches!(known.class, Class::Array | Class::Record)
            && !known.fortran.pointer
            && !known.fortran.allocatable
            && !self.around.shared.contains(&symbol)
            && !input.is_inside(symbol, region)
            && !reduced.any(|(_, item)| input.symbol_of(index, item) == Some(symbol))
    }

    /// Whether `private`, `firstprivate` or `reduction` of directive `at` names the variable.
    fn names(&self, at: usize, symbol: SymbolId) -> bool {
        let clauses = self.input.clauses(at);
        let reduced = clauses.reduction.iter().map(|(_, item)| *item);
        let mut all = clauses.private.iter().chain(&clauses.firstprivate).copied().chain(reduced);
        all.any(|item| self.input.symbol_of(at, item) == Some(symbol))
    }
}
