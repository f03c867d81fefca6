//! Integer types: those whose sizes are known well enough to compute with.
//!
//! Invariant: a type that is not seen whole is not known.

use crate::host::ir::{BaseType, Decl};
use crate::sema::{Class, SymbolId};
use crate::source::Span;

use super::facts::Facts;

/// An integer type: its size in bits, and whether it has a sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Integer {
    /// 32 or 64
    pub bits: u8,
    /// It has a sign.
    pub is_signed: bool,
}

/// The type of an integer variable; `None` if it is another one, or not known well enough.
pub fn integer(facts: &Facts, symbol: SymbolId) -> Option<Integer> {
    let known = facts.symbols.get(symbol);
    if known.class != Class::Scalar || known.is_floating {
        return None;
    }
    if facts.unit.is_fortran() {
        let is_integer = known.intrinsic.as_deref() == Some("integer");
        let bits = if facts.decl(symbol).is_some_and(|decl| is_default(facts, decl)) { 32 } else { 64 };
        return is_integer.then_some(Integer { bits, is_signed: true });
    }
    let decl = facts.decl(symbol)?;
    let words = declared_words(facts, decl);
    if words
        .iter()
        .any(|word| matches!(word.as_str(), "volatile" | "_Atomic" | "thread_local" | "_Thread_local"))
    {
        return None;
    }
    let (bits, is_signed) = match &decl.base {
        BaseType::Builtin(base) => {
            let has = |wanted: &str| base.split(' ').any(|word| word == wanted);
            let narrow = ["char", "short", "bool", "_Bool", "float", "double", "_Complex", "wchar_t"];
            let known = ["int", "long", "signed", "unsigned"];
            if narrow.into_iter().any(has) || !known.into_iter().any(has) || has("__int128") {
                return None;
            }
            (if has("long") { 64 } else { 32 }, !has("unsigned"))
        }
        BaseType::Named(name) => match name.strip_prefix("std::").unwrap_or(name) {
            "size_t" | "uint64_t" => (64, false),
            "ptrdiff_t" | "ssize_t" | "int64_t" => (64, true),
            "int32_t" => (32, true),
            "uint32_t" => (32, false),
            _ => return None,
        },
        _ => return None,
    };
    decl.derived.is_empty().then_some(Integer { bits, is_signed })
}

/// Whether a Fortran declaration of an integer names no kind.
fn is_default(facts: &Facts, decl: &Decl) -> bool {
    let text = facts.file.text(Span { start: decl.span.start, end: decl.name_span.start });
    let text = text.trim_start();
    let rest = text.get(..7).filter(|word| word.eq_ignore_ascii_case("integer")).and(text.get(7..));
    rest.is_some_and(|rest| {
        rest.starts_with(|c: char| c.is_whitespace() || matches!(c, ',' | ':'))
            && !rest.trim_start().starts_with(['(', '*'])
    })
}

/// The words before the name in a declaration.
fn declared_words(facts: &Facts, decl: &Decl) -> Vec<String> {
    let text = facts.file.text(Span { start: decl.span.start, end: decl.name_span.start });
    text.split(|c: char| !c.is_alphanumeric() && c != '_').map(str::to_owned).collect()
}
