//! What divided loops make private and what they reduce: the variables of their clauses, and the reductions that pass through
//! them. A reduction is named on every loop between where it is combined and where it is computed (OpenACC 3.3, 2.9.11).
//!
//! Invariant: a variable that a loop has private or reduces already gets nothing from other loops.

use std::collections::{BTreeMap, BTreeSet};

use crate::acc::ast::{ClauseKind, ListItem, ReductionOp};
use crate::bind::ancestors;
use crate::host::ir::{ExprKind, FunctionId, StmtId};
use crate::sema::{self, SymbolId};
use crate::source::Span;

use super::division::{Division, Divisions, counting};
use super::listed::Code;

/// What a loop makes private, and what it reduces.
#[derive(Clone, Debug, Default)]
pub(super) struct Lists {
    pub(super) private: Vec<ListItem>,
    pub(super) reductions: Vec<(ReductionOp, ListItem)>,
}

impl Lists {
    /// What the clauses of the directives of loops that run as one say, the outermost of them `stmt`; what is reduced is named
    /// once, and what the loops do not use stays as it is.
    pub(super) fn of(code: Code, directives: &[usize], stmt: StmtId) -> Lists {
        let mut lists = Lists::default();
        let used = sema::uses(code.unit, code.symbols, stmt);
        let at = span(code, stmt).start;
        let is_used =
            |item: &ListItem| symbol_of(code, item, at).is_none_or(|symbol| used.of(symbol).is_some());
        for (depth, at) in directives.iter().enumerate() {
            for kind in counting(&code.bound[*at].directive, code.device_type) {
                match kind {
                    ClauseKind::Private(list) => lists.private.extend(list.iter().cloned()),
                    ClauseKind::Reduction(op, list) => {
                        let known = |item: &ListItem, all: &[(ReductionOp, ListItem)]| {
                            depth > 0 && all.iter().any(|(_, other)| other.text == item.text)
                        };
                        for item in list {
                            if !known(item, &lists.reductions) && is_used(item) {
                                lists.reductions.push((*op, item.clone()));
                            }
                        }
                    }
                    _ => {}
                }
            }
        }
        lists
    }
}

/// What reduces variables: a compute construct, or the routine around loops that stand outside of constructs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Scope {
    Construct(usize),
    Routine(Option<FunctionId>),
}

/// A reduction that a clause names.
struct Reduction {
    /// The loop of the clause; none if it is on the construct.
    from: Option<Span>,
    symbol: SymbolId,
    op: ReductionOp,
    item: ListItem,
}

/// Adds to each divided loop the reductions that pass through it.
pub(super) fn pass_through(code: Code, divisions: &mut Divisions) {
    let mut scopes: BTreeMap<Scope, Vec<StmtId>> = BTreeMap::new();
    for (stmt, one) in divisions.iter().filter(|(_, one)| one.levels.any()) {
        scopes.entry(scope(code, one.directives[0])).or_default().push(*stmt);
    }
    for (scope, loops) in scopes {
        let loops: Vec<(StmtId, &Division)> = loops.iter().map(|stmt| (*stmt, &divisions[stmt])).collect();
        let passed = passed(code, scope, &loops);
        for (stmt, op, item) in passed {
            if let Some(division) = divisions.get_mut(&stmt) {
                division.reductions.push((op, item));
            }
        }
    }
}

fn scope(code: Code, at: usize) -> Scope {
    let is_compute = |at: &usize| code.bound[*at].directive.kind.is_compute();
    match std::iter::once(at).chain(ancestors(code.bound, at)).find(is_compute) {
        Some(construct) => Scope::Construct(construct),
        None => Scope::Routine(code.bound[at].function),
    }
}

