//! The object whose member function a construct stands in, as a whole: `this` as a value, calls of member functions.
//!
//! Invariant: the device's object is the one that the data environment has (OpenACC 3.3, 2.6.2 and 2.7.1), its members are
//! reached through it, and its pointers lead to the device's memory where what they lead to is present.

use super::anonymous;
use crate::acc::ast::{ClauseKind, ListItem};
use crate::bind::descendants;
use crate::cuda::code::text::words;
use crate::cuda::program::functions::{called, functions};
use crate::cuda::program::{Input, Seen, defines, uses};
use crate::host;
use crate::host::ir::{ExprKind, Function, Record, StmtId, Unit};
use crate::source::{self, Span};

/// Names for the object on the device, the first of which that the function does not use is taken.
const NAMES: [&str; 3] = ["self", "object", "acc2omp_object"];

/// The object's name on the device, if a construct needs the object itself: it hands `this` on, or calls a member function.
pub fn needed(input: &Input, index: usize, stmt: StmtId) -> Option<&'static str> {
    let function = input.unit().function(input.bound[index].function?);
    function.member_of.as_ref()?;
    let span = input.unit().stmt(stmt).span;
    let named = uses::named_members(input, stmt);
    let known = named.iter().filter(|(_, member)| member.is_some()).count();
    let all = words(&input.file().text(span)).into_iter().filter(|word| *word == "this").count();
    let calls_own = || called(input, span).any(|(name, _)| is_of_object(input, function, &name));
    if all == known && !calls_own() && anonymous::named(input, function, span).is_empty() {
        return None;
    }
    let text = input.file().text(function.span);
    let taken = words(&text);
    NAMES.into_iter().find(|name| !taken.contains(name))
}

/// Whether a name is that of a member function of the function's class, or of a base of it, that is called for the object.
pub fn is_of_object(input: &Input, function: &Function, name: &str) -> bool {
    let Some(class) = &function.member_of else { return false };
    let units: Vec<&Unit> = input.files().map(|seen| seen.unit).collect();
    let classes = host::with_bases(&units, class);
    let of_object = |one: &Function| {
        let head = Span { start: one.span.start, end: one.name_span.start };
        one.member_of.as_deref().is_some_and(|class| classes.contains(class))
            && !words(&input.file().text(head)).contains(&"static")
    };
    functions(input, name).any(of_object)
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
    for (id, member) in uses::named_members(input, stmt) {
        let ExprKind::Member { name, .. } = &unit.expr(id).kind else { continue };
        let is_defined = functions(input, name).any(|one| one.member_of.is_some());
        if member.is_none() && !is_defined && !anonymous::is_member(input, function, name) {
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
        return Some("a member after `(*this)`");
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
        let Some(define) = defines::define(input, &word).filter(|_| known.insert(word.clone())) else {
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
pub fn classes<'a>(input: &Input<'a>, function: &Function) -> Option<Vec<(Seen<'a>, &'a Record)>> {
    let bare = |name: &str| source::plain_name(name).to_owned();
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

/// Whether an item is the whole object: `this`, or `this[0:1]`.
pub fn is_whole(item: &ListItem) -> bool {
    item.base.text == "this" && item.variable() == "this"
}
