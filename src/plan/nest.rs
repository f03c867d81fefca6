//! Loop nests: which loops are distributed, across gangs, across the lanes of a gang, or across both.
//!
//! Invariant: a loop is spread only if the program says that its iterations are independent and the target takes its header.

use rustc_hash::FxHashMap;

use crate::acc::ast::{DirectiveKind, GangArgument, ListItem, ReductionOp};
use crate::bind::descendants;
use crate::diag;
use crate::host::ir::{BinaryOp, Concurrent, ExprKind, StmtId, StmtKind};
use crate::sema::{self, Class, Header, NotCanonical, SymbolId};
use crate::source::Span;

use super::strips::{self, Strip};
use super::{Attribute, Input, Item, Maker, Region, Sharing, Sizes, Spread, WorkLoop};

/// The loops of a nest that have become constructs, with their variables.
pub(super) type Controlled = FxHashMap<StmtId, SymbolId>;

/// The compute construct whose loops are spread: its bound directive, and what kind of region it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Construct {
    pub(super) index: usize,
    pub(super) region: Region,
    /// The loop is the launch itself: its variables are the launch's.
    pub(super) is_launch: bool,
}

/// A loop directive that may be spread.
struct Candidate {
    at: usize,
    stmt: StmtId,
    headers: Vec<Header>,
    /// The sizes of its tiles, outermost loop first, if the loops can be tiled.
    tile: Vec<String>,
    /// The loops over its tiles and their elements, where these are written out.
    strips: Vec<Strip>,
    /// The inner loop of `collapse(force:)`, with code beside it, and the loops that are tight in it.
    forced: Option<(StmtId, Vec<Header>)>,
    /// It is such an inner loop itself.
    is_forced: bool,
}

impl Candidate {
    /// The inner loop of `collapse(force:)` at directive `at`.
    fn forced(at: usize, stmt: StmtId, headers: Vec<Header>) -> Candidate {
        let (tile, strips) = (Vec::new(), Vec::new());
        Candidate { at, stmt, headers, tile, strips, forced: None, is_forced: true }
    }

    fn is_tiled(&self) -> bool {
        !self.tile.is_empty() || !self.strips.is_empty()
    }
}

/// What becomes of the loops of a region.
#[derive(Debug, Default)]
pub(super) struct Inside {
    /// A loop is divided among the gangs.
    pub(super) over_gangs: bool,
    /// Loops that one gang must run.
    pub(super) once: Vec<usize>,
}

/// The edge of a tile whose size `*` leaves open.
pub const TILE: &str = "16";

const BOTH: Spread = Spread { gangs: true, lanes: true };
const GANGS: Spread = Spread { gangs: true, lanes: false };
const LANES: Spread = Spread { gangs: false, lanes: true };

