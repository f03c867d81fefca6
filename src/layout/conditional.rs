//! Lines under conditions of the preprocessor.
//!
//! Invariant: what a directive needs in another place stands there under the conditions that the directive stands under.

use crate::cuda::Change;
use crate::scan::{Conditions, Guard};
use crate::source::{SourceFile, Span};

/// The word of CUDA that has a function made for the device, too.
const ROUTINE: &str = "ACC2OMP_ROUTINE";

/// Lines for a place, under the conditions that a directive stands under and the place does not, each as `head` spells it.
/// `places` are those of the directive and of the lines.
pub fn under(
    conditions: &Conditions,
    places: [u32; 2],
    lines: &[String],
    head: impl Fn(Span) -> String,
) -> Vec<String> {
    let [start, place] = places;
    let around = conditions.between(start, place);
    let heads = around.iter().rev().flat_map(|one| one.heads(start));
    let ends = around.iter().map(|_| "#endif".to_owned());
    heads.map(|line| head(*line)).chain(lines.iter().cloned()).chain(ends).collect()
}

/// The changes for the directive at `start` where its conditions do not hold for all of them: lines elsewhere stand under
/// the same conditions. `None` if code would change that has others. In CUDA a condition that asks for OpenACC, as `guards`
/// do, always holds.
pub fn conditioned(
    file: &SourceFile,
    conditions: &Conditions,
    guards: &[Guard],
    start: u32,
    changes: &[Change],
) -> Option<Vec<Change>> {
    let asks = |head: Span| guards.iter().any(|guard| guard.is_plain && head.contains(guard.span));
    let lines_at = |place: u32, lines: &[String]| {
        under(conditions, [start, place], lines, |head| file.text(head).into_owned())
    };
    let is_parted = |span: Span| {
        let around = conditions.between(start, span.start);
        !around.iter().flat_map(|one| one.heads(start)).all(|head| asks(*head))
    };
    let one = |change: &Change| match change {
        Change::After(offset, like, lines) => {
            Some(Change::After(*offset, *like, lines_at(offset.saturating_sub(1), lines)))
        }
        Change::Before(offset, lines) => Some(Change::Before(*offset, lines_at(*offset, lines))),
        // Such a function does on the host what it did.
        Change::Text(span, text) if span.is_empty() && text.trim().starts_with(ROUTINE) => {
            Some(change.clone())
        }
        Change::Braced(span, _) | Change::Text(span, _) | Change::Lines(span, _) if is_parted(*span) => None,
        other => Some(other.clone()),
    };
    changes.iter().map(one).collect()
}
