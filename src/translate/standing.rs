//! Sources that are translations already, with the original beside each change: they stay as they are.
//!
//! Invariant: what stays is what the translation of its original is again, byte for byte.

use crate::diag::{Diag, Label};
use crate::edit::{self, Edit, Guards};
use crate::report::LoopFeedback;
use crate::source::{SourceFile, Span};

use super::{DirectiveReport, Source, Translation};

/// The translation of a source that `translate` has made of its original, and of which nothing is to be changed.
pub fn standing(
    source: &Source,
    guards: &Guards,
    translate: &dyn Fn(&Source) -> Translation,
) -> Option<Translation> {
    let made_of = |text: Vec<u8>| {
        let original = source.with(source.file.with(text));
        let made = translate(&original);
        (original.file, made)
    };
    let moved = |(original, made): (SourceFile, Translation)| {
        (made.text == source.file.bytes).then(|| moved(&original, made))
    };
    edit::originals(&source.file, guards).iter().find_map(|guess| {
        let first = made_of(guess.text()?);
        let others = guess.with_lines_of_user(&first.1.text);
        moved(first).or_else(|| moved(made_of(others?)))
    })
}

/// A translation as one of its own text: what it says is said of the places there.
fn moved(original: &SourceFile, made: Translation) -> Translation {
    let places = Places::new(original, &made.edits);
    let label = |label: Label| Label { span: places.of(label.span), ..label };
    let diag = |diag: Diag| Diag {
        primary: label(diag.primary),
        others: diag.others.into_iter().map(label).collect(),
        ..diag
    };
    let report = |one: DirectiveReport| DirectiveReport { span: places.of(one.span), ..one };
    let feedback = |one: LoopFeedback| LoopFeedback { span: places.of(one.span), ..one };
    let diagnostics = made.diagnostics.into_iter().map(diag).collect();
    let directives = made.directives.into_iter().map(report).collect();
    let loops = made.loops.into_iter().map(feedback).collect();
    Translation { diagnostics, directives, loops, edits: Vec::new(), inductions: Vec::new(), ..made }
}

/// Where the bytes of an original stand in its translation.
struct Places<'a> {
    original: &'a SourceFile,
    /// The edits, each with how much longer the text before it has become.
    edits: Vec<(&'a Edit, i64)>,
}

impl<'a> Places<'a> {
    fn new(original: &'a SourceFile, edits: &'a [Edit]) -> Places<'a> {
        let mut more = 0;
        let counted = |edit: &'a Edit| {
            let before = more;
            more += growth(edit);
            (edit, before)
        };
        Places { original, edits: edits.iter().map(counted).collect() }
    }

    fn of(&self, span: Span) -> Span {
        let start = self.at(span.start);
        Span { start, end: self.at(span.end).max(start) }
    }

    /// Where a byte stands: the lines of the original stand in what is made of them.
    fn at(&self, offset: u32) -> u32 {
        let next = self.edits.partition_point(|(edit, _)| edit.span.start <= offset);
        let Some((edit, before)) = next.checked_sub(1).map(|last| self.edits[last]) else { return offset };
        if edit.span.end <= offset {
            return (i64::from(offset) + before + growth(edit)) as u32;
        }
        let place = memchr::memmem::find(&edit.text, self.original.slice(edit.span)).unwrap_or(0) as i64;
        let inside = (place + i64::from(offset - edit.span.start)).min(edit.text.len() as i64);
        (i64::from(edit.span.start) + before + inside) as u32
    }
}

/// How much longer an edit makes the text.
fn growth(edit: &Edit) -> i64 {
    edit.text.len() as i64 - edit.span.len() as i64
}
