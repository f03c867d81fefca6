//! Arrays of the host whose type a region uses: the kernel has them as arrays, not as pointers to their first element.
//!
//! Invariant: `sizeof`, `&a`, `decltype` and what else asks for a type give in the kernel what they give in the source.

use crate::cuda::code::text::{Edits, placed_words, words};
use crate::cuda::program::type_uses::{asks_for_type, uses_type};
use crate::cuda::program::{Input, Refused, defines, refused, sizes};
use crate::cuda::schedule::capture::Captured;
use crate::host::ir::{DeclKind, Derived, ExprKind, StmtId};
use crate::sema::{Class, SymbolId, SymbolKind};
use crate::source::Span;

/// The dimensions of an array that a region must have as one, as they are written; `None` if a pointer will do.
pub fn dimensions(input: &Input, stmt: StmtId, one: &Captured) -> Result<Option<String>, Refused> {
    let is_array = one.class == Class::Array
        && one.decl.kind != DeclKind::Parameter
        && matches!(one.decl.derived.first(), Some(Derived::Array(_)));
    if !is_array || !uses_type(input, stmt, &one.name) {
        return Ok(None);
    }
    let at = one.used.first.unwrap_or(input.stmt_span(stmt));
    let unclear =
        |what: &str| refused(at, &format!("a region that uses the type of `{}`, {what},", one.name));
    // Constants that the program names, a kernel has as parameters.
    if !input.in_place && !input.is_c && names_constants(input, one) {
        return match asks_for_type(input, stmt, &one.name) {
            true => Err(unclear("whose size is a variable's value")),
            false => Ok(None),
        };
    }
    let mut made = String::new();
    for part in one.decl.derived.iter() {
        let Derived::Array(size) = part else { continue };
        made += &match size {
            Some(size) if super::variable::is_constant(input, one, *size) => {
                format!("[{}]", one.seen.text(*size))
            }
            Some(_) => return Err(unclear("whose size is a run-time value")),
            None => format!("[{}]", counted(input, one).ok_or_else(|| unclear("whose size is not said"))?),
        };
    }
    Ok(Some(made))
}

/// How many elements an array without a size begins with.
fn counted(input: &Input, one: &Captured) -> Option<usize> {
    let unit = one.seen.unit;
    let ExprKind::Initialiser(list) = &unit.expr(one.decl.init?).kind else { return None };
    let whole = unit.expr(one.decl.init?).span;
    let is_designated = unit.forms.designated.iter().any(|one| whole.contains(one.span));
    let is_macro =
        words(&one.seen.file.text(whole)).iter().any(|word| defines::define(input, word).is_some());
    (!is_designated && !is_macro).then_some(list.len())
}

/// Whether a size of an array names a variable that is constant.
fn names_constants(input: &Input, one: &Captured) -> bool {
    let all = sizes::names(one.seen.unit, sizes::of(&one.decl));
    all.into_iter().any(|(name, _)| {
        let symbol = input.symbols.lookup(name, one.decl.span.start);
        symbol.is_some_and(|symbol| input.symbols.get(symbol).kind != SymbolKind::Constant)
    })
}

/// `decltype(a)` where the kernel has a reference in place of `a`.
pub fn decltypes(input: &Input, span: Span, captured: &dyn Fn(SymbolId) -> bool, edits: &mut Edits) {
    let text = input.source.code(span);
    for (at, word) in placed_words(&text) {
        let after = &text[at + word.len()..];
        let Some(inside) = after.trim_start().strip_prefix('(').filter(|_| word == "decltype") else {
            continue;
        };
        let Some((name, _)) = inside.split_once(')') else { continue };
        let start = span.start + at as u32;
        let end = (text.len() - inside.len() + name.len() + 1) as u32 + span.start;
        let symbol = input.symbols.lookup(name.trim(), start);
        let is_it = symbol.is_some_and(|symbol| !input.symbols.get(symbol).is_reference && captured(symbol));
        if is_it {
            edits.insert(start, "acc2omp::Value<");
            edits.insert(end, ">");
        }
    }
}