/// The reductions that pass through the loops of a construct or routine.
fn passed(code: Code, scope: Scope, loops: &[(StmtId, &Division)]) -> Vec<(StmtId, ReductionOp, ListItem)> {
    let mut wanted: Vec<(StmtId, ReductionOp, ListItem)> = Vec::new();
    for Reduction { from, symbol, op, item } in known(code, scope, loops) {
        for (stmt, division) in loops {
            let lists = |other: &ListItem| symbol_of(code, other, span(code, *stmt).start) == Some(symbol);
            let is_listed = division.private.iter().any(lists)
                || division.reductions.iter().any(|(_, other)| lists(other))
                || wanted.iter().any(|(other, _, one)| other == stmt && one.base.text == item.base.text);
            if !is_listed && passes(code, from, symbol, division) {
                wanted.push((*stmt, op, item.clone()));
            }
        }
    }
    wanted
}

/// The reductions that the clauses of a construct and of its loops name.
fn known(code: Code, scope: Scope, loops: &[(StmtId, &Division)]) -> Vec<Reduction> {
    let mut known = Vec::new();
    if let Scope::Construct(index) = scope {
        let directive = &code.bound[index].directive;
        for kind in counting(directive, code.device_type) {
            if let ClauseKind::Reduction(op, list) = kind {
                known.extend(list.iter().map(|item| (None, directive.span.start, *op, item)));
            }
        }
    }
    for (stmt, division) in loops {
        let from = span(code, *stmt);
        known.extend(division.reductions.iter().map(|(op, item)| (Some(from), from.start, *op, item)));
    }
    let reductions = known.into_iter().filter_map(|(from, at, op, item)| {
        Some(Reduction { from, symbol: symbol_of(code, item, at)?, op, item: item.clone() })
    });
    reductions.collect()
}

/// Whether a reduction of the loop `from` passes through a loop: inside, where that changes the variable; outside, where the
/// variable lives outside of that and is carried from one iteration to the next.
fn passes(code: Code, from: Option<Span>, symbol: SymbolId, division: &Division) -> bool {
    let loop_span = span(code, division.stmts[0]);
    let used = |stmt: StmtId| sema::uses(code.unit, code.symbols, stmt).of(symbol).cloned();
    let is_updated = || used(division.stmts[0]).is_some_and(|used| used.written || used.part_written);
    if from.is_none_or(|from| from != loop_span && from.contains(loop_span)) {
        return is_updated();
    }
    let is_outside = from.is_some_and(|from| from != loop_span && loop_span.contains(from));
    let lives_outside = !loop_span.contains(code.symbols.get(symbol).scope);
    let innermost = division.stmts.last().and_then(|stmt| sema::header(code.unit, code.symbols, *stmt).ok());
    is_outside
        && lives_outside
        && innermost.is_some_and(|header| used(header.body).is_some_and(|used| used.exposed))
}

/// Whether a region uses a variable outside of the loops that reduce it, or reduces it with several operators: its gangs
/// cannot combine what they have of it.
pub fn is_used_beside<'a>(
    code: Code,
    region: Span,
    loops: impl IntoIterator<Item = &'a Division>,
    symbol: SymbolId,
) -> bool {
    let mut reducing: Vec<Span> = Vec::new();
    let mut operators: BTreeSet<ReductionOp> = BTreeSet::new();
    for division in loops {
        let own: Vec<ReductionOp> = division.reduces(code, symbol).collect();
        if !own.is_empty() {
            reducing.push(span(code, division.stmts[0]));
        }
        operators.extend(own);
    }
    if operators.len() > 1 {
        return true;
    }
    code.unit.exprs_in(region).any(|expr| match &expr.kind {
        ExprKind::Name(name) => {
            code.symbols.lookup(name, expr.span.start) == Some(symbol)
                && !reducing.iter().any(|span| span.contains(expr.span))
        }
        _ => false,
    })
}

impl Division {
    /// The operators by which it reduces a variable.
    pub fn reduces(&self, code: Code, symbol: SymbolId) -> impl Iterator<Item = ReductionOp> {
        let at = span(code, self.stmts[0]).start;
        let own = self.reductions.iter().filter(move |(_, item)| symbol_of(code, item, at) == Some(symbol));
        own.map(|(op, _)| *op)
    }
}

fn symbol_of(code: Code, item: &ListItem, at: u32) -> Option<SymbolId> {
    code.symbols.lookup(&item.base.text, at)
}

fn span(code: Code, stmt: StmtId) -> Span {
    code.unit.stmt(stmt).span
}
