//! Loops that count: statements that compute the counted variables from the loop variables are put into the source, and what
//! comes of it is translated.
//!
//! Invariant: the new statements change no value that the program has when its loops run in their order; they stay only if
//! the loop is then found parallel and distributed.

use crate::diag::{self, Diag};
use crate::edit::{self, Edit};
use crate::layout;
use crate::plan::{Closed, Put};
use crate::report::{LoopFeedback, LoopVerdict};
use crate::source::{SourceFile, Span};

use super::{Source, Translation};

/// After so many attempts the loops stay as they are.
const ATTEMPTS: usize = 8;

/// A loop that counts, and the edits of the source that let it be parallel.
struct Counting {
    closed: Closed,
    edits: Vec<Edit>,
    /// It did not become parallel.
    is_refused: bool,
    /// What stands in its way then.
    instead: Option<(LoopVerdict, Diag)>,
}

/// The translation of a source whose loops count: `plain` is what it is without the new statements.
pub fn computed(source: &Source, plain: Translation, again: impl Fn(&Source) -> Translation) -> Translation {
    let file = &source.file;
    let with_edits = |closed: &Closed| {
        let edits = edits_of(file, closed)?;
        Some(Counting { closed: closed.clone(), edits, is_refused: false, instead: None })
    };
    let mut all: Vec<Counting> = plain.closed.iter().filter_map(with_edits).collect();
    for _ in 0..ATTEMPTS {
        let chosen = chosen(&all);
        if chosen.is_empty() {
            return explained(plain, &all);
        }
        let first = merged(chosen.iter().flat_map(|at| all[*at].edits.clone()).collect());
        let mut text = file.with(edit::applied(&file.bytes, 0, &first));
        text.inserted = line_ends(&first);
        let there = source.with(text);
        let translation = again(&there);
        // What cannot be read again was withdrawn.
        if translation.edits.is_empty() {
            return plain;
        }
        let way = Way::new(&first, file.bytes.len() as u32);
        let mut is_done = true;
        for at in &chosen {
            let one = &mut all[*at];
            let start = way.there(one.closed.span.start);
            let verdict = translation.loops.iter().find(|other| other.span.start == start);
            one.is_refused = !verdict.is_some_and(is_shared_out);
            is_done &= !one.is_refused;
            if one.is_refused {
                let reported = translation.diagnostics.iter().map(|diag| way.home_of_diag(diag));
                let mut reported = reported.filter(|diag| is_about(diag, &one.closed));
                one.instead = verdict.map(|verdict| verdict.verdict.clone()).zip(reported.next());
            }
        }
        if is_done {
            let kept: Vec<&Closed> = chosen.iter().map(|at| &all[*at].closed).collect();
            return explained(way.back(translation, first, &kept), &all);
        }
    }
    plain
}

/// Whether the message says why the loop is not parallel.
fn is_about(diag: &Diag, closed: &Closed) -> bool {
    diag.code == diag::LOOP_IN_ORDER && diag.primary.span.start == closed.reported_at.start
}

/// Says of the loops that did not become parallel what stands in their way beside that they count.
fn explained(mut translation: Translation, all: &[Counting]) -> Translation {
    for one in all {
        let Some((verdict, said)) = &one.instead else { continue };
        let known = translation.loops.iter_mut().find(|other| other.span.start == one.closed.span.start);
        let is_parallel = |known: &&mut LoopFeedback| matches!(known.verdict, LoopVerdict::Parallel { .. });
        if let Some(known) = known.filter(|known| !is_parallel(known)) {
            known.verdict = verdict.clone();
            let reported = translation.diagnostics.iter_mut().filter(|diag| is_about(diag, &one.closed));
            reported.for_each(|diag| *diag = said.clone());
        }
    }
    translation
}

/// The loops to be changed: of those that stand in one another, the outermost.
fn chosen(all: &[Counting]) -> Vec<usize> {
    let open: Vec<(usize, Span)> = all
        .iter()
        .enumerate()
        .filter(|(_, one)| !one.is_refused)
        .map(|(at, one)| (at, one.closed.span))
        .collect();
    let is_inner = |(at, span): &&(usize, Span)| {
        open.iter().any(|(other, around)| other != at && around.contains(*span))
    };
    open.iter().filter(|one| !is_inner(one)).map(|(at, _)| *at).collect()
}

