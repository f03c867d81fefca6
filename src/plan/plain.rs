//! Names in clauses without the namespaces and classes of C++ that they may be written with, and variables in place of macros
//! that stand for them.
//!
//! Invariant: a name alone means the same variable; the text of the item stays.

use crate::acc::ast::{ClauseKind, ListItem};
use crate::bind::Bound;
use crate::host::ir::Unit;
use crate::sema::Symbols;

/// Takes the namespaces and classes off the names in clauses, as far as the names alone mean the same variables.
pub fn with_plain_names(unit: &Unit, symbols: &Symbols, bound: Vec<Bound>) -> Vec<Bound> {
    with_names(unit, bound, |name, at| {
        let (_, last) = name.rsplit_once("::")?;
        let meant = symbols.lookup(name, at);
        (meant.is_some() && meant == symbols.lookup(last, at)).then(|| last.to_owned())
    })
}

/// Names the variables in clauses that macros stand for.
pub fn without_macros(unit: &Unit, symbols: &Symbols, bound: Vec<Bound>) -> Vec<Bound> {
    with_names(unit, bound, |name, at| variable_of(symbols, name, at))
}

/// Gives the variables in clauses of C and C++ other names, where `other` has one at a place; the texts of the items stay.
fn with_names(unit: &Unit, mut bound: Vec<Bound>, other: impl Fn(&str, u32) -> Option<String>) -> Vec<Bound> {
    if unit.is_fortran() {
        return bound;
    }
    for one in &mut bound {
        let start = one.directive.span.start;
        let clauses = one.directive.clauses.iter_mut();
        for item in clauses.filter_map(|clause| shared_or_own(&mut clause.kind)).flatten() {
            if let Some(name) = other(&item.base.text, start) {
                item.base.text = name;
            }
        }
    }
    bound
}

/// The variable whose name is all that the macro `name` stands for.
fn variable_of(symbols: &Symbols, name: &str, at: u32) -> Option<String> {
    let mut found = name;
    for _ in 0..16 {
        let Some(body) = symbols.body_of(found).map(str::trim) else { break };
        let is_name = body.chars().all(|c| c.is_alphanumeric() || c == '_') && !body.is_empty();
        found = if is_name { body } else { return None };
    }
    (found != name && symbols.lookup(found, at).is_some()).then(|| found.to_owned())
}

/// The list of a clause about the variables of threads, or about data.
fn shared_or_own(kind: &mut ClauseKind) -> Option<&mut Vec<ListItem>> {
    match kind {
        ClauseKind::Private(list)
        | ClauseKind::Firstprivate(list)
        | ClauseKind::Reduction(_, list)
        | ClauseKind::Data(_, list) => Some(list),
        _ => None,
    }
}
