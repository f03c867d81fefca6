//! What `routine` directives are about (OpenACC 3.3, 2.15).
//!
//! Invariant: a directive in a header counts for the declaration that follows it.

use super::{Input, Seen};
use crate::acc::ast::Argument;
use crate::bind::Target;
use crate::host::ir::DeclKind;
use crate::source::Span;

/// The name of the function that a `routine` directive is about.
pub fn routine_name<'a>(input: &Input<'a>, index: usize) -> Option<&'a str> {
    let bound = &input.bound[index];
    match (&bound.directive.argument, bound.target) {
        (Argument::Name(name), _) => Some(name.text.as_str()),
        (_, Target::Function(id)) => Some(input.unit().function(id).name.as_str()),
        (_, Target::Declaration(span)) => {
            let mut inside = input.unit().decls_with_names_in(span);
            let prototype = inside.find(|decl| decl.kind == DeclKind::Prototype);
            prototype.map(|decl| decl.name.as_str())
        }
        _ => None,
    }
}

/// Whether a header declares a function after a `routine` directive.
pub fn is_routine_prototype(seen: &Seen, name: &str) -> bool {
    let prototypes = seen.unit.decls_named(name).filter(|decl| decl.kind == DeclKind::Prototype);
    prototypes.into_iter().any(|decl| {
        seen.scan.directives.iter().any(|text| {
            let between = Span { start: text.span.end, end: decl.span.start.max(text.span.end) };
            text.span.end <= decl.span.start
                && seen.file.text(text.span).contains("routine")
                && seen.file.text(between).trim().is_empty()
        })
    })
}

/// The functions that a header declares after a `routine` directive.
pub fn routine_prototypes(seen: &Seen) -> Vec<String> {
    if !seen.scan.directives.iter().any(|text| seen.file.text(text.span).contains("routine")) {
        return Vec::new();
    }
    let prototypes = seen.unit.decls.iter().filter(|decl| decl.kind == DeclKind::Prototype);
    let routines = prototypes.filter(|decl| is_routine_prototype(seen, &decl.name));
    routines.map(|decl| decl.name.clone()).collect()
}