fn is_shared_out(one: &LoopFeedback) -> bool {
    matches!(one.verdict, LoopVerdict::Parallel { asserted: false, levels, .. } if !levels.is_empty())
}

/// The edits of the source; `None` if it leaves no room for them.
fn edits_of(file: &SourceFile, closed: &Closed) -> Option<Vec<Edit>> {
    let end = closed.last.iter().map(|last| last.after).max().unwrap_or_default();
    let code = closed.from.to(closed.span);
    if has_preprocessor_lines(file, Span { end: code.end.max(end), ..code }) {
        return None;
    }
    let mut edits = Vec::new();
    for put in &closed.bodies {
        edits.extend(put_edits(file, put)?);
    }
    for last in &closed.last {
        edits.push(layout::lines_after(file, last.after, last.like, &last.lines)?);
    }
    Some(edits)
}

/// The edits that put statements at the beginning of a body.
fn put_edits(file: &SourceFile, put: &Put) -> Option<Vec<Edit>> {
    let first = Span { start: put.first, end: put.first };
    let is_block = file.slice(put.span).starts_with(b"{");
    let is_on_line = file.lines.line(put.first) == file.lines.line(put.after.max(put.around.start));
    let lines = layout::lines_after(file, put.after, first, &put.lines);
    if file.language.is_fortran() {
        let before = put.lines.iter().map(|line| layout::inserted(file, put.first, line));
        return match lines {
            Some(edit) if !is_on_line => Some(vec![edit]),
            _ if put.has_directive => None,
            _ => before.collect(),
        };
    }
    match lines {
        Some(edit) if is_block && !is_on_line => return Some(vec![edit]),
        _ => {}
    }
    let statements = put.lines.join(" ");
    if is_block {
        // The body begins on the line of its brace.
        let clear = file.text(Span { start: put.after, end: put.first });
        return clear.trim().is_empty().then(|| vec![insertion(put.first, format!("{statements} "))]);
    }
    let head = Span { start: put.around.start, end: put.span.start };
    if file.text(head).contains('#') {
        return None;
    }
    if file.lines.line(put.around.start) == file.lines.line(put.span.end) {
        return Some(vec![
            insertion(put.span.start, format!("{{ {statements} ")),
            insertion(put.span.end, " }".to_owned()),
        ]);
    }
    let open = layout::above_code(file, put.span.start, put.around.start, "{")?;
    let lines = put.lines.iter().map(|line| layout::inserted(file, put.span.start, line));
    let close = layout::lines_after(file, put.span.end, put.around, &["}".to_owned()])?;
    [Some(open)].into_iter().chain(lines).chain([Some(close)]).collect()
}

fn insertion(at: u32, text: String) -> Edit {
    Edit { span: Span { start: at, end: at }, text: text.into_bytes() }
}

/// Insertions by place, those at one place as one, in their order: a brace, and what stands after it.
fn merged(mut edits: Vec<Edit>) -> Vec<Edit> {
    edits.sort_by_key(|edit| edit.span.start);
    let mut all: Vec<Edit> = Vec::new();
    for edit in edits {
        match all.last_mut().filter(|last| last.span == edit.span) {
            Some(last) => last.text.extend(edit.text),
            None => all.push(edit),
        }
    }
    all
}

/// Where the line ends of the insertions are in the new text.
fn line_ends(insertions: &[Edit]) -> Vec<u32> {
    let mut before = 0;
    let mut ends = Vec::new();
    for edit in insertions {
        let at = edit.span.start + before;
        ends.extend((at..).zip(&edit.text).filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at));
        before += edit.text.len() as u32;
    }
    ends
}

/// Whether the preprocessor may see something else in the bytes than is seen here.
fn has_preprocessor_lines(file: &SourceFile, span: Span) -> bool {
    let text = file.text(span);
    let is_other = |line: &str| {
        let rest = line.trim_start().strip_prefix('#').map(str::trim_start);
        rest.is_some_and(|rest| !rest.starts_with("pragma"))
    };
    text.lines().any(is_other) || text.contains("_Pragma")
}

/// The way between a text and the same text with insertions.
struct Way {
    /// What was copied: where it begins in the source, where in the new text, and its length.
    copied: Vec<(u32, u32, u32)>,
}

