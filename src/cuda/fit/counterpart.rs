//! Routines with levels that stay inline: the device has a function of its own for each.
//!
//! Invariant: what device code calls is the function of the device.

use crate::cuda::code::text::words;
use crate::cuda::program::Input;
use crate::cuda::program::functions::{bare, functions};
use crate::cuda::program::levels::routine_levels;
use crate::host::ir::DeclKind;
use crate::source::Span;

/// What inline device code calls for a routine of this name, if that has levels.
pub fn name(input: &Input, name: &str) -> Option<String> {
    if !routine_levels(input, name).any() {
        return None;
    }
    let bare = bare(name);
    let all = input.file().text(Span { start: 0, end: input.file().bytes.len() as u32 });
    let wanted = format!("{bare}_device");
    let is_taken = words(&all).contains(&wanted.as_str());
    Some(if is_taken { format!("{bare}_on_device") } else { wanted })
}

/// Why a routine with levels cannot have a counterpart.
pub fn obstacle(input: &Input, name: &str) -> Option<&'static str> {
    let bare = bare(name);
    let mut known = functions(input, bare);
    let (Some(function), None) = (known.next(), known.next()) else {
        return Some("a routine with levels of parallelism that is overloaded, or defined elsewhere,");
    };
    let mut seen_here = input.files();
    let is_declared =
        seen_here.any(|seen| seen.unit.decls_named(bare).any(|decl| decl.kind == DeclKind::Prototype));
    if is_declared {
        return Some("a routine with levels of parallelism that is declared before, in this place,");
    }
    let head = input.file().text(Span { start: function.span.start, end: function.name_span.start });
    let is_special = words(&head).iter().any(|word| ["virtual", "constexpr", "auto"].contains(word));
    let is_operator = function.name.starts_with("operator") || function.name.starts_with('~');
    (is_special || is_operator).then_some("a routine with levels of parallelism of this kind")
}
