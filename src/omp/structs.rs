//! Arrays of structs that a `target` maps together with members of them, in a form that gcc 12 compiles rightly: in others,
//! its code takes another address for the array, even on the host.
//!
//! Invariant: the same memory is mapped; what is new on the device, and gets no values, may get the host's.

use super::ast::{Body, Clause, Directive, Leaf};

/// Names such an array by its name alone. In a combined construct, gcc 12 takes nothing but sections of it: there it gets the
/// host's values where it would get none, and a member would.
pub fn arrays(directive: &mut Directive) {
    let is_alone = directive.leaves == [Leaf::Target];
    for array in arrays_with_members(directive) {
        let section = format!("{array}[0:]");
        let is_brought = |clause: &Clause| clause.modifier.as_deref() != Some("alloc");
        let is_any_brought =
            maps(directive).any(|(clause, item)| is_brought(clause) && is_member(item, &array));
        for clause in directive.clauses.iter_mut().filter(|clause| clause.name == "map") {
            let is_brought = is_brought(clause);
            let Body::List(items) = &mut clause.body else { continue };
            if is_alone {
                items.iter_mut().filter(|item| **item == section).for_each(|item| item.clone_from(&array));
            } else if is_any_brought && !is_brought {
                items.retain(|item| *item != section);
            }
        }
        if !is_alone && !maps(directive).any(|(_, item)| item == section) {
            // clang 19 attaches nothing where the member stands before.
            directive.clauses.insert(0, Clause::list("map", Some("to"), &section));
        }
    }
    directive.clauses.retain(|clause| clause.body != Body::List(Vec::new()));
}

/// The arrays that a directive maps as a whole, and members of them beside.
fn arrays_with_members(directive: &Directive) -> Vec<String> {
    let whole = maps(directive).filter_map(|(_, item)| item.strip_suffix("[0:]"));
    let with_members = whole.filter(|array| maps(directive).any(|(_, item)| is_member(item, array)));
    with_members.map(str::to_owned).collect()
}

/// The list items that a directive maps.
fn maps(directive: &Directive) -> impl Iterator<Item = (&Clause, &str)> {
    let maps = directive.clauses.iter().filter(|clause| clause.name == "map");
    maps.flat_map(|clause| {
        let items = match &clause.body {
            Body::List(items) => items.as_slice(),
            Body::Text(_) | Body::None => &[],
        };
        items.iter().map(move |item| (clause, item.as_str()))
    })
}

/// Whether an item is a member of an element of an array.
fn is_member(item: &str, array: &str) -> bool {
    let Some(element) = item.strip_prefix(array).filter(|rest| rest.starts_with('[')) else { return false };
    let mut depth = 0usize;
    element.chars().any(|c| {
        match c {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == '.' && depth == 0
    })
}

#[cfg(test)]
mod tests;
