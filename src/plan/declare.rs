//! `declare` in a function: data that live from the directive to wherever control leaves the function.
//!
//! Invariant: every way out of the function after the directive is an exit, or the directive is left untranslated.

use std::collections::HashSet;

use crate::acc::ast::{ClauseKind, DataClause, DirectiveKind, ListItem};
use crate::diag;
use crate::host::ir::{ExprId, ExprKind, FunctionId, StmtId, StmtKind};
use crate::sema::{Symbol, SymbolKind, children};

use super::launch::jump_out;
use super::sharing::Stated;
use super::{Exit, Input, Item, Maker};

/// Whether a variable of Fortran belongs to the procedure that declares it and has memory from `allocate` statements.
pub fn is_allocated_here(symbol: &Symbol) -> bool {
    let has_descriptor = symbol.fortran.allocatable || symbol.fortran.pointer;
    has_descriptor && symbol.home.is_none() && matches!(symbol.kind, SymbolKind::Local | SymbolKind::Static)
}

impl Input<'_> {
    /// The variables whose values come back when the function returns.
    fn copied_out(&self, index: usize) -> Vec<String> {
        let clauses = self.bound[index].directive.clauses.iter();
        let lists = clauses.filter_map(|clause| match &clause.kind {
            ClauseKind::Data(DataClause::Copy | DataClause::Copyout { .. }, list) => Some(list),
            _ => None,
        });
        lists.flatten().map(|item| item.base.text.clone()).collect()
    }

    /// Whether an expression calls a function that may need the variables `listed` on the device: one of this file that
    /// comes to directives of its own, or one of another file that is given one of the variables.
    fn may_use_device(&self, expr: ExprId, listed: &Stated) -> bool {
        let kind = &self.unit.expr(expr).kind;
        if let ExprKind::Call { callee, args } = kind {
            let name = match &self.unit.expr(*callee).kind {
                ExprKind::Name(name) => Some(name),
                _ => None,
            };
            let known: Vec<FunctionId> = name.map(|name| self.functions(name)).unwrap_or_default();
            let is_given = args.iter().any(|arg| self.reads(*arg, &|name| listed.contains(name)));
            if known.is_empty() && is_given || self.comes_to_directives(known) {
                return true;
            }
        }
        kind.children().any(|child| self.may_use_device(child, listed))
    }

    /// The functions of this file with a name.
    fn functions(&self, name: &str) -> Vec<FunctionId> {
        let all = (0..self.unit.functions.len() as u32).map(FunctionId);
        all.filter(|id| self.unit.function(*id).name == *name).collect()
    }

    /// Whether functions, or those of this file that they call, have directives but `routine`.
    fn comes_to_directives(&self, mut pending: Vec<FunctionId>) -> bool {
        let mut met: HashSet<FunctionId> = HashSet::new();
        while let Some(function) = pending.pop() {
            if !met.insert(function) {
                continue;
            }
            let mut own = self.bound.iter().filter(|one| one.function == Some(function));
            if own.any(|one| one.directive.kind != DirectiveKind::Routine) {
                return true;
            }
            let body = self.unit.stmt(self.unit.function(function).body).span;
            for expr in self.unit.exprs_in(body) {
                if let ExprKind::Call { callee, .. } = &expr.kind
                    && let ExprKind::Name(name) = &self.unit.expr(*callee).kind
                {
                    pending.extend(self.functions(name));
                }
            }
        }
        false
    }

    fn reads(&self, expr: ExprId, is_it: &dyn Fn(&String) -> bool) -> bool {
        match &self.unit.expr(expr).kind {
            ExprKind::Name(name) => is_it(name),
            kind => kind.children().any(|child| self.reads(child, is_it)),
        }
    }
}

