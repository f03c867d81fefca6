//! Functions that code names without a call: their addresses are values.
//!
//! Invariant: only names that mean a function where they stand.

use std::collections::BTreeSet;

use crate::host::ir::ExprKind;
use crate::sema::SymbolKind;
use crate::source::Span;

use crate::cuda::program::Input;

/// The functions of the program whose addresses the code takes.
pub fn addresses(input: &Input, span: Span) -> BTreeSet<String> {
    let unit = input.unit();
    let mut found = BTreeSet::new();
    if !input.is_c {
        return found;
    }
    let callees: BTreeSet<_> = unit
        .exprs_in(span)
        .filter_map(|expr| if let ExprKind::Call { callee, .. } = expr.kind { Some(callee) } else { None })
        .collect();
    for id in unit.expr_ids_in(span).filter(|id| !callees.contains(id)) {
        let ExprKind::Name(name) = &unit.expr(id).kind else { continue };
        let symbol = input.symbols.lookup(name, unit.expr(id).span.start);
        let is_function = symbol.is_some_and(|id| input.symbols.get(id).kind == SymbolKind::Function);
        if is_function && super::taken::is_own(input, name) {
            found.insert(name.clone());
        }
    }
    found
}
