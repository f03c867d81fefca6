//! Several sections of one array on one directive: compilers for C take one of a variable. Members of several elements of one
//! array of structs: clang 19 takes them for members of one struct, and maps a size that may be negative. An object and its
//! members: clang 19 counts the object once on a directive that names both, and OpenACC may end them one by one.
//!
//! Invariant: each directive names a variable once, and members of one element, and all of them together what the one did.

use std::collections::{BTreeMap, BTreeSet};

use super::ast::{Body, Clause, Directive, Leaf};

/// Takes the second and further sections of variables out of a directive about data: directives like it, for those.
pub fn apart(directive: &mut Directive) -> Vec<Directive> {
    let mut more = Vec::new();
    while let Some(next) = repeated(more.last_mut().unwrap_or(directive)) {
        more.push(next);
    }
    more
}

/// Of an `enter data` or `exit data` that names an object and members of it, what must stand before the rest: the objects
/// that come, or the members that go. `is_member`: whether a name is a member of the function's own object.
pub fn counted_first(directive: &mut Directive, is_member: &dyn Fn(&str) -> bool) -> Option<Directive> {
    let is_enter = directive.has(Leaf::Named("target enter data"));
    let items = || data_clauses(directive).flat_map(|(_, items)| items);
    let whole: BTreeSet<String> =
        items().filter(|item| is_object(item)).map(|item| name(item).to_ascii_lowercase()).collect();
    let object = |item: &str| root(item).or_else(|| is_member(name(item)).then(|| "this".to_owned()));
    let parted: BTreeSet<String> =
        items().filter_map(|item| object(item)).filter(|object| whole.contains(object)).collect();
    let is_later = |item: &str| match object(item) {
        Some(object) => is_enter || !parted.contains(&object),
        None => !is_enter || !parted.contains(&name(item).to_ascii_lowercase()),
    };
    (!parted.is_empty()).then(|| others(directive, is_later))
}

/// A directive with the items whose variable the directive has named before; none if there are none.
fn repeated(directive: &mut Directive) -> Option<Directive> {
    let is_update = directive.has(Leaf::Named("target update"));
    let whole = objects(directive);
    let mut met = BTreeSet::new();
    let mut elements: BTreeMap<String, String> = BTreeMap::new();
    let rest = others(directive, |item| {
        let is_fresh = !met.contains(variable(item));
        let is_own = is_fresh
            && element(item).filter(|_| !is_update).is_none_or(|(array, element)| {
                whole.contains(array)
                    || elements.entry(array.to_owned()).or_insert(element.to_owned()) == element
            });
        is_own && met.insert(variable(item).to_owned())
    });
    let has_data = data_clauses(&rest).next().is_some();
    has_data.then_some(rest)
}

/// Takes the items out of a directive that are not its own: a directive like it, for those.
fn others(directive: &mut Directive, mut is_own: impl FnMut(&str) -> bool) -> Directive {
    let mut rest = Directive { clauses: Vec::new(), ..directive.clone() };
    for clause in &mut directive.clauses {
        let items = match &mut clause.body {
            Body::List(items) if clause.name != "depend" => items,
            _ => {
                rest.clauses.push(clause.clone());
                continue;
            }
        };
        let (own, others): (Vec<String>, Vec<String>) =
            std::mem::take(items).into_iter().partition(|item| is_own(item));
        *items = own;
        if !others.is_empty() {
            rest.clauses.push(Clause { body: Body::List(others), ..clause.clone() });
        }
    }
    directive.clauses.retain(|clause| !matches!(&clause.body, Body::List(items) if items.is_empty()));
    rest
}

/// The variables that a directive names without members.
fn objects(directive: &Directive) -> BTreeSet<String> {
    let whole = data_clauses(directive).flat_map(|(_, items)| items).filter(|item| is_object(item));
    whole.map(|item| variable(item).to_owned()).collect()
}

/// The clauses of a directive about data, and their list items.
fn data_clauses(directive: &Directive) -> impl Iterator<Item = (&Clause, &Vec<String>)> {
    directive.clauses.iter().filter_map(|clause| match &clause.body {
        Body::List(items) if clause.name != "depend" => Some((clause, items)),
        Body::List(_) | Body::Text(_) | Body::None => None,
    })
}

/// Whether members of one object are allocated and others copied by a directive, which counts the object once.
pub fn allocates_beside_copies(directive: &Directive) -> bool {
    let is_alloc = |clause: &Clause| clause.modifier.as_deref() == Some("alloc");
    let roots = |allocs: bool| -> BTreeSet<String> {
        let clauses = data_clauses(directive).filter(|(clause, _)| is_alloc(clause) == allocs);
        clauses.flat_map(|(_, items)| items).filter_map(|item| root(item)).collect()
    };
    !roots(true).is_disjoint(&roots(false))
}

/// The variable whose member an item is: `s` of `s.p[0:n]`.
fn root(item: &str) -> Option<String> {
    let end = item.find(['.', '-', '%']).filter(|_| !is_object(item))?;
    Some(name(&item[..end]).to_ascii_lowercase())
}

/// Whether an item is not a member of anything, whatever its subscripts are.
fn is_object(item: &str) -> bool {
    let mut depth = 0i32;
    !item.bytes().zip(item.bytes().skip(1).chain([b' '])).any(|(c, next)| {
        match c {
            b'[' | b'(' => depth += 1,
            b']' | b')' => depth -= 1,
            _ => {}
        }
        depth == 0 && (matches!(c, b'.' | b'%') || c == b'-' && next == b'>')
    })
}

/// The name of an item's variable: `s` of `s[0:n]` and of `s(1:n)`.
fn name(item: &str) -> &str {
    item.find(['[', '(']).filter(|at| *at > 0).map_or(item, |at| item[..at].trim_end())
}

/// The array of structs that an item is a member of, and the element: `a` and `a[1]` of `a[1].p[0:n]`.
fn element(item: &str) -> Option<(&str, &str)> {
    let member = variable(item);
    let open = member.find('[')?;
    let mut depth = 0usize;
    let close = member.char_indices().skip_while(|(at, _)| *at < open).find_map(|(at, c)| {
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            _ => {}
        }
        (depth == 0).then_some(at)
    })?;
    let is_member = member[close + 1..].starts_with('.');
    let array = &member[..open];
    let is_variable = array.chars().all(|c| c.is_alphanumeric() || c == '_');
    (is_member && is_variable).then(|| (array, &member[..=close]))
}

/// An item without its sections: `s.p` of `s.p[0:n]`.
fn variable(item: &str) -> &str {
    super::texts::without_section(item)
}

#[cfg(test)]
mod tests;
