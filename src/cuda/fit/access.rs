//! Where device code may stand: nvcc takes it in no function whose address not everyone can take.
//!
//! Invariant: a member function that becomes public is the only one that does; its class is else as it was.

use crate::cuda::code::text::words;
use crate::cuda::program::{Input, Seen};
use crate::host::ir::{DeclKind, Function, Record};
use crate::source::Span;

/// The kind of function that holds device code, if nvcc takes none in it.
pub fn enclosing(input: &Input, function: &Function) -> Option<&'static str> {
    let head = input.file().text(Span { start: function.span.start, end: function.name_span.start });
    let is_structor = function.member_of.as_deref().is_some_and(|class| {
        let bare = class.split('<').next().unwrap_or(class).trim();
        function.name.trim_start_matches('~').trim() == bare
    });
    if is_structor || function.name.starts_with('~') {
        return Some("a constructor or destructor");
    }
    if words(&head).contains(&"auto") {
        return Some("a function whose result is `auto`");
    }
    let in_function = input
        .unit()
        .functions
        .iter()
        .any(|other| other.span != function.span && other.span.contains(function.span));
    if in_function {
        return Some("a class that a function declares");
    }
    let is_reachable = hidden(input, function).is_none_or(|hidden| hidden.place.is_some());
    (function.member_of.is_some() && !is_reachable).then_some("a private or protected member function")
}

/// Whether a function before this one can hold its device code: it is not part of what a function declares.
pub fn is_liftable(input: &Input, function: &Function) -> bool {
    let around = |other: &&Function| other.span != function.span && other.span.contains(function.span);
    !input.unit().functions.iter().any(|other| around(&other))
}

/// A member function that not everyone can name.
pub struct Hidden {
    /// What it is: `private` or `protected`.
    pub access: &'static str,
    /// Its declaration in its class, if that can be made public: the file has it, and the classes around it are public.
    pub place: Option<Span>,
}

/// How a member function is hidden, as far as the file and its headers show.
pub fn hidden(input: &Input, function: &Function) -> Option<Hidden> {
    let mut found: Option<Hidden> = None;
    for seen in input.files() {
        let here = std::ptr::eq(seen.unit, input.unit());
        for record in &seen.unit.records {
            let Some(declared) = declaration(&seen, record, function, here) else { continue };
            let access = at(&seen, record.span, declared.start);
            if access == "public" {
                continue;
            }
            // Of classes in one another, the function's own is what it is declared in without another between.
            let is_own = !seen.unit.records.iter().any(|inner| {
                inner.span != record.span && record.span.contains(inner.span) && inner.span.contains(declared)
            });
            // The declaration of a template begins before.
            let before = seen.scan.shadow.get(..declared.start as usize).unwrap_or_default();
            let is_whole = !before.trim_ascii_end().ends_with(b">");
            let place = Some(declared).filter(|_| here && is_own && is_whole && found.is_none());
            found = Some(Hidden { access, place });
        }
    }
    found
}

/// The declaration of a member function in a class, or its definition there.
fn declaration(seen: &Seen, record: &Record, function: &Function, here: bool) -> Option<Span> {
    if here && record.span.contains(function.span) {
        return Some(function.span);
    }
    let class = function.member_of.as_deref().map(|class| class.split('<').next().unwrap_or(class).trim());
    if class.is_none() || record.tag.as_deref() != class {
        return None;
    }
    let is_declared = |decl: &&crate::host::ir::Decl| {
        decl.kind == DeclKind::Prototype && decl.name == function.name && record.span.contains(decl.span)
    };
    seen.unit.decls.iter().find(is_declared).map(|decl| decl.span)
}

/// Whether a class, or another thing with these bytes, is a private or protected part of a class around it.
pub fn is_hidden(input: &Input, span: Span) -> bool {
    is_hidden_in(&input.source, span)
}

/// The same for one of a header.
pub fn is_hidden_in(seen: &Seen, span: Span) -> bool {
    let around = seen.unit.records.iter().filter(|record| record.span != span && record.span.contains(span));
    around.into_iter().any(|record| at(seen, record.span, span.start) != "public")
}

/// What stands at `offset` in a class: `public`, `private` or `protected`.
pub fn at(seen: &Seen, record: Span, offset: u32) -> &'static str {
    let shadow = seen.scan.shadow.get(record.start as usize..offset as usize).unwrap_or_default();
    let text = String::from_utf8_lossy(shadow);
    let mut access = if text.trim_start().starts_with("class") { "private" } else { "public" };
    let mut depth = 0;
    let mut word = String::new();
    for c in text.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ':' if depth == 1 => {
                let said = ["public", "private", "protected"].into_iter().find(|said| *said == word);
                access = said.unwrap_or(access);
            }
            _ => {}
        }
        if c.is_alphanumeric() || c == '_' {
            word.push(c);
        } else if !c.is_whitespace() || !["public", "private", "protected"].contains(&word.as_str()) {
            word.clear();
        }
    }
    access
}
