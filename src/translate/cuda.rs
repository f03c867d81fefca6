//! A file on its way to CUDA: view by view, as for OpenMP, and the device code beside it.
//!
//! Invariant: a directive is translated in the first view that reaches it, and reported once.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::acc::ast::DirectiveKind;
use crate::cuda::{self, Change, Device, Seen};
use crate::diag::{self, Diag};
use crate::edit::{Edit, EditSet, Rewrite};
use crate::host::ir::Unit;
use crate::scan::{self, Choice, Macros, Scan, View};
use crate::source::{SourceFile, Span};
use crate::{acc, bind, host, layout};

use super::loops::Found;
use super::read::{fresh, parse};
use super::reading::Reading;
use super::{Beside, DirectiveReport, Options, Outcome, Source, Translation};

/// The run-time library that the output calls: its header and its source, by name.
pub const RUNTIME: [(&str, &str); 2] = [
    ("acc2omp_cuda.h", include_str!("../cuda/runtime/acc2omp_cuda.h")),
    ("acc2omp_cuda.cu", include_str!("../cuda/runtime/acc2omp_cuda.cu")),
];

/// Translates one source.
pub fn translate(source: &Source, options: &Options) -> Translation {
    let mut work = Work {
        source,
        options,
        edits: EditSet::default(),
        diags: Vec::new(),
        reports: BTreeMap::new(),
        known: BTreeMap::new(),
        device: Device::default(),
        past: None,
        first_code: 0,
        found: Found::default(),
        left: Vec::new(),
        macros: BTreeSet::new(),
        readings: Rc::default(),
    };
    work.view(&View::default(), true);
    while let Some(offset) = work.next_unreached() {
        work.view(&View::reaching(offset), false);
    }
    work.finish()
}

/// Translates a source whose macros lead to directives: each use is written out where it stands, as device code cannot be
/// made of a macro.
pub fn written_out(source: &Source, macros: &Macros, options: &Options) -> Translation {
    let choice = Choice { for_good: true, ..Choice::default() };
    let written = scan::written_out(&source.file, macros, &choice);
    if written.uses.is_empty() {
        let mut translation = translate(source, options);
        translation.name_clauses_in_macros(&source.file, macros);
        return translation;
    }
    let file = SourceFile::new(source.file.name.clone(), written.text.clone(), source.file.language);
    let there = Source { file, headers: source.headers.clone() };
    let mut translation = translate(&there, options);
    let home = |span: Span| {
        let piece =
            written.pieces.iter().find(|piece| piece.at.start <= span.start && span.start < piece.at.end);
        match piece.and_then(|piece| piece.from.map(|from| (piece, from))) {
            Some((piece, from)) => {
                let start = (from.start + span.start - piece.at.start).min(from.end);
                Span { start, end: (start + (span.end - span.start)).min(from.end.max(start)) }
            }
            None => Span { start: 0, end: 0 },
        }
    };
    for diag in &mut translation.diagnostics {
        diag.primary.span = home(diag.primary.span);
        diag.others.iter_mut().for_each(|label| label.span = home(label.span));
    }
    for one in &mut translation.loops {
        one.span = home(one.span);
    }
    for report in &mut translation.directives {
        report.span = home(report.span);
    }
    for one in macros.others(&written).into_iter().map(|of| macros.get(of)) {
        for span in &one.directives {
            translation.diagnostics.push(diag::definition_without_use(*span, &one.name));
        }
    }
    translation.name_clauses_in_macros(&source.file, macros);
    translation.directives.sort_by_key(|report| report.span);
    translation.edits = vec![whole_change(&source.file.bytes, &translation.text)];
    translation.settle();
    translation
}

/// The one edit that makes `new` of `old`.
pub(super) fn whole_change(old: &[u8], new: &[u8]) -> Edit {
    let same = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let rest = (&old[same..], &new[same..]);
    let behind = rest.0.iter().rev().zip(rest.1.iter().rev()).take_while(|(a, b)| a == b).count();
    let span = Span { start: same as u32, end: (old.len() - behind) as u32 };
    Edit { span, text: new[same..new.len() - behind].to_vec() }
}

