//! `auto`: the loops that OpenACC leaves to the compiler, those of `kernels` among them, become `independent` with all that
//! they need, or `seq` (3.3, 2.9.6 and 2.9.7).
//!
//! Invariant: after this step each loop is `independent` or `seq`; a loop without a directive gets one only where it is proven parallel.

use std::collections::{BTreeMap, BTreeSet};

use crate::acc::ast::{Clause, ClauseKind, DataClause, DirectiveKind, ListItem};
use crate::bind::{
    Bound, descendants, governed_loops, implied_clause, implied_item, implied_loop, with_implied,
};
use crate::diag::{self, Diag};
use crate::host::ir::{StmtId, StmtKind, Unit};
use crate::sema::{
    self, Around, Facts, Finding, Judged, Needs, Obstacle, Said, SymbolId, Verdict, children, judge,
    judge_and_reach, reached,
};
use crate::source::Span;

use super::feedback::{help, reason};
use super::induction::Closed;
use super::inner::Nest;
use super::{Input, Region, Routines, Settings, launch};

/// The directives, and what was found out about the loops.
pub struct Settled {
    /// All directives, those of loops that were found parallel among them.
    pub bound: Vec<Bound>,
    /// What was found out, by place.
    pub verdicts: Vec<Verdict>,
    /// What there is to say.
    pub diags: Vec<Diag>,
    /// Loops in order that count with variables which can be computed from the loop variables.
    pub closed: Vec<Closed>,
    /// What the `kernels` constructs reach by other names.
    pub reached: Reached,
}

/// The variables without parts that a `kernels` construct names, and reads or changes by another name, too: by the start of
/// its directive.
pub type Reached = BTreeMap<u32, BTreeSet<SymbolId>>;

/// Whether some loop is left to the compiler: those of `kernels`, those with `auto`, and, unless the program is taken as it is
/// written, those without a directive inside of others.
pub fn leaves_open(unit: &Unit, bound: &[Bound], settings: &Settings) -> bool {
    let governed = governed_loops(bound);
    bound.iter().any(|one| {
        launch::region(one.directive.kind) == Region::Kernels && one.directive.kind.is_compute()
            || one.directive.clauses.iter().any(|clause| clause.kind == ClauseKind::Auto)
    }) || !settings.as_written
        && governed.iter().any(|stmt| has_plain_loop(unit, *stmt, |inner| governed.contains(&inner)))
}

/// Settles which loops are parallel.
pub fn settle(facts: &Facts, bound: Vec<Bound>, settings: &Settings) -> Settled {
    let (verdicts, diags, changes, closed, reached) = {
        let input = Input::new(facts.file, facts.unit, facts.symbols, &bound, settings);
        let mut settling = Settling {
            input: &input,
            facts,
            routines: settings.routines.clone().and_own(facts.unit, &bound, &settings.device_type),
            at_loop: input.loop_directives(),
            verdicts: BTreeMap::new(),
            changes: Changes::default(),
            diags: Vec::new(),
            around: Around::default(),
            closed: Vec::new(),
            reached: Reached::new(),
        };
        for index in 0..bound.len() {
            settling.construct(index);
        }
        (settling.verdicts, settling.diags, settling.changes, settling.closed, settling.reached)
    };
    let verdicts = verdicts.into_values().collect();
    Settled { bound: changes.apply(facts, bound), verdicts, diags, closed, reached }
}

/// What is to be changed of the directives.
#[derive(Default)]
pub(super) struct Changes {
    /// Loop directives that say more now, by index: the clauses that take the place of `auto`.
    pub(super) settled: BTreeMap<usize, Vec<Clause>>,
    /// Variables of which each gang of a compute construct has its own, by the construct's index.
    pub(super) own: BTreeMap<usize, BTreeSet<SymbolId>>,
    /// Scalars that `kernels` constructs only read, and that a queue may still have to bring to the host, or that may be on the
    /// device already, by the construct's index; and whether each may have other names.
    brought: BTreeMap<usize, BTreeSet<(SymbolId, bool)>>,
    /// New directives.
    pub(super) implied: Vec<Bound>,
}

