//! What a call does to memory: nothing, as mathematical functions do; only reads; or more than is known.
//!
//! Invariant: a function that is not seen, and not in the table, may do anything.

use std::collections::BTreeSet;

use crate::host::ir::{FunctionId, Unit};
use crate::sema::{Class, SymbolId, SymbolKind, uses};

use super::facts::Facts;

/// What a function does beside giving a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// It reads memory: what its pointers lead to, and these variables of the file.
    Reads(BTreeSet<SymbolId>),
    /// It may change something: what, in words.
    Changes(String),
}

impl Facts<'_> {
    /// What a call of `name` with so many arguments does.
    pub(super) fn effect(&self, name: &str) -> Effect {
        if let [function] = self.functions(name) {
            return self.effect_of(*function);
        }
        if !self.functions(name).is_empty() {
            return Effect::Changes(format!("`{name}` is one of several functions of that name"));
        }
        if let Some((define, params)) = self.function_like(name) {
            return self.effect_of_macro(name, &define.body, params);
        }
        let is_known = match self.unit.is_fortran() {
            true => crate::sema::is_pure_intrinsic(name),
            false => is_mathematical(name),
        };
        if is_known {
            Effect::Reads(BTreeSet::new())
        } else {
            Effect::Changes(format!("it is not known what `{name}` does"))
        }
    }

    /// A macro: it must assign nothing, and call nothing that does.
    fn effect_of_macro(&self, name: &str, body: &str, params: &[String]) -> Effect {
        let harmless = self.symbols.assigned_by(name).is_empty()
            && called(body).all(|inner| {
                params.iter().any(|param| param == inner)
                    || is_mathematical(inner)
                    || self.function_like(inner).is_some_and(|(define, _)| {
                        inner != name
                            && self.symbols.assigned_by(inner).is_empty()
                            && called(&define.body).next().is_none()
                    })
            });
        if harmless {
            Effect::Reads(BTreeSet::new())
        } else {
            Effect::Changes(format!("the macro `{name}` assigns or calls something"))
        }
    }

    fn effect_of(&self, function: FunctionId) -> Effect {
        if let Some(known) = self.effects.borrow().get(&function) {
            return known.clone();
        }
        let name = &self.unit.function(function).name;
        // While it is looked at, a call of itself does nothing new.
        self.effects.borrow_mut().insert(function, Effect::Reads(BTreeSet::new()));
        let found = self.read_effect(function, name);
        self.effects.borrow_mut().insert(function, found.clone());
        found
    }

    fn read_effect(&self, function: FunctionId, name: &str) -> Effect {
        let known = self.unit.function(function);
        if known.has_error {
            return Effect::Changes(format!("`{name}` is not understood"));
        }
        let used = uses(self.unit, self.symbols, known.body);
        let mut read = BTreeSet::new();
        for (symbol, how) in used.iter() {
            let one = self.symbols.get(symbol);
            let is_inside = known.span.contains(one.scope) && one.kind != SymbolKind::Static;
            let is_value = is_inside && (one.kind == SymbolKind::Local || !self.unit.is_fortran());
            let is_result = is_inside && is_result(self.unit, function, &one.name);
            let owns_parts = matches!(one.class, Class::Array | Class::Record) && !one.is_reference;
            let is_own = is_result || is_value && !one.is_reference;
            let owns_parts = is_result || is_value && owns_parts;
            if how.written && !is_own || how.part_written && !owns_parts {
                return Effect::Changes(format!("`{name}` changes `{}`", one.name));
            }
            if !is_inside && one.kind != SymbolKind::Constant {
                read.insert(symbol);
            }
        }
        for called in used.calls.keys() {
            match self.effect(called) {
                Effect::Reads(more) => read.extend(more),
                Effect::Changes(why) => return Effect::Changes(why),
            }
        }
        Effect::Reads(read)
    }
}

/// Whether `name` is what the Fortran function gives back.
fn is_result(unit: &Unit, function: FunctionId, name: &str) -> bool {
    let scope = unit.scopes.iter().find(|scope| scope.function == Some(function));
    scope.is_some_and(|scope| scope.result.as_deref() == Some(name))
}

/// The names before parentheses in a macro's body.
fn called(body: &str) -> impl Iterator<Item = &str> {
    body.match_indices('(').filter_map(|(at, _)| {
        let before = body[..at].trim_end();
        let inner = |c: char| c.is_alphanumeric() || c == '_';
        let start = before.rfind(|c| !inner(c)).map_or(0, |at| at + 1);
        let name = &before[start..];
        (!name.is_empty() && name != "sizeof").then_some(name)
    })
}

/// Whether a name of C or C++ is that of a mathematical function that changes nothing.
fn is_mathematical(name: &str) -> bool {
    let name = name.strip_prefix("std::").or_else(|| name.strip_prefix("::")).unwrap_or(name);
    crate::rules::pure::is_pure(name)
}
