//! The invariants of a plan, stated as a check: what a back end may count on.
//!
//! Invariant: a plan that the makers in this room return has no fault; debug builds check each one, and so does every test.

use std::collections::{BTreeMap, BTreeSet};

use crate::acc::ast::DirectiveKind;
use crate::bind::{Bound, ancestors, descendants};
use crate::host::ir::{StmtId, StmtKind, Unit};
use crate::sema::{self, SymbolId, Symbols};
use crate::source::Span;

use super::{Attribute, Gangs, Item, Launch, Plan, Sharing, Spread, WorkLoop, check_divisions, parts};

/// What is wrong with a plan. The number is the bound directive's.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// There is not one item and one note for each bound directive.
    Items,
    /// A table names a directive or a statement that does not exist.
    OutOfRange(usize),
    /// The item is not one that this kind of directive can have.
    WrongKind(usize),
    /// A part of a construct does not lie inside it.
    NotInside(usize),
    /// A construct is untranslated, and a part of it is not.
    PartOfUntranslated(usize),
    /// A construct is neither untranslated nor run.
    NotRun(usize),
    /// A statement of the construct is run twice.
    RunTwice(usize),
    /// A statement of the construct is not run.
    Forgotten(usize),
    /// A loop has no level.
    NoLevel(usize),
    /// A loop takes a level that a loop around it has taken, or that the launch does not have.
    LevelTaken(usize),
    /// The loops that are run as one are not there, or not as many as their tiles.
    NotNested(usize),
    /// The plan does not say how the loop of a directive is divided.
    Undivided(usize),
    /// A variable has two roles in one construct.
    TwoRoles(usize, String),
    /// A loop inside reduces the variable, and this loop around it, which carries the value, does not.
    NotReducedThrough(usize, String),
}

/// The faults of a plan; none if it is as it must be.
pub fn check(unit: &Unit, symbols: &Symbols, bound: &[Bound], plan: &Plan) -> Vec<Fault> {
    if [plan.items.len(), plan.notes.len()] != [bound.len(); 2] {
        return vec![Fault::Items];
    }
    let mut check = Check { unit, symbols, bound, plan, parts: BTreeMap::new(), faults: Vec::new() };
    check.ranges();
    if check.faults.is_empty() {
        check.sort_parts();
        for index in 0..bound.len() {
            check.item(index);
        }
        for (index, _, launch) in &plan.inserted {
            check.launch(*index, launch);
        }
        for (index, work) in &plan.inserted_loops {
            check.work_loop(*index, work);
        }
        for index in (0..bound.len()).filter(|at| bound[*at].directive.kind.is_compute()) {
            check.construct(index);
        }
    }
    check.faults.extend(check_divisions::faults(unit, bound, plan));
    check.faults.sort();
    check.faults.dedup();
    check.faults
}

struct Check<'a> {
    unit: &'a Unit,
    symbols: &'a Symbols,
    bound: &'a [Bound],
    plan: &'a Plan,
    /// What runs the statements of each construct.
    parts: BTreeMap<usize, Parts<'a>>,
    faults: Vec<Fault>,
}

/// What runs the statements of a construct.
#[derive(Default)]
struct Parts<'a> {
    launches: Vec<&'a Launch>,
    inserted: Vec<StmtId>,
    inserted_loops: Vec<(usize, &'a WorkLoop)>,
    by_host: Vec<StmtId>,
    conditions: Vec<StmtId>,
}

impl<'a> Check<'a> {
    fn expect(&mut self, holds: bool, fault: Fault) {
        if !holds {
            self.faults.push(fault);
        }
    }

    /// Whether every number in the plan's tables is one of a directive or a statement.
    fn ranges(&mut self) {
        let Plan { inserted, inserted_loops, arrays, concurrent, by_host, .. } = self.plan;
        let directives = [
            self.plan.callees.iter().map(|(at, _)| *at).collect::<Vec<usize>>(),
            self.plan.saved.iter().map(|one| one.directive).collect(),
            inserted.iter().map(|(at, ..)| *at).collect(),
            inserted_loops.iter().map(|(at, _)| *at).collect(),
            arrays.values().map(|one| one.directive).collect(),
            concurrent.values().copied().collect(),
            by_host.values().map(|one| one.directive).collect(),
        ];
        for at in directives.into_iter().flatten() {
            self.expect(at < self.bound.len(), Fault::OutOfRange(at));
        }
        let statements = (self.plan.host_runs.iter().copied())
            .chain(arrays.keys().copied())
            .chain(by_host.keys().copied())
            .chain(concurrent.keys().copied())
            .chain(inserted.iter().map(|(_, stmt, _)| *stmt));
        for stmt in statements {
            let number = stmt.0 as usize;
            self.expect(number < self.unit.stmts.len(), Fault::OutOfRange(number));
        }
        for launch in self.launches() {
            self.expect(launch.directive < self.bound.len(), Fault::OutOfRange(launch.directive));
        }
    }