pub(super) struct Settling<'m, 'a> {
    pub(super) input: &'m Input<'a>,
    pub(super) facts: &'m Facts<'a>,
    /// The levels of routines.
    pub(super) routines: Routines,
    /// The directives that govern loops, by the loop.
    pub(super) at_loop: BTreeMap<StmtId, usize>,
    verdicts: BTreeMap<Span, Verdict>,
    pub(super) changes: Changes,
    pub(super) diags: Vec<Diag>,
    /// What stands around the loops of the construct that is looked at.
    pub(super) around: Around,
    pub(super) closed: Vec<Closed>,
    reached: Reached,
}

impl Input<'_> {
    /// The directives that govern loops, by the loop.
    fn loop_directives(&self) -> BTreeMap<StmtId, usize> {
        let is_loop = |kind| {
            matches!(
                kind,
                DirectiveKind::Loop
                    | DirectiveKind::ParallelLoop
                    | DirectiveKind::SerialLoop
                    | DirectiveKind::KernelsLoop
            )
        };
        let loops = self.bound.iter().enumerate().filter(|(_, one)| is_loop(one.directive.kind));
        loops.filter_map(|(index, one)| Some((one.stmt()?, index))).collect()
    }
}

impl Settling<'_, '_> {
    /// A compute construct, or a loop directive outside of all.
    fn construct(&mut self, index: usize) {
        let one = &self.input.bound[index];
        let Some(stmt) = one.stmt() else { return };
        let is_orphan =
            one.directive.kind == DirectiveKind::Loop && self.input.compute_above(index).is_none();
        if !one.directive.kind.is_compute() && !is_orphan {
            return;
        }
        let region = launch::region(one.directive.kind);
        let in_kernels = region == Region::Kernels && !is_orphan;
        let is_left = in_kernels || self.has_auto(index) || self.has_plain_loops(index, stmt);
        if region == Region::Serial || !is_left {
            return;
        }
        if in_kernels {
            let mut brought = self.input.pending_scalars(index, stmt);
            brought.extend(self.input.standing_scalars(index, stmt));
            let brought: BTreeSet<(SymbolId, bool)> = brought
                .into_iter()
                .map(|symbol| (symbol, self.input.may_change_by_name(index, symbol)))
                .collect();
            self.changes.brought.extend((!brought.is_empty()).then_some((index, brought)));
        }
        self.around = self.around(index);
        let at = one.directive.span.start;
        let nests = outermost(self.facts.unit, stmt);
        let is_one_loop = in_kernels && nests == [stmt] && self.around.atomic.is_empty();
        if in_kernels && !is_one_loop {
            self.reached.insert(at, reached(self.facts, stmt));
        }
        for nest in nests {
            let Judged { verdicts, layout } = if is_one_loop {
                let (judged, reached) = judge_and_reach(self.facts, &self.around, nest);
                self.reached.insert(at, reached);
                judged
            } else {
                judge(self.facts, &self.around, nest)
            };
            let verdicts: BTreeMap<StmtId, Verdict> =
                verdicts.into_iter().map(|verdict| (verdict.stmt, verdict)).collect();
            self.nest(Nest { index, in_kernels, verdicts: &verdicts, layout: &layout }, nest);
        }
    }

    /// Whether loops without a directive stand in loops of the construct that have one.
    fn has_plain_loops(&self, index: usize, stmt: StmtId) -> bool {
        let has_one = |at: usize| {
            let is_governed = |stmt| self.at_loop.contains_key(&stmt);
            let outer = self.input.bound[at].stmt();
            outer.is_some_and(|outer| has_plain_loop(self.facts.unit, outer, is_governed))
        };
        let own = self.at_loop.get(&stmt).copied().filter(|at| *at == index);
        !self.input.settings.as_written
            && own.into_iter().chain(self.input.all_loops_below(index)).any(has_one)
    }

