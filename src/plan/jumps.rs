//! Jumps out of `data` regions, which compilers take though the specification forbids them: the region ends before each.
//!
//! Invariant: every way out of the region is an exit, and what is returned does not depend on the region's end; or there are none.

use std::collections::{BTreeSet, HashSet};

use crate::acc::ast::{ClauseKind, DirectiveKind, ListItem};
use crate::bind::descendants;
use crate::host::ir::{ExprId, ExprKind, StmtId, StmtKind};
use crate::sema::{self, Class, SymbolId, SymbolKind, children, uses};

use super::saved::contents;
use super::{Exit, Input};

/// A statement on the way through a region, and how many loops and switches of the region hold it.
#[derive(Clone, Copy)]
struct Met {
    stmt: StmtId,
    loops: usize,
    switches: usize,
    /// It is the body of a control statement or stands after a label, without braces.
    unbraced: bool,
}

impl Input<'_> {
    /// The jumps out of the region of `data` directive `index`; none if the region cannot end before each of them.
    pub(super) fn jumps(&self, index: usize, region: StmtId) -> Option<Vec<Exit>> {
        // The ends would not stand under the condition of the beginning.
        if self.is_parted(index, self.unit.stmt(region).span) {
            return None;
        }
        let mut jumps = Vec::new();
        let mut pending = vec![Met { stmt: region, loops: 0, switches: 0, unbraced: false }];
        let (mut labels, mut targets) = (BTreeSet::new(), Vec::new());
        while let Some(met) = pending.pop() {
            labels.extend(self.unit.loop_labels(met.stmt).into_iter().flatten());
            let mut inner = Met { unbraced: true, ..met };
            let exit = Exit::Jump { stmt: met.stmt, braces: met.unbraced };
            match &self.unit.stmt(met.stmt).kind {
                StmtKind::Return(value) if value.is_none_or(|value| self.is_settled(index, value)) => {
                    jumps.push(exit);
                }
                StmtKind::Return(_) => return None,
                StmtKind::Break if met.loops + met.switches == 0 => jumps.push(exit),
                StmtKind::Continue if met.loops == 0 => jumps.push(exit),
                // Some of Fortran's are parts of other statements.
                StmtKind::Goto(label) => targets.push((label.clone(), exit)),
                StmtKind::Labeled { label, stmt } => {
                    labels.extend(label.clone());
                    let is_jump = stmt.is_some_and(|stmt| {
                        let kind = &self.unit.stmt(stmt).kind;
                        matches!(kind, StmtKind::Return(_) | StmtKind::Break | StmtKind::Continue)
                    });
                    // Lines before it would stand before its label.
                    if is_jump && self.unit.is_fortran() {
                        return None;
                    }
                }
                StmtKind::Block(_) => inner.unbraced = false,
                StmtKind::For { .. } | StmtKind::While { .. } | StmtKind::DoWhile { .. } => inner.loops += 1,
                StmtKind::Switch { .. } => inner.switches += 1,
                _ => {}
            }
            let after_cases = self.after_cases(met.stmt);
            pending.extend(children(self.unit, met.stmt).map(|stmt| Met {
                stmt,
                unbraced: inner.unbraced || after_cases.contains(&stmt),
                ..inner
            }));
        }
        let out: Vec<Exit> =
            targets.into_iter().filter(|(label, _)| !labels.contains(label)).map(|(_, exit)| exit).collect();
        if self.unit.is_fortran() && !out.is_empty() {
            return None;
        }
        jumps.extend(out);
        let may_end = jumps.iter().all(|exit| self.may_end_before(index, *exit));
        may_end.then_some(jumps)
    }

    /// The statements of a block that stand directly after `case` or `default`: no directive may stand between.
    pub(super) fn after_cases(&self, block: StmtId) -> HashSet<StmtId> {
        let StmtKind::Block(list) = &self.unit.stmt(block).kind else { return HashSet::new() };
        let is_case =
            |stmt: StmtId| matches!(self.unit.stmt(stmt).kind, StmtKind::Labeled { stmt: None, .. });
        let after = list.windows(2).filter(|two| is_case(two[0]) && !self.unit.is_fortran());
        after.map(|two| two[1]).collect()
    }

    /// Whether lines may stand before a jump: no construct holds it but `data`, and `host_data` without a list, which goes.
    fn may_end_before(&self, index: usize, exit: Exit) -> bool {
        let (Exit::Jump { stmt, .. } | Exit::End(stmt)) = exit;
        let jump = self.unit.stmt(stmt).span;
        let holds = |at: usize| {
            let directive = &self.bound[at].directive;
            let has_list =
                || directive.clauses.iter().any(|clause| matches!(clause.kind, ClauseKind::UseDevice(_)));
            let may_end = match directive.kind {
                DirectiveKind::Data => true,
                DirectiveKind::HostData => !has_list(),
                _ => false,
            };
            !may_end && self.bound[at].stmt().is_some_and(|held| self.unit.stmt(held).span.contains(jump))
        };
        !descendants(self.bound, index).any(holds)
    }

    /// Whether an expression has the same value before and after the end of a region: it is made of constants and of scalars
    /// that the region does not bring back.
    fn is_settled(&self, index: usize, value: ExprId) -> bool {
        let expr = self.unit.expr(value);
        match &expr.kind {
            ExprKind::Name(name) => match self.symbols.lookup(name, expr.span.start) {
                Some(symbol) => self.is_own(index, symbol),
                None => self.symbols.body_of(name).is_none_or(|body| {
                    let read = contents(self, body, expr.span.start);
                    !read.acts && read.named.is_empty()
                }),
            },
            ExprKind::Int(_) | ExprKind::Literal | ExprKind::Sizeof => true,
            kind @ (ExprKind::Unary(..)
            | ExprKind::Binary(..)
            | ExprKind::Cast { .. }
            | ExprKind::Conditional(..)) => kind.children().all(|child| self.is_settled(index, child)),
            _ => false,
        }
    }

    /// Whether a variable is a scalar or pointer that clauses do not name and that has no other name.
    fn is_own(&self, index: usize, symbol: SymbolId) -> bool {
        let known = self.symbols.get(symbol);
        let is_value = matches!(known.class, Class::Scalar | Class::Pointer);
        let is_local = matches!(known.kind, SymbolKind::Local | SymbolKind::Parameter) || known.is_const;
        let mut items = self.data_items(index);
        is_value
            && is_local
            && !known.is_reference
            && !self.escapes(index, symbol)
            && !items.any(|item| item.base.text == known.name && item.parts.is_empty())
    }

    fn data_items(&self, index: usize) -> impl Iterator<Item = &ListItem> {
        let clauses = self.bound[index].directive.clauses.iter();
        clauses.flat_map(|clause| match &clause.kind {
            ClauseKind::Data(_, list) => list.as_slice(),
            _ => &[],
        })
    }

    /// Whether the function of directive `index` takes the address of a variable.
    fn escapes(&self, index: usize, symbol: SymbolId) -> bool {
        let body = self.bound[index].function.map(|function| self.unit.function(function).body);
        body.is_none_or(|body| sema::escaping(self.unit, self.symbols, body).contains(&symbol))
    }

    /// Whether the clauses of `data` directive `index` say the same wherever its region ends: they name whole variables and
    /// sections of them, by names that nothing assigns until then.
    pub(super) fn is_steady(&self, index: usize, region: StmtId) -> bool {
        let directive = &self.bound[index].directive;
        let conditions = directive.clauses.iter().filter_map(|clause| match &clause.kind {
            ClauseKind::If(condition) => Some((&condition.text, condition.span.start)),
            _ => None,
        });
        let is_plain = |item: &ListItem| {
            let symbol = self.symbol_of(index, item).map(|symbol| self.symbols.get(symbol));
            item.depth() == 0 && symbol.is_some_and(|symbol| symbol.kind != SymbolKind::Member)
        };
        let items = || self.data_items(index);
        let texts = conditions.chain(items().map(|item| (&item.text, item.span.start)));
        let is_base = |symbol: SymbolId| items().any(|item| self.symbol_of(index, item) == Some(symbol));
        items().all(is_plain)
            && texts.into_iter().all(|(text, at)| {
                let read = contents(self, text, at);
                !read.acts
                    && read.named.iter().all(|symbol| self.stays(index, region, *symbol, is_base(*symbol)))
            })
    }

    /// Whether a variable keeps its value in a region; of an array or pointer of a clause (`is_base`), where it lies.
    fn stays(&self, index: usize, region: StmtId, symbol: SymbolId, is_base: bool) -> bool {
        let known = self.symbols.get(symbol);
        let used = uses(self.unit, self.symbols, region);
        let how = used.of(symbol);
        let is_array = matches!(known.class, Class::Array | Class::Record);
        if is_base && is_array && !known.fortran.pointer {
            return true;
        }
        let is_assigned = how.is_some_and(|how| how.written || how.address_taken);
        let is_named = match is_base {
            true => matches!(known.class, Class::Scalar | Class::Pointer | Class::Array),
            false => known.class == Class::Scalar && !known.fortran.pointer && !known.fortran.target,
        };
        let is_local = matches!(known.kind, SymbolKind::Local | SymbolKind::Parameter);
        // Where a scalar of a clause lies does not change with its value.
        let is_place = is_base && known.class == Class::Scalar && !known.fortran.pointer;
        known.is_const
            || is_named
                && (is_place || !is_assigned)
                && (self.unit.is_fortran() || !known.is_reference)
                && (is_local && !self.escapes(index, symbol) || is_place || used.calls.is_empty())
    }
}
