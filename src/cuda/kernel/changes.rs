//! What code changes, and other threads see.
//!
//! Invariant: a call of which nothing is known changes memory that threads share.

use super::body::Body;
use crate::cuda::code::text;
use crate::cuda::fit::object;
use crate::cuda::program::levels::{Levels, routine_levels};
use crate::cuda::program::{Refused, effects, refused};
use crate::host::ir::{Expr, ExprId, ExprKind, StmtId};
use crate::sema::{self, Class, SymbolKind};
use crate::source::Span;

impl Body<'_, '_> {
    /// What threads share and a statement changes in another way if several of them run it: all but what is assigned a value that
    /// does not depend on it.
    pub(super) fn changed_by_each(&self, span: Span) -> Option<Span> {
        let unit = self.input.unit();
        let root = |place: ExprId| {
            let mut base = place;
            while let ExprKind::Index(inner, _)
            | ExprKind::Member { base: inner, .. }
            | ExprKind::Deref(inner)
            | ExprKind::Cast { operand: inner, .. } = unit.expr(base).kind
            {
                base = inner;
            }
            base
        };
        let is_named = |name: ExprId, within: ExprId| match &unit.expr(name).kind {
            ExprKind::Name(name) => {
                let text = self.input.file().text(unit.expr(within).span);
                text::words(&text).contains(&name.as_str())
            }
            _ => true,
        };
        unit.exprs_in(span).find_map(|expr| {
            let (place, is_same) = match expr.kind {
                ExprKind::Assign(None, left, right) => (left, !is_named(root(left), right)),
                ExprKind::Assign(Some(_), left, _) => (left, false),
                ExprKind::Step { operand, .. } => (operand, false),
                _ => return None,
            };
            (!is_same && self.is_common(place)).then_some(expr.span)
        })
    }

    /// For a call, or the assignment of its result that all lanes of a worker may make: the variable of the threads' own
    /// that gets the result, if it is one.
    pub(super) fn result(&self, expr: ExprId) -> Option<Option<String>> {
        let unit = self.input.unit();
        let is_call = |expr: ExprId| matches!(unit.expr(expr).kind, ExprKind::Call { .. });
        if is_call(expr) {
            return Some(None);
        }
        let ExprKind::Assign(None, left, right) = unit.expr(expr).kind else { return None };
        let mut base = left;
        while let ExprKind::Index(inner, _) | ExprKind::Member { base: inner, .. } = unit.expr(base).kind {
            base = inner;
        }
        let ExprKind::Name(name) = &unit.expr(base).kind else { return None };
        let text = self.input.file().text(unit.expr(right).span);
        if !is_call(right) || text::words(&text).contains(&name.as_str()) {
            return None;
        }
        match self.is_common(left) {
            true => Some(None),
            false => (base == left).then(|| Some(name.clone())),
        }
    }

    /// Whether a call may change a variable that each thread has for itself.
    pub(super) fn gives_own(&self, call: &Expr) -> bool {
        let (unit, symbols) = (self.input.unit(), self.input.symbols);
        let ExprKind::Call { callee, args } = &call.kind else { return false };
        let takes = |at: usize| match &unit.expr(*callee).kind {
            ExprKind::Name(name) | ExprKind::Member { name, .. } => symbols.takes_reference(name, at),
            _ => true,
        };
        args.iter().enumerate().any(|(at, arg)| match &unit.expr(*arg).kind {
            ExprKind::AddressOf(place) => !self.is_common(*place),
            ExprKind::Name(name) => {
                let symbol = symbols.lookup(name, unit.expr(*arg).span.start);
                let known = symbol.map(|symbol| symbols.get(symbol));
                let is_array = known
                    .is_some_and(|known| known.class == Class::Array && known.kind != SymbolKind::Parameter);
                (is_array || takes(at)) && !self.is_common(*arg)
            }
            _ => takes(at) && !self.is_common(*arg),
        })
    }

    /// The first call in `span` that may change what threads share.
    pub(super) fn changing_call(&self, span: Span) -> Option<Span> {
        effects::changing_call(self.input, span, &|base| !self.is_common(base))
    }

    /// What all threads evaluate must change nothing that they share.
    pub(super) fn pure(&self, expr: ExprId, mode: Levels) -> Result<(), Refused> {
        if !self.missing(mode).any() {
            return Ok(());
        }
        let unit = self.input.unit();
        if let Some(call) = self.changing_call(unit.expr(expr).span) {
            return Err(refused(
                call,
                "a call that may change something, in the head of a loop around worker or vector loops,",
            ));
        }
        let mut pending = vec![expr];
        while let Some(expr) = pending.pop() {
            let kind = &unit.expr(expr).kind;
            let changed = match kind {
                ExprKind::Assign(_, left, _) => Some(*left),
                ExprKind::Step { operand, .. } => Some(*operand),
                _ => None,
            };
            if changed.is_some_and(|changed| self.is_common(changed)) {
                return Err(refused(
                    unit.expr(expr).span,
                    "a condition that changes memory, around a worker or vector loop",
                ));
            }
            pending.extend(kind.children());
        }
        Ok(())
    }