    /// Whether the construct, or a loop in it, is `auto`.
    fn has_auto(&self, index: usize) -> bool {
        let all = self.input.with_loops_below(index);
        all.into_iter().any(|at| self.input.clauses(at).auto)
    }

    /// What stands around the loops of a construct.
    fn around(&self, index: usize) -> Around {
        let input = self.input;
        let one = &input.bound[index];
        let body = one.function.map(|function| input.unit.function(function).body);
        let here = one.directive.span.start;
        let stated = input.stated(index);
        let named = stated.names().filter_map(|name| input.symbols.lookup(name, here));
        let used = one.stmt().map(|stmt| sema::uses(input.unit, input.symbols, stmt));
        let used = used.iter().flat_map(|used| used.iter()).map(|(symbol, _)| symbol);
        let shared =
            named.chain(used.filter(|symbol| stated.contains(&input.symbols.get(*symbol).name))).collect();
        let inside = || descendants(input.bound, index).map(|at| (at, &input.bound[at]));
        let atomic = inside().filter(|(_, one)| one.directive.kind == DirectiveKind::Atomic);
        let loops = std::iter::once((index, one)).chain(inside());
        let loops = loops.filter_map(|(at, one)| Some((one.stmt()?, at)));
        let said = loops.filter(|(stmt, at)| self.at_loop.get(stmt) == Some(at));
        let said = said.map(|(stmt, at)| (stmt, self.said(at)));
        Around {
            body,
            escaping: body.map(|body| sema::escaping(input.unit, input.symbols, body)).unwrap_or_default(),
            shared,
            atomic: sema::commuting(self.facts, &atomic.filter_map(|(_, one)| one.stmt()).collect()),
            said: said.collect(),
        }
    }

    fn said(&self, index: usize) -> Said {
        let clauses = self.input.clauses(index);
        let own: BTreeSet<SymbolId> = self.input.own_of(index).into_iter().collect();
        let concurrent =
            |stmt| self.input.unit.concurrent.iter().any(|one| one.stmt == stmt && one.nested.is_some());
        let is_concurrent = self.input.bound[index].stmt().is_some_and(concurrent);
        // In `parallel`, a loop is independent unless it says otherwise.
        let kind = self.input.bound[index].directive.kind;
        let above = self.input.compute_above(index).map(|above| self.input.bound[above].directive.kind);
        let in_kernels = launch::region(above.unwrap_or(kind)) == Region::Kernels
            && (above.is_some() || kind == DirectiveKind::KernelsLoop);
        let is_default = !in_kernels && !clauses.auto && !clauses.seq;
        Said { is_independent: clauses.independent || is_concurrent || is_default, own }
    }

    /// Settles the loop `stmt` and those in it.
    pub(super) fn nest(&mut self, nest: Nest, stmt: StmtId) {
        let Nest { index, in_kernels, verdicts, .. } = nest;
        let Some(verdict) = verdicts.get(&stmt) else { return };
        let directive = self.at_loop.get(&stmt).copied();
        let is_seq = directive.is_some_and(|at| self.input.clauses(at).seq);
        let is_open = directive.map_or(in_kernels, |at| {
            let clauses = self.input.clauses(at);
            !clauses.seq && !clauses.independent && (in_kernels || clauses.auto)
        });
        let is_found = is_open && directive.is_some() && !in_kernels;
        let settled = is_found.then(|| self.of_gangs(index, verdict, verdicts));
        let verdict = settled.as_ref().unwrap_or(verdict);
        let span = self.facts.unit.stmt(stmt).span;
        if !is_seq {
            self.report(verdict);
        }
        let mut spread = directive.is_some() && !is_seq;
        match (&verdict.finding, directive) {
            (Finding::Parallel(needs), Some(at)) if is_open => self.settle(index, at, needs),
            (Finding::Parallel(needs), None) if is_open && self.input.begins_line(stmt) => {
                self.imply(index, stmt, needs);
                spread = true;
            }
            (Finding::Sequential(obstacle), _) if is_open => {
                spread = false;
                let at =
                    directive.map_or(head(self.facts, span), |at| self.input.bound[at].directive.name_span);
                self.diags.push(self.in_order(at, obstacle));
                self.close(index, (stmt, at), in_kernels, obstacle);
                if let Some(at) = directive {
                    self.changes.settled.insert(at, vec![implied_clause(span.start, "seq", ClauseKind::Seq)]);
                }
            }
            _ => {}
        }
        if spread {
            let divided = self.divided(nest, stmt, directive);
            return self.inside(nest, &divided);
        }
        for child in children(self.facts.unit, stmt) {
            for inner in outermost(self.facts.unit, child) {
                self.nest(nest, inner);
            }
        }
    }

