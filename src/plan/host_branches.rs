//! Branches of `kernels` regions around loops that run in parallel: the host runs them, by a condition that it knows or that
//! the device computes before.
//!
//! Invariant: a condition is computed once, where the region would have computed it, of the values that the region has there.

use crate::acc::ast::{ClauseKind, ListItem, PathStep};
use crate::host::ir::{ExprId, ExprKind, StmtId, StmtKind};
use crate::sema::{self, Class, SymbolId, SymbolKind, uses};
use crate::source::{Form, Language};

use super::{Attribute, Condition, Gangs, Input, Launch, Maker, Region};

/// A condition of Fortran must be so short that its statement fits on a line: of fixed form, and of free form.
const LONGEST: [u32; 2] = [40, 80];

impl Input<'_> {
    /// Whether the device can compute the condition of the branch `stmt` of region `index` for the host.
    pub(super) fn may_ask(&self, index: usize, stmt: StmtId) -> bool {
        let StmtKind::If { cond, .. } = self.unit.stmt(stmt).kind else { return false };
        let is_queued = self.clauses_are(index, |kind| matches!(kind, ClauseKind::Async(_)));
        let span = self.unit.expr(cond).span;
        let longest = LONGEST[usize::from(self.file.language == Language::Fortran(Form::Free))];
        let fits = || {
            let line = |at: u32| self.file.lines.line(at);
            span.len() as u32 <= longest && line(span.start) == line(span.end)
        };
        self.settings.asks
            && !is_queued
            && !self.any_expr(cond, &|kind| matches!(kind, ExprKind::Opaque(_)))
            && (!self.unit.is_fortran() || self.is_if(stmt) && fits() && !self.reads_component(cond))
    }

    /// Whether a branch of Fortran is an `if` construct, and no `else if` of one.
    fn is_if(&self, stmt: StmtId) -> bool {
        let text = self.file.text(self.unit.stmt(stmt).span);
        text.get(..2).is_some_and(|word| word.eq_ignore_ascii_case("if"))
    }

    fn clauses_are(&self, index: usize, wanted: fn(&ClauseKind) -> bool) -> bool {
        self.bound[index].directive.clauses.iter().any(|clause| wanted(&clause.kind))
    }

    fn any_expr(&self, expr: ExprId, wanted: &dyn Fn(&ExprKind) -> bool) -> bool {
        let kind = &self.unit.expr(expr).kind;
        wanted(kind) || kind.children().any(|child| self.any_expr(child, wanted))
    }

    fn reads_component(&self, expr: ExprId) -> bool {
        self.any_expr(expr, &|kind| matches!(kind, ExprKind::Member { .. }))
    }

    /// The variable of which `expr` is a scalar part, if the host's value of that part is the one that counts in the region:
    /// the region and the data directives say nothing of the variable.
    pub(super) fn is_host_part(&self, region: StmtId, expr: ExprId) -> bool {
        let ExprKind::Member { base, name, arrow: false } = &self.unit.expr(expr).kind else { return false };
        let Some(symbol) = self.symbols.named(self.unit, *base) else { return false };
        let known = self.symbols.get(symbol);
        let is_plain = match (&known.record, self.unit.is_fortran()) {
            (Some(record), true) => self.symbols.component(record, name).is_some_and(|part| {
                !part.is_pointer && !part.is_allocatable && part.rank == 0 && part.record.is_none()
            }),
            (None, true) => false,
            (_, false) => true,
        };
        let used = uses(self.unit, self.symbols, region);
        // A dummy argument of Fortran, or what a contained procedure may change: nothing else reaches it.
        let is_quiet = || used.calls.keys().all(|name| sema::is_pure_intrinsic(name));
        let is_reached = known.is_reference && !(self.unit.is_fortran() && is_quiet());
        let fortran = &known.fortran;
        let is_held = fortran.pointer || fortran.allocatable || fortran.target || is_reached;
        let is_changed =
            used.of(symbol).is_some_and(|how| how.written || how.part_written || how.address_taken);
        is_plain
            && !is_held
            && !is_changed
            && known.class == Class::Record
            && known.kind != SymbolKind::Member
            && !self.symbols.is_on_device(symbol)
            && !(0..self.bound.len()).any(|at| self.places(at, symbol, name))
    }

    /// Whether directive `at` says where the variable, or its component `name`, is on the device.
    fn places(&self, at: usize, symbol: SymbolId, name: &str) -> bool {
        let items = self.bound[at].directive.clauses.iter().flat_map(|clause| match &clause.kind {
            ClauseKind::Data(..) => super::list(&clause.kind),
            _ => &[],
        });
        let is_it = |item: &ListItem| match item.parts.first() {
            None => true,
            Some(PathStep::Member(part)) => part.text.eq_ignore_ascii_case(name),
            Some(PathStep::Section(_)) => true,
        };
        items.into_iter().any(|item| is_it(item) && self.symbol_of(at, item) == Some(symbol))
    }
}

impl Maker<'_> {
    /// Adds the conditions that the device computes for the branches `by_condition`; `attributes` of a launch are found by what it
    /// names.
    pub(super) fn ask(
        &mut self,
        index: usize,
        by_condition: &[StmtId],
        data_outside: bool,
        attributes: &dyn Fn(&[SymbolId], u32) -> Vec<Attribute>,
    ) {
        for stmt in by_condition.iter().copied() {
            let StmtKind::If { cond, .. } = self.input.unit.stmt(stmt).kind else { continue };
            let span = self.input.unit.expr(cond).span;
            let read = sema::reads_of_expr(self.input.unit, self.input.symbols, cond);
            let launch = Launch {
                region: Region::Kernels,
                directive: index,
                gangs: Gangs::One,
                attributes: attributes(&read, span.start),
                nest: None,
                data_outside,
            };
            let text = self.input.file.text(span).into_owned();
            self.plan.conditions.push(Condition { stmt, span, text, launch });
        }
    }
}