    /// Whether what an expression names is in memory that threads share.
    pub(super) fn is_common(&self, expr: ExprId) -> bool {
        let unit = self.input.unit();
        match &unit.expr(expr).kind {
            ExprKind::Name(name) => {
                let symbol = self.input.symbols.lookup(name, unit.expr(expr).span.start);
                symbol.is_none_or(|symbol| self.common.contains(&symbol))
            }
            ExprKind::Index(base, _) => self.is_common_base(*base),
            ExprKind::Member { base, arrow: false, .. } => self.is_common(*base),
            _ => true,
        }
    }

    /// Whether what an index goes into is shared: an array of the thread's own is not.
    fn is_common_base(&self, base: ExprId) -> bool {
        let unit = self.input.unit();
        match &unit.expr(base).kind {
            ExprKind::Name(name) => {
                let symbol = self.input.symbols.lookup(name, unit.expr(base).span.start);
                symbol.is_none_or(|symbol| {
                    self.common.contains(&symbol) || self.input.symbols.get(symbol).class != Class::Array
                })
            }
            ExprKind::Index(base, _) => self.is_common_base(*base),
            ExprKind::Member { base, arrow: false, .. } => self.is_common_base(*base),
            _ => true,
        }
    }

    /// Whether a statement changes memory that threads share.
    pub(super) fn has_effect(&self, stmt: StmtId) -> bool {
        let unit = self.input.unit();
        let span = self.input.stmt_span(stmt);
        if self.changing_call(span).is_some() {
            return true;
        }
        // Jumps stay with their loops.
        unit.exprs_in(span).any(|expr| match &expr.kind {
            ExprKind::Assign(_, left, _) => self.is_common(*left),
            ExprKind::Step { operand, .. } => self.is_common(*operand),
            ExprKind::Call { .. } => self.is_call_with_effect(expr),
            _ => false,
        })
    }

    /// Whether an expression in a declaration changes what threads share.
    pub(super) fn changes_shared(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Assign(_, place, _) | ExprKind::Step { operand: place, .. } => self.is_common(*place),
            _ => self.changes_argument(expr),
        }
    }

    /// Whether a call of a function that one thread runs changes what an argument leads to, and threads share.
    fn changes_argument(&self, call: &Expr) -> bool {
        let (unit, symbols) = (self.input.unit(), self.input.symbols);
        let ExprKind::Call { callee, args } = &call.kind else { return false };
        let ExprKind::Name(name) = &unit.expr(*callee).kind else { return false };
        if routine_levels(self.input, name).any() {
            return false;
        }
        let function = unit.functions_named(name).next();
        args.iter().enumerate().any(|(at, arg)| match &unit.expr(*arg).kind {
            ExprKind::AddressOf(place) => self.is_common(*place),
            ExprKind::Name(_) => function.is_some_and(|function| {
                let param = function.params.get(at).map(|param| &unit.decl(*param).name);
                let uses = sema::uses(unit, symbols, function.body);
                let body = unit.stmt(function.body).span;
                let symbol = param.and_then(|param| symbols.lookup(param, body.start + 1));
                symbol.and_then(|symbol| uses.of(symbol)).is_some_and(|used| used.part_written)
            }),
            _ => false,
        })
    }

    /// Whether a call may change memory that threads share, by what it is given.
    fn is_call_with_effect(&self, expr: &Expr) -> bool {
        let unit = self.input.unit();
        match &expr.kind {
            ExprKind::Call { callee, args } => {
                let name = self.input.file().text(unit.expr(*callee).span);
                let writes = |arg: &ExprId| {
                    let expr = unit.expr(*arg);
                    match &expr.kind {
                        ExprKind::AddressOf(_) => true,
                        ExprKind::Name(name) => {
                            let symbol = self.input.symbols.lookup(name, expr.span.start);
                            symbol.is_some_and(|symbol| {
                                !matches!(
                                    self.input.symbols.get(symbol).class,
                                    Class::Scalar | Class::Unknown
                                )
                            })
                        }
                        _ => false,
                    }
                };
                name == "printf"
                    || routine_levels(self.input, name.rsplit(['>', '.']).next().unwrap_or(&name)).any()
                    || name.starts_with("atomic")
                    || args.iter().any(writes)
                    || object::is_changed_by(self.input, expr.span, &name)
            }
            _ => false,
        }
    }
}
