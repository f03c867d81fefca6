//! What a reference without a type of its own leads to: `auto &r = a`.
//!
//! Invariant: what is not seen to be an array is not one.

use crate::cuda::program::Input;
use crate::host::ir::{BaseType, Decl, Derived, ExprId, ExprKind};
use crate::sema::Class;

/// The dimensions of the array that a reference leads to.
pub fn array(input: &Input, decl: &Decl) -> Option<Vec<Derived>> {
    let is_open =
        decl.base == BaseType::Unknown && !decl.derived.is_empty() && decl.derived.iter().all(is_reference);
    let found = dimensions(input, decl.init.filter(|_| is_open)?)?;
    matches!(found.first(), Some(Derived::Array(_))).then_some(found)
}

fn dimensions(input: &Input, init: ExprId) -> Option<Vec<Derived>> {
    let unit = input.unit();
    let expr = unit.expr(init);
    if let ExprKind::Name(name) = &expr.kind {
        let symbol = input.symbols.lookup(name, expr.span.start)?;
        let (_, decl) = input.declaration(symbol)?;
        let own = || decl.derived.iter().filter(|part| !is_reference(part)).cloned().collect();
        return match input.symbols.get(symbol).class {
            Class::Array => Some(own()),
            _ => array(input, decl),
        };
    }
    match &expr.kind {
        ExprKind::Index(base, _) => dimensions(input, *base).map(|all| all.into_iter().skip(1).collect()),
        ExprKind::Member { name, .. } => {
            let shape = &input.symbols.member(name)?.shape;
            let arrays = shape.iter().take_while(|is_array| **is_array);
            Some(arrays.map(|_| Derived::Array(None)).collect())
        }
        _ => None,
    }
}

fn is_reference(part: &Derived) -> bool {
    *part == Derived::Reference
}
