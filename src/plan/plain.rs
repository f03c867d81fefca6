//! Names in clauses without the namespaces and classes of C++ that they may be written with, and variables in place of macros
//! that stand for them.
//!
//! Invariant: a name alone means the same variable; the text of the item stays.

use crate::acc::ast::{ClauseKind, ListItem};
use crate::bind::Bound;
use crate::host::ir::Unit;
use crate::sema::Symbols;

/// Takes the namespaces and classes off the names in clauses, as far as the names alone mean the same variables, and puts
/// the variables that macros stand for instead. The texts of the items stay.
pub fn with_plain_names(unit: &Unit, symbols: &Symbols, mut bound: Vec<Bound>) -> Vec<Bound> {
    if unit.is_fortran() {
        return bound;
    }
    for one in &mut bound {
        let start = one.directive.span.start;
        let clauses = one.directive.clauses.iter_mut();
        for item in clauses.filter_map(|clause| shared_or_own(&mut clause.kind)).flatten() {
            if let Some(name) = variable_of(symbols, &item.base.text, start) {
                item.base.text = name;
            }
            let Some((_, last)) = item.base.text.rsplit_once("::") else { continue };
            let meant = symbols.lookup(&item.base.text, start);
            if meant.is_some() && meant == symbols.lookup(last, start) {
                item.base.text = last.to_owned();
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
