//! What a directive becomes in CUDA, as edits of the host file.
//!
//! Invariant: calls stand where the directive stood, indented like the code around it.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};

use crate::cuda::Change;
use crate::edit::Edit;
use crate::source::{SourceFile, Span};

use super::c;
use super::lines::line_end;

/// A file, and which of its lines are code: neither blank, of the preprocessor, nor a comment.
pub struct CodeLines<'a> {
    file: &'a SourceFile,
    /// The lines of code, in order.
    code: Vec<usize>,
    /// How statements between two of these are indented, by the number of the latter.
    known: RefCell<HashMap<usize, String>>,
}

/// The edits for one change; `None` if the source leaves no room for it.
pub fn edits_of_change(lines: &CodeLines, change: &Change) -> Option<Vec<Edit>> {
    let (file, code) = (lines.file, lines);
    Some(match change {
        Change::Lines(span, lines) if has_own_lines(file, *span) => {
            vec![statements(code, *span, lines)]
        }
        Change::Lines(span, lines) => {
            // A comment and a line of the preprocessor end with their line.
            let is_whole = |line: &String| line.contains("//") || line.trim_start().starts_with('#');
            let end = line_end(file, span.start);
            let text = match lines.iter().any(is_whole) {
                true => format!("{end}{}{end}", lines.join(end)),
                false => lines.join(" "),
            };
            vec![Edit { span: *span, text: text.into_bytes() }]
        }
        // A directive that is implied has no line.
        Change::Gone(span) if span.is_empty() => Vec::new(),
        Change::Gone(span) => vec![super::removed(file, *span)],
        Change::After(offset, like, lines) => vec![super::lines_after(file, *offset, *like, lines)?],
        Change::Before(offset, lines) => vec![before(file, *offset, lines)?],
        Change::Braced(span, lines) => super::braced(file, *span, lines).to_vec(),
        Change::Text(span, text) => vec![Edit { span: *span, text: text.clone().into_bytes() }],
    })
}

/// Whether nothing but a comment after it stands on the lines of `span`, so that others can stand there instead.
fn has_own_lines(file: &SourceFile, span: Span) -> bool {
    super::stands_alone(file, span) || !file.language.is_fortran() && c::stands_before_comment(file, span)
}

/// Lines before the code at `offset`; words before it, where other code stands before it on its line. `None` if a line of
/// the preprocessor would have to be words.
fn before(file: &SourceFile, offset: u32, lines: &[String]) -> Option<Edit> {
    let edits: Option<Vec<Edit>> = lines.iter().map(|line| super::inserted(file, offset, line)).collect();
    let mut edits = edits.unwrap_or_default().into_iter();
    match edits.next() {
        Some(mut first) => {
            edits.for_each(|edit| first.text.extend(edit.text));
            Some(first)
        }
        None if lines.iter().any(|line| line.starts_with('#')) => None,
        None => {
            let text: String = lines.iter().map(|line| format!("{line} ")).collect();
            Some(Edit { span: Span { start: offset, end: offset }, text: text.into_bytes() })
        }
    }
}

/// Has changes that put lines at one place put them there together: those of an inner construct come first.
/// `all` has the changes of each directive that is translated, and its edits.
pub fn stack(lines: &CodeLines, all: &mut [(&[Change], Vec<Edit>)], said: impl Fn(Edit) -> Edit) {
    let mut places: BTreeMap<(u8, u32), Vec<(usize, &Change)>> = BTreeMap::new();
    for (index, (changes, _)) in all.iter().enumerate() {
        for change in *changes {
            let place = match change {
                Change::After(offset, ..) => (0, *offset),
                Change::Before(offset, _) => (1, *offset),
                Change::Braced(span, _) => (2, span.start),
                _ => continue,
            };
            places.entry(place).or_default().push((index, change));
        }
    }
    let edits = |change: &Change| -> Vec<Edit> {
        edits_of_change(lines, change).unwrap_or_default().into_iter().map(&said).collect()
    };
    for group in places.into_values().filter(|group| group.len() > 1) {
        for (index, change) in &group {
            let own = edits(change);
            all[*index].1.retain(|edit| !own.contains(edit));
        }
        let (first, outer) = group[0];
        let lines = group.iter().rev().flat_map(|(_, change)| lines_of(change).iter().cloned()).collect();
        let together = match outer {
            Change::After(offset, like, _) => Change::After(*offset, *like, lines),
            Change::Before(offset, _) => Change::Before(*offset, lines),
            Change::Braced(span, _) => Change::Braced(*span, lines),
            other => other.clone(),
        };
        all[first].1.extend(edits(&together));
    }
}

