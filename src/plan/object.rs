//! The object of member functions in C++ (OpenACC 3.3, 2.7.1): a construct that calls a member function of its own object
//! needs all of it on the device, not only the members that its clauses name.
//!
//! Invariant: what a clause says of the object stays as it is.

use crate::acc::ast::{ClauseKind, DataClause, ListItem, Name};
use crate::bind::{Bound, ancestors, implied_clause};
use crate::host::ir::{ExprKind, StmtId, Unit};
use crate::sema::{SymbolKind, Symbols};
use crate::source::Span;

/// Adds `copy(this)` to compute constructs that name members in data clauses and call member functions.
pub fn with_objects(unit: &Unit, symbols: &Symbols, mut bound: Vec<Bound>) -> Vec<Bound> {
    if !unit.is_cpp() {
        return bound;
    }
    let needs = |at: &usize| {
        let one = &bound[*at];
        let is_compute = one.directive.kind.is_compute();
        let mut around = ancestors(&bound, *at).chain([*at]);
        is_compute
            && names_members(unit, symbols, one)
            && !around.any(|at| names_object(&bound[at]))
            && one.stmt().is_some_and(|stmt| calls_own(unit, symbols, one, stmt))
    };
    let all: Vec<usize> = (0..bound.len()).filter(needs).collect();
    for at in all {
        let start = bound[at].directive.span.end;
        let span = Span { start, end: start };
        let base = Name { text: "this".to_owned(), span };
        let object = ListItem { base, parts: Vec::new(), text: "this".to_owned(), span, common: false };
        let kind = ClauseKind::Data(DataClause::Copy, vec![object]);
        bound[at].directive.clauses.push(implied_clause(start, "copy", kind));
    }
    bound
}

/// Whether a clause of the directive names the whole object: `this`, or `this[0:1]`.
pub fn names_object(bound: &Bound) -> bool {
    let mut items = bound.directive.clauses.iter().flat_map(|clause| super::list(&clause.kind));
    items.any(|item| item.variable() == "this")
}

/// Whether a data clause of the directive names members of the object.
fn names_members(unit: &Unit, symbols: &Symbols, one: &Bound) -> bool {
    let data = one.directive.clauses.iter().filter(|clause| matches!(clause.kind, ClauseKind::Data(..)));
    data.flat_map(|clause| super::list(&clause.kind)).any(|item| is_member(unit, symbols, one, item))
}

/// Whether an item of a directive is a member of the object.
pub fn is_member(unit: &Unit, symbols: &Symbols, one: &Bound, item: &ListItem) -> bool {
    let symbol = symbols.lookup(item.variable(), one.directive.span.start);
    symbol.map(|symbol| symbols.get(symbol)).is_some_and(|known| {
        let is_static = known.decl.is_some_and(|decl| unit.decl(decl).is_static);
        known.kind == SymbolKind::Member && !is_static
    })
}

/// Whether a construct calls member functions of its own object.
fn calls_own(unit: &Unit, symbols: &Symbols, one: &Bound, stmt: StmtId) -> bool {
    let Some(class) = one.function.and_then(|function| unit.function(function).member_of.as_ref()) else {
        return false;
    };
    let within = unit.stmt(stmt).span;
    unit.exprs_in(within).any(|expr| {
        let ExprKind::Call { callee, .. } = &expr.kind else { return false };
        match &unit.expr(*callee).kind {
            ExprKind::Name(name) => {
                let own = unit.functions.iter().filter(|function| function.member_of.as_ref() == Some(class));
                let known = symbols.lookup(name, expr.span.start).map(|symbol| symbols.get(symbol).kind);
                let is_variable = matches!(known, Some(SymbolKind::Local | SymbolKind::Parameter));
                !is_variable && own.into_iter().any(|function| function.name == *name)
            }
            ExprKind::Member { base, arrow: true, .. } => {
                matches!(&unit.expr(*base).kind, ExprKind::Name(name) if name == "this")
            }
            _ => false,
        }
    })
}
