//! Variables that an inner loop makes private, and that the region uses outside of the loop as well: two variables of one name.
//!
//! Invariant: what a loop does with its private variable changes no other one.

use crate::acc::ast::ListItem;
use crate::cuda::program::privates::{loops, private, used_outside};
use crate::cuda::program::{Input, Refused, refused};
use crate::cuda::schedule::nest::Shared;
use crate::cuda::types::spelling;
use crate::source::Span;

use super::body::Body;

/// The declarations that the body of a divided loop begins with.
pub fn declarations(body: &Body, shared: &Shared) -> Result<Vec<String>, Refused> {
    let input = body.input;
    let mut lines = Vec::new();
    for item in &shared.division.private {
        let Some(symbol) = used_outside(input, item, shared.span(input), body.region) else { continue };
        let declared = input.declaration(symbol).filter(|_| !body.common.contains(&symbol));
        let text = declared
            .and_then(|(seen, decl)| Some(format!("{}{};", spelling::value(input, seen, decl)?, decl.name)));
        lines.push(text.ok_or_else(|| two(item))?);
    }
    Ok(lines)
}

/// That no loop of a `kernels` construct, whose parts are launched apart, has such a variable.
pub fn none_outside(input: &Input, region: Span) -> Result<(), Refused> {
    none(input, region, &|_| false)
}

/// That no loop that is not divided has such a variable.
pub fn of_sequential(body: &Body, region: Span) -> Result<(), Refused> {
    let input = body.input;
    let stmts = body.nest.values().flat_map(|shared| &shared.division.stmts);
    let divided: Vec<Span> = stmts.map(|stmt| input.stmt_span(*stmt)).collect();
    none(input, region, &|span| divided.contains(&span))
}

fn none(input: &Input, region: Span, is_kept_apart: &dyn Fn(Span) -> bool) -> Result<(), Refused> {
    for one in loops(input, region) {
        let span = one.stmt().map(|stmt| input.stmt_span(stmt));
        let Some(span) = span.filter(|span| !is_kept_apart(*span)) else { continue };
        if let Some(item) = private(one).find(|item| used_outside(input, item, span, region).is_some()) {
            return Err(two(item));
        }
    }
    Ok(())
}

fn two(item: &ListItem) -> Refused {
    refused(item.span, "a variable that an inner loop has private and that is used outside of the loop, too,")
}
