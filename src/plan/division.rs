//! Which levels of parallelism divide the iterations of which loops (OpenACC 3.3, 2.9): those that clauses name, those that are
//! implied, and those that are free for loops which name none.
//!
//! Invariant: each loop directive is in one division; levels go inward, and each is taken once on the way to a statement.

use std::collections::{BTreeMap, BTreeSet};

use crate::acc::ast::{ClauseKind, Directive, DirectiveKind, ListItem, ReductionOp};
use crate::bind::{Bound, ancestors, descendants};
use crate::host::ir::{ExprId, ExprKind, StmtId, Unit};
use crate::sema::{self, Header, NotCanonical, Symbols};

use super::clauses::{LoopClauses, effective};
use super::level::Levels;
use super::listed::Code;
use super::reduced::{self, Lists};
use super::requested_sizes::RequestedSizes;
use super::{Gangs, Item, Plan, Region, Settings, launch};

/// How the iterations of a loop, or of tightly nested loops that run as one, are divided.
#[derive(Clone, Debug)]
pub struct Division {
    /// The directives whose clauses count for it, outermost first.
    pub directives: Vec<usize>,
    /// The `for` statements, outermost first.
    pub stmts: Vec<StmtId>,
    /// The levels that its clauses name.
    pub named: Levels,
    /// The levels that divide it; none if it runs in order.
    pub levels: Levels,
    /// What its clauses make private.
    pub private: Vec<ListItem>,
    /// What its clauses reduce, and the reductions of other loops and of the construct that pass through it.
    pub reductions: Vec<(ReductionOp, ListItem)>,
    /// What its clauses say of the sizes of the levels.
    pub sizes: RequestedSizes,
    /// The sizes of its tiles, outermost loop first.
    pub tile: Vec<String>,
    /// The trip count is read from memory, as that of the rows of a sparse matrix: it may be short, and differ from one
    /// iteration of the loops around it to the next.
    pub is_ragged: bool,
    /// Why a loop that is not `seq` runs in order, if its header is the reason.
    pub not_canonical: Option<NotCanonical>,
}

/// The divisions of a file, by the outermost statement of each.
pub type Divisions = BTreeMap<StmtId, Division>;

/// What decides how loops are divided.
struct Facts<'a> {
    unit: &'a Unit,
    symbols: &'a Symbols,
    bound: &'a [Bound],
    /// The device type whose clauses count.
    device_type: &'a str,
    /// What becomes of each directive, and what there is to know of it.
    plan: &'a Plan,
}

/// What a region has for its loops.
#[derive(Clone, Copy)]
struct Offer {
    /// The levels that divide them.
    levels: Levels,
    /// Loops need a clause that calls them independent.
    is_kernels: bool,
    /// There may be several gangs: an outermost loop that names none is theirs as well (2.9.2).
    has_gangs: bool,
}

/// What decides which levels a loop gets.
#[derive(Clone, Copy, Debug, Default)]
struct Wish {
    /// The levels that its clauses name.
    named: Levels,
    /// So many parallel loops are nested in it.
    below: usize,
    /// It calls a routine that takes levels.
    calls: bool,
    /// The gangs divide it without a clause.
    is_over_gangs: bool,
}

/// The levels of those that are free which a loop gets.
fn assigned(wish: Wish, free: Levels) -> Levels {
    let Wish { named, below, calls, is_over_gangs } = wish;
    let mut wanted = match (named.any(), below) {
        // The routine has the threads of a gang for itself.
        (false, 0) if calls => Levels { gang: true, ..Levels::NONE },
        (false, 0) => free,
        (false, below) if free.gang => Levels { gang: true, worker: below == 1, vector: false },
        (false, _) => Levels { worker: true, ..Levels::NONE },
        // Nothing inside wants the levels that are still free.
        (true, 0) if !calls => named.with(Levels::THREADS),
        (true, _) => named,
    };
    wanted.gang |= is_over_gangs;
    wanted.and(free)
}

