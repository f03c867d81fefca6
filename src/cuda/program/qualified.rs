//! Variables of namespaces that a region names by their namespace: the kernel has them by their last name.
//!
//! Invariant: no other variable of that name is meant in the region.

use super::{Input, Refused, Seen, functions, refused};
use crate::cuda::code::text::{Edits, placed_words};
use crate::host::ir::{Decl, Derived};
use crate::sema::{Class, SymbolId, SymbolKind};
use crate::source::{self, Span};

/// Takes the namespaces away.
pub fn edit(input: &Input, span: Span, edits: &mut Edits) -> Result<(), Refused> {
    if input.is_c {
        return Ok(());
    }
    for (whole, name) in names(input, span) {
        let place = whole.start;
        let Some(symbol) = input.symbols.lookup(&input.file().text(whole), place) else { continue };
        let is_named_there = input.in_place || input.symbols.is_static_member(symbol);
        let is_shared = input.symbols.get(symbol).kind == SymbolKind::Static;
        if !is_shared || is_named_there && is_constant(input, symbol) {
            continue;
        }
        let unit = input.unit();
        let own = unit.decls_with_names_in(span).any(|decl| decl.name == name);
        if own || input.symbols.has_namesakes(&name, place) {
            return Err(refused(whole, "a variable of a namespace whose name means something else, too,"));
        }
        edits.replace(Span { start: whole.start, end: whole.end - name.len() as u32 }, "");
    }
    Ok(())
}

/// How a region names a variable of a namespace first.
pub fn spelling(input: &Input, span: Span, symbol: SymbolId) -> Option<String> {
    if input.is_c || !is_variable(input, symbol) {
        return None;
    }
    let known = &input.symbols.get(symbol).name;
    let mut all = names(input, span).into_iter();
    let found = all.find(|(whole, name)| {
        name == known && input.symbols.lookup(&input.file().text(*whole), whole.start) == Some(symbol)
    });
    found.map(|(whole, _)| input.file().text(whole).into_owned())
}

/// Whether a variable is one of a file or of a namespace.
pub fn is_variable(input: &Input, symbol: SymbolId) -> bool {
    input.symbols.get(symbol).kind == SymbolKind::Static && !input.symbols.is_static_member(symbol)
}

/// Whether a variable is a constant of the language, which device code in the same file may name as the host does.
pub fn is_constant(input: &Input, symbol: SymbolId) -> bool {
    let known = input.symbols.get(symbol);
    let is_set = input.declaration(symbol).is_some_and(|(_, decl)| decl.init.is_some());
    known.class == Class::Scalar && known.is_const && !known.is_floating && is_set
}

/// The first member of the object that code names with its class, as `Base::b`.
pub fn member(input: &Input, span: Span) -> Option<Span> {
    let is_member = |symbol: SymbolId| {
        input.symbols.get(symbol).kind == SymbolKind::Member && !input.symbols.is_static_member(symbol)
    };
    let found = names(input, span).into_iter().find(|(whole, name)| {
        let path = input.file().text(*whole);
        let class = path.rsplit("::").nth(1).unwrap_or_default();
        let known = input.symbols.lookup(&path, whole.start);
        known.is_some_and(is_member) || known.is_none() && is_in_class(input, class, name)
    });
    found.map(|(whole, _)| whole)
}

/// Whether each object of a class has a member of its own of this name, perhaps from a base.
fn is_in_class(input: &Input, class: &str, name: &str) -> bool {
    let mut pending = vec![class.to_owned()];
    let mut met: Vec<String> = Vec::new();
    while let Some(class) = pending.pop().filter(|class| !met.contains(class)) {
        for seen in input.files() {
            for record in seen.unit.records_named(&class) {
                let mut members = record.members.iter().map(|id| seen.unit.decl(*id));
                let is_own = |decl: &Decl| !decl.is_static && !decl.derived.contains(&Derived::Function);
                if members.any(|decl| decl.name == name && is_own(decl)) {
                    return true;
                }
                pending.extend(record.bases.iter().map(|base| functions::bare(base).to_owned()));
            }
        }
        met.push(class);
    }
    false
}

