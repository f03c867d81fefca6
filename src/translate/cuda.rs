//! The way to CUDA: what a view of a file becomes, and the device code beside it.
//!
//! Invariant: the host file and the files beside it come from the same views.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use crate::acc::ast::DirectiveKind;
use crate::cuda::{self, Device, Input, Seen};
use crate::diag;
use crate::edit::{Edit, Ours};
use crate::host::ir::Unit;
use crate::scan::{self, OpenMp, Scan, View};
use crate::source::{self, Language, Span};
use crate::{acc, bind, layout};

use super::branches::Sights;
use super::reading::Reading;
use super::views::{BackEnd, Gathered, Lowered, Made, Reached, Rest};
use super::{Beside, DirectiveReport, Options, Outcome, Source, Translation, branches, views};

/// The run-time library that the output calls: its header and its source, by name.
pub const RUNTIME: [(&str, &str); 2] = [
    ("acc2omp_cuda.h", include_str!("../cuda/runtime/acc2omp_cuda.h")),
    ("acc2omp_cuda.cu", include_str!("../cuda/runtime/acc2omp_cuda.cu")),
];

/// Translates one source.
pub fn translate(source: &Source, options: &Options) -> Translation {
    let back = &mut |options: &Options| views::translate(source, options, &mut Cuda::default());
    let (mut translation, options) = super::without_data(options, back);
    let see = |view: &View| views::made_by_view(source, &options, &mut Cuda::default(), view);
    branches::completed(&Sights::new(&source.file, &see), &mut translation);
    translation
}

/// What the views seen so far have brought.
#[derive(Default)]
struct Cuda {
    device: Device,
    /// Where the first code stands in the first view.
    first_code: u32,
    /// What the file includes.
    includes: BTreeSet<String>,
    /// Where `_OPENACC` stands.
    macros: BTreeSet<Span>,
    /// The headers that have directives, by number, as they are read themselves.
    readings: Rc<OnceCell<Vec<(usize, Reading)>>>,
    /// The OpenMP that the source has.
    openmp: OnceCell<Option<OpenMp>>,
    /// Branches with definitions that no view has reached or tried to; none before the first view.
    unreached: Option<Vec<u32>>,
    /// The next view is made for one of them.
    is_reaching: bool,
}

impl BackEnd for Cuda {
    fn scanned(&mut self, _scan: &Scan, first: Option<&Scan>, all: &mut Gathered) -> bool {
        if let Some(scan) = first {
            self.first_code = scan.shadow.iter().take_while(|byte| byte.is_ascii_whitespace()).count() as u32;
            self.library(scan, all);
        }
        std::mem::take(&mut self.is_reaching)
    }

    fn next_unreached(&mut self) -> Option<u32> {
        let branch = self.unreached.as_mut()?.pop()?;
        self.is_reaching = true;
        Some(branch)
    }

    fn lower(&mut self, view: Reached, all: &mut Gathered) -> Lowered {
        let Reached { scan, unit, parsed, held } = view;
        let (source, options) = (all.source, all.options);
        self.unreached.get_or_insert_with(|| source.hidden_definitions(&unit));
        let own = source.reading((&unit, scan), parsed, held, options, &mut all.found);
        all.diags.extend(own.said.iter().cloned());
        all.found.spread(&unit, &own.bound, &own.plan);
        let mut lowered = self.lower_view((scan, &unit), &own, all);
        condition(scan, &own, &mut lowered, all);
        let lines = layout::CodeLines::of(&source.file);
        let mut changes: Vec<Option<Vec<Edit>>> =
            own.bound.iter().zip(&lowered).map(|(one, lowered)| edits((one, lowered), &lines, all)).collect();
        all.leave_whole(&unit, &own.bound, &own.held, &mut changes);
        self.note_openmp(&unit, &own.bound, &changes, all);
        stack(&lines, &lowered, &mut changes);
        let made =
            changes.into_iter().map(|edits| Made { edits, rows: Vec::new(), implied: Vec::new() }).collect();
        Lowered { bound: own.bound, made, held: own.held }
    }

    fn finish(&mut self, all: &mut Gathered) -> Rest {
        self.name_macros(all);
        super::builds::settle(all.source, &mut self.device, all.options);
        // Constructs in regions that stay bring more than they say.
        let is_left =
            |one: &DirectiveReport| one.outcome == Outcome::Left && ["", "data"].contains(&one.name);
        if !all.reports.values().any(|one| is_left(one)) {
            let made = all.reports.iter().filter(|(_, report)| report.outcome != Outcome::Left);
            let made: Vec<u32> = made.map(|(at, _)| *at).collect();
            for (at, branch) in super::builds::unlike(all.source, &self.device, &made, all.options) {
                let report = all.reports.get(&at);
                all.diags.extend(report.map(|report| diag::branches_differ(report.span, branch)));
            }
        }
        hidden_declares(all);
        let beside = self.beside(all);
        let code = beside
            .iter()
            .filter(|file| file.name.ends_with(".cu"))
            .map(|file| (file.name.clone(), String::from_utf8_lossy(&file.text).into_owned()));
        let ours =
            Ours { macros: vec![cuda::MACRO.to_owned()], code: Some(code.collect()), lines: Vec::new() };
        Rest { beside, ours, ..Rest::default() }
    }
}

