//! The object whose member function a construct stands in, in kernels: what brings it, attaches its pointers and names it.
//!
//! Invariant: members are reached through the device's object, and its pointers lead to the device's memory.

use std::collections::HashSet;

use super::variable::Making;
use crate::acc::ast::ClauseKind;
use crate::cuda::code::text::{Edits, words};
use crate::cuda::fit::object::{classes, is_of_object, is_whole};
use crate::cuda::fit::{anonymous, counterpart};
use crate::cuda::program::Input;
use crate::cuda::schedule::capture::Captured;
use crate::cuda::types::declarator::Type;
use crate::cuda::types::item::Address;
use crate::cuda::types::motion::word;
use crate::host::ir::{Decl, Derived, Expr, ExprId, ExprKind, Function};
use crate::plan::Motion;
use crate::sema::{Class, SymbolId, SymbolKind};
use crate::source::{Span, plain_name};

/// Brings the object to the device, and has its pointers lead to what is there of what they lead to.
pub fn add(making: &mut Making, index: usize) {
    let input = making.input;
    let (Some(object), Some(function)) = (input.object, input.bound[index].function) else { return };
    let function = input.unit().function(function);
    let own = input.clauses(index).filter_map(|kind| match kind {
        ClauseKind::Data(clause, list) if list.iter().any(is_whole) => Motion::of(*clause),
        _ => None,
    });
    let tail = Span { start: function.name_span.end, end: input.stmt_span(function.body).start };
    let tail = input.file().text(tail);
    let is_const = words(tail.rsplit(')').next().unwrap_or_default()).contains(&"const")
        && !function.member_of.as_deref().is_some_and(|class| input.symbols.is_mutable(plain_name(class)));
    let is_present = input.clauses(index).any(|kind| matches!(kind, ClauseKind::Default { none: false }));
    let implied = match (is_present, is_const) {
        (true, _) => Motion::Present,
        (false, true) => Motion::Copyin,
        (false, false) => Motion::Copy,
    };
    let method = word(own.reduce(Motion::and).unwrap_or(implied));
    making.names.take(object);
    making.made.param(Type::pointer("auto"), object, object);
    let region = &making.host.words.region;
    making.host.lines.push(format!("auto *{object} = {region}.{method}(\"this\", this, 1);"));
}

/// What attaches the pointers of the object and those of its bases that the code names, after all that brings memory.
pub fn attach(making: &mut Making, index: usize, captured: &[Captured]) {
    let input = making.input;
    let Some(function) = input.bound[index].function.filter(|_| input.object.is_some()) else { return };
    let known = classes(input, input.unit().function(function)).unwrap_or_default();
    let Some((seen, record)) = known.first() else { return };
    let region = making.host.words.region.clone();
    let is_pointer = |decl: &&Decl| {
        decl.derived.first() == Some(&Derived::Pointer)
            && !decl.derived.contains(&Derived::Function)
            && !decl.is_static
    };
    let own = record.members.iter().map(|id| seen.unit.decl(*id)).filter(is_pointer);
    let mut names: Vec<&str> = own.map(|decl| decl.name.as_str()).collect();
    let named = captured.iter().filter(|one| one.kind == SymbolKind::Member && one.class == Class::Pointer);
    names.extend(named.map(|one| one.name.as_str()));
    for (_, name) in names.iter().enumerate().filter(|(at, name)| !names[..*at].contains(name)) {
        let is_done = making.host.lines.iter().any(|line| line.ends_with(&format!(", &{name});")));
        if !is_done {
            making.host.lines.push(format!("{region}.attach(\"{name}\", &this->{name});"));
        }
    }
}

/// A member of the object: what its clause asks for, and its name in the kernel.
pub fn part(making: &mut Making, symbol: SymbolId, name: &str, data: Option<&(Motion, Address)>) {
    let Some(object) = making.input.object else { return };
    making.common.insert(symbol);
    if let Some((motion, address)) = data {
        let method = word(*motion);
        let line = format!("acc2omp_{method}(\"{name}\", {}, {});", address.from, address.bytes);
        making.host.lines.push(line);
    }
    making.made.prologue.push(format!("auto &{name} = {object}->{name};"));
}

/// The calls in `within` that name a member function of the object without `this->`: the names.
pub fn bare_calls(input: &Input, function: &Function, within: Span) -> Vec<Span> {
    let unit = input.unit();
    let mut found = Vec::new();
    for expr in unit.exprs_in(within) {
        let ExprKind::Call { callee, .. } = &expr.kind else { continue };
        let ExprKind::Name(name) = &unit.expr(*callee).kind else { continue };
        let at = unit.expr(*callee).span;
        let is_variable = input.symbols.lookup(name, at.start).is_some_and(|symbol| {
            matches!(input.symbols.get(symbol).kind, SymbolKind::Local | SymbolKind::Parameter)
        });
        if !is_variable && is_of_object(input, function, name) {
            found.push(at);
        }
    }
    found
}

/// For a data member of the object, `this->m`: `this`, and the member's name.
pub fn own_member<'a>(input: &Input, expr: &'a Expr) -> Option<(ExprId, &'a str)> {
    let ExprKind::Member { base, name, arrow: true } = &expr.kind else { return None };
    let is_this = matches!(&input.unit().expr(*base).kind, ExprKind::Name(this) if this == "this");
    let symbol = input.symbols.lookup(name, expr.span.start).filter(|_| is_this)?;
    input.symbols.is_data_member(symbol).then_some((*base, name))
}

/// The calls in `within` that say the device's object: the names.
pub fn named_calls(input: &Input, within: Span) -> Vec<Span> {
    let mut functions = input.unit().functions.iter().rev().filter(|_| input.object.is_some());
    let around = functions.find(|function| function.span.contains(within));
    let function = around.filter(|function| function.member_of.is_some());
    function.map(|function| bare_calls(input, function, within)).unwrap_or_default()
}

/// Says `this` and calls of member functions with the device's object.
pub fn name(input: &Input, within: Span, edits: &mut Edits) {
    let unit = input.unit();
    let Some(object) = input.object else { return };
    let members = unit.exprs_in(within).filter_map(|expr| own_member(input, expr));
    let bare: HashSet<ExprId> = members.map(|(object, _)| object).collect();
    for id in unit.expr_ids_in(within).filter(|id| !bare.contains(id)) {
        let expr = unit.expr(id);
        if matches!(&expr.kind, ExprKind::Name(name) if name == "this") {
            edits.replace(expr.span, object);
        }
    }
    let mut functions = unit.functions.iter().rev();
    let around = functions.find(|function| function.span.contains(within));
    for name in around.map(|function| anonymous::named(input, function, within)).unwrap_or_default() {
        edits.insert(name.start, format!("{object}->"));
    }
    for name in named_calls(input, within) {
        let text = input.file().text(name);
        let called = counterpart::name(input, &text).unwrap_or(text.into_owned());
        edits.replace(name, format!("{object}->{called}"));
    }
}
