//! A routine with levels that stays in its place: the device has a function of its own behind it, whose threads share out
//! its loops.
//!
//! Invariant: the host's function does what it did; what device code calls is the twin.

use crate::bind::Target;
use crate::host::ir::{DeclKind, ExprKind};
use crate::source::Span;

use crate::cuda::code::change::Change;
use crate::cuda::code::text::{Edits, columns, words};
use crate::cuda::file::device;
use crate::cuda::fit::cpp::{bare, functions, mark};
use crate::cuda::program::{Input, Refused, refused};
use crate::cuda::schedule::levels::routine_levels;

/// What device code in its place calls for a routine of this name, if that has levels.
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

/// Why a routine with levels cannot have a twin.
pub fn obstacle(input: &Input, name: &str) -> Option<&'static str> {
    let bare = bare(name);
    let mut known = functions(input, bare);
    let (Some(function), None) = (known.next(), known.next()) else {
        return Some("a routine with levels of parallelism that is overloaded, or defined elsewhere,");
    };
    let mut seen_here = [&input.source].into_iter().chain(input.headers);
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

/// Has calls of routines with levels be calls of their twins.
pub fn calls(input: &Input, within: Span, edits: &mut Edits) {
    let unit = input.unit();
    for expr in unit.exprs_in(within) {
        let ExprKind::Call { callee, .. } = &expr.kind else { continue };
        let span = unit.expr(*callee).span;
        let (known, start) = match &unit.expr(*callee).kind {
            ExprKind::Name(name) => {
                let path = name.split('<').next().unwrap_or(name);
                (name, span.start + path.rfind("::").map_or(0, |at| at as u32 + 2))
            }
            ExprKind::Member { name, .. } => {
                let text = input.file().text(span);
                let Some(at) = text.rfind(name.as_str()) else { continue };
                (name, span.start + at as u32)
            }
            _ => continue,
        };
        let Some(twin) = name(input, known) else { continue };
        edits.replace(Span { start, end: start + bare(known).len() as u32 }, twin);
    }
}

/// The changes that give the routine of directive `index` a twin.
pub fn added(input: &Input, index: usize) -> Result<Vec<Change>, Refused> {
    let bound = &input.bound[index];
    let span = bound.directive.span;
    let Some(own) = device::routine_name(input, index) else {
        return Err(refused(span, "a routine that is not seen"));
    };
    if let Some(what) = obstacle(input, own) {
        return Err(refused(span, what));
    }
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
    let code = device::routine_code(&input, at, edits, 0)?;
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
