//! Heads of functions and declarations without what says where they are stored: that is the host's.
//!
//! Invariant: only words that the grammar read as such go; a comment or a longer word with the same letters stays.

use crate::host::forms::inside;
use crate::host::ir::{Decl, Derived, ExprId, Function};
use crate::sema::CNumber;
use crate::source::Span;

use super::enums;
use crate::cuda::code::text::{self, Edits, Overlap};
use crate::cuda::program::{Input, Refused, Seen, refused, sizes};
use crate::cuda::types::spelling;

/// The head of a function as device code.
pub fn head(input: &Input, seen: &Seen, function: &Function) -> Result<String, Refused> {
    let body = seen.unit.stmt(function.body).span;
    let span = Span { start: function.span.start, end: body.start };
    let mut edits = Edits::default();
    remove_storage(seen, span, &mut edits);
    if input.is_c && !old_style(input, seen, function, &mut edits)? {
        parameters(seen, function, &mut edits)?;
        enums::in_code(input, seen, span, &mut edits)?;
    }
    Ok(device(&edits.render(seen.file, span, 0)?))
}

/// A declaration without its words of storage, as device code.
pub fn without_storage(seen: &Seen, span: Span) -> String {
    let mut edits = Edits::default();
    remove_storage(seen, span, &mut edits);
    for word in inside(&seen.unit.forms.bound_words, span) {
        edits.replace(*word, "");
    }
    edits.render(seen.file, span, 0).unwrap_or_else(Overlap::line).trim().to_owned()
}

/// Text with the device's word before it, and without lines of directives.
pub fn device(text: &str) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with("#pragma")).collect();
    format!("__device__ {}", lines.join("\n").trim())
}

/// Takes away the words that say where something is stored.
pub fn remove_storage(seen: &Seen, span: Span, edits: &mut Edits) {
    for word in inside(&seen.unit.forms.storage, span) {
        let after = seen.file.slice(Span { start: word.end, end: span.end });
        let blanks = after.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count() as u32;
        edits.replace(Span { start: word.start, end: word.end + blanks }, "");
    }
}

/// What arrays among the parameters have in their first brackets means nothing to C++.
fn parameters(seen: &Seen, function: &Function, edits: &mut Edits) -> Result<(), Refused> {
    for decl in function.params.iter().map(|id| seen.unit.decl(*id)) {
        let Some(Derived::Array(_)) = decl.derived.first() else { continue };
        let mut bounds = sizes::of(decl);
        let is_param = |name: &str| function.params.iter().any(|id| seen.unit.decl(*id).name == name);
        let is_run_time =
            |size: &ExprId| sizes::names(seen.unit, [*size]).into_iter().any(|(name, _)| is_param(name));
        let first = bounds.next();
        if bounds.any(|size| is_run_time(&size)) {
            return Err(refused(decl.name_span, "a parameter whose rows have a run-time length"));
        }
        let text = seen.file.text(Span { start: decl.name_span.end, end: decl.span.end }).into_owned();
        let is_plain = inside(&seen.unit.forms.bound_words, decl.span).next().is_none();
        if is_plain && !first.is_some_and(|size| is_run_time(&size)) {
            continue;
        }
        if let (Some(open), Some(close)) = (text.find('['), text.find(']')) {
            let at = decl.name_span.end;
            edits.replace(Span { start: at + open as u32 + 1, end: at + close as u32 }, "");
        }
    }
    Ok(())
}

/// Writes the head of an old-style definition with the types in its list; false if it is not one.
fn old_style(input: &Input, seen: &Seen, function: &Function, edits: &mut Edits) -> Result<bool, Refused> {
    let body = seen.unit.stmt(function.body).span;
    let after = Span { start: function.name_span.end, end: body.start };
    let shadow = seen.scan.shadow.get(after.range()).unwrap_or_default();
    let Some((open, close)) = brackets(shadow) else { return Ok(false) };
    let (open, close) = (after.start + open as u32, after.start + close as u32);
    let declared = |decl: &&Decl| decl.span.start > close;
    let params: Vec<&Decl> = function.params.iter().map(|id| seen.unit.decl(*id)).collect();
    let names = seen.file.text(Span { start: open + 1, end: close }).into_owned();
    let names = names.as_str();
    // Names without any type: all are `int`.
    let is_bare = || {
        let mut all = names.split(',').map(str::trim);
        let is_type = |name: &str| {
            CNumber::of_words(name).is_some()
                || name == "void"
                || input.files().any(|seen| seen.unit.typedefs_named(name).next().is_some())
        };
        params.is_empty()
            && all.all(|name| {
                !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_') && !is_type(name)
            })
    };
    if !params.iter().any(declared) && !is_bare() {
        return Ok(false);
    }
    let mut list = Vec::new();
    for name in text::words(names) {
        let decl = params.iter().find(|decl| decl.name == name);
        list.push(match decl {
            Some(decl) => parameter(input, seen, decl)?,
            None => format!("int {name}"),
        });
    }
    edits.replace_all(Span { start: open + 1, end: body.start }, format!("{})\n", list.join(", ")));
    Ok(true)
}

/// Where the first bracket of a text opens, and where that one closes.
fn brackets(text: &[u8]) -> Option<(usize, usize)> {
    let open = text.iter().position(|byte| *byte == b'(')?;
    let mut depth = 0;
    let mut rest = text.iter().enumerate().skip(open);
    let close = rest.find(|(_, byte)| {
        match byte {
            b'(' => depth += 1,
            b')' => depth -= 1,
            _ => {}
        }
        depth == 0
    });
    close.map(|(close, _)| (open, close))
}

/// A parameter with its type.
fn parameter(input: &Input, seen: &Seen, decl: &Decl) -> Result<String, Refused> {
    let unclear = || refused(decl.name_span, "a parameter of this type in an old-style definition");
    let base = spelling::written(input, *seen, decl).ok_or_else(unclear)?;
    let head = seen.file.text(Span { start: decl.span.start, end: decl.name_span.start });
    let is_const = text::words(&head).contains(&"const");
    let constant = if is_const && !decl.derived.is_empty() { "const " } else { "" };
    let pointers = decl.derived.iter().filter(|part| **part == Derived::Pointer).count();
    let sizes: Option<String> = match decl.derived.as_slice() {
        all if all.len() == pointers => Some(String::new()),
        all if pointers == 0 => all
            .iter()
            .map(|part| match part {
                Derived::Array(Some(size)) => Some(format!("[{}]", seen.text(*size))),
                Derived::Array(None) => Some("[]".to_owned()),
                _ => None,
            })
            .collect(),
        _ => None,
    };
    let sizes = sizes.ok_or_else(unclear)?;
    Ok(format!("{constant}{base} {}{}{sizes}", "*".repeat(pointers), decl.name))
}