impl Maker<'_> {
    /// A `declare` directive, at file scope or in a function.
    pub(super) fn declare(&mut self, index: usize) {
        let counting = self.counting(index);
        if !self.items_ok(index, &counting) {
            return;
        }
        let function = self.input.bound[index].function;
        if function.is_none() && (self.names_part(index) || self.names_of_others(index))
            || function.is_some() && self.has_late_memory(index)
        {
            return;
        }
        let exits = match function {
            None => Vec::new(),
            Some(function) => match self.exits(index, function) {
                Some(exits) => exits,
                None => return,
            },
        };
        let entry = function.filter(|_| self.input.unit.is_fortran()).and_then(|function| {
            let body = self.input.unit.function(function).body;
            let first = children(self.input.unit, body).next()?;
            Some((first, self.input.unit.stmt(first).span.start))
        });
        self.plan.items[index] = Item::Declare { exits, entry };
    }

    /// Says which item at file scope is a part of a variable: `declare target` takes whole ones.
    fn names_part(&mut self, index: usize) -> bool {
        let bound = self.input.bound;
        let clauses = bound[index].directive.clauses.iter();
        let mut items = clauses.flat_map(|clause| super::list(&clause.kind));
        let part = items.find(|item| !item.parts.is_empty() && !self.input.is_whole_array(index, item));
        if let Some(item) = part {
            self.diags.push(diag::not_yet(item.span, "a section in `declare` at file scope"));
        }
        part.is_some()
    }

    /// Says which item of a file that modules of Fortran include may be allocated elsewhere, by who knows the module alone.
    fn names_of_others(&mut self, index: usize) -> bool {
        let unit = self.input.unit;
        let one = &self.input.bound[index].directive;
        if !unit.is_fortran() || unit.scope_at(one.span.start).is_some() {
            return false;
        }
        let is_fixed = |item: &&ListItem| {
            let mut decls = unit.decls.iter().filter(|decl| decl.name.eq_ignore_ascii_case(item.variable()));
            item.common || decls.next().is_some_and(|decl| !decl.fortran.allocatable && !decl.fortran.pointer)
        };
        let mut items = one.clauses.iter().flat_map(|clause| super::list(&clause.kind));
        let item = items.find(|item| !is_fixed(item));
        if let Some(item) = item {
            let what = "`declare`, in a file that others include, of a variable that may be allocated";
            self.diags.push(diag::not_yet(item.span, what));
        }
        item.is_some()
    }

    /// Says which item of a procedure of Fortran has no memory yet where its procedure begins, and a clause that asks for
    /// its value there, or for it where the procedure returns.
    fn has_late_memory(&mut self, index: usize) -> bool {
        let bound = self.input.bound;
        let is_late = |kind: &DataClause| {
            !matches!(
                kind,
                DataClause::Create { .. }
                    | DataClause::Copyin { .. }
                    | DataClause::DeviceResident
                    | DataClause::Link
                    | DataClause::NoCreate
            )
        };
        let lists = bound[index].directive.clauses.iter().filter_map(|clause| match &clause.kind {
            ClauseKind::Data(kind, list) if is_late(kind) => Some(list),
            _ => None,
        });
        let mut items = lists.flatten().filter(|item| {
            let symbol = self.input.symbol_of(index, item).map(|symbol| self.input.symbols.get(symbol));
            self.input.unit.is_fortran() && item.parts.is_empty() && symbol.is_some_and(is_allocated_here)
        });
        let late = items.next();
        if let Some(item) = late {
            let what = "a local variable without memory in this clause of `declare`";
            self.diags.push(diag::not_yet(item.span, what));
        }
        late.is_some()
    }

    /// Whether a statement is an `entry`, through which a procedure is called without the statements before it.
    fn is_entry(&self, stmt: StmtId) -> bool {
        let stmt = self.input.unit.stmt(stmt);
        let is_word = |text: &str| text.get(..5).is_some_and(|word| word.eq_ignore_ascii_case("entry"));
        self.input.unit.is_fortran()
            && matches!(stmt.kind, StmtKind::Opaque(_))
            && is_word(&self.input.file.text(stmt.span))
    }

    fn exits(&mut self, index: usize, function: FunctionId) -> Option<Vec<Exit>> {
        let directive = self.input.bound[index].directive.span;
        let here = directive.start;
        let whole = self.input.unit.function(function).body;
        // In C, the block is the scope of what is named.
        let block = self.input.unit.block_around(directive).filter(|_| !self.input.unit.is_fortran());
        let body = block.unwrap_or(whole);
        if body != whole
            && let Some(word) = jump_out(self.input.unit, body).filter(|word| *word != "return")
        {
            let what = format!("a `{word}` out of the block that `declare` stands in");
            self.diags.push(diag::not_yet(directive, &what));
            return None;
        }
        let copied = self.input.copied_out(index);
        let listed = self.input.stated(index);
        let mut exits = Vec::new();
        let mut unbraced: HashSet<StmtId> = HashSet::new();
        let mut pending = vec![body];
        while let Some(stmt) = pending.pop() {
            let inside = children(self.input.unit, stmt);
            let keeps_lines = match self.input.unit.stmt(stmt).kind {
                StmtKind::Block(_) => true,
                StmtKind::Labeled { .. } => self.input.unit.is_fortran(),
                _ => false,
            };
            if !keeps_lines {
                unbraced.extend(inside.clone());
            }
            unbraced.extend(self.input.after_cases(stmt));
            if self.is_entry(stmt) {
                self.diags
                    .push(diag::not_yet(directive, "`declare` in a procedure with an `entry` after it"));
                return None;
            }
            pending.extend(inside);
            let StmtKind::Return(value) = &self.input.unit.stmt(stmt).kind else { continue };
            if self.input.unit.stmt(stmt).span.start < here {
                continue;
            }
            if value.is_some_and(|value| self.input.reads(value, &|name| copied.contains(name))) {
                let span = self.input.unit.stmt(stmt).span;
                self.diags.push(diag::not_yet(span, "a `return` of data that `declare` copies back"));
                return None;
            }
            if value.is_some_and(|value| self.input.may_use_device(value, &listed)) {
                let span = self.input.unit.stmt(stmt).span;
                self.diags.push(diag::not_yet(
                    span,
                    "a `return` of a call that may use the device, after `declare`",
                ));
                return None;
            }
            exits.push(Exit::Jump { stmt, braces: unbraced.contains(&stmt) });
        }
        let ends = match &self.input.unit.stmt(body).kind {
            StmtKind::Block(list) => {
                let mut last = list.last().map(|last| &self.input.unit.stmt(*last).kind);
                while let Some(StmtKind::Labeled { stmt: Some(inner), .. }) = last {
                    last = Some(&self.input.unit.stmt(*inner).kind);
                }
                !matches!(last, Some(StmtKind::Return(_)))
            }
            _ => true,
        };
        exits.extend(ends.then_some(Exit::End(body)));
        Some(exits)
    }
}
