//! Variables that a loop without a construct of its own has private, and whose values the code around it needs afterwards.
//!
//! Invariant: what is not reported has the same values with one variable for both.

use std::collections::{BTreeMap, BTreeSet};

use crate::acc::ast::ListItem;
use crate::bind::ancestors;
use crate::diag;
use crate::host::ir::{ExprKind, StmtId};
use crate::sema::{self, Class, SymbolId, uses};
use crate::source::Span;

use super::listed::{Code, private};
use super::{Attribute, Input, Maker, Names, Sharing, wanted};

/// Where variables are named, by their first bytes.
pub(super) type OuterNames = BTreeMap<SymbolId, Vec<u32>>;

impl Input<'_> {
    fn code(&self) -> Code<'_> {
        let (unit, symbols, bound) = (self.unit, self.symbols, self.bound);
        Code { unit, symbols, bound, device_type: &self.settings.device_type }
    }

    /// The compute construct around loop `at`, or the outermost loop where none is: a routine has it.
    fn outermost(&self, at: usize) -> usize {
        let around = || std::iter::once(at).chain(ancestors(self.bound, at));
        let construct = around().find(|one| self.bound[*one].directive.kind.is_compute());
        construct.or_else(|| around().last()).unwrap_or(at)
    }

    /// The variable of loop `at`, which is private to it (2.6.1), if code `around` it names that outside of such loops.
    fn counter_outside(&self, at: usize, around: Span) -> Option<SymbolId> {
        let symbol = self.governed_counter(at)?;
        let outside = self.outer_names.get_or_init(|| self.names_outside()).get(&symbol)?;
        let first = outside.partition_point(|place| *place < around.start);
        outside.get(first).is_some_and(|place| *place < around.end).then_some(symbol)
    }

    /// The loop of directive `at`, if the source has the directive.
    fn governed_loop(&self, at: usize) -> Option<StmtId> {
        let one = &self.bound[at];
        one.stmt().filter(|_| one.directive.kind.is_loop() && one.text.is_some())
    }

    /// The variable of the loop of a directive of the source, if it is declared before the loop.
    fn governed_counter(&self, at: usize) -> Option<SymbolId> {
        let stmt = self.governed_loop(at)?;
        match sema::header(self.unit, self.symbols, stmt) {
            Ok(header) => (!header.declared).then_some(header.var),
            Err(_) => sema::counting_member(self.unit, self.symbols, stmt),
        }
    }

    /// Where the variables of such loops are named outside of all those that count with them, in order.
    fn names_outside(&self) -> OuterNames {
        let mut loops: BTreeMap<SymbolId, Vec<Span>> = BTreeMap::new();
        for at in 0..self.bound.len() {
            if let (Some(symbol), Some(stmt)) = (self.governed_counter(at), self.bound[at].stmt()) {
                let own = self.unit.stmt(stmt).span;
                let known = loops.entry(symbol).or_default();
                if known.last().is_none_or(|last| !last.contains(own)) {
                    known.push(own);
                }
            }
        }
        let names: BTreeSet<&str> = loops.keys().map(|one| self.symbols.get(*one).name.as_str()).collect();
        let mut outside = OuterNames::new();
        for expr in &self.unit.exprs {
            let ExprKind::Name(name) = &expr.kind else { continue };
            let symbol = Some(name).filter(|name| names.contains(name.as_str()));
            let symbol = symbol.and_then(|name| self.symbols.lookup(name, expr.span.start));
            let Some((symbol, own)) = symbol.and_then(|one| Some((one, loops.get(&one)?))) else { continue };
            let after = own.partition_point(|one| one.start <= expr.span.start);
            if after == 0 || !own[after - 1].contains(expr.span) {
                outside.entry(symbol).or_default().push(expr.span.start);
            }
        }
        outside.values_mut().for_each(|places| places.sort_unstable());
        outside
    }

    /// Whether a loop in `part` of the `kernels` construct `index` has the variable `name` private, and nothing else there names it.
    fn is_private_in(&self, index: usize, part: StmtId, name: &str) -> bool {
        let around = self.unit.stmt(part).span;
        self.all_loops_below(index).into_iter().any(|at| {
            let inside = |stmt: &StmtId| around.contains(self.unit.stmt(*stmt).span);
            self.bound[at].stmt().filter(inside).is_some_and(|stmt| {
                let mut items = private(&self.bound[at]).filter(|item| item.base.text == name);
                items.any(|item| self.code().used_beside(stmt, item, around).is_none())
            })
        })
    }

    /// Whether each of the parts of the `kernels` construct `index` that use a variable has it private, and some do.
    pub(super) fn is_private_in_all(&self, index: usize, parts: &[StmtId], name: &str) -> bool {
        let uses_it = |part: &&StmtId| {
            let symbol = self.symbols.lookup(name, self.unit.stmt(**part).span.start);
            symbol.is_some_and(|symbol| uses(self.unit, self.symbols, **part).of(symbol).is_some())
        };
        let mut using = parts.iter().filter(uses_it).peekable();
        using.peek().is_some() && using.all(|part| self.is_private_in(index, *part, name))
    }

    /// The variable `name` that loop `at` has private, if code of the statement `around` names it outside of the loop.
    fn private_and_outside(&self, at: usize, around: StmtId, name: &str) -> Option<SymbolId> {
        let (inner, outer) = (self.bound[at].stmt()?, self.unit.stmt(around).span);
        let mut items = private(&self.bound[at]).filter(|item| item.base.text == name);
        items.find_map(|item| self.code().used_beside(inner, item, outer))
    }

    /// What the clauses of a loop without a construct say for the code `around` it, whose variables are the loop's: one that
    /// this code reads begins with its value.
    fn own_around(&self, at: usize, around: StmtId) -> Vec<Attribute> {
        let mut own = self.own_attributes(&[at]);
        let used = uses(self.unit, self.symbols, around);
        let is_read = |symbol: SymbolId| {
            let is_value = matches!(self.symbols.get(symbol).class, Class::Scalar | Class::Array);
            is_value && used.of(symbol).is_some_and(|how| how.exposed)
        };
        for one in own.iter_mut().filter(|one| one.sharing == Sharing::Private) {
            if self.private_and_outside(at, around, &one.item).is_some_and(is_read) {
                (one.sharing, one.entry) = (Sharing::Firstprivate, "clause/firstprivate");
            }
        }
        own
    }

    /// Whether the variable `name` of loop `at` is declared in the statement `around` it.
    pub(super) fn is_declared_around(&self, at: usize, around: StmtId, name: &str) -> bool {
        let place = self.bound[at].stmt().map(|stmt| self.unit.stmt(stmt).span.start);
        let symbol = place.and_then(|place| self.symbols.lookup(name, place));
        symbol.is_some_and(|symbol| self.is_inside(symbol, around))
    }

    /// Whether the code of a statement beside the loop in it changes a variable.
    fn is_changed_beside(&self, around: StmtId, own: StmtId, symbol: SymbolId) -> bool {
        let path = sema::path_to(self.unit, around, own);
        let changes = |stmt: StmtId| {
            uses(self.unit, self.symbols, stmt).of(symbol).is_some_and(|how| !how.is_unchanged())
        };
        let outer = path.iter().filter(|stmt| **stmt != own);
        let mut beside = outer.flat_map(|stmt| sema::children(self.unit, *stmt));
        beside.any(|stmt| !path.contains(&stmt) && changes(stmt))
    }

    /// Whether the only thread of a construct has a variable on the device that its loop `at` has private, and uses it beside
    /// the loop, or changes it there in `kernels`: one variable stands for both.
    pub(super) fn is_shared_around(&self, index: usize, at: usize, one: &Attribute) -> bool {
        let stmts = self.bound[index].stmt().zip(self.bound[at].stmt());
        let Some((around, own)) = stmts.filter(|_| one.sharing.is_private()) else { return false };
        let in_kernels = self.bound[index].directive.kind.is_kernels();
        self.private_and_outside(at, around, &one.item).is_some_and(|symbol| {
            self.stated(index).contains(&one.item)
                || in_kernels && self.is_changed_beside(around, own, symbol)
        })
    }
}