struct Work<'a> {
    source: &'a Source,
    options: &'a Options,
    edits: EditSet,
    diags: Vec<Diag>,
    reports: BTreeMap<u32, DirectiveReport>,
    /// All directives of the file: their bytes, and whether a view has tried to reach them.
    known: BTreeMap<u32, (Span, bool)>,
    device: Device,
    /// The first view that was parsed.
    past: Option<host::Past>,
    /// Where the first code stands in the first view.
    first_code: u32,
    /// What was found out about loops.
    found: Found,
    /// The bytes of compute constructs that are left.
    left: Vec<Span>,
    /// Where `_OPENACC` stands.
    macros: BTreeSet<Span>,
    /// The headers that have directives, by number, as they are read themselves.
    readings: Rc<OnceCell<Vec<(usize, Reading)>>>,
}

impl Work<'_> {
    fn next_unreached(&mut self) -> Option<u32> {
        let (offset, (_, tried)) = self.known.iter_mut().find(|(_, (_, tried))| !*tried)?;
        *tried = true;
        Some(*offset)
    }

    fn view(&mut self, view: &View, is_first: bool) {
        let file = &self.source.file;
        let (scan, said) = scan::scan(file, &self.source.shown(view));
        if is_first {
            self.diags.extend(said);
            self.first_code = scan.shadow.iter().take_while(|byte| byte.is_ascii_whitespace()).count() as u32;
            self.library(&scan);
        }
        for text in &scan.directives {
            self.known.entry(text.span.start).or_insert((text.span, false));
        }
        let fresh = fresh(&scan, &self.reports);
        if !fresh.is_empty() || is_first && self.source.declares(self.options) {
            let unit = host::parse_again(file, &scan, &mut self.past);
            self.translate_view(&scan, &unit, &fresh);
        }
    }

    fn translate_view(&mut self, scan: &Scan, unit: &Unit, fresh: &[usize]) {
        let file = &self.source.file;
        let mut parsed = Vec::new();
        let mut held = Vec::new();
        for at in fresh {
            let text = &scan.directives[*at];
            self.known.insert(text.span.start, (text.span, true));
            match parse(file, text, &mut self.diags) {
                Some(directive) => parsed.push((*at, directive)),
                None => held.push(text.span),
            }
        }
        let own = self.source.reading((unit, scan), parsed, held, self.options, &mut self.found);
        self.diags.extend(own.said.iter().cloned());
        let headers: Vec<Seen> = self.source.headers.iter().map(|header| header.seen()).collect();
        let readings = Rc::clone(&self.readings);
        let readings = readings.get_or_init(|| {
            let all = (0..headers.len()).map(|at| Some((at, self.source.header_reading(at, self.options)?)));
            all.flatten().collect()
        });
        let read: Vec<cuda::Input> = readings
            .iter()
            .map(|(at, reading)| {
                let own = reading.input(headers[*at], &headers[..*at], &[], self.options);
                // A header is in the language of what includes it.
                let is_c = own.is_c && file.language != crate::source::Language::Cpp;
                cuda::Input { is_c, ..own }
            })
            .collect();
        let declared = bind::declared(file, scan, unit);
        let input = own.input(Seen { file, unit, scan, declared: &declared }, &headers, &read, self.options);
        let Reading { bound, plan, held, .. } = &own;
        self.found.spread(unit, bound, plan);
        let (lowered, device, said) = cuda::lower(&input);
        self.diags.extend(said);
        self.device.merge(device);
        let left: BTreeSet<usize> = (0..bound.len()).filter(|at| lowered[*at].changes.is_none()).collect();
        for (at, (one, lowered)) in bound.iter().zip(&lowered).enumerate() {
            // What another view has left, goes with it.
            let is_left = left.contains(&at)
                || self.left.iter().any(|span| span.contains(one.directive.span))
                || bind::ancestors(bound, at).any(|above| {
                    let is_data =
                        matches!(bound[above].directive.kind, DirectiveKind::Data | DirectiveKind::HostData);
                    left.contains(&above) && !is_data
                });
            let changes = lowered.changes.as_ref().filter(|_| !is_left);
            let edits = changes.map(|changes| {
                changes.iter().map(|change| edits_of(file, change)).collect::<Option<Vec<_>>>()
            });
            let edits: Option<Vec<Edit>> = match edits {
                Some(Some(all)) => Some(all.into_iter().flatten().map(with_own_macro).collect()),
                Some(None) => {
                    let name = acc::name(one.directive.kind);
                    self.diags.push(diag::not_yet_cuda(
                        one.directive.span,
                        &format!("`{name}` among other code on one line"),
                    ));
                    None
                }
                None => None,
            };
            let outcome = match edits {
                None => Outcome::Left,
                Some(edits) if edits.is_empty() => Outcome::Exact,
                Some(edits) => match self.edits.add(Rewrite { owner: one.directive.span.start, edits }) {
                    Ok(()) => Outcome::Exact,
                    Err(_) => {
                        self.diags.push(diag::edit_conflict(one.directive.span));
                        Outcome::Left
                    }
                },
            };
            let span = one.directive.span;
            let name = acc::name(one.directive.kind).to_owned();
            if one.text.is_none() {
                continue;
            }
            self.reports.insert(span.start, DirectiveReport { span, name, outcome, rows: Vec::new() });
        }
        let spans = left.iter().filter_map(|at| Some(unit.stmt(bound[*at].stmt()?).span));
        self.left.extend(spans);
        for span in held.iter().copied() {
            let report =
                DirectiveReport { span, name: String::new(), outcome: Outcome::Left, rows: Vec::new() };
            self.reports.insert(span.start, report);
        }
    }

    /// The header of OpenACC's run-time library gives way to ours, which has the same routines.
    fn library(&mut self, scan: &Scan) {
        let file = &self.source.file;
        for include in scan.includes.iter().filter(|include| include.path == "openacc.h") {
            let text = file.text(include.span).replace("<openacc.h>", "\"acc2omp_cuda.h\"");
            let text = text.replace("\"openacc.h\"", "\"acc2omp_cuda.h\"");
            self.add(Edit { span: include.span, text: text.into_bytes() });
        }
        let guards = scan.guards.iter().flat_map(|guard| &guard.words);
        let named = scan.names.iter().filter(|name| name.name == "_OPENACC").map(|name| &name.span);
        self.macros.extend(guards.chain(named));
    }

    /// `_OPENACC` gives way to the macro of the library, but for what is written anew.
    fn name_macros(&mut self) {
        let written: Vec<Span> = self.edits.edits().map(|edit| edit.span).collect();
        for span in std::mem::take(&mut self.macros) {
            let before = written.partition_point(|edit| edit.start <= span.start).checked_sub(1);
            if before.is_none_or(|at| !written[at].contains(span)) {
                self.add(Edit { span, text: cuda::MACRO.as_bytes().to_vec() });
            }
        }
    }

    fn add(&mut self, edit: Edit) {
        let span = edit.span;
        if self.edits.add(Rewrite { owner: u32::MAX, edits: vec![edit] }).is_err() {
            self.diags.push(diag::edit_conflict(span));
        }
    }

    fn finish(mut self) -> Translation {
        let file = &self.source.file;
        for (span, _) in self.known.values() {
            if !self.reports.contains_key(&span.start) {
                self.diags.push(diag::not_understood(*span));
                let report = DirectiveReport {
                    span: *span,
                    name: String::new(),
                    outcome: Outcome::Left,
                    rows: Vec::new(),
                };
                self.reports.insert(span.start, report);
            }
        }
        self.name_macros();
        super::builds::settle(self.source, &mut self.device, self.options);
        let changed = self.edits.edits().next().is_some() || !self.device.is_empty();
        let name = file.name.clone();
        let own = name.rsplit(['/', '\\']).next().unwrap_or_default();
        let stem = own.rsplit_once('.').map_or(own, |(stem, _)| stem);
        let has_ending = cuda::header_ending(&name).is_some() || self.options.has_namesake;
        let stem = if has_ending { own.replace('.', "_") } else { stem.to_owned() };
        let unit = self.options.unit_name(&name);
        let mut beside = Vec::new();
        // What only goes needs nothing in its place.
        let calls = |edit: &Edit| edit.text.windows(3).any(|word| word.eq_ignore_ascii_case(b"acc"));
        if changed && (!self.device.is_empty() || self.edits.edits().any(calls)) {
            let place = first_include(file, self.first_code);
            let line = format!("#include \"{stem}_acc.h\"\n");
            self.add(Edit { span: Span { start: place, end: place }, text: line.into_bytes() });
            beside.push(Beside {
                name: format!("{stem}_acc.h"),
                text: self.device.header(&name, &unit).into_bytes(),
            });
            if !self.device.is_empty() {
                beside.push(Beside {
                    text: self.device.text(&format!("{stem}_acc.cu"), &name, &unit).into_bytes(),
                    name: format!("{stem}_acc.cu"),
                });
            }
            if let Some(text) = self.device.registration(&name, &unit) {
                let end = file.bytes.len() as u32;
                self.add(Edit { span: Span { start: end, end }, text: text.into_bytes() });
            }
        }
        let text = self.edits.apply(&file.bytes);
        self.diags.append(&mut self.found.diags);
        let mut translation = Translation {
            text,
            edits: self.edits.edits().cloned().collect(),
            diagnostics: self.diags,
            directives: self.reports.into_values().collect(),
            api_rows: Vec::new(),
            needs_support: false,
            beside,
            loops: self.found.loops(),
            inductions: Vec::new(),
            closed: std::mem::take(&mut self.found.closed),
        };
        translation.mark();
        translation.settle();
        translation
    }
}

