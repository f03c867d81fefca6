//! What a queue needs of the code around it: variables that live until its work is done.
//!
//! Invariant: says what could go wrong; changes nothing.

use crate::acc::ast::{Clause, ClauseKind, DataClause, Directive, DirectiveKind};
use crate::bind::{Bound, descendants};
use crate::diag;
use crate::host::ir::{Expr, ExprKind, FunctionId, StmtId, StmtKind, Unit};
use crate::sema::{Class, SymbolId, SymbolKind, uses};

use super::{Item, Maker, Names, Sharing};

impl Maker<'_> {
    /// Says which local variables a queued directive may outlive: those that it maps, in a function that waits for
    /// nothing behind it.
    pub(super) fn outlived(&mut self, index: usize) {
        let directive = &self.bound[index].directive;
        let is_queued = is_queued(directive);
        let Some(function) = self.bound[index].function.filter(|_| is_queued) else { return };
        if directive.kind == DirectiveKind::Wait || self.waits_behind(index, function) {
            return;
        }
        let brings = |clause: &Clause| matches!(clause.kind, ClauseKind::Data(DataClause::Copyin { .. }, _));
        if directive.kind == DirectiveKind::EnterData && directive.clauses.iter().any(brings) {
            self.diags.push(diag::queued_data(directive.span));
        }
        let names: Vec<String> = self
            .mapped(index)
            .into_iter()
            .map(|symbol| self.symbols.get(symbol))
            .filter(|symbol| {
                matches!(symbol.kind, SymbolKind::Local | SymbolKind::Parameter)
                    && !symbol.is_reference
                    && matches!(symbol.class, Class::Scalar | Class::Array | Class::Record)
            })
            .map(|symbol| symbol.name.clone())
            .collect();
        for name in names {
            self.diags.push(diag::may_not_outlive(self.bound[index].directive.span, &name));
        }
    }

    /// Notes that directive `index`, which names data at once, must wait: a queued `enter data` before it brings them, and
    /// in OpenACC they count as present from there on.
    pub(super) fn behind_queued_data(&mut self, index: usize) {
        let bound = &self.bound[index];
        let Some(function) = bound.function else { return };
        let here = bound.directive.span.start;
        let names = self.mapped(index);
        let is_before = |before: &&Bound| {
            before.function == Some(function)
                && before.directive.kind == DirectiveKind::EnterData
                && is_queued(&before.directive)
        };
        let body = self.unit.function(function).span.start;
        let first = self.bound.partition_point(|one| one.directive.span.start < body);
        let called = self
            .entering_calls
            .iter()
            .any(|call| body <= *call && *call < here && !self.waits_between(*call, here));
        let waits = called
            || self.bound[first..index].iter().filter(is_before).any(|before| {
                let from = before.directive.span.start;
                let lists = before.directive.clauses.iter().flat_map(|clause| super::list(&clause.kind));
                let mut symbols = lists.filter_map(|item| self.symbols.lookup(&item.base.text, from));
                symbols.any(|symbol| names.contains(&symbol)) && !self.waits_between(from, here)
            });
        if waits {
            self.plan.waiting.insert(index);
        }
    }

    /// Notes that the `data` region of directive `index` ends while work of queues inside it may not be done: OpenACC
    /// programs count on their memory, so the host waits at its end.
    pub(super) fn ends_before_queues(&mut self, index: usize) {
        let is_block = |stmt: &StmtId| matches!(self.unit.stmt(*stmt).kind, StmtKind::Block(_));
        let Some(stmt) = self.bound[index].stmt().filter(is_block) else { return };
        let end = self.unit.stmt(stmt).span.end;
        let pending =
            descendants(self.bound, index).filter(|at| is_queued(&self.bound[*at].directive)).any(|at| {
                let directive = &self.bound[at].directive;
                directive.kind != DirectiveKind::Wait && !self.waits_between(directive.span.start, end)
            });
        if pending {
            self.plan.waiting_at_end.insert(index);
        }
    }

    fn waits_between(&self, from: u32, to: u32) -> bool {
        let is_between = |at: u32| from < at && at < to;
        let mut waits = self.bound.iter().filter(|one| one.directive.kind == DirectiveKind::Wait);
        waits.any(|one| is_between(one.directive.span.start))
            || self.waiting_calls.iter().any(|call| is_between(*call))
    }

    /// The variables that a directive maps: those of its data clauses, and those that it copies without one.
    fn mapped(&self, index: usize) -> Names {
        let here = self.bound[index].directive.span.start;
        let clauses = self.bound[index].directive.clauses.iter();
        let data = clauses.filter(|clause| {
            matches!(
                clause.kind,
                ClauseKind::Data(..)
                    | ClauseKind::UseDevice(_)
                    | ClauseKind::UpdateSelf(_)
                    | ClauseKind::UpdateDevice(_)
            )
        });
        let listed = data.flat_map(|clause| super::list(&clause.kind)).map(|item| item.base.text.as_str());
        let implied = match &self.plan.items[index] {
            Item::Launch(launch) => launch.attributes.as_slice(),
            _ => &[],
        };
        let implied = implied.iter().filter(|one| one.sharing == Sharing::Copy).map(|one| one.item.as_str());
        let mut mapped: Names =
            listed.chain(implied).filter_map(|name| self.symbols.lookup(name, here)).collect();
        if let Some(stmt) = self.bound[index].stmt() {
            let used = uses(self.unit, self.symbols, stmt);
            let is_aggregate = |symbol: &SymbolId| {
                matches!(self.symbols.get(*symbol).class, Class::Array | Class::Record)
                    && !self.is_inside(*symbol, stmt)
            };
            mapped.extend(used.iter().map(|(symbol, _)| symbol).filter(is_aggregate));
        }
        mapped
    }

    /// Whether something behind directive `index` in its function, or in a loop around it, waits.
    fn waits_behind(&self, index: usize, function: FunctionId) -> bool {
        let here = self.bound[index].directive.span.start;
        let body = self.unit.function(function).span;
        let is_wait = |directive: &Directive| {
            directive.kind == DirectiveKind::Wait
                || directive.clauses.iter().any(|clause| matches!(clause.kind, ClauseKind::Wait(_)))
        };
        let first = self.bound.partition_point(|one| one.directive.span.start < body.start);
        let mut inside = self.bound[first..].iter().take_while(|one| body.contains(one.directive.span));
        inside.any(|one| is_wait(&one.directive) && one.directive.span.start > here)
            || self.waiting_calls.iter().any(|call| body.start <= *call && here < *call && *call < body.end)
    }
}

