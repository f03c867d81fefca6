//! Directives that stay for constructs which are left untranslated: OpenACC reads these still, and what they call.
//!
//! Invariant: the device has a function of its own beside each that stays with its directives.

use std::collections::BTreeSet;

use crate::acc::ast::DirectiveKind;
use crate::cuda::program::{Input, functions, routines};
use crate::host::ir::StmtId;
use crate::source::Span;

use super::cpp;

/// The `routine` directives of functions that the constructs call, one through another, and the directives in these functions,
/// by their numbers.
pub fn for_untranslated(input: &Input, constructs: &[StmtId]) -> BTreeSet<usize> {
    let mut names = BTreeSet::new();
    let mut inside = Vec::new();
    let mut pending: Vec<Span> =
        constructs.iter().flat_map(|stmt| cpp::code(input, input.stmt_span(*stmt))).collect();
    while let Some(span) = pending.pop() {
        for name in cpp::reached(input, span) {
            let defined: Vec<Span> = input.unit().functions_named(&name).map(|one| one.span).collect();
            if names.insert(name) {
                inside.extend(&defined);
                pending.extend(defined);
            }
        }
    }
    let is_kept = |index: &usize| match input.bound[*index].directive.kind {
        DirectiveKind::Routine => {
            let name = routines::routine_name(input, *index).map(functions::bare);
            name.is_some_and(|name| names.contains(name))
        }
        DirectiveKind::Loop | DirectiveKind::Atomic | DirectiveKind::Cache => {
            let span = input.bound[*index].directive.span;
            inside.iter().any(|function: &Span| function.contains(span))
        }
        _ => false,
    };
    (0..input.bound.len()).filter(is_kept).collect()
}
