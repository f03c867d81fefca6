//! What keeps a construct of C++ out of its place: code that the compilers for CUDA do not take there, or take otherwise.
//!
//! Invariant: a construct that no message here is about is one that nvcc builds.

use super::hosts::{is_hidden_type, is_hosts, is_local_type};
use super::{callable, counterpart, hoisted, hosts, implied, object};
use crate::cuda::code::text::{placed_words, words};
use crate::cuda::program::functions::{called, functions};
use crate::cuda::program::{Input, Refused, levels, qualified, refused, uses};
use crate::cuda::types::cpp_complex;
use crate::cuda::types::own::{self, Own};
use crate::host::apart;
use crate::host::ir::{Function, StmtId};
use crate::sema::SymbolId;
use crate::source::Span;

/// Classes of the standard library whose member functions are the host's.
const CONTAINERS: &str = "vector string map unordered_map set unordered_set multimap multiset list forward_list deque queue \
    stack valarray function unique_ptr shared_ptr any bitset atomic";

/// Why device code cannot stand here, or would mean something else; `None` if it can.
pub fn obstacle(input: &Input, index: usize, stmt: StmtId) -> Option<Refused> {
    let at = input.bound[index].directive.span;
    let span = input.unit().stmt(stmt).span;
    if let Some(what) = of_place(input, index, stmt).or_else(|| of_variables(input, index, stmt)) {
        return Some(refused(at, &what));
    }
    let reached = match callable::reached(input, at, span) {
        Ok(reached) => reached,
        Err(why) => return Some(why),
    };
    let function = input.bound[index].function.map(|id| input.unit().function(id));
    let code = reached.code(input, span);
    let what = code.into_iter().find_map(|one| of_calls(input, function, span, one))?;
    Some(refused(at, what))
}

/// What the place has against it.
fn of_place(input: &Input, index: usize, stmt: StmtId) -> Option<String> {
    let span = input.unit().stmt(stmt).span;
    if input.unit().lambdas.iter().any(|(lambda, _)| lambda.contains(span)) {
        return Some("a construct in a lambda expression".to_owned());
    }
    if let Some(Err(what)) = hoisted::home(input, index, stmt) {
        return Some(what);
    }
    if qualified::member(input, span).is_some() {
        return Some("a member that is named with its class".to_owned());
    }
    has_cuda_type(input).then(|| "a construct beside a type with the name of one of CUDA's".to_owned())
}

/// What the variables have against it.
fn of_variables(input: &Input, index: usize, stmt: StmtId) -> Option<String> {
    for (symbol, _) in uses::outer(input, stmt) {
        let what = if is_local_type(input, symbol) {
            "a variable of a type that only this function knows"
        } else if is_hidden_type(input, symbol) {
            "a variable of a private class"
        } else if is_hosts_type(input, symbol) {
            "a variable of a class of the standard library that the device does not have"
        } else {
            continue;
        };
        return Some(what.to_owned());
    }
    let code = input.source.code(input.stmt_span(stmt));
    let words = words(&code);
    let has_functions = |one: &Own| {
        let text = input.file().text(one.span);
        apart::may_have_functions(input.file(), input.unit(), one.span) && !text.contains("constexpr")
    };
    let own = own::around(&input.source, input.stmt_span(stmt));
    if let Some(own) = own.iter().find(|one| words.contains(&one.name) && has_functions(one)) {
        return Some(format!("`{}`, a class with functions that only this function knows,", own.name));
    }
    if cpp_complex::computes(input, input.stmt_span(stmt)) {
        return Some(
            "arithmetic of `std::complex`, whose operators and functions are the host's,".to_owned(),
        );
    }
    match input.object {
        Some(_) => object::obstacle(input, index, stmt).map(str::to_owned),
        None => None,
    }
}

/// What the functions that the code calls have against it.
fn of_calls(input: &Input, function: Option<&Function>, within: Span, span: Span) -> Option<&'static str> {
    let unnamed = implied::implied(input, span).into_iter().map(|name| (name, false));
    for (name, is_alone) in called(input, span).chain(unnamed) {
        let is_bare = !name.contains("::");
        let of_object = |one: &Function| {
            let head = Span { start: one.span.start, end: one.name_span.start };
            one.member_of.is_some()
                && function.is_some_and(|function| one.member_of == function.member_of)
                && !words(&input.file().text(head)).contains(&"static")
        };
        let is_member_call = !is_alone && functions(input, &name).count() < 2;
        let is_known = input.object.is_some() && within.contains(span);
        if is_bare && !is_known && !is_member_call && functions(input, &name).any(of_object) {
            return Some("a call of a member function of the object");
        }
        if levels::routine_levels(input, &name).any() {
            if let Some(what) = counterpart::obstacle(input, &name) {
                return Some(what);
            }
            if !within.contains(span) {
                return Some("a routine with levels of parallelism that a lambda expression calls,");
            }
        }
        if functions(input, &name).next().is_none() && is_hosts(input, &name) {
            return Some("a call of a function that a header defines without `routine`");
        }
        if hosts::is_of_hosts_library(&name) {
            return Some("a call of a function of the standard library that only the host has,");
        }
    }
    None
}

/// Whether the source has a type at file scope with a name that CUDA's headers take.
fn has_cuda_type(input: &Input) -> bool {
    let seen_here = input.files();
    let mut records =
        seen_here.flat_map(|seen| seen.unit.records.iter().filter_map(|one| one.tag.as_deref()));
    records.any(|tag| {
        let bare = tag.trim_start_matches('u').trim_end_matches(|c: char| c.is_ascii_digit());
        let count = tag.rsplit(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
        let is_vector = ["char", "short", "int", "long", "longlong", "float", "double"].contains(&bare);
        tag == "dim3" || is_vector && ["1", "2", "3", "4"].contains(&count)
    })
}

/// What of the standard library a variable is of that the device does not have: a container, a wrapper.
fn is_hosts_type(input: &Input, symbol: SymbolId) -> bool {
    let Some((seen, decl)) = input.declaration(symbol) else { return false };
    let text = seen.file.text(Span { start: decl.span.start, end: decl.name_span.start });
    let mut all = placed_words(&text);
    all.retain(|(at, _)| text[..*at].trim_end().ends_with("std::"));
    all.first().is_some_and(|(_, word)| CONTAINERS.split(' ').any(|known| known == *word))
}
