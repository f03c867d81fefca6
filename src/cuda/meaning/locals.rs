//! Types and constants that a function declares, in code that is taken out of it.
//!
//! Invariant: a name stands for one of them in the whole device file.

use crate::cuda::code::text;
use crate::host::ir::DeclKind;
use crate::source::Span;

use crate::cuda::program::{Input, Refused, Seen, refused};
use crate::cuda::types::own;

/// Whether a definition stands in a function, and the device has it there already. `for_routine`: it is one that names it.
pub fn is_inside(input: &Input, seen: &Seen, span: Span, for_routine: bool) -> bool {
    if seen.unit.function_around(span).is_none() {
        return false;
    }
    let mut regions =
        input.bound.iter().filter(|one| one.directive.kind.is_compute()).filter_map(|one| one.stmt());
    for_routine
        || !std::ptr::eq(seen.unit, input.unit())
        || regions.any(|stmt| input.stmt_span(stmt).contains(span))
}

/// That the constants of the function around some code, which the code names, have names of their own.
pub fn check(input: &Input, span: Span) -> Result<(), Refused> {
    let unit = input.unit();
    let Some(function) = unit.function_around(span) else { return Ok(()) };
    for decl in unit.decls_in(function.span).filter(|decl| decl.kind == DeclKind::Enumerator) {
        let is_hidden = unit.decls_with_names_in(span).any(|own| own.name == decl.name);
        if is_hidden || own::is_free(&input.source, &decl.name, decl.span) {
            continue;
        }
        let text = input.file().text(span);
        if text::words(&text).contains(&decl.name.as_str()) {
            return Err(refused(
                decl.name_span,
                "a constant of a function whose name means something else elsewhere",
            ));
        }
    }
    Ok(())
}