/// The divisions of all loop directives.
fn divisions(facts: &Facts) -> Divisions {
    let mut found = Vec::new();
    for (index, one) in facts.bound.iter().enumerate() {
        let kind = one.directive.kind;
        if kind.is_compute() {
            let own = if kind.is_loop() { vec![index] } else { facts.loops_below(index) };
            facts.divide(&own, facts.region(index), &mut found);
        } else if facts.is_orphan(index) {
            facts.divide(&[index], facts.routine(index), &mut found);
        }
    }
    let known: BTreeSet<usize> = found.iter().flat_map(|one| one.directives.iter().copied()).collect();
    let mut divisions = Divisions::new();
    for one in found {
        // Of several directives for one loop, those count that divide it.
        if one.levels.any() || !divisions.contains_key(&one.stmts[0]) {
            divisions.insert(one.stmts[0], one);
        }
    }
    let divided: BTreeSet<StmtId> = divisions.values().flat_map(|one| one.stmts.iter().copied()).collect();
    // Directives in places where loops are not looked for, and in loops that a directive which does not count takes.
    for (at, one) in facts.bound.iter().enumerate().filter(|(_, one)| one.directive.kind.is_loop()) {
        if let Some(stmt) = one.stmt().filter(|stmt| !known.contains(&at) || !divided.contains(stmt)) {
            divisions.entry(stmt).or_insert_with(|| facts.in_order(at, stmt));
        }
    }
    divisions
}

impl Plan {
    /// Notes how loops are divided, once it is known what becomes of each directive.
    pub(super) fn note_divisions(
        &mut self,
        unit: &Unit,
        symbols: &Symbols,
        bound: &[Bound],
        settings: &Settings,
    ) {
        let device_type = &settings.device_type;
        self.routines = settings.routines.clone().and_own(unit, bound, device_type);
        for (note, one) in self.notes.iter_mut().zip(bound).filter(|(_, one)| one.directive.kind.is_compute())
        {
            note.sizes = RequestedSizes::of(counting(&one.directive, device_type));
        }
        let facts = Facts { unit, symbols, bound, device_type, plan: self };
        let mut divisions = divisions(&facts);
        reduced::pass_through(facts.code(), &mut divisions);
        self.divisions = divisions;
    }
}

/// The clauses of a directive that count for the device.
pub(super) fn counting<'a>(
    directive: &'a Directive,
    device_type: &str,
) -> impl Iterator<Item = &'a ClauseKind> + use<'a> {
    let counting = effective(directive, device_type).0;
    counting.into_iter().filter_map(|at| Some(&directive.clauses.get(at)?.kind))
}

