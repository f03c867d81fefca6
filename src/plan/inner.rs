//! Loops without a directive inside of a loop that is divided: which of them are divided, too.
//!
//! Invariant: such a loop is proven parallel, and computes what it computed in order, except for the rounding of sums.

use std::collections::{BTreeMap, BTreeSet};

use crate::acc::ast::{ClauseKind, DirectiveKind, ReductionOp};
use crate::bind::{descendants, implied_clause};
use crate::host::ir::{ExprId, ExprKind, StmtId, StmtKind, Unit};
use crate::sema::{self, Finding, Layout, Needs, SymbolId, SymbolKind, Verdict, children, only_loop};
use crate::source::Span;

use super::auto::{Settling, head, outermost};

/// The nest of loops that is looked at.
#[derive(Clone, Copy)]
pub(super) struct Nest<'v> {
    /// The compute construct, or the loop directive outside of all.
    pub(super) index: usize,
    /// The construct is `kernels`.
    pub(super) in_kernels: bool,
    /// What was found out about its loops.
    pub(super) verdicts: &'v BTreeMap<StmtId, Verdict>,
    /// How its memory lies.
    pub(super) layout: &'v Layout,
}

/// A loop that is divided, or the innermost one of several that run as one.
#[derive(Clone)]
pub(super) struct Divided {
    /// The loop.
    pub(super) stmt: StmtId,
    /// So many loops run as one with it, itself included.
    depth: usize,
    /// Their iterations, if that is a number.
    trips: Option<i64>,
    /// What they reduce.
    reductions: Vec<(ReductionOp, SymbolId)>,
    /// What their clauses make private.
    private: Vec<SymbolId>,
    /// The directive of the outermost one, or the loop that gets one.
    directive: Result<usize, StmtId>,
    /// Loops without a directive run as one with it.
    is_merged: bool,
    /// No clause names a level.
    is_unnamed: bool,
    /// There are lanes for the loops inside of it.
    has_lanes: bool,
}

/// So many iterations fill the device without the loops inside.
const MANY: i64 = 1 << 16;

/// With fewer iterations than this, gangs of several rows would leave parts of the device idle.
const FEW: i64 = 1 << 14;

/// The iterations of a loop of which they are not known, where costs are compared.
const USUAL: u64 = 128;

/// The threads that wait while one of them runs the code beside the loops inside.
const LANES: u64 = 32;

impl Settling<'_, '_> {
    /// The loop of directive `at`, as it is divided with what was found out about it.
    pub(super) fn divided(&self, nest: Nest, stmt: StmtId, at: Option<usize>) -> Divided {
        let found = nest.verdicts.get(&stmt).map(|verdict| &verdict.finding);
        let reductions = match found {
            Some(Finding::Parallel(needs)) => needs.reductions.clone(),
            _ => Vec::new(),
        };
        let trips = nest.layout.trips(stmt);
        let mut divided = Divided {
            stmt,
            depth: 1,
            trips,
            reductions,
            private: Vec::new(),
            directive: Err(stmt),
            is_merged: false,
            is_unnamed: true,
            has_lanes: true,
        };
        let Some(at) = at else { return divided };
        let clauses = self.input.clauses(at);
        divided.directive = Ok(at);
        divided.is_unnamed = !clauses.gang && !clauses.worker && !clauses.vector;
        let private = clauses.private.iter().chain(&clauses.firstprivate);
        divided.private.extend(private.filter_map(|item| self.input.symbol_of(at, item)));
        for (op, item) in &clauses.reduction {
            divided.reductions.extend(self.input.symbol_of(at, item).map(|symbol| (*op, symbol)));
        }
        let count = match clauses.collapse {
            Some((size, false)) => size.text.trim().parse().unwrap_or(0),
            Some((_, true)) => 0,
            None => 1,
        };
        let unit = self.facts.unit;
        let inner = |stmt: &StmtId| only_loop(unit, body(unit, *stmt)?);
        let loops: Vec<StmtId> = std::iter::successors(Some(stmt), inner).take(count).collect();
        let all = loops.iter().map(|stmt| nest.layout.trips(*stmt));
        divided.trips = all.reduce(|one, two| one?.checked_mul(two?)).flatten();
        let is_whole = loops.len() == count && count > 0 && clauses.tile.is_none();
        divided.stmt = loops.last().copied().unwrap_or(stmt);
        divided.depth = loops.len();
        divided.has_lanes =
            is_whole && !clauses.vector && self.has_levels(nest.index) && !self.calls_levels(divided.stmt);
        divided
    }

