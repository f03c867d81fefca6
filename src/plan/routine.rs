//! `routine`, and loops that stand in no compute construct.
//!
//! Invariant: the loops of a routine run in the thread that calls it; those that gangs divide run each iteration in one gang.

use std::collections::HashSet;

use crate::acc::ast::{Argument, ClauseKind, DirectiveKind};
use crate::bind::{Bound, Target, ancestors, descendants, named_by};
use crate::diag;
use crate::host::ir::{ExprKind, StmtId, Unit};
use crate::sema::{self, Class, Header};
use crate::source::Span;

use super::clauses::LoopClauses;
use super::{Divided, Input, Item, Maker, effective};

/// The procedures of a file that `routine gang` directives are about.
pub(super) fn of_gangs(unit: &Unit, bound: &[Bound], device_type: &str) -> HashSet<String> {
    let is_gang = |one: &&Bound| {
        let directive = &one.directive;
        directive.kind == DirectiveKind::Routine
            && LoopClauses::new(directive, &effective(directive, device_type).0).gang
    };
    bound.iter().filter(is_gang).flat_map(|one| named_by(unit, &one.directive, one.target)).collect()
}

impl Input<'_> {
    /// Whether the gangs divide the loop of an orphaned directive: it says `gang`, or has an implicit `gang` clause, as the
    /// outermost loop of a `routine gang` that may have one (3.3, 2.9.2). A reduction over gangs is not allowed there (2.9.11).
    fn is_divided(&self, index: usize) -> bool {
        let clauses = self.clauses(index);
        let may = |at: usize| {
            let clauses = self.clauses(at);
            let is_parallel = !clauses.seq || clauses.auto;
            is_parallel && clauses.reduction.is_empty() && !self.is_redundant_loop(at)
        };
        let is_loop = |at: &usize| self.bound[*at].directive.kind == DirectiveKind::Loop;
        let mut above = ancestors(self.bound, index).filter(is_loop);
        let in_gangs = || {
            let function = self.bound[index].function.map(|function| self.unit.function(function));
            function.is_some_and(|function| self.is_gang_routine(&function.name))
        };
        let has_own = clauses.gang && (!clauses.seq || clauses.auto);
        has_own || in_gangs() && may(index) && !above.any(may)
    }

    /// How the iterations of a loop are distinguished; `None` if one gang must run it.
    fn divided(&self, index: usize, stmt: StmtId, header: &Header) -> Option<Divided> {
        let known = self.symbols.get(header.var);
        let is_concurrent = self.unit.concurrent.iter().any(|one| one.stmt == stmt);
        let first = self.unit.expr(header.first);
        let begin = match known.class {
            Class::Scalar => None,
            Class::Unknown if !self.unit.is_cpp() && !self.unit.is_fortran() => None,
            // The place is named again in each iteration.
            Class::Pointer if matches!(first.kind, ExprKind::Name(_)) => {
                let changed = sema::uses(self.unit, self.symbols, stmt);
                let mut read = sema::reads_of_expr(self.unit, self.symbols, header.first).into_iter();
                let is_fixed = |symbol| changed.of(symbol).is_none_or(|how| !how.written);
                Some(read.all(is_fixed).then(|| self.file.text(first.span).into_owned())?)
            }
            _ => return None,
        };
        let body = self.unit.stmt(header.body).span;
        let between = descendants(self.bound, index)
            .map(|at| &self.bound[at])
            .find(|one| one.stmt() == Some(header.body) && one.directive.span.start < body.start);
        let last = [Some(header.bound), header.step].into_iter().flatten();
        let head_end = last.map(|expr| self.unit.expr(expr).span.end).max()?;
        let is_default = || {
            let facts = sema::Facts::new(self.file, self.unit, self.symbols, &[], false);
            sema::integer(&facts, header.var).is_some_and(|known| known.bits == 32)
        };
        (!is_concurrent).then(|| Divided {
            stmt,
            variable: known.spelled(self.file),
            is_default: !self.unit.is_fortran() || is_default(),
            begin,
            body: header.body,
            directive: between.map(|one| one.directive.span),
            head_end,
        })
    }

    /// Whether `name` is a procedure that all gangs run together.
    fn is_gang_routine(&self, name: &str) -> bool {
        self.gang_routines.contains(name) || self.symbols.is_gang_routine(name)
    }

    /// Whether a statement calls a procedure that all gangs must run together: it is not part of what they divide.
    pub(super) fn calls_gang_routine(&self, stmt: StmtId) -> bool {
        let span = self.unit.stmt(stmt).span;
        self.gang_calls(span).next().is_some()
    }

    /// Whether a loop whose iterations gangs divide calls one of these procedures: they cannot be translated for it.
    fn is_misused(&self, names: &[String]) -> bool {
        let loops = (0..self.bound.len()).filter(|at| self.divides_gang_routine(*at));
        let spans = loops.filter_map(|at| self.bound[at].stmt()).map(|stmt| self.unit.stmt(stmt).span);
        spans.flat_map(|span| self.gang_calls(span)).any(|called| names.iter().any(|name| name == called))
    }

    /// The procedures called in `span` that all gangs must run together.
    fn gang_calls(&self, span: Span) -> impl Iterator<Item = &str> {
        let callees = self.unit.exprs_in(span).filter_map(|expr| match &expr.kind {
            ExprKind::Call { callee, .. } => Some(&self.unit.expr(*callee).kind),
            _ => None,
        });
        let named = callees.filter_map(|callee| match callee {
            ExprKind::Name(name) => {
                let name = name.rsplit(':').next().unwrap_or(name);
                Some(name.split('<').next().unwrap_or(name))
            }
            ExprKind::Member { name, .. } => Some(name.as_str()),
            _ => None,
        });
        named.filter(|name| self.is_gang_routine(name))
    }
}

