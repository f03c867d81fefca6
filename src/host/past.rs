//! A text that was parsed, for the next one that is nearly the same: another view of the file, or its translation.
//!
//! Invariant: gives only trees without errors; where there are some, what is read from the beginning counts.

use std::ops;

use tree_sitter::{InputEdit, Parser, Point, Range, Tree};

use crate::source::Span;

/// Differences with fewer equal bytes between them are one.
const NEAR: usize = 32;

/// One of so many bytes of a text must be blank in one run, for the grammar to pass over it: a lexer looks at what is between such
/// runs piece by piece, for each token.
const MOST_RUNS: usize = 64;

/// A text and its tree.
#[derive(Clone, Debug)]
pub struct Past {
    text: Vec<u8>,
    tree: Tree,
    /// What the grammar passed over, which is blank.
    gone: Vec<Span>,
}

/// Bytes of a text in whose place so many others stand now.
#[derive(Clone, Copy, Debug)]
pub struct Replaced {
    /// What was there.
    pub old: Span,
    /// The length of what is there.
    pub length: usize,
}

/// A difference, in the old text and in the new one.
#[derive(Debug, PartialEq, Eq)]
struct Change {
    old: ops::Range<usize>,
    new: ops::Range<usize>,
}

impl Past {
    /// Keeps a tree without errors, which was read without what is `gone`.
    pub(super) fn new(text: &[u8], tree: &Tree, gone: &[Span]) -> Option<Past> {
        let is_whole = !tree.root_node().has_error();
        is_whole.then(|| Past { text: text.to_vec(), tree: tree.clone(), gone: gone.to_vec() })
    }

    /// The tree of `text`, which has other bytes instead of those `replaced`, and may differ elsewhere in single bytes.
    /// `None` if it has errors, or if too much has changed.
    pub(super) fn again(&self, text: &[u8], replaced: &[Replaced]) -> Option<Tree> {
        let changes = changes(&self.text, text, replaced)?;
        let changed: usize = changes.iter().map(|change| change.old.len().max(change.new.len())).sum();
        if changed > text.len() / 2 {
            return None;
        }
        let mut tree = self.tree.clone();
        // From the last to the first: what is before a change stands where it stood.
        for edit in edits(&self.text, text, &changes).iter().rev() {
            tree.edit(edit);
        }
        let mut parser = Parser::new();
        parser.set_language(&self.tree.language()).ok()?;
        if !self.gone.is_empty() {
            parser.set_included_ranges(&around(text, &moved(&self.gone, text, replaced)?)).ok()?;
        }
        let tree = super::read(&mut parser, text, Some(&tree))?;
        (!tree.root_node().has_error()).then_some(tree)
    }
}

/// The runs of blanks that some functions of a text have become, which come by place; those that are long enough to be passed over.
pub(super) fn runs(text: &[u8], functions: &[Span]) -> Vec<Span> {
    let mut runs: Vec<Span> = Vec::new();
    for function in functions {
        match runs.last_mut() {
            Some(last) if is_blank(text, Span { start: last.end, end: function.start }) => {
                last.end = function.end
            }
            _ => runs.push(*function),
        }
    }
    runs.retain(|run| run.len() >= text.len() / MOST_RUNS && is_blank(text, *run));
    runs
}

fn is_blank(text: &[u8], span: Span) -> bool {
    text.get(span.range()).is_some_and(|bytes| bytes.trim_ascii().is_empty())
}

/// Where runs of blanks, which come by place, are once other bytes stand in a text; none if they are not there any more.
fn moved(runs: &[Span], text: &[u8], replaced: &[Replaced]) -> Option<Vec<Span>> {
    let mut replaced = replaced.iter().peekable();
    let mut by = 0_i64;
    let place = |at: u32, by: i64| usize::try_from(i64::from(at) + by).ok();
    let mut found = Vec::with_capacity(runs.len());
    for run in runs {
        while let Some(one) = replaced.next_if(|one| one.old.end <= run.start) {
            by += one.length as i64 - one.old.len() as i64;
        }
        if replaced.peek().is_some_and(|one| one.old.start < run.end) {
            return None;
        }
        let run = Span::new(place(run.start, by)?, place(run.end, by)?);
        is_blank(text, run).then_some(())?;
        found.push(run);
    }
    Some(found)
}

/// Where two texts differ, by place; `None` if they do not fit together.
fn changes(old: &[u8], new: &[u8], replaced: &[Replaced]) -> Option<Vec<Change>> {
    let mut changes: Vec<Change> = Vec::new();
    let mut add = |change: Change| match changes.last_mut() {
        Some(last) if change.old.start - last.old.end < NEAR => {
            last.old.end = change.old.end;
            last.new.end = change.new.end;
        }
        _ => changes.push(change),
    };
    let (mut at, mut now) = (0, 0);
    let end = Replaced { old: Span::at(old.len()), length: 0 };
    for Replaced { old: gone, length } in replaced.iter().chain([&end]) {
        let gone = gone.range();
        let same = gone.start.checked_sub(at)?;
        let pair = (old.get(at..gone.start)?, new.get(now..now + same)?);
        for (ahead, _) in pair.0.iter().zip(pair.1).enumerate().filter(|(_, (old, new))| old != new) {
            let (at, now) = (at + ahead, now + ahead);
            add(Change { old: at..at + 1, new: now..now + 1 });
        }
        now += same;
        if !gone.is_empty() || *length > 0 {
            add(Change { old: gone.clone(), new: now..now + length });
        }
        (at, now) = (gone.end, now + length);
    }
    (now == new.len()).then_some(changes)
}

/// The changes as the grammar wants them: each for itself, in the old text.
fn edits(old: &[u8], new: &[u8], changes: &[Change]) -> Vec<InputEdit> {
    let mut here = Point::new(0, 0);
    let mut at = 0;
    let mut edits = Vec::with_capacity(changes.len());
    for change in changes {
        let start_position = after(here, old.get(at..change.old.start).unwrap_or_default());
        here = after(start_position, old.get(change.old.clone()).unwrap_or_default());
        at = change.old.end;
        edits.push(InputEdit {
            start_byte: change.old.start,
            old_end_byte: change.old.end,
            new_end_byte: change.old.start + change.new.len(),
            start_position,
            old_end_position: here,
            new_end_position: after(start_position, new.get(change.new.clone()).unwrap_or_default()),
        });
    }
    edits
}

/// What of a text is not `gone`, which comes by place; nor are blanks between what is gone. A lexer looks at these ranges one
/// after the other for each token.
pub(super) fn around(text: &[u8], gone: &[Span]) -> Vec<Range> {
    let mut here = Point::new(0, 0);
    let mut at = 0;
    let mut ranges = Vec::new();
    for span in gone.iter().copied().chain([Span::at(text.len())]) {
        let kept = text.get(at..span.start as usize).unwrap_or_default();
        let end_point = after(here, kept);
        if span.start as usize == text.len() || !kept.trim_ascii().is_empty() {
            ranges.push(Range {
                start_byte: at,
                end_byte: span.start as usize,
                start_point: here,
                end_point,
            });
        }
        here = after(end_point, text.get(span.range()).unwrap_or_default());
        at = span.end as usize;
    }
    ranges
}

/// The place after a text that begins at `start`.
fn after(start: Point, text: &[u8]) -> Point {
    match memchr::memrchr(b'\n', text) {
        None => Point::new(start.row, start.column + text.len()),
        Some(last) => {
            let rows = memchr::memchr_iter(b'\n', text).count();
            Point::new(start.row + rows, text.len() - last - 1)
        }
    }
}

#[cfg(test)]
mod tests;
