//! Types of C as C++ defines them: a tag inside a struct is known outside of it, an enumeration is an integer.
//!
//! Invariant: every tag and constant that the definition declares in C is declared at file scope.

use crate::cuda::code::text::{Edits, Overlap};
use crate::cuda::program::{Input, Seen};
use crate::cuda::types::{enums, packed};
use crate::host::forms::{EnumSpecifier, inside};
use crate::host::ir::{DeclKind, Record};
use crate::source::Span;

/// The definition that another one stands in: the outermost struct, or the `typedef` around it.
pub fn whole(seen: &Seen, span: Span) -> Span {
    let records = seen.unit.records.iter().map(|record| record.span);
    let typedefs = seen.unit.decls.iter().filter(|decl| decl.kind == DeclKind::Typedef).map(|decl| decl.span);
    let around = records.chain(typedefs).filter(|one| one.contains(span) && *one != span);
    around.max_by_key(|one| one.len()).unwrap_or(span)
}

/// The text of a definition of types.
pub fn text(input: &Input, seen: &Seen, span: Span) -> String {
    let mut edits = Edits::default();
    let mut before = String::new();
    let unit = seen.unit;
    let within: Vec<&Record> =
        unit.records.iter().filter(|one| span.contains(one.span) && one.span != span).collect();
    let in_record = |at: Span| {
        let mut around = unit.records.iter().filter(|one| one.span.contains(at) && one.span != at);
        around.any(|one| span.contains(one.span))
    };
    let nested: Vec<&Record> =
        within.into_iter().filter(|one| one.tag.is_some() && in_record(one.span)).collect();
    let outer: Vec<&Record> = nested
        .iter()
        .filter(|one| !nested.iter().any(|other| other.span != one.span && other.span.contains(one.span)))
        .copied()
        .collect();
    for record in &outer {
        before += &format!("{};\n", text(input, seen, record.span));
        let keyword = if record.is_union { "union" } else { "struct" };
        let tag = record.tag.as_deref().unwrap_or_default();
        edits.replace(record.span, format!("{keyword} {tag}"));
    }
    let known = |one: &&EnumSpecifier| one.span == span && enums::integer(input, seen, one).is_some();
    if let Some(one) = unit.forms.enums.iter().find(known) {
        return enums::constants(seen, one);
    }
    let own = unit.forms.enums.iter().filter(|one| span.contains(one.span) && one.span != span);
    for one in own.filter(|one| !outer.iter().any(|record| record.span.contains(one.span))) {
        let Some(word) = enums::integer(input, seen, one) else { continue };
        if one.is_definition {
            before += &format!("{};\n", enums::constants(seen, one));
        }
        let whole = Span { start: one.span.start, end: packed::after(seen, one.span.end).end };
        edits.replace(if span.contains(whole) { whole } else { one.span }, word);
    }
    let is_outside = |word: &&Span| !outer.iter().any(|record| record.span.contains(**word));
    for word in inside(&unit.forms.storage, span).filter(is_outside) {
        edits.replace(*word, "");
    }
    format!("{before}{}", edits.render(seen.file, span, 0).unwrap_or_else(Overlap::line).trim())
}
