//! What of C++ cannot be taken out of its place into a device file.
//!
//! Invariant: what is not sure to mean the same there is refused.

use crate::host::ir::StmtId;
use crate::source::Span;

use super::Input;
use super::text::words;

/// Why a region cannot be a kernel in another file; `None` if it can.
pub fn obstacle(input: &Input, index: usize, stmt: StmtId) -> Option<&'static str> {
    let unit = input.unit();
    if !unit.is_cpp() {
        return None;
    }
    let span = unit.stmt(stmt).span;
    let function = input.bound[index].function.map(|id| unit.function(id))?;
    let head = Span { start: function.span.start, end: function.name_span.start };
    let head = input.file().text(head);
    if words(&head).contains(&"template") || in_template(input, function.span) {
        return Some("a construct in a template");
    }
    if function.member_of.is_some() && is_class(input, function.span) {
        return Some("a construct in a member function");
    }
    if unit.lambdas.iter().any(|(lambda, _)| lambda.contains(span) || span.contains(*lambda)) {
        return Some("a construct with a lambda expression");
    }
    let text = input.file().text(span);
    let known = words(&text);
    if known
        .iter()
        .any(|word| ["this", "auto", "decltype", "std", "operator", "new", "delete"].contains(word))
    {
        return Some("a construct that uses this part of C++");
    }
    let uses = crate::sema::uses(unit, input.symbols, stmt);
    let calls = &uses.calls;
    for name in calls.keys() {
        let overloads = unit.functions.iter().filter(|function| function.name == *name).count();
        let function = unit.functions.iter().find(|function| function.name == *name);
        let is_plain = function.is_none_or(|function| {
            let head = Span { start: function.span.start, end: function.name_span.start };
            function.member_of.is_none() && !words(&input.file().text(head)).contains(&"template")
        });
        if overloads > 1 || !is_plain || name.contains("::") {
            return Some("a call of a template, a member function or one of several functions of a name");
        }
    }
    (in_namespace(input, function.span)).then_some("a construct in a namespace")
}

/// Whether a class holds a place.
fn is_class(input: &Input, span: Span) -> bool {
    let unit = input.unit();
    let held = unit.records.iter().any(|record| record.span.contains(span));
    let name =
        unit.functions.iter().find(|function| function.span == span).and_then(|one| one.member_of.clone());
    held || name
        .is_some_and(|name| unit.records.iter().any(|record| record.tag.as_deref() == Some(name.as_str())))
}

/// Whether a class template holds a place.
fn in_template(input: &Input, span: Span) -> bool {
    let unit = input.unit();
    unit.records.iter().filter(|record| record.span.contains(span)).any(|record| {
        let before =
            input.file().text(Span { start: record.span.start.saturating_sub(200), end: record.span.start });
        before.trim_end().ends_with('>')
    })
}

/// Whether a namespace holds a place: an open brace before it that no function or class has.
fn in_namespace(input: &Input, span: Span) -> bool {
    let shadow = input.source.scan.shadow.get(..span.start as usize).unwrap_or_default();
    let mut depth = 0i32;
    for byte in shadow {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
    }
    depth > 0
}
