//! The order of what a directive maps, where objects are mapped together with members of them.
//!
//! Invariant: the same items with the same modifiers; an object comes before its members, and they follow it at once.

use std::collections::BTreeSet;

use super::ast::{Body, Clause};

/// Puts objects before their members in what is mapped: clang maps them in this order, and an object that comes after a
/// member would not be brought; it takes them away in the opposite order. The members follow their object at once, as
/// gcc 12 stops with an internal error where other items stand between.
pub(super) fn objects_first(clauses: &mut Vec<Clause>) {
    let objects = Objects::of(clauses);
    if objects.names.is_empty() {
        return;
    }
    let holds =
        |clause: &Clause| maps(clause).is_some_and(|items| items.iter().any(|one| objects.is_object(one)));
    clauses.sort_by_key(|clause| !holds(clause));
    for clause in clauses.iter_mut().filter(|clause| clause.name == "map") {
        if let Body::List(items) = &mut clause.body {
            *items = objects.grouped(items, |item| item);
        }
    }
    if objects.apart(clauses) > 1 {
        objects.interleave(clauses);
    }
}

fn maps(clause: &Clause) -> Option<&[String]> {
    match &clause.body {
        Body::List(items) if clause.name == "map" => Some(items),
        Body::List(_) | Body::None | Body::Text(_) => None,
    }
}

/// The variable that an item begins with.
fn name(item: &str) -> &str {
    item.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default()
}

fn is_whole(item: &str) -> bool {
    matches!(&item[name(item).len()..], "" | "[0:1]" | "[:1]")
}

/// Whether an item is a member of the object `object`; what has no object of its own belongs to `this`.
fn is_member(item: &str, object: &str) -> bool {
    match item.strip_prefix(object) {
        Some(rest) if rest.starts_with('.') || rest.starts_with("->") => true,
        _ => object == "this" && !item.starts_with("this["),
    }
}

/// The objects that are mapped together with members of them.
struct Objects {
    names: BTreeSet<String>,
}

impl Objects {
    fn of(clauses: &[Clause]) -> Objects {
        let all: Vec<&String> = clauses.iter().filter_map(maps).flatten().collect();
        let whole = all.iter().filter(|item| is_whole(item)).map(|item| name(item));
        let with_members = whole.filter(|object| all.iter().any(|item| is_member(item, object)));
        Objects { names: with_members.map(str::to_owned).collect() }
    }

    fn is_object(&self, item: &str) -> bool {
        is_whole(item) && self.names.contains(name(item))
    }

    /// The object that an item is, or belongs to.
    fn owner<'a>(&self, item: &'a str) -> Option<&'a str> {
        let owner = name(item);
        (self.names.contains(owner) && (is_whole(item) || is_member(item, owner))).then_some(owner)
    }

    /// `items` with each object and its members together, at the place of the first of them; `this` is the first of all.
    fn grouped<T: Clone>(&self, items: &[T], text: impl Fn(&T) -> &str) -> Vec<T> {
        let first: Vec<&T> = items.iter().filter(|item| self.owner(text(item)) == Some("this")).collect();
        let mut done: BTreeSet<&str> = ["this"].into();
        let mut out: Vec<&T> = first.iter().filter(|item| is_whole(text(item))).copied().collect();
        out.extend(first.iter().filter(|item| !is_whole(text(item))));
        for item in items {
            match self.owner(text(item)) {
                None => out.push(item),
                Some(owner) if done.insert(owner) => {
                    let group = || items.iter().filter(|one| self.owner(text(one)) == Some(owner));
                    out.extend(group().filter(|one| is_whole(text(one))));
                    out.extend(group().filter(|one| !is_whole(text(one))));
                }
                Some(_) => {}
            }
        }
        out.into_iter().cloned().collect()
    }

    /// How many objects have members in other clauses than their own.
    fn apart(&self, clauses: &[Clause]) -> usize {
        let owners = |items: &[String], whole: bool| -> BTreeSet<String> {
            let named = items.iter().filter(|item| is_whole(item) == whole);
            named.filter_map(|item| self.owner(item)).map(str::to_owned).collect()
        };
        let lists: Vec<&[String]> = clauses.iter().filter_map(maps).collect();
        let apart = lists.iter().flat_map(|items| &owners(items, false) - &owners(items, true));
        apart.collect::<BTreeSet<String>>().len()
    }

    /// Puts members into clauses that follow those of their objects.
    fn interleave(&self, clauses: &mut Vec<Clause>) {
        let flat: Vec<(Clause, String)> = clauses
            .iter()
            .flat_map(|clause| {
                maps(clause).unwrap_or_default().iter().map(move |item| (clause.clone(), item.clone()))
            })
            .collect();
        clauses.retain(|clause| maps(clause).is_none());
        let mut made: Vec<Clause> = Vec::new();
        for (clause, item) in self.grouped(&flat, |(_, item)| item) {
            match made.last_mut() {
                Some(Clause { modifier, body: Body::List(items), .. }) if *modifier == clause.modifier => {
                    items.push(item);
                }
                _ => made.push(Clause { body: Body::List(vec![item]), ..clause }),
            }
        }
        clauses.extend(made);
    }
}

#[cfg(test)]
mod tests;
