//! What a call does to memory: nothing, as mathematical functions do; only reads; or more than is known.
//!
//! Invariant: a function that is not seen, and not in the table, may do anything.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use crate::budget;
use crate::host::ir::{DeclId, Derived, ExprId, ExprKind, FunctionId, Unit};
use crate::sema::{Class, SymbolId, SymbolKind, uses};

use super::escape::{Escape, leads_on};
use super::facts::Facts;

/// What a function does beside giving a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// No more than this.
    Does(Does),
    /// It may change something else: what, in words.
    Changes(String),
}

/// What a function does to memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Does {
    /// The variables of the file that it reads.
    pub(super) reads: BTreeSet<SymbolId>,
    /// What it does with its arguments; nothing is known of those that are not here, but that they are only read.
    pub(super) arguments: Vec<Argument>,
}

/// What a function does with what an argument leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Argument {
    /// It writes there.
    pub(super) writes: bool,
    /// It touches more than the element that it is given.
    pub(super) is_whole: bool,
}

/// What calls do, as far as it was asked.
#[derive(Debug)]
pub(super) struct Effects {
    known: FxHashMap<FunctionId, Effect>,
    /// The functions that are looked at, each called by the one before it.
    open: Vec<FunctionId>,
    /// The first of them that one of the others calls.
    reached: usize,
    /// What was found of functions that lead to `reached`, which is still looked at: what it lacks is found there.
    unfinished: FxHashMap<FunctionId, Effect>,
}

impl Default for Effects {
    fn default() -> Effects {
        Effects {
            known: FxHashMap::default(),
            open: Vec::new(),
            reached: usize::MAX,
            unfinished: FxHashMap::default(),
        }
    }
}

impl Effects {
    /// Forgets all, where what was being found out is not the whole of it.
    pub(super) fn clear(&mut self) {
        *self = Effects::default();
    }
}

/// Whether a call of `name` may do more than give a value and write through its arguments.
pub fn may_change(facts: &Facts, name: &str) -> bool {
    matches!(facts.effect(name), Effect::Changes(_))
}