    /// Keeps what was found out about a loop.
    pub(super) fn report(&mut self, verdict: &Verdict) {
        let unit = self.facts.unit;
        let span = unit.stmt(verdict.stmt).span;
        // The loops over the other indices of a `do concurrent` are not in the source.
        if unit
            .concurrent
            .iter()
            .any(|one| one.stmt != verdict.stmt && one.header.contains(Span::at(span.start as usize)))
        {
            return;
        }
        let mut verdict = verdict.clone();
        if unit.concurrent.iter().any(|one| one.stmt == verdict.stmt)
            && matches!(verdict.finding, Finding::Sequential(_))
        {
            verdict.finding = Finding::Parallel(Needs { is_asserted: true, ..Needs::default() });
        }
        self.verdicts.insert(span, verdict);
    }

    /// Whether the bounds of loop `inner`, all there is in `outer`, stay the same.
    pub(super) fn is_tight(&self, outer: StmtId, inner: StmtId) -> bool {
        let (unit, symbols) = (self.facts.unit, self.facts.symbols);
        let header = |stmt| sema::header(unit, symbols, stmt).ok();
        header(outer)
            .zip(header(inner))
            .is_some_and(|(outer, inner)| sema::is_tight(unit, symbols, &[outer], &inner))
    }

    /// A directive for a loop without one.
    pub(super) fn imply(&mut self, index: usize, stmt: StmtId, needs: &Needs) {
        let clauses = self.clauses(self.facts.unit.stmt(stmt).span.start, needs);
        let like = &self.input.bound[index];
        self.changes.implied.push(implied_loop(self.facts.unit, stmt, like, clauses));
    }

    /// A loop directive says now what was found.
    fn settle(&mut self, index: usize, at: usize, needs: &Needs) {
        let here = self.input.bound[at].directive.span.start;
        let mut clauses = self.clauses(here, needs);
        // On a combined construct, a clause that is there says the same of the loop.
        let said = self.input.clauses(index).firstprivate;
        let is_said = |symbol: &SymbolId| {
            at == index && said.iter().any(|item| self.input.symbol_of(index, item) == Some(*symbol))
        };
        let unread = needs.unread.iter().filter(|symbol| !is_said(symbol));
        let unread: Vec<ListItem> =
            unread.map(|symbol| implied_item(here, name_of(self.facts, *symbol))).collect();
        if !unread.is_empty() {
            clauses.push(implied_clause(here, "private", ClauseKind::Private(unread)));
        }
        self.changes.settled.entry(at).or_default().extend(clauses);
    }