/// The text of a file beside a source, with the source's bytes in it as they were; in strings and characters as escapes,
/// since nvcc reads UTF-8.
fn beside_text(text: String) -> Vec<u8> {
    source::bytes(cuda::with_escapes(text).into_bytes())
}

/// Says which `declare` directives of a header only some builds read: the files that define the variables do not know of them.
fn hidden_declares(all: &mut Gathered) {
    let file = &all.source.file;
    if cuda::header_ending(&file.name).is_none() {
        return;
    }
    let hidden = scan::hidden_code(file, &scan::forks(file), &View::default());
    let is_declare = |one: &&DirectiveReport| one.name == acc::name(DirectiveKind::Declare);
    let declares = all.reports.values().map(|one| &**one).filter(is_declare).map(|one| one.span);
    let branch_of = |span: Span| hidden.iter().map(|one| one.branch).find(|branch| branch.contains(span));
    let said = declares.filter_map(|span| Some(diag::branches_differ(span, branch_of(span)?)));
    all.diags.extend(said.collect::<Vec<_>>());
}

/// Has what directives need in other places stand under their conditions there.
fn condition(scan: &Scan, own: &Reading, lowered: &mut [cuda::Lowered], all: &mut Gathered) {
    let conditions = all.conditions();
    for (one, lowered) in own.bound.iter().zip(lowered) {
        let Some(changes) = &lowered.changes else { continue };
        let span = one.directive.span;
        let file = &all.source.file;
        lowered.changes = layout::conditioned(file, &conditions, &scan.guards, span.start, changes);
        if lowered.changes.is_none() {
            let what = format!(
                "`{}` under a condition under which its code does not stand",
                acc::name(one.directive.kind)
            );
            all.diags.push(diag::not_yet_cuda(span, &what));
        }
    }
}

/// The edits for one directive; none if it is left untranslated.
fn edits(
    (one, lowered): (&bind::Bound, &cuda::Lowered),
    lines: &layout::CodeLines,
    all: &mut Gathered,
) -> Option<Vec<Edit>> {
    let changes = lowered.changes.as_ref()?.iter();
    let edits: Option<Vec<Vec<Edit>>> =
        changes.map(|change| layout::edits_of_change(lines, change)).collect();
    if edits.is_none() {
        let name = acc::name(one.directive.kind);
        let what = format!("`{name}` among other code on one line");
        all.diags.push(diag::not_yet_cuda(one.directive.span, &what));
    }
    Some(together(edits?.into_iter().flatten().map(with_own_macro)))
}

/// Different insertions at one place become one, in their order: the brace that ends what a jump became, and the end of the region.
fn together(edits: impl Iterator<Item = Edit>) -> Vec<Edit> {
    let mut known: BTreeSet<(Span, Vec<u8>)> = BTreeSet::new();
    let is_new = |edit: &Edit| !edit.span.is_empty() || known.insert((edit.span, edit.text.clone()));
    layout::joined(edits.filter(is_new).collect())
}

/// Has what the directives put at one place stand there together.
fn stack(lines: &layout::CodeLines, lowered: &[cuda::Lowered], edits: &mut [Option<Vec<Edit>>]) {
    let translated: Vec<usize> = (0..edits.len()).filter(|at| edits[*at].is_some()).collect();
    let changes = |at: usize| lowered[at].changes.as_deref().unwrap_or_default();
    let mut all: Vec<_> =
        translated.iter().map(|at| (changes(*at), edits[*at].take().unwrap_or_default())).collect();
    layout::stack(lines, &mut all, with_own_macro);
    for (at, (_, own)) in translated.into_iter().zip(all) {
        edits[at] = Some(own);
    }
}

impl Cuda {
    /// Notes the OpenMP that stands before calls of launchers now.
    fn note_openmp(
        &self,
        unit: &Unit,
        bound: &[bind::Bound],
        changes: &[Option<Vec<Edit>>],
        all: &mut Gathered,
    ) {
        let found = self.openmp.get_or_init(|| scan::openmp(&all.source.file));
        let Some(found) = found else { return };
        for (at, own) in bind::counterparts(unit, bound, found).of {
            let directive = &bound[at].directive;
            if !directive.kind.is_compute() || changes[at].is_none() {
                continue;
            }
            let extent = bound[at].stmt().map(|stmt| unit.stmt(stmt).span);
            let own = own.iter().filter_map(|number| found.directives.get(*number)).map(|one| one.span);
            let mut before = own.filter(|one| !extent.is_some_and(|extent| extent.contains(*one)));
            let is_parted = |one: &Span| {
                found.conditions.iter().any(|condition| condition.parts(one.start, directive.span.start))
            };
            let first = before.find(|one| !is_parted(one));
            let name = acc::name(directive.kind);
            all.diags.extend(first.map(|first| diag::openmp_before_call(first, name)));
        }
    }

