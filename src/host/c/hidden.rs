//! Declarations that the grammar reads as calls: `real (*rows)[4];` and `int (&rows)[3][4] = k;`.
//!
//! Invariant: what may be a call of a function that the file knows stays one.

use super::super::ir::*;
use super::node::Node;
use super::{Reader, span};

/// Whether an expression that is a statement declares something.
pub fn is_declaration(reader: &Reader, expr: Node) -> bool {
    let (first, value) = parts(leftmost(expr));
    let mut at = first;
    while at.kind() == "subscript_expression"
        && let Some(inner) = at.child_by_field_name("argument")
    {
        at = inner;
    }
    let Some((kind, inside)) = head(at).filter(|_| at.id() != first.id()) else { return false };
    if name(inside).is_none() {
        return false;
    }
    match (kind.kind(), value) {
        ("primitive_type", _) => true,
        (_, None) => true,
        // The element of a row that a function gives may be assigned.
        (_, Some(value)) => {
            let is_number = matches!(value.kind(), "number_literal" | "binary_expression" | "char_literal");
            !is_number && !is_function(reader, &reader.text(kind))
        }
    }
}

/// The variables that it declares.
pub fn declaration(reader: &mut Reader, whole: Node, expr: Node) -> Vec<DeclId> {
    let mut declarators = Vec::new();
    let mut at = expr;
    while at.kind() == "comma_expression" {
        let (Some(left), Some(right)) = (at.child_by_field_name("left"), at.child_by_field_name("right"))
        else {
            break;
        };
        // C's grammar has the rest of a list on the right.
        let mut rest = vec![right];
        while let Some(last) = rest.pop_if(|last| last.kind() == "comma_expression") {
            rest.extend(last.child_by_field_name("left"));
            rest.extend(last.child_by_field_name("right"));
        }
        declarators.splice(0..0, rest);
        at = left;
    }
    declarators.insert(0, at);
    let mut base = BaseType::Unknown;
    let mut found = Vec::new();
    for declarator in declarators {
        let (declarator, value) = parts(declarator);
        let mut derived = Vec::new();
        let Some(name) = read(reader, declarator, &mut derived, &mut base) else { continue };
        let init = value.map(|value| reader.expr(value));
        let decl = Decl {
            kind: DeclKind::Variable,
            name: reader.text(name),
            name_span: span(name),
            span: span(whole),
            base: base.clone(),
            derived,
            init,
            is_static: false,
            is_extern: false,
            is_const: false,
            is_restrict: false,
            fortran: Attributes::default(),
        };
        found.push(reader.push_decl(decl));
    }
    found
}

/// The first of expressions that commas part.
fn leftmost(expr: Node) -> Node {
    let mut at = expr;
    while at.kind() == "comma_expression"
        && let Some(left) = at.child_by_field_name("left")
    {
        at = left;
    }
    at
}

/// A declarator and what it begins with.
fn parts(expr: Node) -> (Node, Option<Node>) {
    let sides = || {
        let operator = expr.child_by_field_name("operator").is_none_or(|sign| sign.kind() == "=");
        Some((expr.child_by_field_name("left")?, expr.child_by_field_name("right")?)).filter(|_| operator)
    };
    match (expr.kind(), sides()) {
        ("assignment_expression", Some((left, right))) => (left, Some(right)),
        _ => (expr, None),
    }
}

/// The type and the declarator in parentheses of what reads like a call: `real (*rows)`.
fn head(call: Node) -> Option<(Node, Node)> {
    if call.kind() != "call_expression" {
        return None;
    }
    let kind = call.child_by_field_name("function")?;
    let list = call.child_by_field_name("arguments")?;
    let only = list.named_child(0).filter(|_| list.named_child_count() == 1)?;
    let is_type = matches!(kind.kind(), "primitive_type" | "identifier" | "qualified_identifier");
    (is_type && only.kind() == "pointer_expression").then_some((kind, only))
}

/// The name after stars.
fn name(pointer: Node) -> Option<Node> {
    let mut at = pointer;
    while at.kind() == "pointer_expression" {
        at = at.child_by_field_name("argument")?;
    }
    (at.kind() == "identifier").then_some(at)
}

/// Reads a declarator from the name outwards; the first has the type with it.
fn read<'t>(
    reader: &mut Reader,
    at: Node<'t>,
    derived: &mut Vec<Derived>,
    base: &mut BaseType,
) -> Option<Node<'t>> {
    match at.kind() {
        "identifier" => Some(at),
        "parenthesized_expression" => read(reader, at.named_child(0)?, derived, base),
        "pointer_expression" => {
            let name = read(reader, at.child_by_field_name("argument")?, derived, base)?;
            let is_reference = at.child_by_field_name("operator").is_some_and(|sign| sign.kind() == "&");
            derived.push(if is_reference { Derived::Reference } else { Derived::Pointer });
            Some(name)
        }
        "subscript_expression" => {
            let name = read(reader, at.child_by_field_name("argument")?, derived, base)?;
            let list = at.child_by_field_name("indices").and_then(|list| list.named_child(0));
            let index = at.child_by_field_name("index").or(list).map(|index| reader.expr(index));
            derived.push(Derived::Array(index));
            Some(name)
        }
        "call_expression" => {
            let (kind, inside) = head(at)?;
            let words = reader.text(kind);
            *base = match (kind.kind(), words.as_str()) {
                ("primitive_type", "void") => BaseType::Void,
                ("primitive_type", _) => BaseType::Builtin(words),
                _ => BaseType::Named(words),
            };
            read(reader, inside, derived, base)
        }
        _ => None,
    }
}

/// Whether the file says that a name is a function's, or a macro's with arguments.
fn is_function(reader: &Reader, name: &str) -> bool {
    let unit = &reader.unit;
    unit.functions.iter().any(|function| function.name == name)
        || unit.decls.iter().any(|decl| decl.kind == DeclKind::Prototype && decl.name == name)
        || reader.scan.defines.iter().any(|define| define.params.is_some() && define.name == name)
}
