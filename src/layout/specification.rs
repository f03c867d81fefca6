//! What directives ask of the specification parts of Fortran's scoping units: declarations, and `use` statements.
//!
//! Invariant: a line is asked for where its scoping unit takes directives, or where it begins.

use crate::host::ir::{Scope, Unit};
use crate::omp::{self, BaseLanguage, SourceChange};
use crate::source::Span;

/// Where directives may stand in the innermost specification part that holds `offset`.
pub fn place_in_specification(unit: &Unit, offset: u32) -> Option<u32> {
    innermost(unit, offset).map(|scope| scope.directives_from)
}

/// The innermost scoping unit that holds `offset`.
pub fn innermost(unit: &Unit, offset: u32) -> Option<&Scope> {
    unit.scope_at(offset).map(|id| unit.scope(id))
}

/// The lines that the parts put into specification parts: where, and the line.
pub fn specified(unit: &Unit, old: Span, parts: &[SourceChange]) -> Vec<(u32, String)> {
    let mut lines = Vec::new();
    for part in parts {
        match part {
            SourceChange::Specified(directive) => {
                let place = place_in_specification(unit, old.start);
                let moved = place.filter(|place| old.start < *place);
                lines.extend(moved.map(|place| (place, directive.line(BaseLanguage::Fortran))));
            }
            SourceChange::InFunction(function, directive) => {
                let scope = unit.scopes.iter().find(|scope| scope.function == Some(*function));
                lines.extend(
                    scope.map(|scope| (scope.directives_from, directive.line(BaseLanguage::Fortran))),
                );
            }
            SourceChange::Nested(stmt, _) => {
                let one = unit.concurrent.iter().find(|one| one.stmt == *stmt);
                let nested = one.and_then(|one| one.nested.as_ref());
                let place = place_in_specification(unit, unit.stmt(*stmt).span.start);
                let fresh = nested.iter().flat_map(|nested| &nested.declarations);
                lines.extend(
                    place.into_iter().flat_map(|place| fresh.clone().map(move |line| (place, line.clone()))),
                );
            }
            SourceChange::Declared(place, line) => lines.push((*place, line.clone())),
            SourceChange::DeclaredFor(stmt, line) => {
                let scope = innermost(unit, unit.stmt(*stmt).span.start);
                lines.extend(scope.map(|scope| (scope.directives_from, line.clone())));
            }
            SourceChange::Used(stmt, line) => {
                let scope = innermost(unit, unit.stmt(*stmt).span.start);
                lines.extend(scope.map(|scope| (scope.specification.start, line.clone())));
            }
            SourceChange::Loops(stmt, _, rank) => {
                lines.extend(counters(unit, unit.stmt(*stmt).span.start, 0..*rank));
            }
            SourceChange::Counters(used) if unit.is_fortran() => {
                lines.extend(counters(unit, old.start, used.iter().copied()));
            }
            _ => {}
        }
    }
    lines
}

/// The declarations of the loop variables of these dimensions, where `offset` is.
fn counters(unit: &Unit, offset: u32, used: impl Iterator<Item = usize>) -> Vec<(u32, String)> {
    let Some(scope) = innermost(unit, offset) else { return Vec::new() };
    let fresh = used.filter(|at| !declares(unit, scope, &omp::loop_variable(*at)));
    fresh.map(|at| (scope.directives_from, omp::loop_declaration(at))).collect()
}

fn declares(unit: &Unit, scope: &Scope, name: &str) -> bool {
    scope.decls.iter().any(|decl| unit.decl(*decl).name == name)
}