fn lines_of(change: &Change) -> &[String] {
    match change {
        Change::After(_, _, lines)
        | Change::Before(_, lines)
        | Change::Braced(_, lines)
        | Change::Lines(_, lines) => lines,
        Change::Gone(_) | Change::Text(..) => &[],
    }
}

/// Where the header of the launchers is included: before the first line of the preprocessor, or of code.
pub fn first_include(file: &SourceFile, code: u32) -> u32 {
    let code = file.lines.span(file.lines.line(code)).start;
    let before =
        (0..file.lines.count()).map(|line| file.lines.span(line)).take_while(|span| span.start < code);
    let is_preprocessor =
        |span: &Span| file.text(*span).trim_start().starts_with('#') && !in_comment(file, span.start);
    before.into_iter().find(is_preprocessor).map_or(code, |span| span.start)
}

/// Whether a block comment that begins before `offset` is still open there.
fn in_comment(file: &SourceFile, offset: u32) -> bool {
    let text = file.text(Span { start: 0, end: offset });
    text.rfind("/*").is_some_and(|open| text.rfind("*/").is_none_or(|close| close < open))
}

/// Statements in place of a directive, and perhaps of what it governs: indented like the code, as a directive may stand
/// at the margin.
fn statements(code: &CodeLines, span: Span, lines: &[String]) -> Edit {
    let file = code.file;
    let first = file.lines.line(span.start);
    let line = file.lines.span(first);
    let ends = if file.text(line).ends_with("\r\n") { "\r\n" } else { "\n" };
    let own = indentation(&file.text(line)).to_owned();
    let indent = if own.is_empty() { code.indentation(first) } else { own };
    let text: Vec<String> =
        lines.iter().map(|line| format!("{indent}{line}").trim_end().to_owned()).collect();
    Edit { span: Span { start: line.start, end: span.end }, text: text.join(ends).into_bytes() }
}

fn indentation(text: &str) -> &str {
    &text[..text.len() - text.trim_start_matches([' ', '\t']).len()]
}

impl<'a> CodeLines<'a> {
    /// Those of a file.
    pub fn of(file: &'a SourceFile) -> CodeLines<'a> {
        let is_code = |line: &usize| {
            let text = file.text(file.lines.span(*line));
            let text = text.trim();
            !text.is_empty()
                && !text.starts_with('#')
                && !text.ends_with('\\')
                && !text.starts_with("//")
                && !text.starts_with("/*")
        };
        let code = (0..file.lines.count()).filter(is_code).collect();
        CodeLines { file, code, known: RefCell::default() }
    }

    fn line(&self, line: usize) -> Cow<'a, str> {
        self.file.text(self.file.lines.span(line))
    }

    /// How the code after line `first` is indented; at the end of a block, how the code before it is.
    fn indentation(&self, first: usize) -> String {
        // A directive's own continuation lines are not code.
        let mut after = first;
        while self.line(after).trim_end().ends_with('\\') {
            after += 1;
        }
        let before = self.code.partition_point(|line| *line < first);
        let next = self.code.partition_point(|line| *line <= after);
        // Not between two lines of code: the line of the directive is code itself.
        if before != next {
            return self.between(before, next);
        }
        self.known.borrow_mut().entry(next).or_insert_with(|| self.between(before, next)).clone()
    }

    /// How statements are indented that come after so many lines of code, and before that of this number.
    fn between(&self, before: usize, next: usize) -> String {
        let next = self.code.get(next).map(|line| self.line(*line)).unwrap_or_default();
        if next.trim_start().starts_with('}') {
            // The statements of the block, back to the line that opens it; what they govern stands further in.
            let outer = indentation(&next).len();
            let mut before = self.code[..before].iter().rev().map(|line| self.line(*line)).peekable();
            if before.peek().is_some_and(|text| !text.trim_end().ends_with('{')) {
                let inside = before.take_while(|text| indentation(text).len() > outer);
                if let Some(least) = inside.min_by_key(|text| indentation(text).len()) {
                    return indentation(&least).to_owned();
                }
            }
            return format!("{}    ", indentation(&next));
        }
        indentation(&next).to_owned()
    }
}
