//! Arrays in blocks around compute constructs, which take the place of sections of pointers in `private` and `firstprivate`.
//!
//! Invariant: the block holds the construct with all that stands around it, and nothing else.

use crate::plan::OwnSection;

use super::array::loop_variable;
use super::lowered::{Lowered, SourceChange};
use super::shadow;
use super::texts::parenthesised;

/// Puts the blocks around the constructs that are translated.
pub fn set(sections: &[OwnSection], done: &mut [Lowered]) {
    for of_one in sections.chunk_by(|one, two| one.directive == two.directive) {
        let Some(first) = of_one.first() else { continue };
        let lowered = &mut done[first.directive];
        if lowered.left {
            continue;
        }
        let lines = std::iter::once("{".to_owned()).chain(of_one.iter().flat_map(declared)).collect();
        lowered.open(lines);
        lowered.parts.push(SourceChange::Closed(first.stmt, vec!["}".to_owned()]));
    }
}

/// The lines that declare an array and give it its values.
fn declared(one: &OwnSection) -> Vec<String> {
    let OwnSection { name, element, first, length, .. } = one;
    let end = match first {
        Some(first) => match (first.parse::<u64>(), length.parse::<u64>()) {
            (Ok(first), Ok(length)) => (first + length).to_string(),
            _ => format!("{} + {}", parenthesised(first), parenthesised(length)),
        },
        None => length.clone(),
    };
    let array = format!("{element} {name}[{end}];");
    if !one.is_copied {
        return vec![array];
    }
    let (pointer, from) = (shadow::pointer(name), first.as_deref().unwrap_or("0"));
    let at = loop_variable(0);
    vec![
        format!("{element} *{pointer} = {name};"),
        array,
        format!("for (long {at} = {from}; {at} < {}; {at}++)", parenthesised(&end)),
        format!("    {name}[{at}] = {pointer}[{at}];"),
    ]
}
