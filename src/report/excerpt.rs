//! The lines that a message shows, with its marks in them.
//!
//! Invariant: what is shown of one message has a limit, however long the lines are, or however far apart its places.

use std::ops::Range;

use annotate_snippets::AnnotationKind;

use crate::diag::{Diag, Label};
use crate::source::{SourceFile, Span};

/// More bytes than this are not shown as a whole.
const WHOLE: u32 = 4096;

/// Bytes that are shown before a mark in a line that is cut.
const BEFORE: u32 = 80;

/// Bytes that are shown from the beginning of such a mark.
const AFTER: u32 = 160;

/// So many other places of a message whose lines are cut are shown.
const OTHERS: usize = 4;

/// Some lines, or a part of one.
pub(super) struct Piece<'a> {
    /// The number of the first line.
    pub line: usize,
    pub text: String,
    /// What is marked: its place in the text, and what is said of it.
    pub marks: Vec<(AnnotationKind, Range<usize>, &'a str)>,
    /// The column of the first mark in the text and in its line, if these differ.
    pub column: Option<(usize, usize)>,
}

/// What is shown for a message.
pub(super) fn pieces<'a>(file: &SourceFile, diag: &'a Diag, columns: &mut Columns) -> Vec<Piece<'a>> {
    let all = diag.others.iter().fold(diag.primary.span, |all, label| all.to(label.span));
    let from = file.lines.span(file.lines.line(all.start));
    let to = file.lines.span(file.lines.line(all.end.max(all.start + 1) - 1));
    let labels = std::iter::once((AnnotationKind::Primary, &diag.primary))
        .chain(diag.others.iter().map(|label| (AnnotationKind::Context, label)));
    if from.to(to).len() <= WHOLE as usize {
        return vec![whole(file, from.to(to), labels)];
    }
    labels.take(1 + OTHERS).map(|(kind, label)| cut(file, kind, label, columns)).collect()
}

fn whole<'a>(
    file: &SourceFile,
    lines: Span,
    labels: impl Iterator<Item = (AnnotationKind, &'a Label)>,
) -> Piece<'a> {
    let text = readable(file.slice(lines)).trim_end().to_owned();
    let place = |offset: u32| {
        let before = Span { start: lines.start, end: offset.max(lines.start) };
        let length = readable(file.slice(before)).len().min(text.len());
        (0..=length).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
    };
    let range = |span: Span| place(span.start)..place(span.end).max(place(span.start));
    let marks = labels.map(|(kind, label)| (kind, range(label.span), label.text.as_str())).collect();
    Piece { line: file.lines.line(lines.start) + 1, text, marks, column: None }
}

/// A part of the line in which a place begins.
fn cut<'a>(file: &SourceFile, kind: AnnotationKind, label: &'a Label, columns: &mut Columns) -> Piece<'a> {
    let number = file.lines.line(label.span.start);
    let line = file.lines.span(number);
    let at = label.span.start.clamp(line.start, line.end);
    // Not in the middle of a character.
    let is_middle = |offset: u32| file.bytes.get(offset as usize).is_some_and(|byte| byte & 0xc0 == 0x80);
    let near = |offset: u32| (offset..offset + 4).find(|at| !is_middle(*at)).unwrap_or(offset);
    let start = near(at.saturating_sub(BEFORE)).clamp(line.start, at);
    let end = near(at.saturating_add(AFTER)).clamp(at, line.end);
    let shown = |from: u32, to: u32| readable(file.slice(Span { start: from, end: to }));
    let lead = if start > line.start { "…" } else { "" };
    let before = format!("{lead}{}", shown(start, at));
    let marked = shown(at, label.span.end.clamp(at, end));
    let rest = shown(label.span.end.clamp(at, end), end);
    let range = before.len()..before.len() + marked.trim_end().len();
    let tail = if end < line.end { "…" } else { "" };
    let column = (before.chars().count() + 1, columns.of(file, line, at));
    let text = format!("{before}{marked}{}{tail}", rest.trim_end());
    Piece { line: number + 1, text, marks: vec![(kind, range, &label.text)], column: Some(column) }
}

/// Columns of places, each found from the one before it.
#[derive(Default)]
pub(super) struct Columns {
    line: u32,
    at: u32,
    column: usize,
}

impl Columns {
    /// The column of a place in a line, from one.
    fn of(&mut self, file: &SourceFile, line: Span, at: u32) -> usize {
        if self.column == 0 || self.line != line.start || at < self.at {
            *self = Columns { line: line.start, at: line.start, column: 1 };
        }
        let between = file.slice(Span { start: self.at, end: at });
        let chars = between
            .utf8_chunks()
            .map(|chunk| chunk.valid().chars().count() + usize::from(!chunk.invalid().is_empty()));
        self.column += chars.sum::<usize>();
        self.at = at;
        self.column
    }
}

/// Text of bytes of any encoding; control characters are shown as blanks.
fn readable(bytes: &[u8]) -> String {
    let blank = |c: char| if c.is_ascii_control() && c != '\n' && c != '\t' { ' ' } else { c };
    String::from_utf8_lossy(bytes).chars().map(blank).collect()
}
