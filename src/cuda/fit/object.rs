//! The object whose member function a construct stands in, as a whole: `this` as a value, calls of member functions.
//!
//! Invariant: the device's object is the one that the data environment has (OpenACC 3.3, 2.6.2 and 2.7.1), its members are
//! reached through it, and its pointers lead to the device's memory where what they lead to is present.

use crate::acc::ast::{ClauseKind, ListItem};
use crate::bind::descendants;
use crate::cuda::kernel::twin;
use crate::host::ir::{Decl, Derived, ExprKind, Function, Record, StmtId};
use crate::sema::{Class, SymbolId, SymbolKind};
use crate::source::Span;

use super::cpp::{called, functions};
use crate::cuda::code::text::{Edits, words};
use crate::cuda::file::device;
use crate::cuda::kernel::place;
use crate::cuda::kernel::variable::Making;
use crate::cuda::program::{Input, Seen};
use crate::cuda::schedule::capture::Captured;
use crate::cuda::types::item::Address;
use crate::cuda::types::motion::word;
use crate::plan::Motion;

/// Names for the object on the device, the first of which that the function does not use is taken.
const NAMES: [&str; 3] = ["self", "object", "acc2omp_object"];

/// The object's name on the device, if a construct needs the object itself: it hands `this` on, or calls a member function.
pub fn needed(input: &Input, index: usize, stmt: StmtId) -> Option<&'static str> {
    let function = input.unit().function(input.bound[index].function?);
    function.member_of.as_ref()?;
    let span = input.unit().stmt(stmt).span;
    let named = place::named_members(input, stmt);
    let known = named.iter().filter(|(_, member)| member.is_some()).count();
    let all = words(&input.file().text(span)).into_iter().filter(|word| *word == "this").count();
    if all == known && !called(input, span).any(|(name, _)| is_of_object(input, function, &name)) {
        return None;
    }
    let text = input.file().text(function.span);
    let taken = words(&text);
    NAMES.into_iter().find(|name| !taken.contains(name))
}

/// Whether a name is that of a member function of the function's class that is called for the object.
fn is_of_object(input: &Input, function: &Function, name: &str) -> bool {
    let of_object = |one: &Function| {
        let head = Span { start: one.span.start, end: one.name_span.start };
        one.member_of.is_some()
            && one.member_of == function.member_of
            && !words(&input.file().text(head)).contains(&"static")
    };
    functions(input, name).any(of_object)
}

/// The calls in `within` that name a member function of the object without `this->`: the names.
fn bare_calls(input: &Input, function: &Function, within: Span) -> Vec<Span> {
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

/// Whether a call may change the object.
pub fn is_changed_by(input: &Input, call: Span, name: &str) -> bool {
    let around = || input.unit().functions.iter().rev().find(|function| function.span.contains(call));
    let name = name.rsplit(['>', '.']).next().unwrap_or(name);
    input.object.is_some() && around().is_some_and(|function| is_of_object(input, function, name))
}

/// Why a construct cannot have the object itself.
pub fn obstacle(input: &Input, index: usize, stmt: StmtId) -> Option<&'static str> {
    let unit = input.unit();
    let function = unit.function(input.bound[index].function?);
    let span = unit.stmt(stmt).span;
    let Some(classes) = classes(input, function) else {
        return Some("the object itself, of a class whose definition is not seen,");
    };
    if classes.iter().any(|(seen, record)| words(&seen.file.text(record.span)).contains(&"virtual")) {
        return Some("the object itself, of a class with virtual functions,");
    }
    if unit.lambdas.iter().any(|(lambda, _)| span.contains(*lambda)) {
        return Some("the object itself beside a lambda expression");
    }
    for (id, member) in place::named_members(input, stmt) {
        let ExprKind::Member { name, .. } = &unit.expr(id).kind else { continue };
        let is_defined = functions(input, name).any(|one| one.member_of.is_some());
        if member.is_none() && !is_defined {
            return Some("a member whose name something hides, or a function that the file does not define,");
        }
    }
    let is_part_of_whole = |kind: &ExprKind| match kind {
        ExprKind::Member { base, arrow: false, .. } => match unit.expr(*base).kind {
            ExprKind::Deref(base) => matches!(&unit.expr(base).kind, ExprKind::Name(name) if name == "this"),
            _ => false,
        },
        _ => false,
    };
    if unit.exprs_in(span).any(|expr| is_part_of_whole(&expr.kind)) {
        return Some("a member behind `(*this)`");
    }
    let mut directives = std::iter::once(index).chain(descendants(input.bound, index));
    if directives.any(|at| input.clauses(at).any(|kind| makes_own(input, at, kind))) {
        return Some("a private or reduced member beside the object itself");
    }
    hidden_in_macros(input, function, span).then_some("a macro that names the object")
}

