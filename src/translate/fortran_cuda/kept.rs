//! Directives that stay for constructs which are left untranslated: OpenACC reads these still, and what they call.
//!
//! Invariant: a procedure's `routine` stays with all directives of the procedure, or none of them does.

use std::collections::BTreeSet;

use crate::acc::ast::DirectiveKind;
use crate::bind::{Bound, Target};
use crate::host::ir::{ExprKind, Unit};
use crate::source::Span;

/// The `routine` directives of procedures that the code in `constructs` names, one through another, and the directives in
/// these procedures, by their numbers.
pub fn for_untranslated(unit: &Unit, bound: &[Bound], constructs: Vec<Span>) -> BTreeSet<usize> {
    let mut procedures = BTreeSet::new();
    let mut pending = constructs;
    while let Some(span) = pending.pop() {
        for expr in unit.exprs_in(span) {
            let ExprKind::Name(name) = &expr.kind else { continue };
            let fresh = unit.functions_named(name).map(|one| one.span).filter(|one| procedures.insert(*one));
            pending.extend(fresh);
        }
    }
    let is_kept = |at: &usize| match (bound[*at].directive.kind, bound[*at].target) {
        (DirectiveKind::Routine, Target::Function(id)) => procedures.contains(&unit.function(id).span),
        (DirectiveKind::Loop | DirectiveKind::Atomic | DirectiveKind::Cache, _) => {
            let span = bound[*at].directive.span;
            procedures.iter().any(|procedure| procedure.contains(span))
        }
        _ => false,
    };
    (0..bound.len()).filter(is_kept).collect()
}
