//! Members of C++ classes that go to the device apart from their object, where local variables hide them, and those that cannot.
//!
//! Invariant: the variables live as long as the directive's construct, and no longer.

use std::collections::BTreeSet;

use crate::bind::Bound;
use crate::host::ir::Unit;
use crate::sema::{SymbolKind, Symbols, uses};
use crate::source::Span;

use super::ast::{Body, Directive};

/// Where a compute construct names a member of its function's object that is a reference: gcc 12 stops with an internal error
/// there, and what clang 19 builds stops if another member is named, too.
pub fn reference_member(unit: &Unit, symbols: &Symbols, one: &Bound) -> Option<Span> {
    let stmt = one.stmt().filter(|_| unit.is_cpp() && one.directive.kind.is_compute())?;
    let used = uses(unit, symbols, stmt);
    let mut members = used.iter().filter(|(symbol, _)| {
        let known = symbols.get(*symbol);
        known.kind == SymbolKind::Member && known.is_reference
    });
    members.find_map(|(_, how)| how.first)
}

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
