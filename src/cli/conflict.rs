//! A conflict between what somebody edited and what the translation changed: whether the edited file says by now what is to stand
//! there.
//!
//! Invariant: a conflict ends only if each of its places was edited since. What the translation changed elsewhere is put in then.

use std::collections::HashSet;

use diffy::{ConflictStyle, DiffOptions, Line, MergeOptions};

/// The texts that a conflict is between.
#[derive(Clone, Copy, Debug)]
pub struct Conflict<'a> {
    /// What acc2omp had written.
    pub base: &'a [u8],
    /// What somebody had made of it.
    pub edited: &'a [u8],
    /// The translation that changed the same lines.
    pub wanted: &'a [u8],
}

/// Whose lines count where both sides changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Ours,
    Theirs,
}

impl Conflict<'_> {
    /// The edited file as it is `now` with all that the translation changes in other places, if each place of the conflict was
    /// edited again.
    pub fn resolved(&self, now: &[u8]) -> Option<Vec<u8>> {
        let [kept, taken] =
            [Side::Ours, Side::Theirs].map(|side| merged(self.base, self.edited, self.wanted, side));
        // In a place that nobody edited again, the two sides of the conflict are still two.
        let again = self.edited_again(now);
        let is_open =
            merged(self.edited, &again, &kept, Side::Ours) != merged(self.edited, &again, &taken, Side::Ours);
        (!is_open).then(|| merged(self.edited, now, &kept, Side::Ours))
    }

    /// The edited file with those edits since that may answer the translation: lines that only were added do so if the
    /// translation brought one of them.
    fn edited_again(&self, now: &[u8]) -> Vec<u8> {
        let lines = |text: &[u8]| text.split_inclusive(|byte| *byte == b'\n').count();
        let before: HashSet<&[u8]> = self.base.split_inclusive(|byte| *byte == b'\n').collect();
        let wanted = self.wanted.split_inclusive(|byte| *byte == b'\n');
        let brought: HashSet<&[u8]> = wanted.filter(|line| !before.contains(line)).collect();
        let mut options = DiffOptions::new();
        options.set_context_len(lines(self.edited).max(lines(now)));
        let patch = options.create_patch_bytes(self.edited, now);
        let all: Vec<Line<[u8]>> = patch.hunks().iter().flat_map(|hunk| hunk.lines()).copied().collect();
        let mut text = Vec::new();
        for run in all.chunk_by(|a, b| matches!(a, Line::Context(_)) == matches!(b, Line::Context(_))) {
            let answers = run.iter().any(|line| match line {
                Line::Context(_) | Line::Delete(_) => true,
                Line::Insert(line) => brought.contains(line),
            });
            let stay = run.iter().filter_map(|line| match line {
                Line::Context(line) => Some(*line),
                Line::Insert(line) => answers.then_some(*line),
                Line::Delete(_) => None,
            });
            stay.for_each(|line| text.extend_from_slice(line));
        }
        if all.is_empty() { self.edited.to_vec() } else { text }
    }
}

/// What comes of two changes of a text, with the lines of one side where both changed it.
fn merged(base: &[u8], ours: &[u8], theirs: &[u8], side: Side) -> Vec<u8> {
    let longest = |text: &[u8]| text.split(|byte| *byte == b'\n').map(<[u8]>::len).max().unwrap_or(0);
    // No line of the texts is as long as a mark.
    let mark = 1 + [base, ours, theirs].into_iter().map(longest).max().unwrap_or(0);
    let mut options = MergeOptions::new();
    options.set_conflict_style(ConflictStyle::Merge).set_conflict_marker_length(mark);
    options.set_incomplete_hunk_style(diffy::IncompleteHunkStyle::Git);
    let marked = match options.merge_bytes(base, ours, theirs) {
        Ok(merged) => return merged,
        Err(marked) => marked,
    };
    let mut within = None;
    let mut text = Vec::with_capacity(marked.len());
    for line in marked.split_inclusive(|byte| *byte == b'\n') {
        match line.first().filter(|_| line.len() > mark) {
            Some(b'<') if within.is_none() => within = Some(Side::Ours),
            Some(b'=') if within.is_some() => within = Some(Side::Theirs),
            Some(b'>') if within.is_some() => within = None,
            _ if within.is_none_or(|within| within == side) => text.extend_from_slice(line),
            _ => {}
        }
    }
    text
}

#[cfg(test)]
mod tests;
