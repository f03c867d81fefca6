//! Variables whose type has no name: `auto`, `decltype(e)`, `__typeof__(e)`.
//!
//! Invariant: what holds such a value is taken to be narrow, and no number with a fraction, unless it is seen.

use crate::host::ir::{BaseType, Decl, ExprId};
use crate::sema::SymbolId;
use crate::source::{Span, words};

use super::convert::Range;
use super::facts::Facts;
use super::integer::computed;

/// Words that ask for the type of what stands in parentheses after them.
const ASKING: [&str; 5] = ["decltype", "typeof", "__typeof__", "__typeof", "typeof_unqual"];

/// What gives a variable its type.
pub(super) enum Model {
    /// Its first value: `auto`.
    Value(ExprId),
    /// Another variable.
    Variable(SymbolId),
    /// Another expression, or what is not understood.
    Other,
}

/// What gives a variable of C or C++ its type; `None` if its type has a name.
pub(super) fn model(facts: &Facts, symbol: SymbolId) -> Option<Model> {
    let decl = facts.decl(symbol).filter(|_| !facts.unit.is_fortran())?;
    let is_auto_of_c = matches!(&decl.base, BaseType::Named(name) if is_auto(name));
    if decl.base != BaseType::Unknown && !is_auto_of_c {
        return None;
    }
    let text = facts.file.text(Span { start: decl.span.start, end: decl.name_span.start });
    let asks = words(&text).any(|word| ASKING.contains(&word));
    if let Some(init) = decl.init.filter(|_| !asks && words(&text).any(is_auto)) {
        return Some(Model::Value(init));
    }
    let inside = text.split_once('(').and_then(|(_, rest)| rest.trim_end().strip_suffix(')'));
    let name = inside.map(str::trim).filter(|name| asks && words(name).next() == Some(*name));
    let other = name.and_then(|name| facts.symbols.lookup(name, decl.span.start));
    // Only what was declared before: a chain of such variables ends.
    Some(match other.filter(|other| is_before(facts, *other, decl)) {
        Some(other) => Model::Variable(other),
        None => Model::Other,
    })
}

fn is_auto(word: &str) -> bool {
    matches!(word, "auto" | "__auto_type")
}

fn is_before(facts: &Facts, other: SymbolId, decl: &Decl) -> bool {
    facts.decl(other).is_some_and(|other| other.span.start < decl.span.start)
}

impl Range {
    /// What a variable holds whose type has no name; `Err` if it has one.
    pub(super) fn of_model(facts: &Facts, symbol: SymbolId) -> Result<Option<Range>, ()> {
        let narrow = || Some(Range::of_unnamed(&format!("the type of {}", symbol.0)));
        Ok(match model(facts, symbol).ok_or(())? {
            Model::Value(value) => {
                let is_narrow = computed(facts, value).is_some_and(|integer| integer.bits < 32);
                if is_narrow { narrow() } else { None }
            }
            Model::Variable(other) => Range::of_variable(facts, other),
            Model::Other => narrow(),
        })
    }
}

impl Facts<'_> {
    /// Whether a variable has the type of its first value, which is not seen.
    pub(super) fn has_unseen_type(&self, symbol: SymbolId) -> bool {
        matches!(model(self, symbol), Some(Model::Value(value)) if computed(self, value).is_none())
    }
}