/// The places where the code calls a routine that queues data for the device.
pub(super) fn entering_calls(unit: &Unit) -> Vec<u32> {
    let enters = calls(unit)
        .filter(|callee| matches!(&callee.kind, ExprKind::Name(name) if name == "acc_copyin_async"));
    enters.map(|callee| callee.span.start).collect()
}

fn calls(unit: &Unit) -> impl Iterator<Item = &Expr> {
    unit.exprs.iter().filter_map(|expr| match &expr.kind {
        ExprKind::Call { callee, .. } => Some(unit.expr(*callee)),
        _ => None,
    })
}

/// The places where the code calls a routine that waits.
pub(super) fn waiting_calls(unit: &Unit) -> Vec<u32> {
    let waits = calls(unit).filter(|callee| {
        matches!(&callee.kind, ExprKind::Name(name)
            if name.starts_with("acc_wait") || name.starts_with("acc_async_wait") || name.starts_with("acc_async_test"))
    });
    waits.map(|callee| callee.span.start).collect()
}

fn is_queued(directive: &Directive) -> bool {
    let mut clauses = directive.clauses.iter();
    clauses.any(|clause| matches!(&clause.kind, ClauseKind::Async(queue) if !is_synchronous(queue.as_ref())))
}

fn is_synchronous(queue: Option<&crate::acc::ast::Expr>) -> bool {
    queue.is_some_and(|queue| queue.text.trim() == "acc_async_sync")
}
