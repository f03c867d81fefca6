//! The variables that `private`, `firstprivate` and `reduction` name in a launch, on the construct or on its loops.
//!
//! Invariant: a variable has one role: a reduction hides `private`, and `private` hides `firstprivate`.

use crate::acc::ast::{ClauseKind, DirectiveKind, ListItem, ReductionOp};
use crate::bind::{Bound, descendants};
use crate::host::ir::{ExprId, ExprKind, StmtId, StmtKind, Unit};
use crate::sema::{self, SymbolId, Symbols};
use crate::source::Span;

use super::variable::Role;
use super::{Levels, Names, effective};

/// A file's code, with its names and directives.
#[derive(Clone, Copy, Debug)]
pub struct Code<'a> {
    /// What the host grammar made of it.
    pub unit: &'a Unit,
    /// Its names.
    pub symbols: &'a Symbols,
    /// Its directives.
    pub bound: &'a [Bound],
    /// The device type whose clauses count.
    pub device_type: &'a str,
}

impl Code<'_> {
    /// Where the variable of a `private` clause of the loop `stmt` is the loop's: bounds and step are those of the code around,
    /// unless it is the loop variable itself.
    pub(super) fn own_extent(&self, stmt: StmtId, item: &ListItem) -> Span {
        let whole = self.unit.stmt(stmt).span;
        let named = self.symbols.lookup(&item.base.text, whole.start);
        let StmtKind::For { body, .. } = self.unit.stmt(stmt).kind else { return whole };
        let is_counter = match sema::header(self.unit, self.symbols, stmt) {
            Ok(header) => Some(header.var) == named,
            Err(_) => self.is_in_step(stmt, &item.base.text),
        };
        if is_counter { whole } else { self.unit.stmt(body).span }
    }

    /// The variable of a `private` clause of the loop `stmt`, if code of the region names it outside of where it is the loop's, and
    /// no other loop around that code has it private.
    pub fn used_beside(&self, stmt: StmtId, item: &ListItem, region: Span) -> Option<SymbolId> {
        used_outside(*self, item, self.own_extent(stmt, item), region)
    }

    /// Whether the increment of the loop `stmt` names a variable.
    fn is_in_step(&self, stmt: StmtId, name: &str) -> bool {
        let StmtKind::For { step: Some(step), .. } = self.unit.stmt(stmt).kind else { return false };
        self.names(step, name)
    }

    /// Whether the condition of the loop `stmt` names a variable.
    pub(super) fn is_in_condition(&self, stmt: StmtId, name: &str) -> bool {
        let StmtKind::For { cond: Some(cond), .. } = self.unit.stmt(stmt).kind else { return false };
        self.names(cond, name)
    }

    fn names(&self, expr: ExprId, wanted: &str) -> bool {
        let mut inside = self.unit.exprs_in(self.unit.expr(expr).span);
        inside.any(|expr| matches!(&expr.kind, ExprKind::Name(name) if name == wanted))
    }
}

/// What the clauses of a loop, and of the loops that run as one with it, say of variables.
#[derive(Clone, Debug)]
pub struct LoopLists<'a> {
    /// The bytes of the loop.
    pub span: Span,
    /// The levels that divide it.
    pub levels: Levels,
    /// What is private.
    pub private: &'a [ListItem],
    /// What is reduced.
    pub reductions: &'a [(ReductionOp, ListItem)],
}

/// What there is to know of a launch besides its loops.
#[derive(Clone, Copy, Debug)]
pub struct Launched {
    /// The directive of its construct.
    pub index: usize,
    /// The bytes that it runs.
    pub region: Span,
    /// It is part of a `kernels` construct.
    pub in_kernels: bool,
    /// One gang runs it: what its threads reduce is the result.
    pub is_one_gang: bool,
}