    fn clauses(&self, at: u32, needs: &Needs) -> Vec<Clause> {
        let mut clauses = vec![implied_clause(at, "independent", ClauseKind::Independent)];
        let item = |symbol: &SymbolId| implied_item(at, name_of(self.facts, *symbol));
        // Scalars that each thread has its own of are found by the rules for all loops.
        let arrays = needs
            .private
            .iter()
            .filter(|symbol| self.facts.symbols.get(**symbol).class == sema::Class::Array);
        let arrays: Vec<ListItem> = arrays.map(item).collect();
        if !arrays.is_empty() {
            clauses.push(implied_clause(at, "private", ClauseKind::Private(arrays)));
        }
        for (how, symbol) in &needs.reductions {
            clauses.push(implied_clause(at, "reduction", ClauseKind::Reduction(*how, vec![item(symbol)])));
        }
        clauses
    }

    pub(super) fn in_order(&self, at: Span, obstacle: &Obstacle) -> Diag {
        let mut in_order = diag::loop_in_order(
            at,
            &reason(self.facts, obstacle),
            help(obstacle, self.facts.unit.is_fortran()),
        );
        if !at.contains(obstacle.at) {
            in_order = in_order.with(obstacle.at, "here");
        }
        if let Some(other) = obstacle.other.filter(|other| *other != obstacle.at) {
            in_order = in_order.with(other, "and here");
        }
        in_order
    }
}

fn name_of(facts: &Facts, symbol: SymbolId) -> String {
    facts.symbols.get(symbol).name.clone()
}

impl Changes {
    fn apply(self, facts: &Facts, bound: Vec<Bound>) -> Vec<Bound> {
        let mut all = bound;
        for (index, own) in self.own {
            let here = all[index].directive.span.start;
            let items = own.into_iter().map(|symbol| implied_item(here, name_of(facts, symbol))).collect();
            let clause = implied_clause(here, "firstprivate", ClauseKind::Firstprivate(items));
            all[index].directive.clauses.push(clause);
        }
        for (index, brought) in self.brought {
            let here = all[index].directive.span.start;
            // What has other names may change by one of them.
            let (copied, read): (Vec<_>, Vec<_>) = brought.into_iter().partition(|(_, escapes)| *escapes);
            let kinds = [
                ("copy", DataClause::Copy, copied),
                ("copyin", DataClause::Copyin { readonly: false }, read),
            ];
            for (word, kind, symbols) in kinds.into_iter().filter(|(.., symbols)| !symbols.is_empty()) {
                let items = symbols
                    .into_iter()
                    .map(|(symbol, _)| implied_item(here, name_of(facts, symbol)))
                    .collect();
                let clause = implied_clause(here, word, ClauseKind::Data(kind, items));
                all[index].directive.clauses.push(clause);
            }
        }
        for (index, clauses) in self.settled {
            if let Some(one) = all.get_mut(index) {
                one.directive.clauses.extend(clauses);
            }
        }
        with_implied(facts.unit, all, self.implied)
    }
}

/// Whether a loop in `stmt`, which may be one, has no directive.
fn has_plain_loop(unit: &Unit, stmt: StmtId, is_governed: impl Fn(StmtId) -> bool) -> bool {
    let mut inside = unit.stmt_ids_in(unit.stmt(stmt).span);
    inside.any(|stmt| matches!(unit.stmt(stmt).kind, StmtKind::For { .. }) && !is_governed(stmt))
}

/// The outermost loops in `stmt`, which may be one.
pub(super) fn outermost(unit: &Unit, stmt: StmtId) -> Vec<StmtId> {
    let mut found = Vec::new();
    let mut pending = vec![stmt];
    while let Some(stmt) = pending.pop() {
        match unit.stmt(stmt).kind {
            StmtKind::For { .. } | StmtKind::While { .. } | StmtKind::DoWhile { .. } => found.push(stmt),
            _ => pending.extend(children(unit, stmt)),
        }
    }
    found.sort_by_key(|stmt| unit.stmt(*stmt).span.start);
    found
}

/// The first line of a loop.
pub(super) fn head(facts: &Facts, span: Span) -> Span {
    let line = facts.line(span.start);
    Span { start: span.start, end: line.end.min(span.end) }
}
