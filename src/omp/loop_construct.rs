//! The `loop` construct of OpenMP 5.0, which leaves it to the compiler to distribute the iterations: where it may stand.
//!
//! Invariant: nothing that OpenMP forbids in a `loop` region is in one, and a variable has the copies that the plan gives it.

use crate::acc::ast::DirectiveKind;
use crate::bind::{Bound, ancestors, descendants};
use crate::host::ir::{ExprKind, StmtId, Unit};
use crate::plan::{Attribute, Item, Launch, Plan, Sharing, WorkLoop};
use crate::sema::{self, Symbols};

/// Deeper chains of calls are not followed.
const DEPTH: usize = 8;

/// How loops are said to run in parallel, from OpenMP 5.0 on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Nest {
    /// By `distribute`, `parallel` and `for`: who distributes what.
    #[default]
    Distribute,
    /// By `loop`, where it may stand.
    Loop,
}

/// What decides whether `loop` may stand in a construct.
#[derive(Clone, Copy)]
pub struct Ground<'a> {
    /// The file's code.
    pub unit: &'a Unit,
    /// Its names.
    pub symbols: &'a Symbols,
    /// Its directives.
    pub bound: &'a [Bound],
    /// What becomes of them.
    pub plan: &'a Plan,
}

impl Ground<'_> {
    /// Whether the loops of the compute construct that directive `index` is or stands in can be `loop` constructs.
    pub fn takes(self, index: usize) -> bool {
        let is_compute = |at: &usize| self.bound[*at].directive.kind.is_compute();
        let mut around = std::iter::once(index).chain(ancestors(self.bound, index));
        let Some(construct) = around.find(is_compute) else { return false };
        let Some(stmt) = self.bound[construct].stmt() else { return false };
        let mut inside = std::iter::once(construct).chain(descendants(self.bound, construct));
        let is_inserted = |(at, _): &(usize, WorkLoop)| {
            *at == construct || ancestors(self.bound, *at).any(|up| up == construct)
        };
        let mut inserted = self.plan.inserted.iter().filter(|(_, _, launch)| launch.directive == construct);
        inside.all(|at| self.fits(at))
            && inserted.all(|(_, _, launch)| self.launch_fits(launch))
            && !self.plan.inserted_loops.iter().any(is_inserted)
            && self.calls_nothing(stmt, DEPTH)
    }

    /// Whether what becomes of a directive may stand in a `loop` region, or be one: no `atomic`, no text that asks who runs it.
    fn fits(self, at: usize) -> bool {
        let kind = self.bound[at].directive.kind;
        let is_loop = kind.is_compute() || kind.is_loop();
        if !is_loop && !matches!(kind, DirectiveKind::Cache | DirectiveKind::End(_)) {
            return false;
        }
        match &self.plan.items[at] {
            Item::Launch(launch) => self.launch_fits(launch),
            Item::Loop(work) => {
                // Teams combine nothing where they only divide a loop, and `bind(teams)` is for one thread of each.
                let is_whole = work.spread.gangs && work.spread.lanes;
                let combines = work.spread.gangs && work.attributes.iter().any(is_reduction);
                self.loop_fits(work) && !is_whole && !combines
            }
            Item::Gone | Item::Clauses { .. } => true,
            Item::Left | Item::ByOneGang | Item::Divided(_) | Item::Declare { .. } | Item::Routine { .. } => {
                false
            }
        }
    }

    fn launch_fits(self, launch: &Launch) -> bool {
        let is_copied = |one: &Attribute| one.sharing == Sharing::Firstprivate;
        !launch.attributes.iter().any(is_copied)
            && launch.nest.as_ref().is_none_or(|nest| self.loop_fits(nest))
    }

    /// A `loop` of the gangs takes no `firstprivate` and no chunks; and where only they distribute it, their threads must have a
    /// loop inside, or they might share it, too. flang 22 does not know `parallel loop`.
    fn loop_fits(self, work: &WorkLoop) -> bool {
        let is_plain = |one: &Attribute| match one.sharing {
            Sharing::Firstprivate => !work.spread.gangs,
            Sharing::Reduction(_) => !one.item.contains(['[', '(']) && one.entry == "clause/reduction",
            Sharing::Private | Sharing::Copy | Sharing::Deviceptr => true,
        };
        let fits_inside = match &work.elements {
            Some(elements) => self.loop_fits(elements),
            None => work.spread.lanes || self.has_lanes_inside(work.stmt),
        };
        let is_written = work.spread.gangs || !self.unit.is_fortran();
        is_written && work.sizes.chunk.is_none() && fits_inside && work.attributes.iter().all(is_plain)
    }

    /// Whether a loop for the lanes of a gang stands in a statement.
    fn has_lanes_inside(self, stmt: StmtId) -> bool {
        let whole = self.unit.stmt(stmt).span;
        let inside = |work: &WorkLoop| work.stmt != stmt && whole.contains(self.unit.stmt(work.stmt).span);
        self.plan
            .items
            .iter()
            .any(|item| matches!(item, Item::Loop(work) if work.spread.lanes && inside(work)))
    }

    /// Whether a statement calls no procedure that may contain directives of OpenMP, or call its library.
    fn calls_nothing(self, stmt: StmtId, depth: usize) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        let uses = sema::uses(self.unit, self.symbols, stmt);
        let is_named = |kind: &ExprKind| matches!(kind, ExprKind::Name(_));
        let mut exprs = self.unit.exprs_in(self.unit.stmt(stmt).span);
        let all_named = exprs.all(|expr| match &expr.kind {
            ExprKind::Call { callee, .. } => is_named(&self.unit.expr(*callee).kind),
            _ => true,
        });
        all_named && uses.calls.keys().all(|name| sema::is_mathematical(name) || self.is_free(name, depth))
    }

    /// Whether a function is defined in the file, without directives but `routine`.
    fn is_free(self, name: &str, depth: usize) -> bool {
        let mut functions =
            self.unit.functions.iter().enumerate().filter(|(_, one)| match self.unit.is_fortran() {
                true => one.name.eq_ignore_ascii_case(name),
                false => one.name == name,
            });
        let (Some((at, function)), None) = (functions.next(), functions.next()) else { return false };
        let has = |one: &Bound| {
            one.function.is_some_and(|of| of.0 as usize == at) && one.directive.kind != DirectiveKind::Routine
        };
        !self.bound.iter().any(has) && self.calls_nothing(function.body, depth)
    }
}

fn is_reduction(one: &Attribute) -> bool {
    matches!(one.sharing, Sharing::Reduction(_))
}
