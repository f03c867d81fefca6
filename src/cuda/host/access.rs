//! Member functions that become public, as nvcc wants them around lambda expressions of the device.
//!
//! Invariant: no other member does; its class is else as it was.

use super::lowering::Lowering;
use crate::cuda::code::change::Change;
use crate::cuda::fit::access::{Hidden, hidden};
use crate::diag;
use crate::host::ir::Function;
use crate::source::Span;

impl Lowering<'_> {
    /// Makes the member function public that holds device code; the others of its class stay what they are.
    pub fn published(&mut self, offset: u32) -> Vec<Change> {
        let input = self.input;
        let holds = |function: &&Function| {
            function.span.contains(Span { start: offset, end: offset }) && function.member_of.is_some()
        };
        let Some(function) = input.unit().functions.iter().find(holds) else { return Vec::new() };
        let Some(Hidden { access, place: Some(span) }) = hidden(input, function) else { return Vec::new() };
        if !self.published.insert(span.start) {
            return Vec::new();
        }
        self.diags.push(diag::made_public(function.name_span, &function.name));
        let file = input.file();
        let line = file.lines.span(file.lines.line(span.start));
        let last = file.lines.span(file.lines.line(span.end - 1));
        let before = Span { start: line.start, end: span.start };
        let is_first = file.text(before).trim().is_empty();
        let mut end = span.end;
        while file.slice(Span { start: end, end: last.end }).first().is_some_and(|byte| b" ;".contains(byte))
        {
            end += 1;
        }
        let after = file.text(Span { start: end, end: last.end }).into_owned();
        let (open, opening) = match is_first {
            true => (line.start, "public:\n".to_owned()),
            false => (span.start, "public: ".to_owned()),
        };
        let mut changes = vec![Change::Text(Span { start: open, end: open }, opening)];
        let rest = file.text(Span { start: end, end: file.bytes.len() as u32 }).into_owned();
        let next = rest.trim_start();
        let says =
            |word: &&str| next.strip_prefix(*word).is_some_and(|rest| rest.trim_start().starts_with(':'));
        let is_stated = next.starts_with('}') || ["public", "private", "protected"].iter().any(says);
        if !is_stated {
            let is_last = after.trim().is_empty();
            let closing = if is_last { format!("\n{access}:") } else { format!(" {access}:") };
            changes.push(Change::Text(Span { start: end, end }, closing));
        }
        changes
    }
}
