//! What a queue needs of the code around it: variables that live until its work is done.
//!
//! Invariant: says what could go wrong; changes nothing.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use crate::acc::Queue;
use crate::acc::ast::{Clause, ClauseKind, DataClause, Directive, DirectiveKind, Expr};
use crate::bind::{Bound, function_at};
use crate::diag;
use crate::host::ir::{ExprKind, FunctionId, ScopeKind, StmtId, StmtKind, Unit};
use crate::sema::{self, Class, SymbolId, SymbolKind, uses};
use crate::source::Span;

use super::{Input, Item, Maker, Names, QueuedElsewhere, Sharing};

/// A scalar that queued work brings back to the host, and the function of that work.
type Returned = (Option<FunctionId>, SymbolId);

impl Input<'_> {
    /// The scalars that `kernels` construct `index`, which is put into a queue, only reads, and whose values queued work may still
    /// have to bring to the host: they are copied when the queue reaches the construct (2.6.2), not when the host does.
    pub(super) fn pending_scalars(&self, index: usize, stmt: StmtId) -> BTreeSet<SymbolId> {
        let is_alone = self.queues.queued.len() < 2 && self.settings.queued_elsewhere.is_empty();
        if is_alone || !is_queued(&self.bound[index].directive, self.unit) {
            return BTreeSet::new();
        }
        let read = self.scalars_read(index, stmt);
        read.into_iter().filter(|symbol| self.may_come(index, *symbol)).collect()
    }

    /// Whether queued work may still have to bring the value of a scalar where directive `index` stands. The value of what a
    /// procedure gets by reference may have been asked for by those that call it.
    fn may_come(&self, index: usize, symbol: SymbolId) -> bool {
        let function = self.bound[index].function;
        let returned = self.queues.returned.get_or_init(|| self.returned());
        let known = self.symbols.get(symbol);
        let is_handed = known.kind == SymbolKind::Parameter && (known.is_reference || self.unit.is_fortran());
        // What has other names may be brought back by one of them.
        let has_other_names = known.fortran.is_equivalent || self.is_escaping(index, symbol);
        let comes = |one: &Returned| one.1 == symbol || is_handed && one.0 != function;
        let here = self.bound[index].directive.span.start;
        let mut elsewhere = self.queued_elsewhere(here);
        has_other_names || returned.iter().any(comes) || elsewhere.any(|one| self.brings(one, &comes))
    }

    /// Whether construct `index`, which is not put into a queue, waits for queues that may still have to bring scalars which it
    /// reads: it has their values when it has waited.
    pub(super) fn waits_for_scalars(&self, index: usize, stmt: StmtId) -> bool {
        let directive = &self.bound[index].directive;
        let mut clauses = directive.clauses.iter();
        if is_queued(directive, self.unit)
            || !clauses.any(|one| matches!(one.kind, ClauseKind::Wait(Some(_))))
        {
            return false;
        }
        let used = uses(self.unit, self.symbols, stmt);
        let is_scalar = |symbol| matches!(self.symbols.get(symbol).class, Class::Scalar | Class::Unknown);
        let mut read = used.iter().filter(|(symbol, how)| how.exposed && is_scalar(*symbol));
        read.any(|(symbol, _)| self.may_come(index, symbol))
    }

    /// The variables of which the clauses of a directive give each thread or gang its own.
    pub(super) fn own_of(&self, at: usize) -> Vec<SymbolId> {
        let clauses = self.clauses(at);
        let reduced = clauses.reduction.iter().map(|(_, item)| *item);
        let own = clauses.private.iter().chain(&clauses.firstprivate).copied().chain(reduced);
        own.filter_map(|item| self.symbol_of(at, item)).collect()
    }

    /// The scalars that queued work brings back to the host, each with the function of that work.
    fn returned(&self) -> Vec<Returned> {
        let mut returned = Vec::new();
        for at in self.queues.queued.iter().copied() {
            let function = self.bound[at].function;
            let symbols = self.brought_back(at).into_iter();
            let is_scalar =
                |symbol: &SymbolId| matches!(self.symbols.get(*symbol).class, Class::Scalar | Class::Unknown);
            returned.extend(symbols.filter(is_scalar).map(|symbol| (function, symbol)));
        }
        for call in &self.unit.exprs {
            let ExprKind::Call { callee, args } = &call.kind else { continue };
            let ExprKind::Name(name) = &self.unit.expr(*callee).kind else { continue };
            let comes = ["acc_copyout", "acc_update_self", "acc_update_host", "acc_memcpy_from_device"];
            if !name.ends_with("_async") || !comes.iter().any(|routine| name.starts_with(routine)) {
                continue;
            }
            let function = function_at(self.unit, call.span.start);
            let named = args.first().map(|first| sema::reads_of_expr(self.unit, self.symbols, *first));
            returned.extend(named.into_iter().flatten().map(|symbol| (function, symbol)));
        }
        returned.sort_unstable();
        returned.dedup();
        returned
    }

    /// The queued directives that other views translate, and that a build may read which reads what stands `here`.
    fn queued_elsewhere(&self, here: u32) -> impl Iterator<Item = &Directive> + use<'_> {
        let is_apart = move |beside: &[Span]| beside.iter().any(|one| (one.start..one.end).contains(&here));
        let all = self.settings.queued_elsewhere.iter().filter(move |one| !is_apart(&one.beside));
        all.map(|one| &one.directive).filter(|one| is_queued(one, self.unit))
    }

    /// Whether a queued directive that another view translates may bring the value of a variable: what `kernels` change is not
    /// known here.
    fn brings(&self, one: &Directive, comes: &dyn Fn(&Returned) -> bool) -> bool {
        let place = one.span.start;
        let function = function_at(self.unit, place);
        let lists = one.clauses.iter().flat_map(|clause| super::list(&clause.kind));
        let mut named = lists.filter_map(|item| self.symbols.lookup(&item.base.text, place));
        one.kind.is_kernels() || named.any(|symbol| comes(&(function, symbol)))
    }

    /// The queued `enter data` directives of a function between two places that other views translate.
    fn entered_elsewhere(
        &self,
        function: FunctionId,
        from: u32,
        to: u32,
    ) -> impl Iterator<Item = &Directive> + use<'_> {
        self.queued_elsewhere(to).filter(move |one| {
            one.kind == DirectiveKind::EnterData
                && (from..to).contains(&one.span.start)
                && function_at(self.unit, one.span.start) == Some(function)
        })
    }

    /// The variables that directive `index` brings back to the host.
    fn brought_back(&self, index: usize) -> Vec<SymbolId> {
        let clauses = self.clauses(index);
        let comes = |data: &DataClause| matches!(data, DataClause::Copy | DataClause::Copyout { .. });
        let data = clauses.data.iter().filter(|(data, _)| comes(data)).map(|(_, item)| *item);
        let updates = self.bound[index].directive.clauses.iter().flat_map(|clause| match &clause.kind {
            ClauseKind::UpdateSelf(list) => list.as_slice(),
            _ => &[],
        });
        let loops = self.with_loops_below(index);
        let reduced = loops.flat_map(|at| self.clauses(at).reduction).map(|(_, item)| item);
        let listed = data.chain(updates).chain(reduced);
        let mut all: Vec<SymbolId> = listed.filter_map(|item| self.symbol_of(index, item)).collect();
        let kind = self.bound[index].directive.kind;
        if let Some(stmt) = self.bound[index].stmt()
            && kind.is_kernels()
        {
            let used = uses(self.unit, self.symbols, stmt);
            let is_changed = |how: &sema::Use| how.written || how.address_taken;
            let is_own = |symbol| self.is_inside(symbol, stmt) || self.is_own_counter(stmt, symbol);
            let changed = used.iter().filter(|(symbol, how)| is_changed(how) && !is_own(*symbol));
            all.extend(changed.map(|(symbol, _)| symbol));
        }
        all
    }
}