impl Input<'_> {
    /// The `do concurrent` that the loop `stmt` stands for.
    fn concurrent(&self, stmt: StmtId) -> Option<&Concurrent> {
        self.unit.concurrent.iter().find(|one| one.stmt == stmt && one.nested.is_some())
    }

    /// The only loop among other statements in the innermost of `outer`, with as many tightly nested loops in it as `wanted`, if it
    /// can be distributed by itself: the code beside it runs once per iteration of the loops around, as it is written.
    fn loose_inner(&self, at: usize, outer: &[Header], wanted: usize) -> Option<(StmtId, Vec<Header>)> {
        let StmtKind::Block(list) = &self.unit.stmt(outer.last()?.body).kind else { return None };
        let mut loops = list.iter().copied().filter(|stmt| self.header(*stmt).is_ok());
        let (Some(inner), None) = (loops.next(), loops.next()) else { return None };
        if !self.begins_line(inner) || !self.loops_below(at).is_empty() || self.is_barred(inner) {
            return None;
        }
        let header = self.header(inner).ok()?;
        let trips = sema::trip_constant(self.unit, &header);
        if trips.is_some_and(|trips| trips < self.settings.preference.short_trip) {
            return None;
        }
        let mut headers = vec![header];
        while outer.len() + headers.len() < wanted {
            headers.push(self.tight_inner(&headers)?.1);
        }
        Some((inner, headers))
    }

    /// Whether no other code stands before the statement on its line.
    pub(super) fn begins_line(&self, stmt: StmtId) -> bool {
        let start = self.unit.stmt(stmt).span.start;
        let line = self.file.lines.span(self.file.lines.line(start));
        self.file.text(Span { start: line.start, end: start }).trim().is_empty()
    }

    /// The header of a loop that the target takes.
    fn header(&self, stmt: StmtId) -> Result<Header, NotCanonical> {
        let header = sema::header(self.unit, self.symbols, stmt)?;
        match self.settings.preference.not_equal {
            Err(why) if header.compare == BinaryOp::NotEqual => Err(NotCanonical(why)),
            _ => Ok(header),
        }
    }

    /// The canonical loop that is all there is in the innermost of `outer`, with bounds that stay the same.
    fn tight_inner(&self, outer: &[Header]) -> Option<(StmtId, Header)> {
        let only = sema::only_loop(self.unit, outer.last()?.body)?;
        let header = self.header(only).ok()?;
        sema::is_tight(self.unit, self.symbols, outer, &header).then_some((only, header))
    }

    /// The loops over the tiles have variables of their own.
    fn tile_counters(&self, headers: &[Header]) -> Vec<Attribute> {
        let counters = headers.iter().filter(|header| !header.declared);
        let attribute = |header: &Header| Attribute {
            sharing: Sharing::Private,
            item: self.symbols.get(header.var).name.clone(),
            entry: "implicit/scalar-temporary",
        };
        counters.map(attribute).collect()
    }

    /// What the clauses of a nest and the gangs' own values ask for.
    fn stated_attributes(
        &self,
        merged: &[usize],
        is_forced: bool,
        carried: Vec<Attribute>,
    ) -> Vec<Attribute> {
        let mut attributes = self.own_attributes(merged);
        // What is private to the loops of `collapse(force:)` is set beside the inner one.
        attributes.retain(|attribute| !is_forced || matches!(attribute.sharing, Sharing::Reduction(_)));
        for reduction in carried {
            if !attributes.iter().any(|other| other.item == reduction.item) {
                attributes.push(reduction);
            }
        }
        attributes
    }

    fn holds_atomic(&self, at: usize) -> bool {
        descendants(self.bound, at).any(|below| self.bound[below].directive.kind == DirectiveKind::Atomic)
    }

    /// Whether the loop directive itself asks for the vector lanes.
    fn takes_lanes(&self, at: usize) -> bool {
        self.clauses(at).vector
    }

    fn is_short(&self, inner: &Candidate) -> bool {
        let trips = inner.headers.first().and_then(|header| sema::trip_constant(self.unit, header));
        trips.is_some_and(|trips| trips < self.settings.preference.short_trip)
    }

    /// Why a loop may not be divided inside another one, if it may not: it uses arrays of variable length.
    fn barred(&self, stmt: StmtId) -> Option<&'static str> {
        let why = self.settings.preference.variable_length_inside.err()?;
        let used = sema::uses(self.unit, self.symbols, stmt);
        let is_variable = |symbol| sema::has_variable_length(self.unit, self.symbols, symbol);
        used.iter().any(|(symbol, _)| is_variable(symbol)).then_some(why)
    }

    fn is_barred(&self, stmt: StmtId) -> bool {
        self.barred(stmt).is_some()
    }

    /// Whether one of the loops counts with a pointer between addresses of an array, which the profile's compiler loses where
    /// one construct divides the loop among gangs and lanes.
    fn loses_bounds(&self, headers: &[Header]) -> bool {
        let is_object = |symbol: SymbolId| {
            let class = self.symbols.get(symbol).class;
            matches!(class, Class::Array | Class::Record | Class::Unknown)
        };
        let is_lost = |header: &Header| {
            let bounds = [header.first, header.bound].into_iter();
            let mut named = bounds.flat_map(|expr| sema::reads_of_expr(self.unit, self.symbols, expr));
            self.symbols.get(header.var).class == Class::Pointer
                && named.any(|symbol| symbol != header.var && is_object(symbol))
        };
        self.settings.preference.loses_address_bounds && headers.iter().any(is_lost)
    }

    /// The `for` statements of a tight nest, outermost first.
    pub(super) fn loop_statements(&self, stmt: StmtId, count: usize) -> Vec<StmtId> {
        let body = |stmt: &StmtId| {
            let header = self.header(*stmt).ok()?;
            sema::only_loop(self.unit, header.body)
        };
        std::iter::successors(Some(stmt), body).take(count).collect()
    }

    /// Whether the inner loop's trip count is read from memory, as rows of a sparse matrix do: it may be short, and
    /// differ from one outer iteration to the next. Bounds that follow from the outer variables alone are not ragged.
    fn is_ragged(&self, outer: &[Header], inner: &Candidate) -> bool {
        let Some(last) = outer.last() else { return false };
        let changed = sema::uses(self.unit, self.symbols, last.body);
        let varies = |symbol: SymbolId| changed.of(symbol).is_some_and(|used| used.written);
        let (Some(header), Some(body)) = (inner.headers.first(), inner.headers.last()) else { return false };
        let own = sema::uses(self.unit, self.symbols, body.body);
        header.values().any(|expr| {
            let reads = sema::reads_of_expr(self.unit, self.symbols, expr);
            let is_loaded = matches!(self.unit.expr(expr).kind, ExprKind::Index(..) | ExprKind::Deref(_));
            is_loaded
                || reads
                    .into_iter()
                    .any(|symbol| varies(symbol) && own.of(symbol).is_none_or(|own| !own.written))
        })
    }

    /// Whether the body of a loop holds a loop that is not known to be short.
    fn has_long_loop(&self, header: Option<&Header>) -> bool {
        let Some(header) = header else { return false };
        let inside = self.unit.stmt_ids_in(self.unit.stmt(header.body).span);
        inside.into_iter().any(|stmt| match self.unit.stmt(stmt).kind {
            StmtKind::For { .. } => {
                let trips = self.header(stmt).ok().and_then(|header| sema::trip_constant(self.unit, &header));
                trips.is_none_or(|trips| trips >= self.settings.preference.short_trip)
            }
            StmtKind::While { .. } | StmtKind::DoWhile { .. } => true,
            _ => false,
        })
    }

    /// Whether the target prefers one flat loop for a nest in `stmt`: one that reduces nothing and uses many elements, or whose
    /// gangs reduce in two steps.
    fn is_better_flat(&self, stmt: StmtId, directives: &[usize], is_launch: bool) -> bool {
        let elements = || sema::elements(self.unit, self.unit.stmt(stmt).span).len();
        let reductions: Vec<(ReductionOp, &ListItem)> =
            directives.iter().flat_map(|at| self.clauses(*at).reduction).collect();
        if let ([at, ..], false) = (directives, reductions.is_empty()) {
            let reductions = reductions.iter().map(|(operator, item)| (*operator, item.base.text.as_str()));
            return is_launch && self.sums(*at, stmt, reductions).is_some();
        }
        self.settings.preference.flat_from.is_some_and(|from| elements() >= from)
    }

    /// The iterations of a loop as an expression of the source: for `for (i = 0; i < n; i++)` it is `n`.
    fn trips(&self, header: &Header) -> Option<String> {
        // Fortran counts from one and takes the last value, too.
        let (compare, start) = match self.unit.is_fortran() {
            true => (BinaryOp::LessEqual, 1),
            false => (BinaryOp::Less, 0),
        };
        let plain = header.step.is_none() && !header.down && header.compare == compare;
        if !plain {
            return None;
        }
        let bound = self.unit.expr(header.bound);
        let simple = matches!(bound.kind, ExprKind::Name(_) | ExprKind::Int(_));
        let from_start = matches!(self.unit.expr(header.first).kind, ExprKind::Int(first) if first == start);
        (simple && from_start).then(|| self.file.text(bound.span).into_owned())
    }
}

