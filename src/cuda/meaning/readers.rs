//! Memory that a region only reads, and that C may hand to a function that could write.
//!
//! Invariant: what is called constant in device code is converted to no pointer through which C++ may write.

use std::collections::HashMap;

use crate::host::ir::{Derived, ExprId, ExprKind, StmtId, Unit};
use crate::sema::{CType, CTypes, SymbolId};
use crate::source::Span;

use crate::cuda::code::text::words;
use crate::cuda::program::Input;

/// Whether every use of a variable in a region ends in a value, or in a pointer to what is constant; of C++, a compiler says it.
pub fn only_values(input: &Input, stmt: StmtId, symbol: SymbolId) -> bool {
    !input.is_c || ends_in_values(input, stmt, symbol)
}

/// Whether every use of a variable in a region ends in a value, or in a pointer to what is constant: no row of an array of
/// arrays, and no member that is an array, is handed on to where it may be written.
pub fn ends_in_values(input: &Input, stmt: StmtId, symbol: SymbolId) -> bool {
    let headers: Vec<&Unit> = input.headers.iter().map(|seen| seen.unit).collect();
    let unit = input.unit();
    let chosen = super::chosen(input);
    let types =
        CTypes { file: input.file(), unit, headers: &headers, symbols: input.symbols, chosen: &chosen };
    let span = input.stmt_span(stmt);
    let mut parents: HashMap<ExprId, ExprId> = HashMap::new();
    for id in unit.expr_ids_in(span) {
        for child in unit.expr(id).kind.children() {
            parents.insert(child, id);
        }
    }
    let name = &input.symbols.get(symbol).name;
    let mut uses = unit.expr_ids_in(span).filter(|id| {
        let expr = unit.expr(*id);
        matches!(&expr.kind, ExprKind::Name(own) if own == name)
            && input.symbols.lookup(name, expr.span.start) == Some(symbol)
    });
    uses.all(|id| {
        let mut at = id;
        while let Some(parent) = parents.get(&at) {
            match &unit.expr(*parent).kind {
                ExprKind::Index(base, _) | ExprKind::Deref(base) | ExprKind::Member { base, .. }
                    if *base == at =>
                {
                    at = *parent;
                }
                _ => break,
            }
        }
        let leads = !matches!(types.of(at), CType::Array(_)) || at == id;
        leads || is_constant_parameter(input, &parents, at)
    })
}

/// Whether an argument goes to a parameter through which nothing is written.
fn is_constant_parameter(input: &Input, parents: &HashMap<ExprId, ExprId>, arg: ExprId) -> bool {
    let unit = input.unit();
    let Some(ExprKind::Call { callee, args }) = parents.get(&arg).map(|id| &unit.expr(*id).kind) else {
        return false;
    };
    let ExprKind::Name(name) = &unit.expr(*callee).kind else { return false };
    let Some(at) = args.iter().position(|one| *one == arg) else { return false };
    let known = input.files().find_map(|seen| Some((seen, seen.unit.functions_named(name).next()?)));
    let Some((seen, function)) = known else { return false };
    let Some(decl) = function.params.get(at).map(|id| seen.unit.decl(*id)) else { return false };
    let head = seen.file.text(Span { start: decl.span.start, end: decl.name_span.start });
    let base = head.split('*').next().unwrap_or_default().to_owned();
    decl.derived.iter().filter(|part| **part == Derived::Pointer).count() < 2
        && words(&base).contains(&"const")
}