impl Way {
    /// `first` are insertions, by place.
    fn new(first: &[Edit], length: u32) -> Way {
        let (mut copied, mut from, mut to) = (Vec::new(), 0, 0);
        for edit in first {
            copied.push((from, to, edit.span.start - from));
            to += edit.span.start - from + edit.text.len() as u32;
            from = edit.span.start;
        }
        copied.push((from, to, length - from));
        Way { copied }
    }

    /// Where a byte of the source is in the new text.
    fn there(&self, offset: u32) -> u32 {
        let at = self.copied.partition_point(|(from, _, _)| *from <= offset).saturating_sub(1);
        self.copied.get(at).map_or(offset, |(from, to, _)| to + offset - from)
    }

    /// Where a byte of the new text comes from; one that was inserted comes from its place.
    fn home(&self, offset: u32) -> u32 {
        let at = self.copied.partition_point(|(_, to, _)| *to <= offset).saturating_sub(1);
        self.copied.get(at).map_or(offset, |(from, to, length)| from + (offset - to).min(*length))
    }

    fn home_of(&self, span: Span) -> Span {
        let start = self.home(span.start);
        let last = span.end.max(span.start + 1) - 1;
        let is_copied = self.copied.iter().any(|(_, to, length)| (*to..to + length).contains(&last));
        let end = self.home(last) + u32::from(is_copied && !span.is_empty());
        Span { start, end: end.max(start) }
    }

    fn home_of_diag(&self, diag: &Diag) -> Diag {
        let mut diag = diag.clone();
        diag.primary.span = self.home_of(diag.primary.span);
        diag.others.iter_mut().for_each(|label| label.span = self.home_of(label.span));
        diag
    }

    /// A translation of the new text, reported for the source.
    fn back(&self, translation: Translation, first: Vec<Edit>, kept: &[&Closed]) -> Translation {
        let mut translation = translation;
        for diag in &mut translation.diagnostics {
            *diag = self.home_of_diag(diag);
        }
        for report in &mut translation.directives {
            report.span = self.home_of(report.span);
        }
        for one in &mut translation.loops {
            one.span = self.home_of(one.span);
            add_computed(one, kept);
        }
        translation.edits = self.whole(&translation.edits, &translation.text);
        let words = |one: &&Closed| one.statements().collect::<Vec<_>>().join(" ");
        let said = kept.iter().map(|one| diag::induction_computed(one.reported_at, &words(one)));
        translation.diagnostics.extend(said);
        translation.inductions = first;
        translation.settle();
        translation
    }

    /// The edits of the source that make what `edits` make of the new text.
    fn whole(&self, edits: &[Edit], text: &[u8]) -> Vec<Edit> {
        // What remains of both: where it begins in the source, where in the result, and its length.
        let mut left: Vec<(u32, u32, u32)> = Vec::new();
        let (mut at, mut out) = (0, 0);
        let end = self.copied.last().map_or(0, |(_, to, length)| to + length);
        let last = Edit { span: Span { start: end, end }, text: Vec::new() };
        for edit in edits.iter().chain([&last]) {
            for (from, to, length) in &self.copied {
                let (low, high) = ((*to).max(at), (to + length).min(edit.span.start));
                if low < high {
                    left.push((from + low - to, out + low - at, high - low));
                }
            }
            out += edit.span.start - at + edit.text.len() as u32;
            at = edit.span.end;
        }
        let source = self.copied.last().map_or(0, |(from, _, length)| from + length);
        left.push((source, text.len() as u32, 0));
        let (mut found, mut from, mut to) = (Vec::new(), 0, 0);
        for (start, place, length) in left {
            if start > from || place > to {
                let text = text.get(to as usize..place as usize).unwrap_or_default().to_vec();
                found.push(Edit { span: Span { start: from, end: start }, text });
            }
            (from, to) = (start + length, place + length);
        }
        found
    }
}

/// Adds the variables of a loop that are computed.
fn add_computed(one: &mut LoopFeedback, kept: &[&Closed]) {
    let LoopVerdict::Parallel { private, computed, .. } = &mut one.verdict else { return };
    for closed in kept.iter().filter(|closed| closed.span.contains(one.span)) {
        private.retain(|name| !closed.names.contains(name));
        if closed.span.start == one.span.start {
            computed.extend(closed.statements().map(|line| line.trim_end_matches(';').to_owned()));
        }
    }
}