impl Maker<'_> {
    /// The clauses of loop `at`, which gets no construct, for the code of the construct around it.
    pub(super) fn inner_attributes(&mut self, at: usize) -> Vec<Attribute> {
        let index = self.input.outermost(at);
        let Some(around) = self.input.bound[index].stmt() else { return self.input.own_attributes(&[at]) };
        self.report_inner_private(at, self.input.unit.stmt(around).span);
        self.input.own_around(at, around)
    }

    /// The private variables of loops in `part` of the `kernels` construct `index`, which one thread runs: they are the
    /// launch's, unless the code around the loop uses them, too.
    pub(super) fn private_in_part(&mut self, index: usize, part: StmtId, attributes: &mut Vec<Attribute>) {
        let around = self.input.unit.stmt(part).span;
        for at in self.input.all_loops_below(index) {
            let Some(stmt) = self.input.bound[at].stmt() else { continue };
            let own = self.input.unit.stmt(stmt).span;
            if !around.contains(own) {
                continue;
            }
            self.report_inner_private(at, around);
            let listed = self.input.own_attributes(&[at]).into_iter();
            for one in listed.filter(|one| one.sharing == Sharing::Private) {
                if self.input.is_private_in(index, part, &one.item) && !attributes.contains(&one) {
                    attributes.retain(|other| other.item != one.item);
                    attributes.push(one);
                }
            }
        }
    }

    /// Reports the `private` variables of a loop without a construct whose values outside the code `around` it still needs.
    fn report_inner_private(&mut self, at: usize, around: Span) {
        let Some(stmt) = self.input.bound[at].stmt() else { return };
        let code = self.input.code();
        let items = private(&self.input.bound[at]);
        let used = items.filter_map(|item| Some((item, code.used_beside(stmt, item, around)?))).collect();
        let changed = self.report_changed(at, stmt, used);
        let counter = self.input.counter_outside(at, around).filter(|counter| !changed.contains(counter));
        self.report_counter(at, stmt, counter);
    }

    /// Reports the `private` variables of the loops of the `kernels` construct `index` that the host runs, as `host_runs`: what
    /// the launches inside assign is on the device, and is wanted after the loop. The host counts with the loop variables
    /// themselves.
    pub(super) fn report_run_private(&mut self, index: usize, host_runs: &[StmtId]) {
        for at in self.input.with_loops_below(index) {
            let Some(stmt) = self.input.bound[at].stmt().filter(|stmt| host_runs.contains(stmt)) else {
                continue;
            };
            let place = self.input.unit.stmt(stmt).span.start;
            let items = private(&self.input.bound[at]);
            let used =
                items.filter_map(|item| Some((item, self.input.symbols.lookup(&item.base.text, place)?)));
            let changed = self.report_changed(at, stmt, used.collect());
            let counter = self.input.governed_counter(at).filter(|counter| !changed.contains(counter));
            self.report_counter(at, stmt, counter);
        }
        for stmt in host_runs.iter().copied().filter(|_| self.input.unit.is_fortran()) {
            let governs = |at: usize| self.input.governed_loop(at) == Some(stmt);
            if !self.input.with_loops_below(index).any(governs) {
                let header = sema::header(self.input.unit, self.input.symbols, stmt);
                self.report_counter(index, stmt, header.ok().map(|header| header.var));
            }
        }
    }

    /// Reports the variables of the loops of a routine, of which `index` is an outermost one, that it wants after them.
    pub(super) fn report_counters(&mut self, index: usize) {
        for at in self.input.with_loops_below(index) {
            if let Some(stmt) = self.input.bound[at].stmt() {
                self.report_counter(at, stmt, self.input.governed_counter(at));
            }
        }
    }

    /// Reports the variable of loop `at`, the statement `stmt`, if it is wanted after it.
    fn report_counter(&mut self, at: usize, stmt: StmtId, counter: Option<SymbolId>) {
        let live = wanted::live_after(self.input.code(), at, stmt, &counter.into_iter().collect());
        let place = self.input.bound[at].directive.name_span;
        let names = live.into_iter().map(|counter| &self.input.symbols.get(counter).name);
        self.diags.extend(names.map(|name| diag::loop_variable_wanted(place, name)));
    }

    /// Reports those of the variables of loop `at`, the statement `stmt`, that it changes and that are wanted after it; all that
    /// it changes.
    fn report_changed(&mut self, at: usize, stmt: StmtId, used: Vec<(&ListItem, SymbolId)>) -> Names {
        let inside = uses(self.input.unit, self.input.symbols, stmt);
        let is_changed = |symbol: &SymbolId| {
            let has_parts = matches!(self.input.symbols.get(*symbol).class, Class::Array | Class::Record);
            inside.of(*symbol).is_some_and(|used| used.written || used.part_written && has_parts)
        };
        let changed: Names = used.iter().map(|(_, symbol)| *symbol).filter(is_changed).collect();
        let live = wanted::live_after(self.input.code(), at, stmt, &changed);
        // A condition is read again after the body.
        let code = self.input.code();
        let is_read_again = |item: &ListItem, symbol: &SymbolId| {
            let is_outside = code.own_extent(stmt, item) != code.unit.stmt(stmt).span;
            is_outside && changed.contains(symbol) && code.is_in_condition(stmt, &item.base.text)
        };
        let clobbered =
            used.into_iter().filter(|(item, symbol)| live.contains(symbol) || is_read_again(item, symbol));
        let place = self.input.bound[at].directive.name_span;
        // What the source does not list is the variable of the loop.
        let said = |item: &ListItem| match item.span.is_empty() {
            true => diag::loop_variable_wanted(place, &item.base.text),
            false => diag::inner_private(item.span, &item.base.text),
        };
        self.diags.extend(clobbered.map(|(item, _)| said(item)));
        changed
    }
}
