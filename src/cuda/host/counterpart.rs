//! A routine with levels that stays inline: the device has a function of its own after it, whose threads distribute
//! its loops.
//!
//! Invariant: the host's function does what it did; what device code calls is the counterpart.

use crate::bind::Target;
use crate::cuda::code::change::Change;
use crate::cuda::code::text::{Edits, columns};
use crate::cuda::fit::counterpart::name;
use crate::cuda::kernel::inside::calls;
use crate::cuda::kernel::routine;
use crate::cuda::program::functions::{bare, mark};
use crate::cuda::program::{Input, Refused, refused, routines};
use crate::source::Span;

/// The changes that give the routine of directive `index` a counterpart.
pub fn added(input: &Input, index: usize) -> Result<Vec<Change>, Refused> {
    let bound = &input.bound[index];
    let span = bound.directive.span;
    let Some(own) = routines::routine_name(input, index) else {
        return Err(refused(span, "a routine that is not seen"));
    };
    let bare = bare(own);
    let unit = input.unit();
    let Some(at) = unit.function_places(bare).next() else {
        return Err(refused(span, "a routine that is not seen"));
    };
    if !matches!(bound.target, Target::Function(id) if unit.function(id).name == bare) {
        return Err(refused(span, "a routine with levels of parallelism that is named, in this place,"));
    }
    let function = &unit.functions[at];
    let input = Input { in_place: true, ..*input };
    let column = columns(input.file(), function.span.start);
    let mut edits = Edits::default();
    calls(&input, unit.stmt(function.body).span, &mut edits);
    let code = routine::routine_code(&input, at, edits, 0)?;
    let place = mark(&input, function.span);
    let part = |start: u32, end: u32| input.file().text(Span { start, end }).into_owned();
    let head = format!(
        "{}__device__ {}{}{}",
        part(function.span.start, place),
        part(place, function.name_span.start),
        name(&input, own).unwrap_or_default(),
        part(function.name_span.end, unit.stmt(function.body).span.start).trim_end(),
    );
    let lines = head.lines().map(str::trim).chain(code.lines());
    let indent = " ".repeat(column);
    let lines: Vec<String> = lines.map(|line| format!("{indent}{line}").trim_end().to_owned()).collect();
    let end = Span { start: function.span.end, end: function.span.end };
    Ok(vec![Change::Gone(span), Change::Text(end, format!("\n\n{}", lines.join("\n")))])
}
