//! Variables that an inner loop makes private, and that the region uses outside of the loop as well: two variables of one name.
//!
//! Invariant: what a loop does with its private variable changes no other one.

use crate::acc::ast::ListItem;
use crate::cuda::program::privates::{loops, private, used_outside};
use crate::cuda::program::{Input, Refused, refused};
use crate::cuda::schedule::nest::Shared;
use crate::cuda::types::spelling;
use crate::host::ir::Derived;
use crate::source::Span;

use super::body::Body;

/// The declarations that the body of a divided loop begins with.
pub fn declarations(body: &Body, shared: &Shared) -> Result<Vec<String>, Refused> {
    let input = body.input;
    let mut lines = Vec::new();
    for item in &shared.private {
        let Some(symbol) = used_outside(input, item, shared.span(input), body.region) else { continue };
        let declared = input.declaration(symbol).filter(|_| !body.common.contains(&symbol));
        let is_value = |derived: &[Derived]| matches!(derived, [] | [Derived::Pointer]);
        let text = declared.filter(|(_, decl)| is_value(&decl.derived)).and_then(|(seen, decl)| {
            let star = if decl.derived.is_empty() { "" } else { "*" };
            let base = spelling::base(input, seen, decl)?;
            Some(format!("{} {star}{};", base.trim_start_matches("const "), decl.name))
        });
        lines.push(text.ok_or_else(|| two(item))?);
    }
    Ok(lines)
}

/// That no loop of a `kernels` construct, whose parts are launched apart, has such a variable.
pub fn none_outside(input: &Input, region: Span) -> Result<(), Refused> {
    for one in loops(input, region) {
        let Some(span) = one.stmt().map(|stmt| input.stmt_span(stmt)) else { continue };
        if let Some(item) = private(one).find(|item| used_outside(input, item, span, region).is_some()) {
            return Err(two(item));
        }
    }
    Ok(())
}

/// That no loop that is not divided has such a variable.
pub fn of_sequential(body: &Body, region: Span) -> Result<(), Refused> {
    let input = body.input;
    let is_divided = |span: Span| body.nest.values().any(|shared| shared.span(input) == span);
    for one in loops(input, region) {
        let Some(span) = one.stmt().map(|stmt| input.stmt_span(stmt)) else { continue };
        for item in private(one).filter(|_| !is_divided(span)) {
            if is_nested(body, span) || used_outside(input, item, span, region).is_none() {
                continue;
            }
            return Err(two(item));
        }
    }
    Ok(())
}

/// Whether a loop is one of several that are divided together.
fn is_nested(body: &Body, span: Span) -> bool {
    let input = body.input;
    body.nest.values().any(|shared| shared.stmts.iter().any(|stmt| input.stmt_span(*stmt) == span))
}

fn two(item: &ListItem) -> Refused {
    refused(item.span, "a variable that an inner loop has private and that is used outside of the loop, too,")
}