    /// Sorts the launches of the plan and what stands beside them by their constructs.
    fn sort_parts(&mut self) {
        for launch in self.launches() {
            self.parts.entry(launch.directive).or_default().launches.push(launch);
        }
        for (at, stmt, _) in &self.plan.inserted {
            self.parts.entry(*at).or_default().inserted.push(*stmt);
        }
        for (at, work) in &self.plan.inserted_loops {
            let construct = self.compute_above(*at).unwrap_or(*at);
            self.parts.entry(construct).or_default().inserted_loops.push((*at, work));
        }
        for (stmt, one) in &self.plan.by_host {
            self.parts.entry(one.directive).or_default().by_host.push(*stmt);
        }
        for one in &self.plan.conditions {
            self.parts.entry(one.launch.directive).or_default().conditions.push(one.stmt);
        }
    }

    /// All launches of the plan, wherever they stand.
    fn launches(&self) -> Vec<&'a Launch> {
        let plan = self.plan;
        let items = plan.items.iter().filter_map(|item| match item {
            Item::Launch(launch) => Some(&**launch),
            _ => None,
        });
        items
            .chain(plan.inserted.iter().map(|(_, _, launch)| launch))
            .chain(plan.conditions.iter().map(|one| &one.launch))
            .chain(plan.singles())
            .collect()
    }

    /// Whether a directive may have its item.
    fn item(&mut self, index: usize) {
        let kind = self.bound[index].directive.kind;
        let in_compute = self.compute_above(index).is_some();
        let fits = match &self.plan.items[index] {
            Item::Left | Item::Gone => true,
            Item::Launch(launch) => {
                self.launch(index, launch);
                kind.is_compute() || kind == DirectiveKind::Loop && in_compute
            }
            Item::Loop(work) => {
                self.work_loop(index, work);
                kind == DirectiveKind::Loop && in_compute
            }
            Item::ByOneGang => kind == DirectiveKind::Loop,
            Item::Divided(_) => kind == DirectiveKind::Loop && !in_compute,
            Item::Clauses { .. } => {
                !matches!(kind, DirectiveKind::Loop | DirectiveKind::Routine | DirectiveKind::Declare)
                    && (!kind.is_compute()
                        || kind == DirectiveKind::Kernels
                        || kind == DirectiveKind::KernelsLoop)
            }
            Item::Declare { .. } => kind == DirectiveKind::Declare,
            Item::Routine { .. } => kind == DirectiveKind::Routine,
        };
        self.expect(fits, Fault::WrongKind(index));
    }

    fn compute_above(&self, index: usize) -> Option<usize> {
        ancestors(self.bound, index).find(|above| self.bound[*above].directive.kind.is_compute())
    }

    /// A launch for the directive at `index`: its own or the one around it.
    fn launch(&mut self, index: usize, launch: &Launch) {
        let from = launch.directive;
        let is_own = from == index || ancestors(self.bound, index).any(|above| above == from);
        let is_compute = self.bound[from].directive.kind.is_compute();
        self.expect(is_own && is_compute, Fault::NotInside(index));
        let mut attributes: Vec<&Attribute> = launch.attributes.iter().collect();
        if let Some(nest) = &launch.nest {
            let within = self.extent(from).unwrap_or(Span { start: 0, end: 0 });
            self.expect(within.contains(self.unit.stmt(nest.stmt).span), Fault::NotInside(index));
            let has_gangs = launch.gangs == Gangs::Many || !nest.spread.gangs;
            self.expect(has_gangs, Fault::LevelTaken(index));
            self.nested(index, nest);
            attributes.extend(&nest.attributes);
        }
        self.roles(index, &attributes);
    }

    /// A loop inside a launch, by the directive that governs it.
    fn work_loop(&mut self, index: usize, work: &WorkLoop) {
        self.nested(index, work);
        self.roles(index, &work.attributes.iter().collect::<Vec<_>>());
        let Some(construct) = self.compute_above(index).or(Some(index)) else { return };
        let own = self.unit.stmt(work.stmt).span;
        let is_inside = self.extent(construct).is_some_and(|whole| whole.contains(own));
        self.expect(is_inside, Fault::NotInside(index));
        let around = self.loops_around(construct, work.stmt);
        for (at, outer) in &around {
            let Spread { gangs, lanes } = outer.spread;
            let is_free = !(gangs && work.spread.gangs || lanes && work.spread.lanes);
            self.expect(is_free, Fault::LevelTaken(index));
            self.reduced_through(*at, outer, work);
        }
        let mut launches = self.parts.get(&construct).into_iter().flat_map(|one| &one.launches);
        let many = launches.any(|one| one.gangs == Gangs::Many);
        self.expect(many || !work.spread.gangs, Fault::LevelTaken(index));
    }

    /// The loops of a construct that get levels and hold `stmt`, with the directives that govern them.
    fn loops_around(&self, construct: usize, stmt: StmtId) -> Vec<(usize, &'a WorkLoop)> {
        let plan = self.plan;
        let inside = self.unit.stmt(stmt).span;
        let items = std::iter::once(construct).chain(descendants(self.bound, construct));
        let items = items.filter_map(|at| match &plan.items[at] {
            Item::Launch(launch) => launch.nest.as_ref().map(|nest| (at, nest)),
            Item::Loop(work) => Some((at, work)),
            _ => None,
        });
        let inserted =
            self.parts.get(&construct).into_iter().flat_map(|one| one.inserted_loops.iter().copied());
        let holds = |work: &WorkLoop| work.stmt != stmt && self.unit.stmt(work.stmt).span.contains(inside);
        items.chain(inserted).filter(|(_, work)| holds(work)).collect()
    }

    /// The loops that are run as one, and their tiles.
    fn nested(&mut self, index: usize, work: &WorkLoop) {
        let has_level = work.spread.gangs || work.spread.lanes;
        self.expect(has_level, Fault::NoLevel(index));
        let is_for = matches!(self.unit.stmt(work.stmt).kind, StmtKind::For { .. });
        let depth = sema::nested_loops(self.unit, work.stmt).take(work.collapse).count();
        let is_array = self.plan.arrays.contains_key(&work.stmt);
        let is_nest = is_array || is_for && depth == work.collapse && work.collapse > 0;
        let is_tiled = work.tile.is_empty() || work.tile.len() == work.collapse;
        self.expect(is_nest && is_tiled, Fault::NotNested(index));
    }

    /// Whether each variable has one role; a reduction's is copied, too.
    fn roles(&mut self, index: usize, attributes: &[&Attribute]) {
        let mut known: BTreeMap<&str, Vec<&Sharing>> = BTreeMap::new();
        for one in attributes {
            let roles = known.entry(&one.item).or_default();
            if !roles.contains(&&one.sharing) {
                roles.push(&one.sharing);
            }
        }
        // A program that asks for two roles itself gets what it asks for.
        let is_stated = |one: &&&Attribute| is_reduction(one) || one.entry.starts_with("clause/");
        for (item, roles) in known {
            let stated = attributes.iter().filter(|one| one.item == item).filter(is_stated);
            let stated: BTreeSet<&Sharing> = stated.map(|one| &one.sharing).collect();
            let copied = |one: &&&Sharing| matches!(one, Sharing::Copy);
            let reduced = |one: &&&Sharing| matches!(one, Sharing::Reduction(_));
            let is_result = roles.len() == 2
                && roles.iter().filter(copied).count() == 1
                && roles.iter().filter(reduced).count() == 1;
            self.expect(
                roles.len() == 1 || is_result || stated.len() > 1,
                Fault::TwoRoles(index, item.to_owned()),
            );
        }
    }

    /// Whether `outer` reduces what `inner` in it reduces, where the value is carried through its iterations (2.9.11).
    fn reduced_through(&mut self, index: usize, outer: &WorkLoop, inner: &WorkLoop) {
        let place = self.unit.stmt(inner.stmt).span.start;
        let body = self.loop_body(outer);
        let used = sema::uses(self.unit, self.symbols, body);
        for reduction in inner.attributes.iter().filter(|one| is_reduction(one)) {
            let Some(symbol) = self.symbols.lookup(super::sharing::base_of(&reduction.item), place) else {
                continue;
            };
            let is_carried = used.of(symbol).is_some_and(|how| how.exposed);
            let is_named = outer.attributes.iter().any(|one| one.item == reduction.item);
            let is_missing = is_carried && !is_named && !self.is_within(symbol, body);
            self.expect(!is_missing, Fault::NotReducedThrough(index, reduction.item.clone()));
        }
    }

    fn loop_body(&self, work: &WorkLoop) -> StmtId {
        let mut at = work.stmt;
        for _ in 0..work.collapse {
            let StmtKind::For { body, .. } = self.unit.stmt(at).kind else { return at };
            at = sema::only_loop(self.unit, body).unwrap_or(body);
        }
        at
    }

    fn is_within(&self, symbol: SymbolId, stmt: StmtId) -> bool {
        self.unit.stmt(stmt).span.contains(self.symbols.get(symbol).scope)
    }

    /// The bytes that a construct governs.
    fn extent(&self, index: usize) -> Option<Span> {
        self.bound[index].stmt().map(|stmt| self.unit.stmt(stmt).span)
    }

    /// Whether the launches of a construct run each of its statements once, or none does.
    fn construct(&mut self, index: usize) {
        let Some(region) = self.bound[index].stmt() else { return };
        let own = self.parts.remove(&index).unwrap_or_default();
        if matches!(self.plan.items[index], Item::Left) {
            let is_part = |at: usize| !matches!(self.plan.items[at], Item::Left | Item::Gone);
            let has_part = descendants(self.bound, index).any(is_part) || !own.launches.is_empty();
            return self.expect(!has_part, Fault::PartOfUntranslated(index));
        }
        let mut parts = self.run(index);
        parts.extend(own.inserted.iter().chain(&own.by_host));
        self.expect(!parts.is_empty(), Fault::NotRun(index));
        let spans: Vec<Span> = parts.iter().map(|stmt| self.unit.stmt(*stmt).span).collect();
        let whole = self.unit.stmt(region).span;
        self.expect(spans.iter().all(|span| whole.contains(*span)), Fault::NotInside(index));
        let overlap = |(at, one): (usize, &Span)| {
            spans[at + 1..].iter().any(|other| one.contains(*other) || other.contains(*one))
        };
        self.expect(!spans.iter().enumerate().any(overlap), Fault::RunTwice(index));
        let is_covered = self.covered(region, &parts, &own.conditions);
        self.expect(is_covered, Fault::Forgotten(index));
        if let Some(parts) = self.plan.kernels.get(&index) {
            let is_covered = self.covered(region, &parts::run(parts), &own.conditions);
            self.expect(is_covered, Fault::Forgotten(index));
        }
    }

    /// The statements that the launches by the lines of a construct's directives run.
    fn run(&self, index: usize) -> Vec<StmtId> {
        let plan = self.plan;
        let own = std::iter::once(index).chain(descendants(self.bound, index));
        let items = own.filter_map(|at| match &plan.items[at] {
            // The line of the construct may be the one of its only loop.
            Item::Launch(launch) if launch.directive == index && at == index => {
                launch.nest.as_ref().map(|nest| nest.stmt).or(self.bound[at].stmt())
            }
            Item::Launch(launch) if launch.directive == index => self.bound[at].stmt(),
            _ => None,
        });
        items.collect()
    }

    /// Whether `parts` and what the host runs around them are all of `stmt`.
    fn covered(&self, stmt: StmtId, parts: &[StmtId], by_condition: &[StmtId]) -> bool {
        if parts.contains(&stmt) {
            return true;
        }
        let is_run = self.plan.host_runs.contains(&stmt) || by_condition.contains(&stmt);
        match &self.unit.stmt(stmt).kind {
            StmtKind::Empty => true,
            StmtKind::Block(list) => list.iter().all(|stmt| self.covered(*stmt, parts, by_condition)),
            kind => is_run && parts::bodies(kind).iter().all(|body| self.covered(*body, parts, by_condition)),
        }
    }
}

fn is_reduction(attribute: &Attribute) -> bool {
    matches!(attribute.sharing, Sharing::Reduction(_))
}