/// The variables that clauses name.
#[derive(Clone, Debug, Default)]
pub struct Listed<'a> {
    private: Names,
    firstprivate: Names,
    reductions: Vec<(SymbolId, ReductionOp)>,
    /// The items of reductions, and those of `private` and `firstprivate`; true for those of `firstprivate`.
    reduced_items: Vec<(SymbolId, &'a ListItem)>,
    own_items: Vec<(SymbolId, &'a ListItem, bool)>,
}

impl<'a> Listed<'a> {
    /// The variables that clauses name in a launch with these loops.
    pub fn of(code: Code<'a>, launched: Launched, loops: &[LoopLists<'a>]) -> Listed<'a> {
        let mut listed = Listed::default();
        let place = code.bound[launched.index].directive.span.start;
        let symbol_of = |item: &ListItem| code.symbols.lookup(item.variable(), place);
        let named = |item: &'a ListItem| Some((symbol_of(item)?, item));
        for one in loops {
            listed.reduced_items.extend(one.reductions.iter().filter_map(|(_, item)| named(item)));
            let own = one.private.iter().filter_map(&named);
            listed.own_items.extend(own.map(|(symbol, item)| (symbol, item, false)));
        }
        listed.of_construct(code, launched.index, &named);
        for one in loops {
            listed.of_loop(code, launched, one, &symbol_of);
        }
        // Loops that stay sequential have private variables, too.
        for below in descendants(code.bound, launched.index) {
            let one = &code.bound[below];
            let directive = code.bound[launched.index].directive.span;
            let beside = |item: &ListItem| match one.stmt() {
                Some(stmt) => code.used_beside(stmt, item, launched.region),
                None => used_outside(code, item, directive, launched.region),
            };
            let own = private(one).filter(|item| beside(item).is_none());
            for (symbol, item) in own.filter_map(named) {
                listed.private.insert(symbol);
                listed.own_items.push((symbol, item, false));
            }
        }
        listed
    }

    /// Adds what the clauses of the construct name.
    fn of_construct(
        &mut self,
        code: Code<'a>,
        index: usize,
        named: &dyn Fn(&'a ListItem) -> Option<(SymbolId, &'a ListItem)>,
    ) {
        let directive = &code.bound[index].directive;
        for at in effective(directive, code.device_type).0 {
            match &directive.clauses[at].kind {
                ClauseKind::Private(list) => {
                    for (symbol, item) in list.iter().filter_map(named) {
                        self.private.insert(symbol);
                        self.own_items.push((symbol, item, false));
                    }
                }
                ClauseKind::Firstprivate(list) => {
                    for (symbol, item) in list.iter().filter_map(named) {
                        self.firstprivate.insert(symbol);
                        self.own_items.push((symbol, item, true));
                    }
                }
                ClauseKind::Reduction(op, list) => {
                    for (symbol, item) in list.iter().filter_map(named) {
                        self.reductions.push((symbol, *op));
                        self.reduced_items.push((symbol, item));
                    }
                }
                _ => {}
            }
        }
    }

    /// Adds what a loop makes private, and what its gangs reduce.
    fn of_loop(
        &mut self,
        code: Code,
        launched: Launched,
        one: &LoopLists,
        symbol_of: &dyn Fn(&ListItem) -> Option<SymbolId>,
    ) {
        let own = one.private.iter();
        let own = own.filter(|item| used_outside(code, item, one.span, launched.region).is_none());
        self.private.extend(own.filter_map(symbol_of));
        // What the threads of the only gang reduce is the result, too; what was found for `auto` in a `parallel` construct has
        // no clause: the variable is firstprivate (2.5.1).
        let is_said = |item: &ListItem| launched.in_kernels || !item.span.is_empty();
        let is_result = |item: &ListItem| (one.levels.gang || launched.is_one_gang) && is_said(item);
        let results = one.reductions.iter().filter(|(_, item)| is_result(item));
        self.reductions.extend(results.filter_map(|(op, item)| Some((symbol_of(item)?, *op))));
    }

    /// The role that clauses give a variable.
    pub fn role(&self, symbol: SymbolId) -> Option<Role> {
        let reduced = self.reductions.iter().find(|(other, _)| *other == symbol);
        let own = || self.private.contains(&symbol).then_some(Role::Private);
        let first = || self.firstprivate.contains(&symbol).then_some(Role::Firstprivate);
        reduced.map(|(_, op)| Role::Reduction(*op)).or_else(own).or_else(first)
    }

    /// The item of the reduction of a variable.
    pub fn reduced_item(&self, symbol: SymbolId) -> Option<&'a ListItem> {
        self.reduced_items.iter().find(|(other, _)| *other == symbol).map(|(_, item)| *item)
    }

    /// The section of what a pointer leads to that each thread has for itself, and whether it begins with the values outside.
    pub fn own_section(&self, symbol: SymbolId) -> Option<(&'a ListItem, bool)> {
        let mut own =
            self.own_items.iter().filter(|(other, item, _)| *other == symbol && !item.parts.is_empty());
        own.next().map(|(_, item, is_first)| (*item, *is_first))
    }
}

/// What the clauses of a directive make private.
pub fn private(one: &Bound) -> impl Iterator<Item = &ListItem> {
    one.directive.clauses.iter().flat_map(|clause| match &clause.kind {
        ClauseKind::Private(list) => list.as_slice(),
        _ => &[],
    })
}

/// The variable of a clause of the loop in `span`, if code of the region outside of the loop names it, and no other loop around
/// that code has it private.
pub fn used_outside(code: Code, item: &ListItem, span: Span, region: Span) -> Option<SymbolId> {
    let Code { unit, symbols, bound, .. } = code;
    // There is no code outside of it.
    if span.contains(region) {
        return None;
    }
    let symbol = symbols.lookup(&item.base.text, span.start)?;
    let is_others = |at: Span| {
        let loops = bound
            .iter()
            .filter(|one| one.directive.kind == DirectiveKind::Loop && region.contains(one.directive.span));
        loops.into_iter().any(|one| {
            let other = one.stmt().map(|stmt| unit.stmt(stmt).span);
            let holds = other.is_some_and(|other| other.contains(at) && !other.contains(span));
            holds && private(one).any(|known| known.base.text == item.base.text)
        })
    };
    let mut names = unit.exprs_in(region).filter(|expr| {
        matches!(&expr.kind, ExprKind::Name(name) if *name == item.base.text)
            && symbols.lookup(&item.base.text, expr.span.start) == Some(symbol)
    });
    names.any(|expr| !span.contains(expr.span) && !is_others(expr.span)).then_some(symbol)
}
