//! Variables that an inner loop makes private, and that the region uses outside of the loop as well: two variables of one name.
//!
//! Invariant: what a loop does with its private variable changes no other one.

use crate::acc::ast::ListItem;
use crate::cuda::program::privates::{loops, private, used_outside};
use crate::cuda::program::{Input, Refused, Seen, refused};
use crate::cuda::schedule::nest::Shared;
use crate::cuda::schedule::owners::has_copies;
use crate::cuda::types::spelling;
use crate::host::ir::{Decl, StmtId};
use crate::sema::Class;
use crate::source::Span;

use super::body::Body;

/// The declarations that the body of a divided loop begins with.
pub fn declarations(body: &Body, shared: &Shared) -> Result<Vec<String>, Refused> {
    let (input, span) = (body.input, shared.span(body.input));
    let mut lines = Vec::new();
    for item in &shared.division.private {
        let name = &item.base.text;
        let Some(symbol) = input.symbols.lookup(name, span.start) else { continue };
        let is_array = input.symbols.get(symbol).class == Class::Array;
        let copies = if is_array { has_copies(input, body.nest, span, name) } else { Some(false) };
        let Some(has_copies) = copies else {
            return Err(refused(item.span, "an array that loops of several levels have private"));
        };
        let is_apart = used_outside(input, item, span, body.region).is_some();
        if !has_copies && !is_apart {
            continue;
        }
        let declared = input.declaration(symbol).filter(|_| !is_apart || !body.common.contains(&symbol));
        let text = declared.and_then(|(seen, decl)| declaration(input, seen, decl));
        lines.push(text.ok_or_else(|| two(item))?);
    }
    Ok(lines)
}

/// The declaration of a thread's own copy of a variable.
fn declaration(input: &Input, seen: Seen, decl: &Decl) -> Option<String> {
    if let Some(head) = spelling::value(input, seen, decl) {
        return Some(format!("{head}{};", decl.name));
    }
    let head = spelling::base(input, seen, decl)?;
    let stars = "*".repeat(spelling::stars(decl));
    Some(format!("{head} {stars}{}{};", decl.name, spelling::sizes(&seen, decl)))
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
        let is_mixed = |stmt: &StmtId| !is_kept_apart(input.stmt_span(*stmt));
        let Some(stmt) = one.stmt().filter(is_mixed) else { continue };
        let mut items = private(one);
        if let Some(item) = items.find(|item| input.code().used_beside(stmt, item, region).is_some()) {
            return Err(two(item));
        }
    }
    Ok(())
}

fn two(item: &ListItem) -> Refused {
    refused(item.span, "a variable that an inner loop has private and that is used outside of the loop, too,")
}
