//! The variables to which `declare` directives give a place on the device wherever they are named (3.3, 2.13), as other files
//! must know.
//!
//! Invariant: names only variables at file scope and of Fortran's modules.

use std::collections::HashMap;

use crate::acc;
use crate::acc::ast::{ClauseKind, DataClause, Directive, DirectiveKind};
use crate::host::ir::{ScopeKind, Unit};
use crate::scan::Scan;
use crate::source::SourceFile;

/// Variables by their module, which C has not, and their name, with the clause that names them.
pub type Declared = HashMap<(Option<String>, String), DataClause>;

/// The variables of a file that other files see on the device.
pub fn declared(file: &SourceFile, scan: &Scan, unit: &Unit) -> Declared {
    let mut found = Declared::new();
    for text in scan.directives.iter().filter(|text| text.active && text.in_macro.is_none()) {
        let at = text.span.start;
        let module = if unit.is_fortran() {
            // A directive may be the last line of its specification part, after the last statement there.
            let innermost = unit.scope_at(at).map(|id| unit.scope(id));
            let Some(module) = innermost.filter(|scope| scope.kind == ScopeKind::Module) else { continue };
            Some(module.name.clone())
        } else {
            if unit.functions.iter().any(|function| function.span.contains(text.span)) {
                continue;
            }
            None
        };
        let (directive, _) = acc::parse(file, text);
        for (clause, name) in directive.iter().flat_map(placed) {
            found.insert((module.clone(), name), clause);
        }
    }
    found
}

/// The variables that a `declare` directive places, each with its clause.
fn placed(directive: &Directive) -> impl Iterator<Item = (DataClause, String)> {
    let clauses = directive.clauses.iter().filter(|_| directive.kind == DirectiveKind::Declare);
    let lists = clauses.filter_map(|clause| match &clause.kind {
        ClauseKind::Data(DataClause::Deviceptr, _) => None,
        ClauseKind::Data(clause, list) => Some((*clause, list)),
        _ => None,
    });
    lists.flat_map(|(clause, list)| list.iter().map(move |item| (clause, item.base.text.clone())))
}