    /// Lowers a view with the headers around it, and adds to the device code.
    fn lower_view(
        &mut self,
        (scan, unit): (&Scan, &Unit),
        own: &Reading,
        all: &mut Gathered,
    ) -> Vec<cuda::Lowered> {
        let (source, options, file) = (all.source, all.options, &all.source.file);
        let headers: Vec<Seen> = source.headers.iter().map(|header| header.seen()).collect();
        let readings = Rc::clone(&self.readings);
        let readings = readings.get_or_init(|| {
            let all = (0..headers.len()).map(|at| Some((at, source.header_reading(at, options)?)));
            all.flatten().collect()
        });
        let read: Vec<Input> = readings
            .iter()
            .map(|(at, reading)| {
                let own = reading.input(headers[*at], &headers[..*at], &[], options);
                // A header is in the language of what includes it.
                let is_c = own.is_c && file.language != Language::Cpp;
                Input { is_c, ..own }
            })
            .collect();
        let declared = bind::declared(file, scan, unit);
        let input = own.input(Seen { file, unit, scan, declared: &declared }, &headers, &read, options);
        let (lowered, device, said) = cuda::lower(&input);
        all.diags.extend(said);
        self.device.merge(device);
        lowered
    }

    /// The header of OpenACC's run-time library gives way to ours, which has the same routines.
    fn library(&mut self, scan: &Scan, all: &mut Gathered) {
        let file = &all.source.file;
        self.includes.extend(scan.includes.iter().map(|include| include.path.clone()));
        for include in scan.includes.iter().filter(|include| include.path == "openacc.h") {
            let ours = format!("\"{}{}\"", all.options.library, RUNTIME[0].0);
            let text = file.text(include.span).replace("<openacc.h>", &ours).replace("\"openacc.h\"", &ours);
            all.add(Edit { span: include.span, text: text.into_bytes() });
        }
        let guards = scan.guards.iter().flat_map(|guard| &guard.words);
        let named = scan.names.iter().filter(|name| name.name == "_OPENACC").map(|name| &name.span);
        self.macros.extend(guards.chain(named));
    }

    /// `_OPENACC` gives way to the macro of the library, except what is written anew.
    fn name_macros(&mut self, all: &mut Gathered) {
        let written: Vec<Span> = all.edits.edits().map(|edit| edit.span).collect();
        for span in std::mem::take(&mut self.macros) {
            let before = written.partition_point(|edit| edit.start <= span.start).checked_sub(1);
            if before.is_none_or(|at| !written[at].contains(span)) {
                all.add(Edit { span, text: cuda::MACRO.as_bytes().to_vec() });
            }
        }
    }

    /// The device code, and the header of its launchers, which the file includes.
    fn beside(&self, all: &mut Gathered) -> Vec<Beside> {
        let file = &all.source.file;
        let name = &file.name;
        // What only goes needs nothing instead.
        let calls = |edit: &Edit| edit.text.windows(3).any(|word| word.eq_ignore_ascii_case(b"acc"));
        if self.device.is_empty() && !all.edits.edits().any(calls) {
            return Vec::new();
        }
        let stem = cuda::beside_stem(name, all.options.has_namesake);
        let unit = all.options.unit_name(name);
        let name_of_header = format!("{stem}_acc.h");
        if !self.includes.contains(&name_of_header) {
            let place = layout::first_include(file, self.first_code);
            let line = format!("#include \"{name_of_header}\"{}", file.line_end(place));
            let span = Span { start: place, end: place };
            // A prototype that becomes the device's may stand there.
            if all.edits.add_above(u32::MAX, Edit { span, text: line.into_bytes() }).is_err() {
                all.diags.push(diag::edit_conflict(span));
            }
        }
        let header = beside_text(self.device.header(name, &unit, &all.options.library));
        let mut beside = vec![Beside { name: name_of_header, text: header }];
        if !self.device.is_empty() {
            let code = format!("{stem}_acc.cu");
            let text = beside_text(self.device.text(&code, name, &unit));
            beside.push(Beside { name: code, text });
        }
        if let Some(text) = self.device.registration(name, &unit) {
            let end = file.bytes.len() as u32;
            let text = text.replace('\n', file.line_end(end)).into_bytes();
            all.add(Edit { span: Span { start: end, end }, text });
        }
        beside
    }
}

/// An edit that asks for the translation's macro where the code asked for OpenACC's.
fn with_own_macro(edit: Edit) -> Edit {
    match std::str::from_utf8(&edit.text) {
        Ok(text) => Edit { text: cuda::with_own_macro(text).into_bytes(), ..edit },
        Err(_) => edit,
    }
}
