//! Constants of enumerations that a function declares: kernels are outside of the function.
//!
//! Invariant: a name stands for one constant in the whole device file.

use crate::cuda::code::text;
use crate::host::ir::DeclKind;
use crate::source::Span;

use crate::cuda::program::{Input, Refused, Seen, refused};

/// Whether a constant that a function declares can be declared at file scope: nothing else has its name.
pub fn is_only(seen: &Seen, name: &str) -> bool {
    // Members have a name space of their own (C17, 6.2.3).
    let mut others = seen.unit.decls_named(name).filter(|decl| decl.kind != DeclKind::Member);
    others.next().is_some() && others.next().is_none() && seen.unit.functions_named(name).next().is_none()
}

/// Whether a definition stands in a function, and the device has it there already. `for_kernel`: it is a kernel that names it.
pub fn is_inside(input: &Input, seen: &Seen, span: Span, for_kernel: bool) -> bool {
    if seen.unit.function_around(span).is_none() {
        return false;
    }
    let mut regions =
        input.bound.iter().filter(|one| one.directive.kind.is_compute()).filter_map(|one| one.stmt());
    !for_kernel
        || !std::ptr::eq(seen.unit, input.unit())
        || regions.any(|stmt| input.stmt_span(stmt).contains(span))
}

/// That the constants of the function around some code, which the code names, have names of their own.
pub fn check(input: &Input, span: Span) -> Result<(), Refused> {
    let unit = input.unit();
    let Some(function) = unit.function_around(span) else { return Ok(()) };
    for decl in unit.decls_in(function.span).filter(|decl| decl.kind == DeclKind::Enumerator) {
        let is_hidden = unit.decls_with_names_in(span).any(|own| own.name == decl.name);
        if is_hidden || is_only(&input.source, &decl.name) {
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