impl<'a> Facts<'a> {
    fn code(&self) -> Code<'a> {
        let Facts { unit, symbols, bound, device_type, .. } = *self;
        Code { unit, symbols, bound, device_type }
    }

    fn clauses(&self, at: usize) -> LoopClauses<'a> {
        let directive = &self.bound[at].directive;
        LoopClauses::new(directive, &effective(directive, self.device_type).0)
    }

    /// The loop directives whose parent is `index`.
    fn loops_below(&self, index: usize) -> Vec<usize> {
        let kind = |at: usize| self.bound[at].directive.kind;
        let is_loop = |at: &usize| kind(*at) == DirectiveKind::Loop;
        let is_child = |at: &usize| {
            let above = ancestors(self.bound, *at).find(|at| kind(*at) != DirectiveKind::Atomic);
            above == Some(index)
        };
        descendants(self.bound, index).filter(is_loop).filter(is_child).collect()
    }

    /// Whether a loop directive is the outermost one outside of compute constructs.
    fn is_orphan(&self, index: usize) -> bool {
        let kind = |at: usize| self.bound[at].directive.kind;
        let is_region = |at: usize| kind(at).is_compute() || kind(at) == DirectiveKind::Loop;
        kind(index) == DirectiveKind::Loop && !ancestors(self.bound, index).any(is_region)
    }

    /// What a compute construct has for its loops.
    fn region(&self, index: usize) -> Offer {
        let region = launch::region(self.bound[index].directive.kind);
        let note = &self.plan.notes[index];
        Offer {
            levels: if region == Region::Serial { Levels::NONE } else { Levels::ALL },
            is_kernels: region == Region::Kernels,
            has_gangs: note.one_gang.is_none() && !note.sizes.is_one_gang() && !self.runs_in_one_gang(index),
        }
    }

    /// Whether the plan gives a construct one gang.
    fn runs_in_one_gang(&self, index: usize) -> bool {
        matches!(&self.plan.items[index], Item::Launch(launch) if launch.gangs == Gangs::One)
    }

    /// What the routine around an orphaned loop has for it.
    fn routine(&self, index: usize) -> Offer {
        let function = self.bound[index].function.map(|function| self.unit.function(function));
        let levels = function.map_or(Levels::NONE, |function| self.plan.routines.own_levels(&function.name));
        Offer { levels, is_kernels: false, has_gangs: false }
    }

    /// Divides the loops of some directives, and those in them.
    fn divide(&self, loops: &[usize], region: Offer, found: &mut Vec<Division>) {
        for at in loops {
            let Some(stmt) = self.bound[*at].stmt() else { continue };
            let (division, below) = self.division(*at, stmt, region);
            let levels = region.levels.inside(division.levels);
            found.push(division);
            self.divide(&below, Offer { levels, ..region }, found);
        }
    }

    /// The division of the loop of directive `at`, and the directives of the loops in it.
    fn division(&self, at: usize, stmt: StmtId, region: Offer) -> (Division, Vec<usize>) {
        let below = self.loops_below(at);
        let mut division = self.in_order(at, stmt);
        let clauses = self.clauses(at);
        let header = match sema::header(self.unit, self.symbols, stmt) {
            _ if clauses.seq || self.plan.host_runs.contains(&stmt) => return (division, below),
            Ok(header) => header,
            Err(why) => {
                division.not_canonical = Some(why);
                return (division, below);
            }
        };
        let mut headers = vec![header];
        self.take_collapsed(&clauses, &mut division, &mut headers);
        let below = self.take_tight(region, below, &mut division, &mut headers);
        let below_depth = self.parallel_depth(region, &below);
        let wish = Wish {
            named: division.named,
            below: below_depth,
            calls: below_depth == 0 && self.plan.routines.levels_in(self.unit, self.symbols, stmt).any(),
            is_over_gangs: region.has_gangs && !self.is_around_gangs(at, stmt),
        };
        division.levels = assigned(wish, region.levels);
        let lists = Lists::of(self.code(), &division.directives, stmt);
        (division.private, division.reductions) = (lists.private, lists.reductions);
        division.sizes = self.sizes(&division.directives);
        division.is_ragged = self.is_ragged(&headers[0]);
        (division, below)
    }

    /// The loop of a directive, as it runs in order.
    fn in_order(&self, at: usize, stmt: StmtId) -> Division {
        let clauses = self.clauses(at);
        Division {
            directives: vec![at],
            stmts: vec![stmt],
            named: Levels { gang: clauses.gang, worker: clauses.worker, vector: clauses.vector },
            levels: Levels::NONE,
            private: Vec::new(),
            reductions: Vec::new(),
            sizes: RequestedSizes::default(),
            tile: Vec::new(),
            is_ragged: false,
            not_canonical: None,
        }
    }

    /// Takes the loops that `collapse` or `tile` names.
    fn take_collapsed(&self, clauses: &LoopClauses, division: &mut Division, headers: &mut Vec<Header>) {
        let count = |text: &str| text.trim().parse().unwrap_or(1);
        let collapse = clauses.collapse.map_or(1, |(size, _)| count(&size.text));
        let tile = clauses.tile.unwrap_or_default();
        while headers.len() < collapse.max(tile.len()) && self.take_inner(division, headers) {}
        if headers.len() == tile.len() {
            division.tile = tile.iter().rev().map(|size| size.text.trim().to_owned()).collect();
        }
    }

    /// Takes loops without levels that are tight in one another. The directives of the loops that are in it then.
    fn take_tight(
        &self,
        region: Offer,
        below: Vec<usize>,
        division: &mut Division,
        headers: &mut Vec<Header>,
    ) -> Vec<usize> {
        let mut below = below;
        while let ([only], false, true) = (below.as_slice(), division.named.any(), division.tile.is_empty()) {
            let only = *only;
            let is_next = self.bound[only].stmt() == self.inner_loop(headers);
            if !self.is_plain(region, only) || !is_next || !self.take_inner(division, headers) {
                break;
            }
            division.directives.push(only);
            below = self.loops_below(only);
        }
        below
    }

    /// Whether the clauses of a parallel loop say nothing of its levels and its shape.
    fn is_plain(&self, region: Offer, at: usize) -> bool {
        let clauses = self.clauses(at);
        let collapse = clauses.collapse.map_or(1, |(size, _)| size.text.trim().parse().unwrap_or(1));
        let has_levels = clauses.gang || clauses.worker || clauses.vector;
        let has_shape = collapse > 1 || clauses.tile.is_some_and(|sizes| !sizes.is_empty());
        let is_parallel = !clauses.seq && !clauses.auto && (clauses.independent || !region.is_kernels);
        is_parallel && !has_levels && !has_shape
    }

    /// The loop that is all there is in the innermost of some loops.
    fn inner_loop(&self, headers: &[Header]) -> Option<StmtId> {
        sema::only_loop(self.unit, headers.last()?.body)
    }

    /// Takes the loop that is tight in the others.
    fn take_inner(&self, division: &mut Division, headers: &mut Vec<Header>) -> bool {
        let Some(only) = self.inner_loop(headers) else { return false };
        let Ok(inner) = sema::header(self.unit, self.symbols, only) else { return false };
        if !sema::is_tight(self.unit, self.symbols, headers, &inner) {
            return false;
        }
        headers.push(inner);
        division.stmts.push(only);
        true
    }

    /// How many parallel loops are nested in one another below.
    fn parallel_depth(&self, region: Offer, loops: &[usize]) -> usize {
        let depth = |at: &usize| {
            let clauses = self.clauses(*at);
            let is_canonical = self.bound[*at]
                .stmt()
                .is_some_and(|stmt| sema::header(self.unit, self.symbols, stmt).is_ok());
            let has_levels = clauses.gang || clauses.worker || clauses.vector;
            let is_parallel = !clauses.seq
                && is_canonical
                && (clauses.independent || !clauses.auto)
                && (!region.is_kernels || clauses.independent || has_levels);
            usize::from(is_parallel) + self.parallel_depth(region, &self.loops_below(*at))
        };
        loops.iter().map(depth).max().unwrap_or(0)
    }

    /// Whether the gangs divide a loop inside of the loop of a directive, or calls there: all of them run its iterations.
    fn is_around_gangs(&self, at: usize, stmt: StmtId) -> bool {
        let is_gang = |inner: usize| {
            let clauses = self.clauses(inner);
            clauses.gang && !clauses.seq
        };
        descendants(self.bound, at).any(is_gang)
            || self.plan.routines.levels_in(self.unit, self.symbols, stmt).gang
    }

    /// What the clauses of some directives say of the sizes of the levels.
    fn sizes(&self, directives: &[usize]) -> RequestedSizes {
        let directives = directives.iter().map(|at| &self.bound[*at].directive);
        RequestedSizes::of(directives.flat_map(|directive| counting(directive, self.device_type)))
    }

    /// Whether the bounds of a loop are read from memory, or kept in variables that were.
    fn is_ragged(&self, header: &Header) -> bool {
        let bounds = [header.first, header.bound];
        let names = bounds.iter().flat_map(|expr| sema::reads_of_expr(self.unit, self.symbols, *expr));
        let declared = names.filter_map(|symbol| self.unit.decl(self.symbols.get(symbol).decl?).init);
        bounds.into_iter().chain(declared).any(|expr| is_read(self.unit, expr))
    }
}

/// Whether an expression reads an element of an array, or what a pointer leads to.
fn is_read(unit: &Unit, expr: ExprId) -> bool {
    let mut pending = vec![expr];
    while let Some(expr) = pending.pop() {
        let kind = &unit.expr(expr).kind;
        if matches!(kind, ExprKind::Index(..) | ExprKind::Deref(_)) {
            return true;
        }
        pending.extend(kind.children());
    }
    false
}

#[cfg(test)]
mod tests;
