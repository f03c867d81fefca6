//! Arrays of the host whose type a region uses: the kernel has them as arrays, not as pointers to their first element.
//!
//! Invariant: `sizeof`, `&a`, `decltype` and what else asks for a type give in the kernel what they give in the source.

use std::collections::BTreeSet;

use crate::cuda::code::text::{Edits, placed_words, words};
use crate::cuda::file::device;
use crate::cuda::program::{Input, Refused, refused};
use crate::cuda::schedule::capture::Captured;
use crate::host::ir::{DeclKind, Derived, ExprKind, StmtId};
use crate::sema::{Class, SymbolId, SymbolKind};
use crate::source::Span;

/// Words that ask for the type of what is behind them.
const ASKING: [&str; 9] = [
    "sizeof",
    "typeof",
    "__typeof__",
    "__typeof",
    "decltype",
    "alignof",
    "_Alignof",
    "__alignof__",
    "__builtin_object_size",
];

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
    let is_macro = words(&one.seen.file.text(whole)).iter().any(|word| device::define(input, word).is_some());
    (!is_designated && !is_macro).then_some(list.len())
}

/// Whether a size of an array names a variable that is constant.
fn names_constants(input: &Input, one: &Captured) -> bool {
    let unit = one.seen.unit;
    let mut pending: Vec<_> = one
        .decl
        .derived
        .iter()
        .filter_map(|part| if let Derived::Array(size) = part { *size } else { None })
        .collect();
    while let Some(expr) = pending.pop() {
        let expr = unit.expr(expr);
        if let ExprKind::Name(name) = &expr.kind {
            let symbol = input.symbols.lookup(name, one.decl.span.start);
            if symbol.is_some_and(|symbol| input.symbols.get(symbol).kind != SymbolKind::Constant) {
                return true;
            }
        }
        pending.extend(expr.kind.children());
    }
    false
}

/// Whether a region, or a macro that it uses, says an array as a whole where its type counts.
pub fn uses_type(input: &Input, stmt: StmtId, name: &str) -> bool {
    says_whole(input, stmt, name, !input.is_c)
}

/// Whether it does so where only an array will do.
fn asks_for_type(input: &Input, stmt: StmtId, name: &str) -> bool {
    says_whole(input, stmt, name, false)
}

/// `anywhere`: everywhere but in sums.
fn says_whole(input: &Input, stmt: StmtId, name: &str, anywhere: bool) -> bool {
    let span = input.stmt_span(stmt);
    let own =
        String::from_utf8_lossy(input.source.scan.shadow.get(span.range()).unwrap_or_default()).into_owned();
    let texts = reached(input, own);
    let asks = texts.iter().any(|text| words(text).iter().any(|word| ASKING.contains(word)));
    texts.iter().any(|text| {
        placed_words(text).into_iter().filter(|(_, word)| *word == name).any(|(at, _)| {
            let (before, behind) = (text[..at].trim_end(), text[at + name.len()..].trim_start());
            let is_member = before.ends_with('.') || before.ends_with("->");
            let is_part = behind.starts_with('[') && !before.ends_with("sizeof");
            let is_address = before.ends_with('&') && !before.ends_with("&&");
            let is_value = behind.starts_with(['+', '-']) || before.ends_with(['+', '-', '*']);
            !is_member && !is_part && (asks || is_address || anywhere && !is_value)
        })
    })
}

/// A text and the bodies of the macros that it leads to.
fn reached(input: &Input, own: String) -> Vec<String> {
    let mut known: BTreeSet<String> = BTreeSet::new();
    let mut texts = vec![own];
    let mut at = 0;
    while let Some(text) = texts.get(at) {
        let new: Vec<String> = words(text).into_iter().map(str::to_owned).collect();
        for word in new {
            if known.insert(word.clone()) {
                texts.extend(device::define(input, &word).map(|define| define.body.clone()));
            }
        }
        at += 1;
    }
    texts
}

/// `decltype(a)` where the kernel has a reference in the place of `a`.
pub fn decltypes(input: &Input, span: Span, captured: &dyn Fn(SymbolId) -> bool, edits: &mut Edits) {
    let text =
        String::from_utf8_lossy(input.source.scan.shadow.get(span.range()).unwrap_or_default()).into_owned();
    for (at, word) in placed_words(&text) {
        let behind = &text[at + word.len()..];
        let Some(inside) = behind.trim_start().strip_prefix('(').filter(|_| word == "decltype") else {
            continue;
        };
        let Some((name, _)) = inside.split_once(')') else { continue };
        let start = span.start + at as u32;
        let end = (text.len() - inside.len() + name.len() + 1) as u32 + span.start;
        let symbol = input.symbols.lookup(name.trim(), start);
        let is_it = symbol.is_some_and(|symbol| !input.symbols.get(symbol).is_reference && captured(symbol));
        if is_it {
            edits.replace(Span { start, end }, format!("acc2omp::Value<decltype({})>", name.trim()));
        }
    }
}
