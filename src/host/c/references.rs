//! Types of C++ that are references, though no `&` stands before the name that is declared.
//!
//! Invariant: a type that may be a reference is taken for one: the variable is another name of what it begins with.

use std::collections::BTreeSet;

use crate::source;

use super::super::ir::{BaseType, Derived, Unit};
use super::Reader;
use super::node::Node;

/// Whether a declaration begins with the name or the form of such a type.
pub(super) fn is_reference(reader: &Reader, specifiers: Node) -> bool {
    let Some(kind) = specifiers.child_by_field_name("type").filter(|_| reader.unit.is_cpp()) else {
        return false;
    };
    match kind.kind() {
        "decltype" => gives_place(reader, kind),
        "placeholder_type_specifier" => {
            reader.named(kind).into_iter().any(|inner| inner.kind() == "decltype")
        }
        "type_identifier" | "qualified_identifier" | "template_type" | "dependent_type" => {
            let name = reader.text(kind);
            reader.unit.reference_types.contains(source::plain_name(&name)) || is_trait(&name)
        }
        _ => false,
    }
}

/// Whether `decltype` has an expression that names a place, and not just a variable: of such it makes a reference (C++17,
/// 10.1.7.2). What a call gives is not seen.
fn gives_place(reader: &Reader, decltype: Node) -> bool {
    const PLACES: [&str; 4] =
        ["subscript_expression", "pointer_expression", "parenthesized_expression", "call_expression"];
    let [inside] = reader.named(decltype)[..] else { return false };
    let is_variable = |name: &str| {
        let mut known = reader.unit.decls.iter().rev();
        known
            .find(|decl| decl.name == name)
            .is_some_and(|decl| decl.derived.first() == Some(&Derived::Reference))
    };
    match inside.kind() {
        "identifier" => is_variable(&reader.text(inside)),
        kind => PLACES.contains(&kind),
    }
}

/// Whether it is by its name: `T::reference`, `std::add_lvalue_reference_t<T>`.
fn is_trait(name: &str) -> bool {
    matches!(source::plain_name(name), "reference" | "const_reference")
        || ["add_lvalue_reference", "add_rvalue_reference"].iter().any(|word| name.contains(word))
}

/// Makes what is derived from such a type a reference: one to a reference is one (C++17, 11.3.2).
pub(super) fn refer_to(derived: &mut Vec<Derived>) {
    if derived.is_empty() {
        derived.push(Derived::Reference);
    }
}

/// Whether a structured binding may have names of what its value refers to: the value is an object with references.
pub(super) fn may_bind(reader: &Reader, value: Option<Node>) -> bool {
    let is_tied = |value: Node| {
        let text = reader.text(value);
        ["tie(", "forward_as_tuple(", "&>"].iter().any(|word| text.contains(word))
    };
    reader.has_reference_members || value.is_some_and(is_tied)
}

/// Takes these names of other files for types that are references, too.
pub fn refer(unit: &mut Unit, names: &BTreeSet<&str>) {
    if names.is_empty() || !unit.is_cpp() {
        return;
    }
    for decl in &mut unit.decls {
        if matches!(&decl.base, BaseType::Named(name) if names.contains(source::plain_name(name))) {
            refer_to(&mut decl.derived);
        }
    }
    for function in &unit.functions {
        for (place, id) in function.params.iter().enumerate() {
            if unit.decls[id.0 as usize].derived.first() == Some(&Derived::Reference) {
                unit.by_reference.push((function.name.clone(), place));
            }
        }
    }
}
