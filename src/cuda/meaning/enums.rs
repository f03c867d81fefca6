//! Enumerations: to C, their constants are `int` and their variables are integers that take any number.
//!
//! Invariant: variables have the integer type that C's compilers give the enumeration; definitions only declare constants.

use std::collections::BTreeMap;

use crate::cuda::code::text::Edits;
use crate::cuda::program::{Input, Refused, Seen, refused};
use crate::cuda::types::enums::{constants, integer, values};
use crate::host::forms::inside;
use crate::host::ir::ExprKind;
use crate::source::Span;

/// Writes the integer type in place of each enumeration in some code. What is defined there is defined in front.
pub fn in_code(input: &Input, seen: &Seen, span: Span, edits: &mut Edits) -> Result<(), Refused> {
    let forms = &seen.unit.forms;
    for one in inside(&forms.enums, span) {
        let word = integer(input, seen, one)
            .ok_or_else(|| refused(one.span, "an enumeration whose constants are not known"))?;
        if one.is_definition {
            let stmts = seen.unit.stmts_in(span).filter(|stmt| stmt.span.contains(one.span));
            let around = stmts.map(|stmt| stmt.span).min_by_key(|span| span.len());
            let text = constants(seen, one);
            // Its constants are all that the declaration declares.
            let is_alone = around.is_some_and(|around| {
                around == one.span
                    || around.start == one.span.start
                        && seen.file.text(Span { start: one.span.end, end: around.end }).trim() == ";"
            });
            if is_alone {
                edits.replace(one.span, text);
                continue;
            }
            let Some(around) = around else { continue };
            edits.insert(around.start, format!("{text};\n"));
        }
        edits.replace(one.span, word);
    }
    Ok(())
}

/// That code names no constant of an enumeration of which one does not fit into an `int`: the types of the others differ.
pub fn none_large(input: &Input, span: Span) -> Result<(), Refused> {
    let files: Vec<Seen> = input.files().collect();
    let mut large: BTreeMap<(usize, Span), bool> = BTreeMap::new();
    for expr in input.unit().exprs_in(span) {
        let ExprKind::Name(name) = &expr.kind else { continue };
        for (at, seen) in files.iter().enumerate() {
            let Some(one) = seen.unit.enumerators_named(name).next() else { continue };
            let is_large = large.entry((at, one.span)).or_insert_with(|| {
                let values = values(input, seen.unit, one.span);
                values.is_some_and(|values| values.values().any(|value| *value > i128::from(i32::MAX)))
            });
            if *is_large {
                return Err(refused(expr.span, "a constant of an enumeration with constants beyond `int`"));
            }
        }
    }
    Ok(())
}