impl Maker<'_> {
    /// `routine` before a definition or a prototype, or with a name.
    pub(super) fn routine(&mut self, index: usize) {
        let bound = &self.input.bound[index];
        let directive = &bound.directive;
        let level = directive.clauses.iter().find(|clause| {
            matches!(clause.kind, ClauseKind::Gang(_) | ClauseKind::Worker(_) | ClauseKind::Vector(_))
        });
        // The page of `bind` refuses the directive, so there is nothing to say about its level.
        let binds = directive.clauses.iter().any(|clause| matches!(clause.kind, ClauseKind::Bind(_)));
        let end = match bound.target {
            Target::Function(function) => Some(self.input.unit.function(function).span.end),
            Target::Declaration(span) => Some(span.end),
            Target::Stmt(_) | Target::Standalone => None,
        };
        if end.is_none() && directive.argument == Argument::None {
            self.stay(index, diag::not_before_statement(directive.span, "routine"));
            return;
        }
        if self.input.is_misused(&named_by(self.input.unit, directive, bound.target)) {
            self.stay(index, diag::gang_routine_in_gang_loop(directive.span));
            return;
        }
        if let Some(level) = level.filter(|_| !binds) {
            self.diags.push(diag::routine_sequential(level.span, &level.name.text));
        }
        self.plan.items[index] = Item::Routine { end };
    }

    /// A `loop` outside any compute construct: part of a routine.
    pub(super) fn orphan_loop(&mut self, index: usize) {
        let directive = &self.input.bound[index].directive;
        if let Some(private) =
            directive.clauses.iter().find(|clause| matches!(clause.kind, ClauseKind::Private(_)))
        {
            let names = super::clauses::list(&private.kind);
            if let Some(item) = names.iter().find(|item| self.input.is_wanted_outside(index, item)) {
                self.diags.push(diag::not_yet(
                    item.span,
                    "`private` on a loop of a routine that uses the variable elsewhere",
                ));
                return;
            }
        }
        self.report_counters(index);
        if self.input.is_divided(index) {
            return self.divide(index);
        }
        self.diags.push(diag::loop_sequential(directive.span, "it belongs to a routine"));
        self.plan.items[index] = Item::Gone;
    }

    /// A loop that the gangs divide where they all run the procedure.
    fn divide(&mut self, index: usize) {
        let one = &self.input.bound[index];
        let Some(stmt) = one.stmt() else { return };
        let clauses = self.input.clauses(index);
        let span = one.directive.span;
        let function = one.function.map(|function| self.input.unit.function(function).name.clone());
        if self.input.is_misused(&Vec::from_iter(function)) {
            self.stay(index, diag::gang_routine_in_gang_loop(span));
            return;
        }
        if let Some((_, item)) = clauses.reduction.first() {
            self.stay(index, diag::gang_reduction_in_routine(item.span, &item.base.text));
            return;
        }
        if self.input.calls_gang_routine(stmt) {
            self.stay(index, diag::gang_routine_in_gang_loop(span));
            return;
        }
        let scope = self.input.unit.scope_at(span.start).map(|scope| self.input.unit.scope(scope));
        if scope.is_some_and(|scope| scope.is_pure) {
            self.diags.push(diag::not_yet(span, "a loop that gangs divide in a `pure` procedure"));
            return;
        }
        let header = match sema::header(self.input.unit, self.input.symbols, stmt) {
            Ok(_) if clauses.seq => Err("it is left to the compiler, and is not proven parallel"),
            Ok(header) => Ok(header),
            Err(why) => {
                self.diags.push(diag::not_canonical(span, why.0));
                Err("")
            }
        };
        let divided = header.ok().and_then(|header| self.input.divided(index, stmt, &header));
        self.plan.items[index] = divided.map_or(Item::ByOneGang, Item::Divided);
    }
}