    /// Settles what is in a loop that is divided: loops with a directive as these say, others as it is best.
    pub(super) fn inside(&mut self, nest: Nest, divided: &Divided) {
        let unit = self.facts.unit;
        let Some(body) = body(unit, divided.stmt) else { return };
        if divided.has_lanes
            && let Some((inner, needs)) = self.tight(nest, divided)
        {
            self.report(&nest.verdicts[&inner]);
            let private = needs.private.iter().filter(|one| !divided.private.contains(one));
            let needs = Needs { private: private.copied().collect(), ..needs.clone() };
            self.imply(nest.index, inner, &needs);
            let trips = nest.layout.trips(inner);
            let trips = divided.trips.zip(trips).and_then(|(one, two)| one.checked_mul(two));
            let depth = divided.depth + 1;
            return self
                .inside(nest, &Divided { stmt: inner, depth, trips, is_merged: true, ..divided.clone() });
        }
        let chosen = if divided.has_lanes { self.chosen(nest, divided, body) } else { BTreeSet::new() };
        let only = only_loop(unit, body).filter(|inner| self.is_tight(divided.stmt, *inner));
        for inner in outermost(unit, body) {
            self.each_inside(nest, inner, only == Some(inner), &chosen);
        }
    }

    /// Settles a loop inside of one that is divided, and those in it. A loop of `kernels` that could run as one with it if it were
    /// parallel is reported.
    fn each_inside(&mut self, nest: Nest, stmt: StmtId, is_tight: bool, chosen: &BTreeSet<StmtId>) {
        let is_seq = |at: &usize| self.input.clauses(*at).seq;
        let directive = self.at_loop.get(&stmt).copied();
        if directive.is_some_and(|at| !is_seq(&at)) {
            return self.nest(nest, stmt);
        }
        if let (None, Some(verdict)) = (directive, nest.verdicts.get(&stmt)) {
            self.report(verdict);
            if let (true, Finding::Sequential(obstacle)) =
                (is_tight && nest.in_kernels && !self.is_concurrent(stmt), &verdict.finding)
            {
                let at = head(self.facts, self.facts.unit.stmt(stmt).span);
                let in_order = self.in_order(at, obstacle);
                self.diags.push(in_order);
            }
            if let (true, Finding::Parallel(needs)) = (chosen.contains(&stmt), &verdict.finding) {
                self.imply(nest.index, stmt, needs);
                return self.inside(nest, &self.divided(nest, stmt, None));
            }
        }
        let unit = self.facts.unit;
        for inner in children(unit, stmt).flat_map(|child| outermost(unit, child)) {
            self.each_inside(nest, inner, false, chosen);
        }
    }

