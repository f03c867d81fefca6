//! Default arguments of functions of C++: the device file has a prototype of each function before the code that calls it.
//!
//! Invariant: each default argument stands once, in the first declaration that the device file has of the function.

use std::ops::Range;

use super::heads::{device, remove_storage};
use crate::cuda::code::text::{Edits, Overlap};
use crate::cuda::program::{Input, Seen};
use crate::host::ir::{DeclKind, Function};
use crate::source::{self, Span};

/// One parameter of a list: its bytes, and where those of its default argument begin, with the `=`.
struct Parameter {
    span: Span,
    default: Option<u32>,
}

/// The heads of a function of C++ that has default arguments, in its definition or before: that of the prototype, which says
/// them, and that of the definition.
pub fn heads(input: &Input, seen: &Seen, function: &Function) -> Result<Option<(String, String)>, Overlap> {
    if !seen.unit.is_cpp() {
        return Ok(None);
    }
    let end = seen.unit.stmt(function.body).span.start;
    let head = Span { start: function.span.start, end };
    let own = parameters(seen, Span { start: function.name_span.end, end });
    let is_alone = seen.unit.function_places(&function.name).count() == 1;
    let known = if is_alone { said_before(input, function, own.len()) } else { Vec::new() };
    let has_own = own.iter().any(|one| one.default.is_some());
    if !has_own && known.iter().all(Option::is_none) {
        return Ok(None);
    }
    let mut with = Edits::default();
    remove_storage(seen, head, &mut with);
    let mut without = with.clone();
    for (at, one) in own.iter().enumerate() {
        let end = one.span.end;
        match (one.default, known.get(at)) {
            (Some(start), _) => without.replace(Span { start, end }, ""),
            (None, Some(Some(default))) => with.replace(Span { start: end, end }, format!(" {default}")),
            _ => {}
        }
    }
    let text = |edits: &Edits| Ok(device(&edits.render(seen.file, head, 0)?));
    Ok(Some((text(&with)?, text(&without)?)))
}

/// The default arguments that prototypes of a function say, by its parameters.
fn said_before(input: &Input, function: &Function, count: usize) -> Vec<Option<String>> {
    let mut found: Vec<Option<String>> = vec![None; count];
    for seen in input.files() {
        let prototypes =
            seen.unit.decls_named(&function.name).filter(|decl| decl.kind == DeclKind::Prototype);
        for decl in prototypes {
            let all = parameters(&seen, Span { start: decl.name_span.end, end: decl.span.end });
            if all.len() != count {
                continue;
            }
            for (one, known) in all.iter().zip(&mut found) {
                let said = one.default.map(|start| Span { start, end: one.span.end });
                *known = said.map(|span| seen.file.text(span).into_owned()).or(known.take());
            }
        }
    }
    found
}

/// The parameters in the first brackets of some bytes.
fn parameters(seen: &Seen, span: Span) -> Vec<Parameter> {
    let shadow = seen.scan.shadow.get(span.range()).unwrap_or_default();
    let mut found = Vec::new();
    let (mut depth, mut start, mut default) = (0usize, 0, None);
    let mut at = 0;
    while let Some(byte) = shadow.get(at) {
        let next = literal_end(shadow, at).unwrap_or(at + 1);
        let is_type = default.is_none();
        match byte {
            b'(' if depth == 0 => {
                (depth, start) = (1, next);
            }
            b'(' | b'[' | b'{' => depth += 1,
            b'<' if is_type && depth > 0 => depth += 1,
            b'>' if is_type && depth > 1 => depth -= 1,
            b'=' if depth == 1 && is_type => default = Some(at),
            b',' | b')' if depth == 1 => {
                found.push(parameter(shadow, span.start, start..at, default));
                if *byte == b')' {
                    return found;
                }
                (start, default) = (next, None);
            }
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at = next;
    }
    Vec::new()
}

/// A parameter, without the blanks around it and before its default argument.
fn parameter(shadow: &[u8], base: u32, range: Range<usize>, default: Option<usize>) -> Parameter {
    let trimmed = |end: usize| {
        let text = shadow.get(range.start..end).unwrap_or_default();
        range.start + text.trim_ascii_end().len()
    };
    let place = |at: usize| base + at as u32;
    let span = Span { start: place(range.start), end: place(trimmed(range.end)) };
    Parameter { span, default: default.map(|at| place(trimmed(at))) }
}

/// Where a string, a character or a comment ends that begins at a place.
fn literal_end(shadow: &[u8], at: usize) -> Option<usize> {
    let rest = shadow.get(at..)?;
    if rest.starts_with(b"/*") {
        return Some(memchr::memmem::find(rest, b"*/").map_or(shadow.len(), |end| at + end + 2));
    }
    let quote = *rest.first().filter(|byte| matches!(byte, b'"' | b'\''))?;
    Some(at + source::literal_length(rest, quote))
}
