//! What of C++ cannot be taken out of its place into a device file, and what cannot stay there either.
//!
//! Invariant: what is not sure to mean the same elsewhere stays inline.

use std::collections::BTreeSet;

use super::{callable, copied, implied, uncopyable};
use crate::cuda::code::text::words;
use crate::cuda::program::functions::{bare, called, functions, is_plain};
use crate::cuda::program::uncopyable::Uncopyable;
use crate::cuda::program::{Input, Seen, sizes, uses};
use crate::cuda::types::{own, spelling};
use crate::host::ir::{Derived, ExprId, StmtId};
use crate::sema::{Class, SymbolId, SymbolKind};
use crate::source::Span;

/// Whether a construct has to stay inline: it, or what it names, means something only there.
pub fn is_in_place(input: &Input, index: usize, stmt: StmtId) -> bool {
    let unit = input.unit();
    if !unit.is_cpp() {
        return false;
    }
    let span = unit.stmt(stmt).span;
    let Some(function) = input.bound[index].function.map(|id| unit.function(id)) else { return false };
    let text = input.file().text(span);
    let known = words(&text);
    let own = ["this", "auto", "decltype", "std", "operator", "new", "delete"];
    !is_plain(input, function)
        || in_class(input, function.span)
        || unit.lambdas.iter().any(|(lambda, _)| lambda.contains(span) || span.contains(*lambda))
        || known.iter().any(|word| own.contains(word))
        || leads_to_member(&text)
        || callable::calls_variable(input, span)
        || called(input, span)
            .any(|(name, is_alone)| name.contains("::") || !is_alone || is_uncopyable(input, &name))
        || !implied::implied(input, span).is_empty()
        || names_held(input, stmt)
        || own::uncopied(input, index, stmt).is_some()
        || copied::bounds(input, index, stmt).into_iter().any(|bound| !copied::is_copied(input, bound))
        || uses::outer(input, stmt).into_iter().any(|(symbol, _)| is_placed(input, symbol))
}

/// Whether code follows pointers to members, whose types the host languages' parser does not show.
fn leads_to_member(text: &str) -> bool {
    text.match_indices(".*").any(|(at, _)| !text[..at].ends_with(|before: char| before.is_ascii_digit()))
        || text.contains("->*")
}

/// Whether functions of this name stay inline.
pub fn is_uncopyable(input: &Input, name: &str) -> bool {
    let name = bare(name);
    let uncopyable = |at: (usize, u32)| input.uncopyable.is_some_and(|uncopyable| uncopyable.holds(at));
    let mut files = input.headers.iter().chain([&input.source]).enumerate();
    files.any(|(number, seen)| {
        let mut named = seen.unit.functions_named(name);
        named.any(|function| uncopyable((number, function.span.start)))
    })
}

/// Whether a construct names types that the device file can have no copy of, or has variables of such.
fn names_held(input: &Input, stmt: StmtId) -> bool {
    let unit = input.unit();
    let mut outer = uses::outer(input, stmt).into_iter().filter_map(|(symbol, _)| input.declaration(symbol));
    let none = Uncopyable::default();
    let known = input.uncopyable.unwrap_or(&none);
    uncopyable::is_held(known, input, unit.stmt(stmt).span)
        || outer.any(|(_, decl)| {
            spelling::named(decl).is_some_and(|name| !uncopyable::is_portable(known, input, name))
        })
}

/// Whether a variable is one that other files cannot know.
fn is_placed(input: &Input, symbol: SymbolId) -> bool {
    let known = input.symbols.get(symbol);
    let Some((seen, decl)) = input.declaration(symbol) else { return false };
    let text = seen.file.text(Span { start: decl.span.start, end: decl.name_span.start });
    let is_complex = words(&text).iter().any(|word| word.contains("_Complex") || *word == "__complex__");
    let is_written = spelling::base(input, seen, decl).is_some() && !text.contains('<');
    let is_hidden = matches!(known.class, Class::Pointer) && decl.derived.is_empty();
    // The size of a row is a part of the type.
    let has_named_size = decl.derived.iter().skip(1).any(|part| match part {
        Derived::Array(Some(size)) => names_constant(input, seen, *size, decl.span.start),
        _ => false,
    });
    known.kind == SymbolKind::Member || !is_complex && !is_written || is_hidden || has_named_size
}

/// Whether an expression names a `const` variable that is a constant of the language.
fn names_constant(input: &Input, seen: Seen, expr: ExprId, offset: u32) -> bool {
    sizes::names(seen.unit, [expr]).into_iter().any(|(name, _)| {
        input.symbols.lookup(name, offset).is_some_and(|symbol| {
            let known = input.symbols.get(symbol);
            let init = input.declaration(symbol).and_then(|(_, decl)| decl.init);
            known.kind != SymbolKind::Constant && known.is_const && init.is_some()
        })
    })
}

/// The names of what the code in `span` calls, with a name or without.
pub fn reached(input: &Input, span: Span) -> BTreeSet<String> {
    let named = called(input, span).map(|(name, _)| name);
    named.chain(implied::implied(input, span)).collect()
}

/// The functions that these constructs, which stay inline, call, one through another: where each begins.
pub fn called_from(input: &Input, constructs: impl Iterator<Item = StmtId>) -> BTreeSet<u32> {
    let mut found = BTreeSet::new();
    let mut pending: Vec<Span> = constructs.flat_map(|stmt| code(input, input.stmt_span(stmt))).collect();
    while let Some(span) = pending.pop() {
        for name in reached(input, span) {
            for function in functions(input, &name) {
                if found.insert(function.span.start) {
                    pending.push(function.span);
                }
            }
        }
    }
    found
}

/// The code in `within`, and what it runs through variables.
pub fn code(input: &Input, within: Span) -> Vec<Span> {
    callable::reached(input, within, within).map_or(vec![within], |reached| reached.code(input, within))
}

/// Whether a class holds a place.
fn in_class(input: &Input, span: Span) -> bool {
    input.unit().records.iter().any(|record| record.span.contains(span))
}
