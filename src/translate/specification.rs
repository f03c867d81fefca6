//! Lines of OpenMP for the specification parts of Fortran, gathered until the end of a file.
//!
//! Invariant: a line stands once in a specification part, `use` statements first.

use std::collections::BTreeMap;

use crate::diag::{self, Diag};
use crate::edit::{Edit, EditSet, Rewrite};
use crate::host::ir::{Scope, Unit};
use crate::layout;
use crate::omp::{self, SourceChange};
use crate::source::{SourceFile, Span};

/// The lines, by the offset after which they may stand.
#[derive(Debug, Default)]
pub struct Specifications {
    lines: BTreeMap<u32, Vec<WantedLine>>,
}

/// A line, and where the directives and calls begin that ask for it.
#[derive(Debug)]
struct WantedLine {
    line: String,
    by: Vec<u32>,
}

impl Specifications {
    /// Remembers what a directive at `old` asks of specification parts: its own lines, and the objects of queues.
    pub fn specify(
        &mut self,
        file: &SourceFile,
        unit: &Unit,
        (old, parts): (Span, &[SourceChange]),
        edits: &[Edit],
    ) {
        for (place, line) in layout::specified(unit, old, parts) {
            self.add(place, line, old.start);
        }
        for edit in edits.iter().filter(|_| unit.is_fortran()) {
            self.need_queues(file, unit, old.start, &edit.text);
        }
    }

    /// Remembers what the text for a call of the run-time library asks of them.
    pub fn of_call(&mut self, file: &SourceFile, unit: &Unit, at: u32, text: &str) {
        self.need_queues(file, unit, at, text.as_bytes());
        let Some(place) = layout::place_in_specification(unit, at) else { return };
        omp::declarations(text).into_iter().for_each(|line| self.add(place, line, at));
    }

    /// Declares the objects of queues in the scoping unit that holds `offset`, if a text there names them.
    fn need_queues(&mut self, file: &SourceFile, unit: &Unit, offset: u32, text: &[u8]) {
        let is_named = text.windows(13).any(|word| word == b"acc2omp_queue");
        let Some(scope) = layout::innermost(unit, offset).filter(|_| is_named) else { return };
        let is_used = scope.uses.iter().any(|used| matches!(used.module.as_str(), "openacc" | "omp_lib"));
        self.add(after_head(file, scope), omp::queue_module(is_used), offset);
        for line in omp::queue_objects() {
            self.add(scope.directives_from, line, offset);
        }
    }

    /// Takes over what a part of the file asks for.
    pub fn join(&mut self, part: Specifications) {
        for (place, lines) in part.lines {
            for WantedLine { line, by } in lines {
                by.into_iter().for_each(|by| self.add(place, line.clone(), by));
            }
        }
    }

    /// Remembers a line for the specification part at `place` that the directive at `by` asks for.
    pub fn add(&mut self, place: u32, line: String, by: u32) {
        let known = self.lines.entry(place).or_default();
        match known.iter_mut().find(|asked| asked.line == line) {
            Some(asked) => asked.by.push(by),
            None => known.push(WantedLine { line, by: vec![by] }),
        }
    }

    /// Puts the lines into the specification parts, before the first code that stands there: `use` statements come first.
    /// What only directives ask for that are left untranslated is not needed.
    pub fn finish(
        &mut self,
        file: &SourceFile,
        is_left: &dyn Fn(u32) -> bool,
        edits: &mut EditSet,
        diags: &mut Vec<Diag>,
    ) {
        let mut places: BTreeMap<u32, Vec<String>> = BTreeMap::new();
        for (place, lines) in std::mem::take(&mut self.lines) {
            let lines = lines.into_iter().filter(|asked| !asked.by.iter().all(|by| is_left(*by)));
            let lines: Vec<String> = lines.map(|asked| asked.line).collect();
            if lines.is_empty() {
                continue;
            }
            let after = file.bytes.get(place as usize..).unwrap_or_default();
            let blanks = after.iter().take_while(|byte| byte.is_ascii_whitespace()).count() as u32;
            places.entry(place + blanks).or_default().extend(lines);
        }
        for (place, mut lines) in places {
            lines.sort_by_key(|line| !line.trim_start_matches("!$ ").starts_with("use "));
            let inserted = lines.iter().filter_map(|line| layout::inserted(file, place, line));
            let inserted = layout::joined(inserted.collect());
            if edits.add(Rewrite { owner: u32::MAX - 1, edits: inserted }).is_err() {
                diags.push(diag::edit_conflict(Span { start: place, end: place }));
            }
        }
    }
}

/// Where `use` statements of a scoping unit may stand from on: the line after its first statement, or, in a main program without
/// one, its first line.
pub fn after_head(file: &SourceFile, scope: &Scope) -> u32 {
    let head = scope.specification.start;
    if head == scope.span.start {
        return file.lines.span(file.lines.line(head)).start;
    }
    let rest = file.bytes.get(head as usize..).unwrap_or_default();
    let length = memchr::memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
    head + length as u32
}