impl Maker<'_> {
    /// Says which local variables a queued directive may outlive: those that it maps, in a function that waits for
    /// nothing after it.
    pub(super) fn outlived(&mut self, index: usize) {
        let directive = &self.input.bound[index].directive;
        let is_queued = is_queued(directive, self.input.unit);
        let Some(function) = self.input.bound[index].function.filter(|_| is_queued) else { return };
        let end = self.input.unit.function(function).span.end;
        if directive.kind == DirectiveKind::Wait || self.input.queues.holds(directive.span.start, end) {
            return;
        }
        let brings = |clause: &Clause| matches!(clause.kind, ClauseKind::Data(DataClause::Copyin { .. }, _));
        if directive.kind == DirectiveKind::EnterData && directive.clauses.iter().any(brings) {
            self.diags.push(diag::queued_data(directive.span));
        }
        if self.input.unit.is_fortran() {
            return self.held(index, function);
        }
        let names: Vec<String> = self
            .mapped(index)
            .into_iter()
            .map(|symbol| self.input.symbols.get(symbol))
            .filter(|symbol| {
                matches!(symbol.kind, SymbolKind::Local | SymbolKind::Parameter)
                    && !symbol.is_reference
                    && matches!(symbol.class, Class::Scalar | Class::Array | Class::Record)
            })
            .map(|symbol| symbol.name.clone())
            .collect();
        for name in names {
            self.diags.push(diag::may_not_outlive(self.input.bound[index].directive.span, &name));
        }
    }

    /// Notes that the host waits for directive `index` of a Fortran procedure that may return before its queue gets to it:
    /// what is local is gone by then, and so is what says where and how large a dummy argument is, and gfortran 12 looks there.
    fn held(&mut self, index: usize, function: FunctionId) {
        let scope = self.input.unit.scopes.iter().find(|scope| scope.function == Some(function));
        if scope.is_some_and(|scope| scope.kind == ScopeKind::Program) {
            return;
        }
        let goes = |symbol: &SymbolId| {
            let known = self.input.symbols.get(*symbol);
            match known.kind {
                SymbolKind::Local => {
                    self.input.unit.function(function).span.contains(known.scope)
                        || known.scope.contains(self.input.unit.function(function).span)
                }
                SymbolKind::Parameter => true,
                _ => false,
            }
        };
        if self.mapped(index).iter().any(goes) {
            let directive = &self.input.bound[index].directive;
            self.diags.push(diag::synchronous(directive.span, crate::acc::name(directive.kind)));
            self.plan.notes[index].is_held = true;
        }
    }

    /// Notes that directive `index`, which names data at once, must wait: a queued `enter data` before it brings them, and
    /// in OpenACC they count as present from there on.
    pub(super) fn after_queued_data(&mut self, index: usize) {
        let bound = &self.input.bound[index];
        let Some(function) = bound.function else { return };
        let here = bound.directive.span.start;
        // What is queued before the last wait is there.
        let since = self.input.unit.function(function).span.start.max(self.input.queues.last_wait(here));
        let called = self.input.queues.calls_enter(since, here);
        let names = self.mapped(index);
        let waits = called
            || self
                .input
                .queues
                .enters(self.input.bound, since, here)
                .filter(|one| one.function == Some(function))
                .map(|one| &one.directive)
                .chain(self.input.entered_elsewhere(function, since, here))
                .any(|before| {
                    let from = before.span.start;
                    let lists = before.clauses.iter().flat_map(|clause| super::list(&clause.kind));
                    let mut symbols =
                        lists.filter_map(|item| self.input.symbols.lookup(&item.base.text, from));
                    symbols.any(|symbol| names.contains(&symbol))
                });
        if waits {
            self.plan.notes[index].waits = true;
        }
    }

    /// Notes that the `data` region of directive `index` ends while work of queues inside it may not be done: OpenACC
    /// programs count on their memory, so the host waits at its end.
    pub(super) fn ends_before_queues(&mut self, index: usize) {
        let is_block = |stmt: &StmtId| matches!(self.input.unit.stmt(*stmt).kind, StmtKind::Block(_));
        let Some(stmt) = self.input.bound[index].stmt().filter(is_block) else { return };
        let end = self.input.unit.stmt(stmt).span.end;
        let after = self.input.queues.queued.partition_point(|at| *at <= index);
        let inside =
            self.input.queues.queued[after..].iter().map(|at| self.input.bound[*at].directive.span.start);
        let start = self.input.bound[index].directive.span.end;
        let elsewhere = self.input.settings.queued_elsewhere.iter();
        let elsewhere = elsewhere.map(|one| &one.directive).filter(|one| is_queued(one, self.input.unit));
        let elsewhere = elsewhere.map(|one| one.span.start);
        // What options choose from is translated once: the end is the same for all of them.
        let inside = inside.take_while(|at| *at < end);
        let pending = inside
            .chain(elsewhere.filter(|at| (start..end).contains(at)))
            .any(|at| !self.input.queues.waits(at, end));
        if pending {
            self.plan.notes[index].waits_at_end = true;
        }
    }

    /// The variables that a directive maps: those of its data clauses, and those that it copies without one.
    fn mapped(&self, index: usize) -> Names {
        let here = self.input.bound[index].directive.span.start;
        let clauses = self.input.bound[index].directive.clauses.iter();
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
            listed.chain(implied).filter_map(|name| self.input.symbols.lookup(name, here)).collect();
        if let Some(stmt) = self.input.bound[index].stmt() {
            let used = uses(self.input.unit, self.input.symbols, stmt);
            let own = self.input.clauses(index);
            let copied = own.private.iter().chain(&own.firstprivate);
            let copied: Vec<SymbolId> =
                copied.filter_map(|item| self.input.symbols.lookup(&item.base.text, here)).collect();
            let is_aggregate = |symbol: &SymbolId| {
                matches!(self.input.symbols.get(*symbol).class, Class::Array | Class::Record)
                    && !self.input.is_inside(*symbol, stmt)
                    && !copied.contains(symbol)
            };
            mapped.extend(used.iter().map(|(symbol, _)| symbol).filter(is_aggregate));
        }
        mapped
    }
}