/// How code outside of all namespaces names a variable of a file or of a namespace.
pub fn path(seen: &Seen, decl: &Decl) -> String {
    if memchr::memmem::find(&seen.scan.shadow, b"namespace").is_none() {
        return decl.name.clone();
    }
    let all = source::in_place(&seen.scan.shadow);
    let around = namespaces(&all).into_iter().filter(|(_, body)| body.contains(decl.span));
    around.map(|(name, _)| name + "::").collect::<String>() + &decl.name
}

/// What the name that ends with the word at `at` of some code means, with what stands before `::`.
pub fn symbol_of(input: &Input, text: &str, (at, word): (usize, &str), start: u32) -> Option<SymbolId> {
    let first = start_of_path(text, at);
    input.symbols.lookup(&text[first..at + word.len()], start + at as u32)
}

/// Where the path begins that leads to the word at `at`.
fn start_of_path(text: &str, at: usize) -> usize {
    text[..at].trim_end_matches(|c: char| c.is_alphanumeric() || c == '_' || c == ':').len()
}

/// The names after `::` in a region, each with its whole path.
fn names(input: &Input, span: Span) -> Vec<(Span, String)> {
    let text = input.source.code(span);
    let mut found = Vec::new();
    for (at, word) in placed_words(&text) {
        let after = &text[at + word.len()..];
        if text[..at].ends_with("::") && !after.starts_with("::") {
            let start = start_of_path(&text, at);
            let whole = Span::new(span.start as usize + start, span.start as usize + at + word.len());
            found.push((whole, word.to_owned()));
        }
    }
    found
}

/// Whether a variable is one of a namespace that code in `span` does not name, though it has the name of something there.
pub fn is_elsewhere(input: &Input, span: Span, symbol: SymbolId) -> bool {
    if input.is_c || !is_variable(input, symbol) {
        return false;
    }
    if memchr::memmem::find(&input.source.scan.shadow, b"namespace").is_none() {
        return false;
    }
    // The names of the class or namespace that a function is qualified with are visible in it.
    if input.unit().functions.iter().any(|one| one.span.contains(span) && one.member_of.is_some()) {
        return false;
    }
    let known = input.symbols.get(symbol);
    let Some(decl) = known.decl.map(|id| input.unit().decl(id)) else { return false };
    let all = source::in_place(&input.source.scan.shadow);
    let bodies = namespaces(&all);
    let is_again = |name: &str| bodies.iter().any(|(other, body)| other == name && body.contains(span));
    let apart = bodies.iter().any(|(name, body)| body.contains(decl.span) && !is_again(name));
    let uses = placed_words(&all).into_iter().any(|(_, word)| word == "using");
    apart && !uses && spelling(input, span, symbol).is_none()
}

/// The bodies of the namespaces that have names of their own, with these.
fn namespaces(all: &str) -> Vec<(String, Span)> {
    let mut found = Vec::new();
    for (at, word) in placed_words(all) {
        let Some(rest) = all.get(at + word.len()..).filter(|_| word == "namespace") else { continue };
        let Some(open) = rest.find(['{', ';', '=']).filter(|open| rest[*open..].starts_with('{')) else {
            continue;
        };
        let is_named = !rest[..open].trim().is_empty() && !all[..at].trim_end().ends_with("inline");
        let start = at + word.len() + open;
        let mut depth = 0usize;
        let end = all[start..].char_indices().find_map(|(at, c)| {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
            (depth == 0).then_some(start + at)
        });
        let name = rest[..open].trim().to_owned();
        found.extend(end.filter(|_| is_named).map(|end| (name, Span::new(start, end))));
    }
    found
}
