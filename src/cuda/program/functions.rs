//! The functions of a program: by name, what code calls, and which of them stand outside of classes, templates and namespaces.
//!
//! Invariant: names count without namespaces, classes and arguments of templates.

pub use crate::bind::bare_name as bare;

use std::collections::HashSet;

use super::{Input, Seen};
use crate::cuda::code::text::words;
use crate::host::ir::{ExprKind, Function};
use crate::source::Span;

/// The functions of a name that the file defines.
pub fn functions<'a>(input: &Input<'a>, name: &str) -> impl Iterator<Item = &'a Function> + use<'a> {
    input.unit().functions_named(bare(name))
}

/// What the code in `span` calls: each name once, and whether it is that of one function, which is not a member.
pub fn called<'a>(input: &Input<'a>, span: Span) -> impl Iterator<Item = (String, bool)> + use<'a> {
    let unit = input.unit();
    let mut known: HashSet<(&str, bool)> = HashSet::new();
    unit.exprs_in(span).filter_map(move |expr| {
        let ExprKind::Call { callee, .. } = &expr.kind else { return None };
        let (name, is_member) = match &unit.expr(*callee).kind {
            ExprKind::Name(name) => (name, false),
            ExprKind::Member { name, .. } => (name, true),
            _ => return None,
        };
        let is_alone = || !is_member && unit.function_places(bare(name)).count() < 2;
        known.insert((name.as_str(), is_member)).then(|| (name.clone(), is_alone()))
    })
}

/// Whether a function is one that a device file can have a copy of: outside of classes, templates and namespaces.
pub fn is_plain(input: &Input, function: &Function) -> bool {
    is_plain_in(&input.source, function)
}

/// The same for a function of a header.
pub fn is_plain_in(seen: &Seen, function: &Function) -> bool {
    has_plain_head(seen, function) && !in_namespace(seen, function.span)
}

/// Whether a function is neither a member nor a template.
pub fn has_plain_head(seen: &Seen, function: &Function) -> bool {
    let head = Span { start: function.span.start, end: function.name_span.start };
    // Class templates and what the standard library has stay where they are.
    let params = Span { start: function.span.start, end: seen.unit.stmt(function.body).span.start };
    function.member_of.is_none()
        && !seen.file.text(params).contains('<')
        && !words(&seen.file.text(head)).contains(&"template")
}

/// Whether a namespace holds a place: an open brace before it that no function or class has.
pub fn in_namespace(seen: &Seen, span: Span) -> bool {
    seen.scan.is_in_braces(span.start)
}

/// Where the macro goes that makes a function one of the device too: after `template <…>` and attributes.
pub fn mark(input: &Input, span: Span) -> u32 {
    // Without the lines of other branches.
    let shadow = &input.source.scan.shadow;
    let text =
        String::from_utf8_lossy(shadow.get(span.start as usize..span.end as usize).unwrap_or_default());
    let bytes = text.as_bytes();
    let mut at = 0;
    loop {
        while bytes.get(at).is_some_and(u8::is_ascii_whitespace) {
            at += 1;
        }
        let rest = &text[at..];
        if rest.starts_with("template") {
            let mut depth = 0;
            let end = rest.char_indices().find(|(_, c)| {
                depth += i32::from(*c == '<') - i32::from(*c == '>');
                *c == '>' && depth == 0
            });
            let Some((end, _)) = end else { break };
            at += end + 1;
        } else if rest.starts_with("[[") {
            let Some(end) = rest.find("]]") else { break };
            at += end + 2;
        } else if rest.starts_with("extern \"C\"")
            && !rest["extern \"C\"".len()..].trim_start().starts_with('{')
        {
            at += "extern \"C\"".len();
        } else {
            break;
        }
    }
    span.start + at as u32
}
