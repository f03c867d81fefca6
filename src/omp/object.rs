//! Members of C++ classes that go to the device apart from their object: local variables hide them.
//!
//! Invariant: the variables live as long as the directive's construct, and no longer.

use std::collections::BTreeSet;

use super::ast::{Body, Directive};

/// Names the members `names` in the maps of `directive` without `this`, and gives what opens the block in which variables
/// of these names stand for them. clang's run-time library refuses an object of which a part is mapped, and gcc 12 stops with
/// an internal error at members in `target data`.
pub fn hide(directive: &mut Directive, names: &BTreeSet<String>) -> String {
    for clause in &mut directive.clauses {
        if let Body::List(items) = &mut clause.body {
            items.iter_mut().for_each(|item| bare(item, names));
        }
    }
    let variables: Vec<String> = names.iter().map(|name| format!("auto *{name} = this->{name};")).collect();
    format!("{{ {}", variables.join(" "))
}

/// `p[0:n]` for `this->p[0:n]`.
fn bare(item: &mut String, names: &BTreeSet<String>) {
    let after = item.strip_prefix("this").and_then(|rest| rest.trim_start().strip_prefix("->"));
    let Some(after) = after.map(str::trim_start) else { return };
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let name = after.split(|c| !is_name(c)).next().unwrap_or_default();
    if names.contains(name) {
        *item = after.to_owned();
    }
}
