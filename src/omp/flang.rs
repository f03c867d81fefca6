//! What flang 22 does not build, in other words of the same meaning.
//!
//! Invariant: a directive says the same as before; what is written otherwise here has its measurement in
//! `rules/profile/clang.toml`.

use std::collections::BTreeSet;

use crate::sema::{Class, Symbol, SymbolKind};

use super::ast::{Body, Clause, Directive, Leaf};
use super::queue;

/// The clauses about sharing that must not stand on `target`: it stands apart from what it is combined with, or from a
/// parallel region of one thread. `private` is built where `target` is combined.
pub fn apart(directive: &Directive) -> Option<[Directive; 2]> {
    let is_alone = directive.leaves == [Leaf::Target];
    let stands = |name: &str| directive.clauses.iter().any(|clause| clause.name == name);
    if !directive.has(Leaf::Target) || !(stands("firstprivate") || is_alone && stands("private")) {
        return None;
    }
    let mut both = queue::split(directive)?;
    if is_alone {
        both[1].leaves.push(Leaf::Parallel);
        both[1].add(Clause::text("num_threads", "1"));
    }
    Some(both)
}

/// Whether a variable is an array that `declare target` may give a place on the device.
pub fn may_be_declared(symbol: &Symbol) -> bool {
    let is_elsewhere = symbol.fortran.allocatable || symbol.fortran.pointer;
    symbol.kind == SymbolKind::Static && symbol.class == Class::Array && !is_elsewhere
}

/// Takes the check away that an object is present, where the directive names a component of it: flang 22 then looks for the
/// component's description, too. Says whether there was one.
pub fn unchecked_objects(directive: &mut Directive) -> bool {
    let root = |item: &str| item.split(['%', '(']).next().unwrap_or(item).trim().to_ascii_lowercase();
    let lists = directive.clauses.iter().filter_map(|clause| match &clause.body {
        Body::List(items) if clause.name == "map" => Some(items),
        _ => None,
    });
    let named: BTreeSet<String> =
        lists.flatten().filter(|item| item.contains('%')).map(|item| root(item)).collect();
    let mut is_changed = false;
    for clause in directive.clauses.iter_mut().filter(|clause| clause.name == "map") {
        let Some(modifier) = &clause.modifier else { continue };
        let (Some(plain), Body::List(items)) = (modifier.strip_prefix("present, "), &clause.body) else {
            continue;
        };
        if items.iter().any(|item| named.contains(&root(item))) {
            clause.modifier = Some(plain.to_owned());
            is_changed = true;
        }
    }
    is_changed
}

/// Arrays of device addresses: flang takes a variable of type `c_ptr` in `is_device_ptr`, and nothing else.
pub fn device_addresses(directive: &mut Directive, is_pointer: &dyn Fn(&str) -> bool) {
    let mut arrays = Vec::new();
    for clause in directive.clauses.iter_mut().filter(|clause| clause.name == "is_device_ptr") {
        let Body::List(items) = &mut clause.body else { continue };
        arrays.extend(items.iter().filter(|item| !is_pointer(item)).cloned());
        items.retain(|item| is_pointer(item));
    }
    directive.clauses.retain(|clause| clause.body != Body::List(Vec::new()));
    arrays.iter().for_each(|item| directive.add(Clause::list("has_device_addr", None, item)));
}

/// Takes the dependences of a directive about data, and gives an empty task with them, for which the host waits. Then the
/// directive, too, is one that the host waits for.
pub fn task_before(directive: &mut Directive) -> Option<[Directive; 2]> {
    let is_about_data =
        matches!(directive.leaves.as_slice(), [Leaf::Named(words)] if words.starts_with("target "));
    let (depends, others): (Vec<Clause>, Vec<Clause>) = std::mem::take(&mut directive.clauses)
        .into_iter()
        .partition(|clause| is_about_data && clause.name == "depend");
    directive.clauses = others;
    if depends.is_empty() {
        return None;
    }
    queue::hold(directive);
    let mut task = Directive::new(&[Leaf::Named("task")]);
    task.add(Clause::text("if", ".false."));
    task.clauses.extend(depends);
    let end = task.end();
    Some([task, end])
}

#[cfg(test)]
mod tests;