/// Where one file waits for queues, and where it queues data, each in its order.
#[derive(Debug, Default)]
pub(super) struct Queues {
    /// `wait` directives, and calls of routines that wait.
    waits: Vec<u32>,
    /// Directives with a `wait` clause.
    clauses: Vec<u32>,
    /// Directives that are queued, except those that wait.
    queued: Vec<usize>,
    /// Queued `enter data` directives.
    enters: Vec<usize>,
    /// Calls of a routine that queues data for the device.
    entering_calls: Vec<u32>,
    /// The scalars that queued work brings back to the host, each with the function of that work.
    returned: OnceCell<Vec<Returned>>,
}

impl Queues {
    /// Looks for them. What stands `elsewhere` waits if the view shows it.
    pub(super) fn new(unit: &Unit, bound: &[Bound], elsewhere: &[QueuedElsewhere]) -> Queues {
        let is_wait = |one: &&Directive| one.kind == DirectiveKind::Wait;
        let has_clause =
            |one: &&Directive| one.clauses.iter().any(|clause| matches!(clause.kind, ClauseKind::Wait(_)));
        let start = |one: &Directive| one.span.start;
        let shown = elsewhere.iter().filter(|one| one.is_shown).map(|one| &one.directive);
        let shown: Vec<&Directive> = bound.iter().map(|one| &one.directive).chain(shown).collect();
        let waiting_calls = calls(unit, |name| {
            ["acc_wait", "acc_async_wait", "acc_async_test"].iter().any(|waits| name.starts_with(waits))
        });
        let mut waits: Vec<u32> =
            shown.iter().copied().filter(is_wait).map(start).chain(waiting_calls).collect();
        waits.sort_unstable();
        let mut clauses: Vec<u32> = shown.iter().copied().filter(has_clause).map(start).collect();
        clauses.sort_unstable();
        let is_kind = |at: usize, kind: DirectiveKind| bound[at].directive.kind == kind;
        let queued = (0..bound.len())
            .filter(|at| is_queued(&bound[*at].directive, unit) && !is_kind(*at, DirectiveKind::Wait));
        let queued: Vec<usize> = queued.collect();
        let mut entering_calls: Vec<u32> = calls(unit, |name| name == "acc_copyin_async").collect();
        entering_calls.sort_unstable();
        Queues {
            waits,
            clauses,
            enters: queued.iter().copied().filter(|at| is_kind(*at, DirectiveKind::EnterData)).collect(),
            queued,
            entering_calls,
            returned: OnceCell::new(),
        }
    }

