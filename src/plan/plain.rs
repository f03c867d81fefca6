//! Names in clauses of C++ without the namespaces and classes that they may be written with.
//!
//! Invariant: a name alone means the same variable; the text of the item stays.

use crate::acc::ast::{ClauseKind, ListItem};
use crate::bind::Bound;
use crate::host::ir::Unit;
use crate::sema::Symbols;

/// Takes the namespaces and classes off the names in clauses, as far as the names alone mean the same variables. The texts
/// of the items keep them.
pub fn with_plain_names(unit: &Unit, symbols: &Symbols, mut bound: Vec<Bound>) -> Vec<Bound> {
    if !unit.is_cpp() {
        return bound;
    }
    for one in &mut bound {
        let start = one.directive.span.start;
        let clauses = one.directive.clauses.iter_mut();
        for item in clauses.filter_map(|clause| shared_or_own(&mut clause.kind)).flatten() {
            let Some((_, last)) = item.base.text.rsplit_once("::") else { continue };
            let meant = symbols.lookup(&item.base.text, start);
            if meant.is_some() && meant == symbols.lookup(last, start) {
                item.base.text = last.to_owned();
            }
        }
    }
    bound
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