/// Whether a clause gives threads members of their own.
fn makes_own(input: &Input, index: usize, kind: &ClauseKind) -> bool {
    let list = match kind {
        ClauseKind::Private(list) | ClauseKind::Firstprivate(list) | ClauseKind::Reduction(_, list) => list,
        _ => return false,
    };
    let place = input.bound[index].directive.span.start;
    list.iter().any(|item| {
        let symbol = input.symbols.lookup(item.variable(), place);
        symbol.is_some_and(|symbol| input.symbols.is_data_member(symbol))
    })
}

/// Whether a macro that the code uses names the object, or calls a member function.
fn hidden_in_macros(input: &Input, function: &Function, span: Span) -> bool {
    let text = input.file().text(span);
    let mut pending: Vec<String> = words(&text).into_iter().map(str::to_owned).collect();
    let mut known = std::collections::BTreeSet::new();
    while let Some(word) = pending.pop() {
        let Some(define) = device::define(input, &word).filter(|_| known.insert(word.clone())) else {
            continue;
        };
        let inside = words(&define.body);
        if inside.iter().any(|word| *word == "this" || is_of_object(input, function, word)) {
            return true;
        }
        pending.extend(inside.into_iter().map(str::to_owned));
    }
    false
}

/// The class that a function is a member of, and its bases; `None` if one of them is not seen.
fn classes<'a>(input: &Input<'a>, function: &Function) -> Option<Vec<(Seen<'a>, &'a Record)>> {
    let bare = |name: &str| {
        let name = name.split('<').next().unwrap_or(name).trim();
        name.rsplit("::").next().unwrap_or(name).to_owned()
    };
    let mut pending = vec![bare(function.member_of.as_deref()?)];
    let mut found: Vec<(Seen, &Record)> = Vec::new();
    while let Some(name) = pending.pop() {
        let mut all = std::iter::once(input.source).chain(input.headers.iter().copied());
        let (seen, record) = all.find_map(|seen| {
            let record = seen.unit.records.iter().find(|record| record.tag.as_deref() == Some(&name))?;
            Some((seen, record))
        })?;
        if found.iter().all(|(_, known)| known.span != record.span) {
            pending.extend(record.bases.iter().map(|base| bare(base)));
            found.push((seen, record));
        }
    }
    Some(found)
}

/// The declaration of a member that a header has: in the class of the function that sees it, or in a base.
pub fn member<'a>(input: &Input<'a>, symbol: SymbolId) -> Option<(Seen<'a>, &'a Decl)> {
    let known = input.symbols.get(symbol);
    let bare = |name: &str| super::cpp::bare(name.split('<').next().unwrap_or(name).trim()).to_owned();
    let mut pending = vec![bare(input.symbols.class_of(symbol)?)];
    let mut met: Vec<String> = Vec::new();
    while let Some(name) = pending.pop().filter(|name| !met.contains(name)) {
        let all = std::iter::once(input.source).chain(input.headers.iter().copied());
        for seen in all {
            for record in seen.unit.records.iter().filter(|record| record.tag.as_deref() == Some(&name)) {
                let mut members = record.members.iter().map(|id| seen.unit.decl(*id));
                if let Some(decl) = members.find(|decl| decl.name == known.name) {
                    return Some((seen, decl));
                }
                pending.extend(record.bases.iter().map(|base| bare(base)));
            }
        }
        met.push(name);
    }
    None
}

/// Whether an item is the whole object: `this`, or `this[0:1]`.
pub fn is_whole(item: &ListItem) -> bool {
    item.base.text == "this" && item.variable() == "this"
}

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
    let is_const = words(tail.rsplit(')').next().unwrap_or_default()).contains(&"const");
    let is_present = input.clauses(index).any(|kind| matches!(kind, ClauseKind::Default { none: false }));
    let implied = match (is_present, is_const) {
        (true, _) => Motion::Present,
        (false, true) => Motion::Copyin,
        (false, false) => Motion::Copy,
    };
    let method = word(own.reduce(Motion::and).unwrap_or(implied));
    making.names.take(object);
    making.made.params.push((format!("auto *{object}"), object.to_owned()));
    let region = &making.host.words.region;
    making.host.lines.push(format!("auto *{object} = {region}.{method}(\"this\", this, 1);"));
}

/// What attaches the pointers of the object and those of its bases that the code names, behind all that brings memory.
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

/// Says `this` and calls of member functions with the device's object.
pub fn name(input: &Input, within: Span, edits: &mut Edits) {
    let unit = input.unit();
    let Some(object) = input.object else { return };
    for expr in unit.exprs_in(within) {
        if matches!(&expr.kind, ExprKind::Name(name) if name == "this") {
            edits.replace(expr.span, object);
        }
    }
    let around = unit.functions.iter().rev().find(|function| function.span.contains(within));
    let Some(function) = around.filter(|function| function.member_of.is_some()) else { return };
    for name in bare_calls(input, function, within) {
        let text = input.file().text(name);
        let called = twin::name(input, &text).unwrap_or(text.into_owned());
        edits.replace(name, format!("{object}->{called}"));
    }
}