    /// Whether something waits between two places.
    fn waits(&self, from: u32, to: u32) -> bool {
        is_between(&self.waits, from, to)
    }

    /// Whether something waits between two places, a clause of a directive among it.
    fn holds(&self, from: u32, to: u32) -> bool {
        self.waits(from, to) || is_between(&self.clauses, from, to)
    }

    /// The place of the last wait before `here`; 0 if there is none.
    fn last_wait(&self, here: u32) -> u32 {
        let after = self.waits.partition_point(|at| *at < here);
        self.waits[..after].last().copied().unwrap_or_default()
    }

    /// Whether a routine queues data between two places.
    fn calls_enter(&self, from: u32, to: u32) -> bool {
        is_between(&self.entering_calls, from, to)
    }

    /// The `enter data` directives between two places that are queued.
    fn enters<'a>(&self, bound: &'a [Bound], from: u32, to: u32) -> impl Iterator<Item = &'a Bound> {
        let first = self.enters.partition_point(|at| bound[*at].directive.span.start <= from);
        let after = self.enters[first..].iter().map(|at| &bound[*at]);
        after.take_while(move |one| one.directive.span.start < to)
    }
}

/// Whether one of the places, which are sorted, lies between two others.
fn is_between(places: &[u32], from: u32, to: u32) -> bool {
    let first = places.partition_point(|at| *at <= from);
    places.get(first).is_some_and(|at| *at < to)
}

/// The places where the code calls a routine of the kind.
fn calls(unit: &Unit, is_wanted: impl Fn(&str) -> bool) -> impl Iterator<Item = u32> {
    unit.exprs.iter().filter_map(move |expr| {
        let ExprKind::Call { callee, .. } = &expr.kind else { return None };
        let callee = unit.expr(*callee);
        matches!(&callee.kind, ExprKind::Name(name) if is_wanted(name)).then_some(callee.span.start)
    })
}

/// Whether a directive is put into a queue.
fn is_queued(directive: &Directive, unit: &Unit) -> bool {
    let is_synchronous = |queue: &Expr| Queue::of(&queue.text, unit.is_fortran()) == Queue::Synchronous;
    let does_something = !crate::acc::is_idle(directive);
    does_something
        && directive.clauses.iter().any(|clause| match &clause.kind {
            ClauseKind::Async(queue) => !queue.as_ref().is_some_and(is_synchronous),
            _ => false,
        })
}