    /// The loop that is all there is in a divided one, with bounds that stay the same, and can run as one with it.
    fn tight<'v>(&self, nest: Nest<'v>, divided: &Divided) -> Option<(StmtId, &'v Needs)> {
        let unit = self.facts.unit;
        let inner = only_loop(unit, body(unit, divided.stmt)?)?;
        let needs = self.candidate(nest, inner)?;
        let is_reduced = needs.reductions.iter().all(|one| divided.reductions.contains(one));
        (self.is_tight(divided.stmt, inner) && is_reduced && !self.is_strided(nest, divided, inner))
            .then_some((inner, needs))
    }

    /// Whether neighbouring threads would be farther apart in memory with an inner loop that runs as one with a divided one than
    /// without it, and there are enough of them without it.
    fn is_strided(&self, nest: Nest, divided: &Divided, inner: StmtId) -> bool {
        let near = |lane| nest.layout.near(lane, inner);
        !self.input.settings.preference.orders_nests
            && divided.trips.is_none_or(|trips| trips >= FEW)
            && near(inner) < near(divided.stmt)
    }

    /// The loops in the body of a divided one which get the lanes.
    fn chosen(&mut self, nest: Nest, divided: &Divided, body: StmtId) -> BTreeSet<StmtId> {
        let unit = self.facts.unit;
        let mut inside = Inside::default();
        self.look(nest, body, 1, &mut inside);
        let candidates: Vec<StmtId> = inside.candidates;
        let keeps_lanes = inside.has_other_loop || self.has_cache(nest.index, body);
        if candidates.is_empty()
            || keeps_lanes && !inside.has_directive
            || self.has_own_memory(nest, body, &candidates)
            || self.is_crooked(body, &candidates)
        {
            return BTreeSet::new();
        }
        let weight = |stmt: &StmtId| {
            let trips = nest.layout.trips(*stmt).map_or(USUAL, |trips| u64::try_from(trips).unwrap_or(0));
            trips.saturating_mul(unit.expr_ids_in(unit.stmt(*stmt).span).count() as u64)
        };
        let work: u64 = candidates.iter().map(weight).fold(0, u64::saturating_add);
        let here: usize = candidates.iter().map(|stmt| nest.layout.near(divided.stmt, *stmt)).sum();
        let there: usize = candidates.iter().map(|stmt| nest.layout.near(*stmt, *stmt)).sum();
        let reduces = candidates.iter().any(|stmt| match &nest.verdicts[stmt].finding {
            Finding::Parallel(needs) => !needs.reductions.is_empty(),
            Finding::Sequential(_) => false,
        });
        let is_full =
            divided.trips.is_some_and(|trips| trips >= MANY) || divided.trips.is_none() && divided.depth > 1;
        let is_better = there > here || there == here && !(is_full && reduces);
        let is_worth = inside.has_directive || is_better && inside.beside.saturating_mul(LANES) <= work;
        if !is_worth {
            return BTreeSet::new();
        }
        let are_rows = candidates.iter().all(|stmt| nest.layout.is_long(*stmt));
        if are_rows && !inside.has_directive && divided.trips.is_none_or(|trips| trips < FEW) {
            self.give_gangs(divided);
        }
        candidates.into_iter().collect()
    }

    /// A loop of few iterations gets gangs only, so that all threads of a gang share the loops inside.
    fn give_gangs(&mut self, divided: &Divided) {
        if !divided.is_unnamed || divided.is_merged {
            return;
        }
        let at = self.facts.unit.stmt(divided.stmt).span.start;
        let gang = implied_clause(at, "gang", ClauseKind::Gang(Vec::new()));
        match divided.directive {
            Ok(index) => self.changes.settled.entry(index).or_default().push(gang),
            Err(stmt) => {
                let mut implied = self.changes.implied.iter_mut();
                let own = implied.find(|one| one.stmt() == Some(stmt));
                own.into_iter().for_each(|one| one.directive.clauses.push(gang.clone()));
            }
        }
    }

    /// Collects what stands in a statement that a divided loop runs `times` times in each iteration.
    fn look(&self, nest: Nest, stmt: StmtId, times: u64, inside: &mut Inside) {
        let unit = self.facts.unit;
        let size = |stmt: StmtId| unit.expr_ids_in(unit.stmt(stmt).span).count() as u64;
        let loops = outermost(unit, stmt);
        let own = size(stmt).saturating_sub(loops.iter().map(|inner| size(*inner)).sum());
        inside.beside = inside.beside.saturating_add(own.saturating_mul(times));
        for inner in loops {
            if !self.is_short(nest, inner) && self.is_row(nest, inner) {
                inside.candidates.push(inner);
                continue;
            }
            if self.at_loop.get(&inner).is_some_and(|at| !self.input.clauses(*at).seq) {
                inside.has_directive = true;
                continue;
            }
            let before = inside.candidates.len();
            let trips = nest.layout.trips(inner).and_then(|trips| u64::try_from(trips).ok());
            if let Some(body) = body(unit, inner) {
                self.look(nest, body, times.saturating_mul(trips.unwrap_or(USUAL)), inside);
            }
            inside.has_other_loop |= !self.is_short(nest, inner) && inside.candidates.len() == before;
        }
    }

    /// Whether a loop without a directive can be divided by itself: each lane would have an array of its own, if it needed one.
    fn is_row(&self, nest: Nest, stmt: StmtId) -> bool {
        let is_array = |symbol: &SymbolId| self.facts.symbols.get(*symbol).class == sema::Class::Array;
        self.candidate(nest, stmt).is_some_and(|needs| !needs.private.iter().any(is_array))
    }

    /// What a loop without a directive needs to be divided, if it can be.
    fn candidate<'v>(&self, nest: Nest<'v>, stmt: StmtId) -> Option<&'v Needs> {
        let Finding::Parallel(needs) = &nest.verdicts.get(&stmt)?.finding else { return None };
        let is_free = !self.at_loop.contains_key(&stmt) && !needs.is_asserted;
        let is_plain = is_free
            && self.input.begins_line(stmt)
            && !self.is_concurrent(stmt)
            && !self.follows_pragma(stmt);
        (is_plain && self.may_be_implied(nest, stmt, needs)).then_some(needs)
    }

    /// Whether lines before a loop say something of it to a compiler: `#pragma GCC ivdep`, `!dir$ ivdep`.
    fn follows_pragma(&self, stmt: StmtId) -> bool {
        let file = self.facts.file;
        let first = file.lines.line(self.facts.unit.stmt(stmt).span.start);
        for line in (0..first).rev() {
            let text = file.text(file.lines.span(line));
            let text = text.trim().to_ascii_lowercase();
            let words = text.trim_start_matches(['#', '!', 'c', '*']).trim_start();
            let is_pragma =
                words.starts_with("pragma") && !words["pragma".len()..].trim_start().starts_with("acc");
            let is_comment = text.starts_with(['!', 'c', '*']) && self.facts.unit.is_fortran();
            let begins = words.split_whitespace().next().unwrap_or_default();
            if text.starts_with('#') && is_pragma
                || is_comment && begins.contains('$') && !begins.starts_with("$acc")
            {
                return true;
            }
            if !text.is_empty() && !text.starts_with('#') && !is_comment {
                return false;
            }
        }
        false
    }

    /// Whether a loop is a `do concurrent`, or one over an index of it, which is not in the source.
    fn is_concurrent(&self, stmt: StmtId) -> bool {
        let unit = self.facts.unit;
        let start = Span::at(unit.stmt(stmt).span.start as usize);
        unit.concurrent.iter().any(|one| one.stmt == stmt || one.header.contains(start))
    }

    fn may_be_implied(&self, nest: Nest, stmt: StmtId, needs: &Needs) -> bool {
        let is_plain_sum = |symbol: SymbolId| self.is_plain_sum(nest.index, stmt, symbol, nest.verdicts);
        needs.unread.is_empty()
            && (nest.in_kernels || needs.reductions.iter().all(|(_, one)| is_plain_sum(*one)))
            && !self.has_directives(nest.index, stmt)
            && !self.calls_levels(stmt)
    }

    /// Whether a loop holds directives that decide how it may be divided.
    fn has_directives(&self, index: usize, stmt: StmtId) -> bool {
        let span = self.facts.unit.stmt(stmt).span;
        let mut inside = descendants(self.input.bound, index)
            .filter(|at| span.contains(self.input.bound[*at].directive.span));
        inside.any(|at| {
            let directive = &self.input.bound[at].directive;
            let is_plain_atomic = directive.kind == DirectiveKind::Atomic
                && !directive.clauses.iter().any(|clause| {
                    matches!(
                        clause.kind,
                        ClauseKind::AtomicRead | ClauseKind::AtomicWrite | ClauseKind::AtomicCapture
                    )
                });
            let is_seq = directive.kind == DirectiveKind::Loop && self.input.clauses(at).seq;
            !is_plain_atomic && !is_seq
        })
    }

    /// Whether a construct has levels for its loops, or the routine around a loop.
    fn has_levels(&self, index: usize) -> bool {
        let one = &self.input.bound[index];
        let function = one.function.map(|function| &self.facts.unit.function(function).name);
        one.directive.kind.is_compute() || function.is_some_and(|name| self.routines.own_levels(name).any())
    }

    /// Whether each iteration of the loops around has arrays or objects of its own that code uses: the lanes would have to share
    /// them.
    fn has_own_memory(&self, nest: Nest, body: StmtId, loops: &[StmtId]) -> bool {
        let unit = self.facts.unit;
        let Some(region) = self.input.bound[nest.index].stmt() else { return true };
        let region = unit.stmt(region).span;
        let around = std::iter::once(nest.index).chain(descendants(self.input.bound, nest.index));
        let own: BTreeSet<SymbolId> = around
            .filter(|at| {
                self.input.bound[*at].directive.kind.is_compute()
                    || self.input.bound[*at].directive.kind.is_loop()
            })
            .flat_map(|at| {
                let clauses = self.input.clauses(at);
                let reduced = clauses.reduction.iter().map(|(_, item)| *item);
                let items = clauses.private.into_iter().chain(clauses.firstprivate).chain(reduced);
                items.filter_map(|item| self.input.symbol_of(at, item)).collect::<Vec<_>>()
            })
            .collect();
        let used = sema::uses(unit, self.facts.symbols, body);
        used.iter().any(|(symbol, _)| {
            let known = self.facts.symbols.get(symbol);
            let is_of_lane = loops.iter().any(|inner| unit.stmt(*inner).span.contains(known.scope));
            let is_declared = known.kind == SymbolKind::Local && region.contains(known.scope) && !is_of_lane;
            let has_parts =
                matches!(known.class, sema::Class::Array | sema::Class::Record | sema::Class::Unknown);
            has_parts && (own.contains(&symbol) || is_declared)
        })
    }

    /// Whether the way to some loops leads through a `switch`, through conditions that change something, or past jumps.
    fn is_crooked(&self, body: StmtId, loops: &[StmtId]) -> bool {
        let unit = self.facts.unit;
        let mut pending = vec![body];
        while let Some(stmt) = pending.pop() {
            if loops.contains(&stmt) {
                continue;
            }
            let span = unit.stmt(stmt).span;
            let holds = loops.iter().any(|inner| span.contains(unit.stmt(*inner).span));
            let is_crooked = match &unit.stmt(stmt).kind {
                StmtKind::Goto(_) | StmtKind::Labeled { .. } | StmtKind::Opaque(_) => true,
                StmtKind::Switch { .. } => holds,
                StmtKind::If { cond, .. } | StmtKind::While { cond, .. } | StmtKind::DoWhile { cond, .. } => {
                    holds && self.has_effects(*cond)
                }
                _ => false,
            };
            if is_crooked {
                return true;
            }
            pending.extend(children(unit, stmt));
        }
        false
    }

    fn has_effects(&self, expr: ExprId) -> bool {
        let unit = self.facts.unit;
        let span = unit.expr(expr).span;
        unit.exprs_in(span).any(|one| {
            matches!(
                one.kind,
                ExprKind::Assign(..) | ExprKind::Step { .. } | ExprKind::Call { .. } | ExprKind::Opaque(_)
            )
        })
    }

    /// Whether code says what is to be kept close to the threads that run it.
    fn has_cache(&self, index: usize, stmt: StmtId) -> bool {
        let span = self.facts.unit.stmt(stmt).span;
        let mut inside = descendants(self.input.bound, index).map(|at| &self.input.bound[at].directive);
        inside.any(|one| one.kind == DirectiveKind::Cache && span.contains(one.span))
    }

    /// Whether code calls routines that take levels.
    fn calls_levels(&self, stmt: StmtId) -> bool {
        self.routines.levels_in(self.facts.unit, self.facts.symbols, stmt).any()
    }

    /// Whether a loop has few iterations: as far as is known, or as it moves along with the loop around it.
    fn is_short(&self, nest: Nest, stmt: StmtId) -> bool {
        let short = self.input.settings.preference.short_trip;
        nest.layout.trips(stmt).map_or(nest.layout.is_window(stmt), |trips| i128::from(trips) < short)
    }
}

/// What stands in a divided loop.
#[derive(Default)]
struct Inside {
    /// The outermost loops without a directive that can be divided.
    candidates: Vec<StmtId>,
    /// Loops with a directive take lanes.
    has_directive: bool,
    /// There is another loop that one thread runs, and that is not short.
    has_other_loop: bool,
    /// The expressions beside the loops, as often as they are computed.
    beside: u64,
}

/// The body of a loop.
fn body(unit: &Unit, stmt: StmtId) -> Option<StmtId> {
    match unit.stmt(stmt).kind {
        StmtKind::For { body, .. } | StmtKind::While { body, .. } | StmtKind::DoWhile { body, .. } => {
            Some(body)
        }
        _ => None,
    }
}