impl Maker<'_> {
    /// The nest at `at` as the one loop of launch `index`; `None` if its outermost loop is sequential.
    pub(super) fn nest(
        &mut self,
        index: usize,
        at: usize,
        stmt: StmtId,
        region: Region,
        attributes: &mut Vec<Attribute>,
    ) -> Option<WorkLoop> {
        let candidate = self.candidate(at, stmt, region, true)?;
        if region == Region::Parallel && self.is_around_gangs(at, &candidate.headers) {
            return None;
        }
        let mut controlled = Controlled::default();
        let construct = Construct { index, region, is_launch: true };
        Some(self.spread(construct, candidate, BOTH, &mut controlled, attributes))
    }

    /// All loops directly in the region of launch `index`, or in sequential loops there. With `lanes_only`, the region has one
    /// gang, and its lanes take all loops.
    pub(super) fn loops_inside(
        &mut self,
        index: usize,
        lanes_only: bool,
        attributes: &mut Vec<Attribute>,
    ) -> Inside {
        let mut inside = Inside::default();
        let all = if lanes_only { LANES } else { BOTH };
        let mut pending: Vec<(usize, Spread)> =
            self.input.loops_below(index).into_iter().map(|at| (at, all)).collect();
        while let Some((at, available)) = pending.pop() {
            let Some(stmt) = self.input.bound[at].stmt() else { continue };
            let Some(candidate) = self.spreadable(index, at, stmt, available, attributes) else {
                let once = self.input.must_run_once(at);
                self.in_order(index, at, once, attributes);
                inside.once.extend(once.then_some(at));
                let below = if once { LANES } else { available };
                pending.extend(self.input.loops_below(at).into_iter().map(|at| (at, below)));
                continue;
            };
            let mut controlled = Controlled::default();
            let construct = Construct { index, region: Region::Parallel, is_launch: false };
            let work = self.spread(construct, candidate, available, &mut controlled, attributes);
            if work.spread.gangs {
                inside.over_gangs = true;
                self.input.combine_gangs(index, at, &work.attributes, attributes);
            }
            self.report_implicit_gang(index, at, &work);
            self.plan.items[at] = Item::Loop(Box::new(work));
        }
        inside
    }

    /// The loop of directive `at` in region `index`, if it can be divided over what is `available`.
    fn spreadable(
        &mut self,
        index: usize,
        at: usize,
        stmt: StmtId,
        available: Spread,
        attributes: &[Attribute],
    ) -> Option<Candidate> {
        let candidate = self.candidate(at, stmt, Region::Parallel, true)?;
        let headers = &candidate.headers;
        if self.is_around_gangs(at, headers) {
            return None;
        }
        let construct = Construct { index, region: Region::Parallel, is_launch: false };
        let is_alone = || !self.input.carried(construct, (at, stmt), headers, attributes).alone.is_empty();
        (available.gangs || !is_alone()).then_some(candidate)
    }

    /// Whether the gangs divide a loop in the loop of directive `at`, and not this one: all of them run its iterations.
    fn is_around_gangs(&mut self, at: usize, headers: &[Header]) -> bool {
        self.input.calls_gangs(at)
            || self.input.is_redundant_loop(at)
                && self.tight_directive(at, headers, Region::Parallel).is_none()
    }

    /// The loop at `at`, if it is to run in parallel. With `say`, a diagnostic tells why it is not.
    fn candidate(&mut self, at: usize, stmt: StmtId, region: Region, say: bool) -> Option<Candidate> {
        let directive = &self.input.bound[at].directive;
        let span = directive.name_span;
        let clauses = self.input.clauses(at);
        if clauses.seq {
            return None;
        }
        // What is left to the compiler was settled before.
        if region == Region::Kernels && !clauses.independent {
            return None;
        }
        let ranks = self.input.concurrent(stmt).map(|one| one.indices.len());
        let mut headers = match self.input.header(stmt) {
            Ok(header) => vec![header],
            Err(why) => {
                if say {
                    self.diags.push(diag::not_canonical(span, why.0));
                }
                return None;
            }
        };
        let count = clauses.collapse.map(|(count, force)| (count.text.trim().parse::<usize>(), force));
        let (wanted, why) = match (clauses.tile, count) {
            (Some(sizes), _) => (sizes.len(), "the loops of `tile` are not tightly nested"),
            (None, Some((Ok(count), true))) => {
                (count, "there is code between the loops of `collapse(force:)`")
            }
            (None, Some((Ok(count), false))) => (count, "the loops of `collapse` are not tightly nested"),
            (None, Some((Err(_), _))) => (usize::MAX, "the number in `collapse` is not a literal"),
            (None, None) => (1, ""),
        };
        let wanted = wanted.max(ranks.unwrap_or(1));
        while headers.len() < wanted && wanted < usize::MAX {
            let Some(inner) = self.input.tight_inner(&headers) else { break };
            headers.push(inner.1);
        }
        if ranks.is_some_and(|ranks| headers.len() < ranks) {
            if say {
                self.diags.push(diag::not_canonical(span, "its body changes what its indices run to"));
            }
            return None;
        }
        let is_forced = clauses.tile.is_none() && clauses.collapse.is_some_and(|(_, force)| force);
        let forced = if is_forced && headers.len() < wanted {
            self.input.loose_inner(at, &headers, wanted)
        } else {
            None
        };
        let only = headers.last().and_then(|last| sema::only_loop(self.input.unit, last.body));
        let depends = wanted < usize::MAX && only.is_some_and(|only| self.input.header(only).is_ok());
        let why = if depends { "the bounds of the loops in it depend on it" } else { why };
        if say && headers.len() < wanted && forced.is_none() {
            self.diags.push(diag::loop_sequential(span, why));
        }
        let tiles = clauses.tile.filter(|_| self.input.settings.preference.tiles && headers.len() == wanted);
        let size = |size: &str| if size.trim() == "*" { TILE.to_owned() } else { size.to_owned() };
        let tile = tiles.unwrap_or_default().iter().rev().map(|expr| size(&expr.text)).collect();
        let strips = clauses.tile.filter(|_| tiles.is_none() && headers.len() == wanted);
        let strips = strips.filter(|_| self.input.settings.preference.strips);
        let strips =
            strips.and_then(|sizes| self.input.strips(at, stmt, &headers, sizes)).unwrap_or_default();
        Some(Candidate { at, stmt, headers, tile, strips, forced, is_forced: false })
    }

    /// The loop directive, to be run in parallel, on the loop that is all there is in the innermost of `headers`.
    fn tight_directive(&mut self, below: usize, headers: &[Header], region: Region) -> Option<Candidate> {
        let (stmt, _) = self.input.tight_inner(headers)?;
        let at = self
            .input
            .loops_below(below)
            .into_iter()
            .find(|at| self.input.bound[*at].stmt() == Some(stmt))?;
        let inner = self.candidate(at, stmt, region, false)?;
        let all_tight = inner
            .headers
            .iter()
            .all(|header| sema::is_tight(self.input.unit, self.input.symbols, headers, header));
        all_tight.then_some(inner)
    }

    /// Spreads one loop over what is `available`, and the loops inside it over what it leaves.
    fn spread(
        &mut self,
        construct: Construct,
        outer: Candidate,
        available: Spread,
        controlled: &mut Controlled,
        launch: &mut Vec<Attribute>,
    ) -> WorkLoop {
        let Construct { index, region, .. } = construct;
        let carried = self.input.carried(construct, (outer.at, outer.stmt), &outer.headers, launch);
        let is_alone = !carried.alone.is_empty() || self.input.loses_bounds(&outer.headers);
        self.input.copy_carried(&carried, launch);
        // What is in a tile stays in one thread.
        let mut outer = outer;
        let has_strips = !is_alone && self.are_worth_strips(&outer, available, &carried.reductions);
        outer.strips.retain(|_| has_strips);
        let lanes_taken = self.input.takes_lanes(outer.at) || outer.is_tiled();
        let (merged, split) = match is_alone {
            true => (vec![outer.at], None),
            false => self.merge_tight(&mut outer, construct, available, lanes_taken),
        };
        let Candidate { at, stmt, headers, tile, strips, forced, is_forced } = outer;
        self.note_loops(at, stmt, headers.len(), controlled);
        let innermost = *merged.last().unwrap_or(&at);
        let (inner, ragged) = match split {
            Some(inner) => (vec![inner], false),
            None => self.inner_candidates(innermost, &headers, region, available.gangs && !lanes_taken),
        };
        let forced = forced.filter(|_| available.gangs && available.lanes);
        let forced = forced.map(|(stmt, headers)| Candidate::forced(at, stmt, headers));
        let is_whole = inner.is_empty() && forced.is_none() && !is_alone;
        let spread = taken(available, is_whole);
        let sizes = self.sizes(&merged, spread);
        let mut attributes = self.input.stated_attributes(&merged, is_forced, carried.reductions);
        let beside = forced.as_ref().map(|inner| inner.stmt);
        let mut inner_work: Vec<(usize, WorkLoop)> = Vec::new();
        let runs_long = inner.iter().any(|one| self.input.has_long_loop(one.headers.last()));
        for candidate in inner.into_iter().chain(forced) {
            let inner_at = candidate.at;
            let inside = Construct { is_launch: false, ..construct };
            let work = self.spread(inside, candidate, LANES, controlled, launch);
            inner_work.push((inner_at, work));
        }
        self.rest_stays_sequential(stmt, &merged, &inner_work, &mut attributes);
        self.input.reductions_through(&headers, &mut attributes, &mut inner_work);
        let nest = (stmt, headers.as_slice(), carried.alone.as_slice());
        self.temporaries(construct, spread, nest, controlled, &mut attributes, launch);
        let is_by_threads = !strips::fill_lanes(&strips, self.input.settings.preference.short_trip);
        if !tile.is_empty() || !strips.is_empty() && is_by_threads {
            attributes.extend(self.input.tile_counters(&headers));
        }
        let has_busy_rows =
            have_free_lanes(&inner_work) && (runs_long || reduce_more(&inner_work, &attributes));
        self.place(inner_work, beside);
        self.input.copy_reductions(index, stmt, spread, &attributes, launch);
        let is_tiled = !tile.is_empty() || !strips.is_empty();
        let has_teams = construct.is_launch && spread.gangs && !is_tiled;
        let (tables, team_sums) = self.input.of_teams(has_teams, at, stmt, [&attributes, launch]);
        let exchange = self.input.exchange_in(at, stmt, &headers).filter(|_| !is_tiled);
        let first = headers.first();
        let work = WorkLoop {
            stmt,
            spread,
            collapse: headers.len(),
            tile,
            strips: Vec::new(),
            elements: None,
            exchange,
            tables,
            team_sums,
            sizes,
            attributes,
            is_plain: !self.input.holds_atomic(at),
            is_heavy: ragged || spread == BOTH && self.input.has_long_loop(headers.last()),
            has_busy_rows,
            trips: first.filter(|_| headers.len() == 1).and_then(|header| self.input.trips(header)),
            trip_constant: first.and_then(|header| sema::trip_constant(self.input.unit, header)),
        };
        strips::parted(work, strips, self.input.settings.preference.short_trip, construct.is_launch)
    }

    /// Whether the tiles of a nest become loops of their own: the gangs share them out, and the lanes of each the elements of a
    /// tile. In Fortran a reduction stays on one loop, as in `merge_tight`.
    fn are_worth_strips(&self, nest: &Candidate, available: Spread, reductions: &[Attribute]) -> bool {
        let is_reduction = |one: &Attribute| matches!(one.sharing, Sharing::Reduction(_));
        let own = self.input.own_attributes(&[nest.at]);
        let reduces = own.iter().chain(reductions).any(is_reduction);
        available == BOTH && !self.input.is_barred(nest.stmt) && !(self.input.unit.is_fortran() && reduces)
    }

    /// Takes the loops of directives that are tight in one another into the candidate: its directives, and the innermost loop
    /// if it is to be divided by itself.
    fn merge_tight(
        &mut self,
        outer: &mut Candidate,
        construct: Construct,
        available: Spread,
        lanes_taken: bool,
    ) -> (Vec<usize>, Option<Candidate>) {
        let Construct { region, is_launch, .. } = construct;
        let mut merged = vec![outer.at];
        // Chunks are counted in iterations of the loop that asks for them.
        let stays = outer.is_tiled() || outer.forced.is_some() || self.input.has_chunks(outer.at);
        while !stays
            && let Some(inner) =
                self.tight_directive(*merged.last().unwrap_or(&outer.at), &outer.headers, region)
        {
            let directives = [merged.as_slice(), &[inner.at]].concat();
            let flat = self.input.settings.preference.collapse_tight
                || self.input.is_better_flat(outer.stmt, &directives, is_launch)
                || !available.gangs
                || lanes_taken
                || self.input.is_short(&inner)
                || self.changes_places(outer, &inner)
                || self.input.is_barred(inner.stmt);
            if self.input.loses_bounds(&inner.headers) {
                break;
            }
            if !flat && self.tight_directive(inner.at, &inner.headers, region).is_none() {
                return (merged, Some(inner));
            }
            outer.headers.extend(&inner.headers);
            merged.push(inner.at);
        }
        (merged, None)
    }

    /// Whether memory suits a nest better if a loop of the candidate changes places with the loop that is tight in it, which then
    /// runs as one with it.
    fn changes_places(&self, outer: &Candidate, inner: &Candidate) -> bool {
        let headers = [outer.headers.as_slice(), &inner.headers].concat();
        !self.input.takes_lanes(inner.at) && self.input.exchange_in(outer.at, outer.stmt, &headers).is_some()
    }

    /// Notes the variables of the loops that become one, and which of them `do concurrent` stands for.
    fn note_loops(&mut self, at: usize, stmt: StmtId, count: usize, controlled: &mut Controlled) {
        for header_stmt in self.input.loop_statements(stmt, count) {
            if let Ok(header) = sema::header(self.input.unit, self.input.symbols, header_stmt) {
                let unseen = sema::unseen_type(self.input.unit, self.input.symbols, &header);
                self.diags.extend(unseen.map(diag::bound_not_seen));
                controlled.insert(header_stmt, header.var);
            }
            if self.input.concurrent(header_stmt).is_some() {
                self.plan.concurrent.insert(header_stmt, at);
            }
        }
    }

    /// The loops inside a construct's loop, `around` them, that are not constructs themselves.
    fn rest_stays_sequential(
        &mut self,
        around: StmtId,
        merged: &[usize],
        inner: &[(usize, WorkLoop)],
        attributes: &mut Vec<Attribute>,
    ) {
        let loops: Vec<usize> = merged.iter().copied().chain(inner.iter().map(|(at, _)| *at)).collect();
        let below: Vec<usize> = merged.iter().flat_map(|at| self.input.loops_below(*at)).collect();
        for below in below.into_iter().filter(|below| !loops.contains(below)) {
            self.stays_sequential(below, around, &loops, attributes);
        }
    }

    /// Gives the inner loops their items; the one that stands `beside` other code has no directive of its own.
    fn place(&mut self, inner: Vec<(usize, WorkLoop)>, beside: Option<StmtId>) {
        for (at, work) in inner {
            if beside == Some(work.stmt) {
                self.plan.inserted_loops.push((at, work));
            } else {
                self.plan.items[at] = Item::Loop(Box::new(work));
            }
        }
    }

    /// What the clauses of the loops that make up one construct say of how many share it out.
    fn sizes(&mut self, merged: &[usize], spread: Spread) -> Sizes {
        let mut sizes = Sizes::default();
        for at in merged {
            let clauses = self.input.clauses(*at);
            for argument in clauses.gang_arguments.iter().filter(|_| spread.gangs) {
                let (place, expr) = match argument {
                    GangArgument::Num(expr) => (&mut sizes.gangs, expr),
                    GangArgument::Static(expr) => (&mut sizes.chunk, expr),
                    GangArgument::Dim(expr) => {
                        self.plan.applied.insert(expr.span);
                        continue;
                    }
                };
                if place.is_none() {
                    *place = Some(expr.text.clone());
                    self.plan.applied.insert(expr.span);
                }
            }
            for expr in clauses.lanes.iter().filter(|_| spread.lanes) {
                sizes.lanes.push(expr.text.clone());
                self.plan.applied.insert(expr.span);
            }
        }
        sizes
    }

    /// The loops inside `at` that get the lanes; and whether some were passed over because their trip count varies.
    fn inner_candidates(
        &mut self,
        at: usize,
        outer: &[Header],
        region: Region,
        lanes_left: bool,
    ) -> (Vec<Candidate>, bool) {
        let mut found = Vec::new();
        let mut ragged = false;
        // The lanes are wanted for the loops inside, however short or uneven these are.
        let are_few = self.input.are_few(outer);
        let mut pending = self.input.loops_below(at);
        while let Some(inner_at) = pending.pop() {
            let Some(stmt) = self.input.bound[inner_at].stmt() else { continue };
            match self.candidate(inner_at, stmt, region, false) {
                Some(inner) if !lanes_left || self.input.is_barred(inner.stmt) => drop(inner),
                Some(inner) if are_few && self.input.is_short(&inner) => {
                    let (longer, _) = self.inner_candidates(inner_at, outer, region, lanes_left);
                    if longer.is_empty() { found.push(inner) } else { found.extend(longer) }
                }
                Some(inner) if !are_few && self.input.is_short(&inner) => drop(inner),
                Some(inner) if !are_few && self.input.is_ragged(outer, &inner) => ragged = true,
                Some(inner) => found.push(inner),
                None => pending.extend(self.input.loops_below(inner_at)),
            }
        }
        found.sort_by_key(|inner| inner.at);
        (found, ragged)
    }

    /// A loop inside a distributed one, `around` it, that gets no construct of its own, with the loops in it except those in `spread`.
    fn stays_sequential(
        &mut self,
        at: usize,
        around: StmtId,
        spread: &[usize],
        attributes: &mut Vec<Attribute>,
    ) {
        let clauses = self.input.clauses(at);
        let is_implied = self.input.bound[at].text.is_none();
        if !clauses.seq && !is_implied && matches!(self.plan.items[at], Item::Gone) {
            let full = "the loops around it already fill the device";
            let why = self.input.bound[at].stmt().and_then(|stmt| {
                self.input.barred(stmt).or_else(|| self.input.header(stmt).err().map(|why| why.0))
            });
            let why = why.unwrap_or(full);
            self.diags.push(diag::loop_sequential(self.input.bound[at].directive.name_span, why));
        }
        self.hoist_private(at, around, attributes);
        for below in self.input.loops_below(at) {
            if matches!(self.plan.items[below], Item::Gone) && !spread.contains(&below) {
                self.stays_sequential(below, around, spread, attributes);
            }
        }
    }

    /// Sequential loops of a whole construct: their `private` and `reduction` become the construct's.
    pub(super) fn sequential_loops(
        &mut self,
        index: usize,
        stmt: StmtId,
        combined: Option<usize>,
        attributes: &mut Vec<Attribute>,
    ) {
        let mut found: Vec<(Attribute, StmtId)> = attributes.iter().map(|one| (one.clone(), stmt)).collect();
        for at in combined.into_iter().chain(self.input.all_loops_below(index)) {
            let mut own = self.inner_attributes(at);
            own.retain(|one| {
                !self.input.is_shared_around(index, at, one)
                    && !self.input.is_declared_around(at, stmt, &one.item)
            });
            found.extend(own.into_iter().map(|one| (one, self.input.bound[at].stmt().unwrap_or(stmt))));
        }
        for (attribute, place) in found {
            match attribute.sharing {
                Sharing::Reduction(_) => {
                    self.input.copy_reduction(index, stmt, place, &attribute, attributes)
                }
                Sharing::Private | Sharing::Firstprivate if !attributes.contains(&attribute) => {
                    attributes.push(attribute)
                }
                Sharing::Private | Sharing::Firstprivate | Sharing::Copy | Sharing::Deviceptr => {}
            }
        }
        attributes.retain(|attribute| !matches!(attribute.sharing, Sharing::Reduction(_)));
    }
}

/// What a loop takes of what is available: with nothing else to be divided inside, all.
fn taken(available: Spread, is_whole: bool) -> Spread {
    match (available.gangs, available.lanes) {
        (true, true) if is_whole => BOTH,
        (true, _) => GANGS,
        (false, _) => LANES,
    }
}

/// Whether loops are divided among lanes, and no clause says how many.
fn have_free_lanes(inner: &[(usize, WorkLoop)]) -> bool {
    inner.iter().all(|(_, work)| work.sizes.lanes.is_empty())
}

/// Whether loops that are divided among lanes reduce something that the loop around them does not.
fn reduce_more(inner: &[(usize, WorkLoop)], outer: &[Attribute]) -> bool {
    let is_reduction = |one: &Attribute| matches!(one.sharing, Sharing::Reduction(_));
    let is_more = |one: &Attribute| {
        is_reduction(one) && !outer.iter().any(|other| is_reduction(other) && other.item == one.item)
    };
    inner.iter().any(|(_, work)| work.attributes.iter().any(is_more))
}
