//! Enumerations: to C, their constants are `int` and their variables are integers that take any number.
//!
//! Invariant: variables have the integer type that C's compilers give the enumeration; definitions only declare constants.

use crate::cuda::code::text::Edits;
use crate::cuda::program::{Input, Refused, Seen, refused};
use crate::cuda::types::enums::{constants, integer};
use crate::host::forms::inside;
use crate::source::Span;

/// Writes the integer type in the place of each enumeration in some code. What is defined there is defined in front.
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