/// An edit that asks for the translation's macro where the code asked for OpenACC's.
fn with_own_macro(edit: Edit) -> Edit {
    match std::str::from_utf8(&edit.text) {
        Ok(text) => Edit { text: cuda::with_own_macro(text).into_bytes(), ..edit },
        Err(_) => edit,
    }
}

/// Where the header of the launchers is included: before the first line of the preprocessor, or of code.
fn first_include(file: &SourceFile, code: u32) -> u32 {
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

/// Statements in the place of a directive, and perhaps of what it governs: indented like the code, as a directive may stand
/// at the margin.
fn statements(file: &SourceFile, span: Span, lines: &[String]) -> Edit {
    let first = file.lines.line(span.start);
    let line = file.lines.span(first);
    let ends = if file.text(line).ends_with("\r\n") { "\r\n" } else { "\n" };
    let own = indentation(&file.text(line)).to_owned();
    let indent = if own.is_empty() { code_indentation(file, first) } else { own };
    let text: Vec<String> =
        lines.iter().map(|line| format!("{indent}{line}").trim_end().to_owned()).collect();
    Edit { span: Span { start: line.start, end: span.end }, text: text.join(ends).into_bytes() }
}

fn indentation(text: &str) -> &str {
    &text[..text.len() - text.trim_start_matches([' ', '\t']).len()]
}

/// How the code behind line `first` is indented; at the end of a block, how the code before it is.
fn code_indentation(file: &SourceFile, first: usize) -> String {
    let is_code = |text: &str| {
        let text = text.trim();
        !text.is_empty()
            && !text.starts_with('#')
            && !text.ends_with('\\')
            && !text.starts_with("//")
            && !text.starts_with("/*")
    };
    let line = |at: usize| file.text(file.lines.span(at)).into_owned();
    // A directive's own continuation lines are no code.
    let mut behind = first;
    while line(behind).trim_end().ends_with('\\') {
        behind += 1;
    }
    let next = (behind + 1..file.lines.count()).map(line).find(|text| is_code(text)).unwrap_or_default();
    if next.trim_start().starts_with('}') {
        // The statements of the block, back to the line that opens it; what they govern stands further in.
        let outer = indentation(&next).len();
        let mut before = (0..first).rev().map(line).filter(|text| is_code(text)).peekable();
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

/// The edits for one change; `None` if the source leaves no room for it.
fn edits_of(file: &SourceFile, change: &Change) -> Option<Vec<Edit>> {
    Some(match change {
        Change::Lines(span, lines) if layout::stands_alone(file, *span) => {
            vec![statements(file, *span, lines)]
        }
        Change::Lines(span, lines) => vec![Edit { span: *span, text: lines.join(" ").into_bytes() }],
        // A directive that is implied has no line.
        Change::Gone(span) if span.is_empty() => Vec::new(),
        Change::Gone(span) => vec![layout::removed(file, *span)],
        Change::After(offset, like, lines) => vec![layout::lines_after(file, *offset, *like, lines)?],
        Change::Before(offset, lines) => {
            let edits: Option<Vec<Edit>> =
                lines.iter().map(|line| layout::inserted(file, *offset, line)).collect();
            edits?
        }
        Change::Braced(span, lines) => layout::braced(file, *span, lines).to_vec(),
        Change::Text(span, text) => vec![Edit { span: *span, text: text.clone().into_bytes() }],
    })
}