impl Facts<'_> {
    /// What a call of `name` does: a function, or a macro that stands for the names of functions, which must do the same.
    pub(super) fn effect(&self, name: &str) -> Effect {
        let mut all = self.called(name).into_iter().map(|name| self.effect_of_name(name));
        let Some(first) = all.next() else { return self.effect_of_name(name) };
        match all.find(|other| *other != first) {
            Some(other @ Effect::Changes(_)) => other,
            Some(_) if matches!(first, Effect::Does(_)) => {
                Effect::Changes(format!("`{name}` stands for functions that do different things"))
            }
            _ => first,
        }
    }

    /// Whether a call of `name` changes anything, what its arguments lead to included.
    pub(super) fn changes_something(&self, name: &str) -> bool {
        match self.effect(name) {
            Effect::Does(does) => does.arguments.iter().any(|argument| argument.writes),
            Effect::Changes(_) => true,
        }
    }

    fn effect_of_name(&self, name: &str) -> Effect {
        if let [function] = self.functions(name) {
            return self.effect_of(*function);
        }
        if !self.functions(name).is_empty() {
            return Effect::Changes(format!("`{name}` is one of several functions of that name"));
        }
        let is_known = match self.unit.is_fortran() {
            true => crate::sema::is_pure_intrinsic(name),
            false => is_mathematical(name),
        };
        if is_known {
            Effect::Does(Does::default())
        } else {
            Effect::Changes(format!("it is not known what `{name}` does"))
        }
    }

    fn effect_of(&self, function: FunctionId) -> Effect {
        if let Some(known) = self.effects.borrow().known.get(&function) {
            return known.clone();
        }
        let name = &self.unit.function(function).name;
        let depth = {
            let mut effects = self.effects.borrow_mut();
            if let Some(depth) = effects.open.iter().position(|open| *open == function) {
                // While it is looked at, a call of itself does nothing new.
                effects.reached = effects.reached.min(depth);
                return Effect::Does(Does::default());
            }
            if let Some(found) = effects.unfinished.get(&function) {
                return found.clone();
            }
            budget::spend(64);
            effects.open.push(function);
            effects.open.len() - 1
        };
        let found = stacker::maybe_grow(64 * 1024, 4 * 1024 * 1024, || self.read_effect(function, name));
        let mut effects = self.effects.borrow_mut();
        effects.open.truncate(depth);
        // What was found while a function around it was looked at is not the whole of it.
        if effects.reached >= depth {
            effects.reached = usize::MAX;
            effects.unfinished.clear();
            effects.known.insert(function, found.clone());
        } else {
            effects.unfinished.insert(function, found.clone());
        }
        found
    }

    fn read_effect(&self, function: FunctionId, name: &str) -> Effect {
        let known = self.unit.function(function);
        if known.has_error {
            return Effect::Changes(format!("`{name}` is not understood"));
        }
        let used = uses(self.unit, self.symbols, known.body);
        let escape = Escape::of(self.unit, self.symbols, known.body);
        let mut does = Does::default();
        for (symbol, how) in used.iter() {
            let one = self.symbols.get(symbol);
            let is_inside = known.span.contains(one.scope) && one.kind != SymbolKind::Static;
            let is_given = one.kind == SymbolKind::Parameter && is_inside;
            let is_value = is_inside && !(is_given && self.unit.is_fortran());
            let is_own = is_result(self.unit, function, &one.name) || is_value && !one.is_reference;
            let owns_parts = is_own && matches!(one.class, Class::Array | Class::Record | Class::Scalar);
            // What may be written through an argument is reported for the argument.
            let is_of_argument =
                is_given && (self.unit.is_fortran() || one.class == Class::Pointer && !how.written);
            let writes_part = how.part_written && one.class != Class::Scalar;
            if !is_of_argument && (how.written && !is_own || writes_part && !owns_parts) {
                return Effect::Changes(format!("`{name}` changes `{}`", one.name));
            }
            let may_escape =
                !is_inside && one.kind != SymbolKind::Constant && one.kind != SymbolKind::Function;
            if may_escape && (how.address_taken || one.class != Class::Scalar && escape.is_given_away(symbol))
                || escape.is_followed(symbol)
                || is_given
                    && escape.is_named(symbol)
                    && self.decl(symbol).is_some_and(|decl| leads_on(self.unit, decl))
            {
                return Effect::Changes(format!("`{name}` may change what `{}` leads to", one.name));
            }
            if !is_inside && one.kind != SymbolKind::Constant {
                does.reads.insert(symbol);
            }
        }
        for called in used.calls.keys() {
            match self.effect(called) {
                Effect::Does(more) if more.arguments.iter().any(|one| one.writes) => {
                    return Effect::Changes(format!("`{called}`, which `{name}` calls, changes an argument"));
                }
                Effect::Does(more) => does.reads.extend(more.reads),
                Effect::Changes(why) => return Effect::Changes(why),
            }
        }
        does.arguments = known.params.iter().map(|param| self.argument(function, &escape, *param)).collect();
        Effect::Does(does)
    }

    /// What a function does with one of its parameters.
    fn argument(&self, function: FunctionId, escape: &Escape, param: DeclId) -> Argument {
        let known = self.unit.function(function);
        let decl = self.unit.decl(param);
        let place = self.unit.stmt(known.body).span.start;
        let Some(symbol) = self.symbols.lookup(&decl.name, place) else {
            return Argument { writes: true, is_whole: true };
        };
        let used = uses(self.unit, self.symbols, known.body);
        let how = used.of(symbol).copied().unwrap_or_default();
        if self.unit.is_fortran() {
            let is_scalar = !decl.derived.iter().any(|part| matches!(part, Derived::Array(_)));
            // What a pointer leads to may be changed by it.
            let escapes = how.address_taken;
            let writes = how.written || how.part_written && !is_scalar || escapes;
            return Argument { writes: writes && !decl.fortran.intent_in, is_whole: !is_scalar || escapes };
        }
        // What another name leads to may be changed by that name.
        let is_pointer =
            self.symbols.get(symbol).class != Class::Scalar || self.symbols.get(symbol).is_reference;
        let escapes = is_pointer && (how.address_taken || escape.is_given_away(symbol));
        let is_whole = escapes || !self.is_only_element(function, symbol);
        Argument { writes: is_pointer && how.part_written || escapes, is_whole }
    }

    /// Whether a function uses a pointer only as `*p`, `p[0]` and `p->…`.
    fn is_only_element(&self, function: FunctionId, symbol: SymbolId) -> bool {
        let span = self.unit.stmt(self.unit.function(function).body).span;
        let is_it = |expr: ExprId| self.symbols.named(self.unit, expr) == Some(symbol);
        let inside = || self.unit.expr_ids_in(span);
        let elements = inside().filter(|id| match &self.unit.expr(*id).kind {
            ExprKind::Deref(base) => is_it(*base),
            ExprKind::Index(base, index) => {
                is_it(*base) && matches!(self.unit.expr(*index).kind, ExprKind::Int(0))
            }
            ExprKind::Member { base, arrow: true, .. } => is_it(*base),
            _ => false,
        });
        let named = inside().filter(|id| is_it(*id));
        elements.count() == named.count()
    }
}

/// Whether `name` is what the Fortran function gives back.
fn is_result(unit: &Unit, function: FunctionId, name: &str) -> bool {
    let scope = unit.scopes.iter().find(|scope| scope.function == Some(function));
    scope.is_some_and(|scope| scope.result.as_deref() == Some(name))
}

/// Whether a name of C or C++ is that of a mathematical function that changes nothing.
pub fn is_mathematical(name: &str) -> bool {
    let name = name.strip_prefix("std::").or_else(|| name.strip_prefix("::")).unwrap_or(name);
    crate::rules::pure::is_pure(name)
}
