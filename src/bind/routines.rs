//! The procedures that `routine` directives compile for all gangs together (3.3, 2.15.1), as their callers must know.
//!
//! Invariant: a procedure is named as its calls name it: without its class, and Fortran's in lower case.

use crate::acc;
use crate::acc::ast::{Argument, ClauseKind, Directive, DirectiveKind};
use crate::host::ir::{ScopeKind, Unit};
use crate::scan::Scan;
use crate::source::SourceFile;

use super::{Target, function_at, routine_target, scoping_unit};

/// The procedures with `routine gang` in a file that others include or use.
pub fn gang_routines(file: &SourceFile, scan: &Scan, unit: &Unit) -> Vec<String> {
    let mut found = Vec::new();
    for text in scan.directives.iter().filter(|text| text.active && text.in_macro.is_none()) {
        let (directive, _) = acc::parse(file, text);
        let Some(directive) = directive.filter(|one| one.kind == DirectiveKind::Routine) else { continue };
        let is_gang = directive.clauses.iter().any(|clause| matches!(clause.kind, ClauseKind::Gang(_)));
        let at = directive.span.start;
        let target = match (unit.is_fortran(), function_at(unit, at)) {
            (true, function) => scoping_unit(unit, at, function),
            (false, _) => routine_target(unit, text.next_code),
        };
        if is_gang {
            found.extend(named_by(unit, &directive, target.unwrap_or(Target::Standalone)));
        }
    }
    found
}

/// The procedures that a `routine` directive with this target is about.
pub fn named_by(unit: &Unit, directive: &Directive, target: Target) -> Vec<String> {
    if let Argument::Name(name) = &directive.argument {
        let text = name.text.rsplit(':').next().unwrap_or(&name.text);
        return vec![if unit.is_fortran() { text.to_ascii_lowercase() } else { text.to_owned() }];
    }
    match target {
        Target::Function(function) => vec![unit.function(function).name.clone()],
        Target::Declaration(span) if unit.is_fortran() => {
            let is_it =
                |scope: &&crate::host::ir::Scope| scope.kind == ScopeKind::Interface && scope.span == span;
            unit.scopes.iter().filter(is_it).map(|scope| scope.name.clone()).collect()
        }
        Target::Declaration(span) => {
            let inside = unit.decls.iter().filter(|decl| span.contains(decl.span));
            inside.map(|decl| decl.name.clone()).collect()
        }
        Target::Stmt(_) | Target::Standalone => Vec::new(),
    }
}
