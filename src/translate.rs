//! The façade: one source in, one translation out.
//!
//! Invariant: the same source and options give the same translation; nothing outside the returned edits changes.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::acc::ast::Directive;
use crate::bind::{self, Bound};
use crate::diag::{self, Diag, Severity};
use crate::edit::{Edit, EditSet, Rewrite};
use crate::host::ir::Unit;
use crate::omp::{self, Lowered, Part};
use crate::scan::{self, Define, DirectiveText, Scan, View};
use crate::sema::Symbols;
use crate::source::{Language, SourceFile, Span};
use crate::{acc, host, layout, plan};

/// A source file with the local headers it includes.
#[derive(Clone, Debug)]
pub struct Source {
    /// The file to translate.
    pub file: SourceFile,
    /// The local headers that it reaches by `#include "…"`, in the order the compiler meets them; they are read for
    /// their declarations and not translated with it.
    pub headers: Vec<Arc<Header>>,
}

/// A header read for its declarations.
#[derive(Debug)]
pub struct Header {
    /// Its file.
    pub file: SourceFile,
    scan: Scan,
    unit: Unit,
}

impl Header {
    /// Reads a header's declarations.
    pub fn new(file: SourceFile) -> Header {
        let (scan, _) = scan::scan(&file, &View::default());
        let unit = host::parse(&file, &scan);
        Header { file, scan, unit }
    }
}

impl Source {
    /// A file without headers.
    pub fn new(name: impl Into<String>, bytes: Vec<u8>, language: Language) -> Source {
        Source { file: SourceFile::new(name, bytes, language), headers: Vec::new() }
    }

    /// The file paths between quotes in its `#include "…"` lines, in source order, of all preprocessor branches.
    pub fn quoted_includes(file: &SourceFile) -> Vec<String> {
        scan::quoted_includes(file)
    }
}

/// An OpenMP version, as `45` for 4.5.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Version(pub u8);

/// The compiler that the output is tuned for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Profile {
    /// Any compiler: one flat parallel loop.
    #[default]
    Generic,
    /// LLVM clang.
    Clang,
    /// GNU gcc.
    Gcc,
}

impl Profile {
    /// The name of its page in `rules/profile/`.
    pub fn name(self) -> &'static str {
        match self {
            Profile::Generic => "generic",
            Profile::Clang => "clang",
            Profile::Gcc => "gcc",
        }
    }
}

/// What to translate to.
#[derive(Clone, Debug)]
pub struct Options {
    /// The newest OpenMP version that the output may use.
    pub omp: Version,
    /// The compiler that the output is tuned for.
    pub profile: Profile,
    /// The device type whose `device_type` clauses count, in lower case (`nvidia`, `host` …).
    pub device_type: String,
}

impl Default for Options {
    fn default() -> Options {
        Options { omp: Version(45), profile: Profile::Generic, device_type: "nvidia".to_owned() }
    }
}

/// What became of a directive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Outcome {
    /// Translated with the same meaning.
    Exact,
    /// Translated; a diagnostic says what is weaker or differs.
    Noted,
    /// Left as it was; a diagnostic says why.
    Left,
}

/// One directive of the source, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectiveReport {
    /// Its bytes in the source.
    pub span: Span,
    /// Its name (`parallel loop`).
    pub name: String,
    /// What became of it.
    pub outcome: Outcome,
    /// The rule rows used, as `clause/present#0`.
    pub rows: Vec<String>,
}

/// The result for one file.
#[derive(Clone, Debug)]
pub struct Translation {
    /// The new text.
    pub text: Vec<u8>,
    /// The edits that make it from the source: sorted, disjoint.
    pub edits: Vec<Edit>,
    /// What there is to say, by place.
    pub diagnostics: Vec<Diag>,
    /// Every OpenACC directive of the source, by place.
    pub directives: Vec<DirectiveReport>,
}

/// Translates one source.
pub fn translate(source: &Source, options: &Options) -> Translation {
    if !scan::mentions_openacc(&source.file.bytes) {
        return Translation::untouched(source);
    }
    let mut work = Work::new(source, options);
    work.view(&View::default());
    // Directives that the default view of the preprocessor does not reach get a view of their own.
    while let Some(offset) = work.next_unreached() {
        work.view(&View::reaching(offset));
    }
    work.finish()
}

/// A file under translation: what the views seen so far have brought.
struct Work<'a> {
    source: &'a Source,
    options: &'a Options,
    edits: EditSet,
    diags: Vec<Diag>,
    reports: BTreeMap<u32, DirectiveReport>,
    /// All directives of the file, with whether a view has tried to reach them.
    known: BTreeMap<u32, bool>,
    texts: BTreeMap<u32, Span>,
    errors: usize,
    needs_header: bool,
    scanned: Option<Scan>,
}

impl<'a> Work<'a> {
    fn new(source: &'a Source, options: &'a Options) -> Work<'a> {
        Work {
            source,
            options,
            edits: EditSet::default(),
            diags: Vec::new(),
            reports: BTreeMap::new(),
            known: BTreeMap::new(),
            texts: BTreeMap::new(),
            errors: 0,
            needs_header: false,
            scanned: None,
        }
    }

    fn next_unreached(&mut self) -> Option<u32> {
        let (offset, tried) = self.known.iter_mut().find(|(_, tried)| !**tried)?;
        *tried = true;
        Some(*offset)
    }

    /// Translates the directives that `view` reaches and no view before did.
    fn view(&mut self, view: &View) {
        let file = &self.source.file;
        let (scan, said) = scan::scan(file, &self.with_header_macros(view));
        for text in &scan.directives {
            self.texts.insert(text.span.start, text.span);
            self.known.entry(text.span.start).or_insert(false);
        }
        let fresh: Vec<usize> = (0..scan.directives.len())
            .filter(|at| {
                let text = &scan.directives[*at];
                text.active && !self.reports.contains_key(&text.span.start)
            })
            .collect();
        let is_first = self.scanned.is_none();
        if is_first {
            self.diags.extend(said);
        }
        if !fresh.is_empty() || is_first {
            let unit = host::parse(file, &scan);
            if is_first {
                self.errors = unit.errors.len();
            }
            self.translate_view(&scan, &unit, &fresh);
        }
        if is_first {
            self.about_api(&scan);
            self.scanned = Some(scan);
        }
    }

    fn with_header_macros(&self, view: &View) -> View {
        let mut view = view.clone();
        for define in self.source.headers.iter().flat_map(|header| &header.scan.defines) {
            if !define.has_params {
                view.defines.push((define.name.clone(), Some(define.body.clone())));
            }
        }
        view
    }

    fn translate_view(&mut self, scan: &Scan, unit: &Unit, fresh: &[usize]) {
        let file = &self.source.file;
        let mut parsed = Vec::new();
        let mut held = Vec::new();
        for at in fresh {
            let text = &scan.directives[*at];
            self.known.insert(text.span.start, true);
            match self.parse(text) {
                Some(directive) => parsed.push((*at, directive)),
                None => held.push(text.span),
            }
        }
        let headers: Vec<&Unit> = self.source.headers.iter().map(|header| &header.unit).collect();
        let header_defines = self.source.headers.iter().flat_map(|header| &header.scan.defines);
        let macros: Vec<&Define> = header_defines.chain(&scan.defines).collect();
        let symbols = Symbols::new(unit, file.bytes.len(), &headers, &macros);
        let wanted: Vec<Span> = parsed.iter().map(|(_, directive)| directive.span).collect();
        let (bound, said) = bind::bind(unit, &scan.directives, parsed);
        held.extend(wanted.into_iter().filter(|span| !bound.iter().any(|one| one.directive.span == *span)));
        self.diags.extend(said);
        let profile = self.options.profile.name();
        let aim =
            plan::Aim { device_type: self.options.device_type.clone(), preference: omp::preference(profile) };
        let (plan, said) = plan::plan(file, unit, &symbols, &bound, &held, &aim);
        self.diags.extend(said);
        let target = omp::Target { version: self.options.omp.0, profile };
        let (lowered, said) = omp::lower(&plan, &symbols, &bound, target);
        self.diags.extend(said);
        for (at, (bound, lowered)) in bound.iter().zip(lowered).enumerate() {
            let text = &scan.directives[bound.text];
            self.rewrite(at as u32, unit, text, bound, lowered);
        }
        for span in held {
            self.report(span, "", Outcome::Left, Vec::new());
        }
    }

    /// The directive's tree, if it is whole and legal.
    fn parse(&mut self, text: &DirectiveText) -> Option<Directive> {
        if let Some(name) = &text.in_macro {
            self.diags.push(diag::in_macro(text.span, name));
            return None;
        }
        let (directive, said) = acc::parse(&self.source.file, text);
        self.diags.extend(said);
        let directive = directive?;
        let said = acc::check(&directive);
        let legal = said.is_empty();
        self.diags.extend(said);
        legal.then_some(directive)
    }

    fn report(&mut self, span: Span, name: &str, outcome: Outcome, rows: Vec<String>) {
        let report = DirectiveReport { span, name: name.to_owned(), outcome, rows };
        self.reports.insert(span.start, report);
    }

    fn rewrite(&mut self, owner: u32, unit: &Unit, text: &DirectiveText, bound: &Bound, lowered: Lowered) {
        let name = acc::name(bound.directive.kind);
        let file = &self.source.file;
        let edits = if lowered.left { None } else { edits_of(file, unit, text, &lowered.parts) };
        let outcome = match edits {
            None => Outcome::Left,
            Some(edits) => match self.edits.add(Rewrite { owner, edits }) {
                Ok(()) => Outcome::Exact,
                Err(_) => {
                    self.diags.push(diag::edit_conflict(text.span));
                    Outcome::Left
                }
            },
        };
        self.needs_header |= outcome != Outcome::Left && lowered.parts.contains(&Part::NeedsHeader);
        self.report(text.span, name, outcome, lowered.rows);
    }

    /// Says what stays behind: calls of the run-time library and guards.
    fn about_api(&mut self, scan: &Scan) {
        let mut said = std::collections::BTreeSet::new();
        for (name, span) in &scan.api_names {
            if said.insert(name.as_str()) {
                self.diags.push(diag::api_left(*span, name));
            }
        }
        self.diags.extend(scan.openacc_guards.iter().map(|span| diag::guard_left(*span)));
    }

    fn finish(mut self) -> Translation {
        let file = &self.source.file;
        for (start, span) in &self.texts {
            if !self.reports.contains_key(start) {
                self.diags.push(diag::no_view(*span));
                let report = DirectiveReport {
                    span: *span,
                    name: String::new(),
                    outcome: Outcome::Left,
                    rows: Vec::new(),
                };
                self.reports.insert(*start, report);
            }
        }
        if self.needs_header
            && let Some(edit) = self.scanned.as_ref().and_then(|scan| header_edit(file, scan))
        {
            // An insertion at a line of its own cannot meet another edit.
            let _ = self.edits.add(Rewrite { owner: u32::MAX, edits: vec![edit] });
        }
        let text = self.edits.apply(&file.bytes);
        let mut translation = Translation {
            text,
            edits: self.edits.edits().cloned().collect(),
            diagnostics: self.diags,
            directives: self.reports.into_values().collect(),
        };
        if errors_in(file, &translation.text) > self.errors {
            translation.withdraw(file);
        }
        translation.settle();
        translation
    }
}

impl Translation {
    fn untouched(source: &Source) -> Translation {
        let text = source.file.bytes.clone();
        Translation { text, edits: Vec::new(), diagnostics: Vec::new(), directives: Vec::new() }
    }

    /// Takes all edits back: the output did not parse.
    fn withdraw(&mut self, file: &SourceFile) {
        self.text = file.bytes.clone();
        let at = self.edits.first().map_or(Span::at(0), |edit| edit.span);
        self.edits.clear();
        self.diagnostics.push(diag::output_not_parsed(at));
        self.directives.iter_mut().for_each(|report| report.outcome = Outcome::Left);
    }

    /// Sorts the diagnostics, and marks the directives that they are about.
    fn settle(&mut self) {
        let mut seen = std::collections::HashSet::new();
        self.diagnostics.retain(|diag| seen.insert((diag.code, diag.primary.span, diag.message.clone())));
        self.diagnostics.sort_by_key(|diag| (diag.primary.span.start, diag.code, diag.message.clone()));
        for diag in self.diagnostics.iter().filter(|diag| diag.severity >= Severity::Weaker) {
            let at = self.directives.partition_point(|report| report.span.start <= diag.primary.span.start);
            let Some(report) = at.checked_sub(1).and_then(|at| self.directives.get_mut(at)) else { continue };
            if report.outcome == Outcome::Exact {
                report.outcome = Outcome::Noted;
            }
        }
    }
}

/// How many places of a text the host grammar cannot read.
fn errors_in(file: &SourceFile, text: &[u8]) -> usize {
    let output = SourceFile::new(file.name.clone(), text.to_vec(), file.language);
    let (scan, _) = scan::scan(&output, &View::default());
    host::parse(&output, &scan).errors.len()
}

/// The edits for one directive; `None` if the source leaves no room for them.
fn edits_of(file: &SourceFile, unit: &Unit, old: &DirectiveText, parts: &[Part]) -> Option<Vec<Edit>> {
    let mut edits = Vec::new();
    for part in parts {
        match part {
            Part::Directive(directive) => edits.push(layout::relaid(file, old, &directive.words())),
            Part::Pair(first, second) => {
                edits.push(layout::before(file, old, &format!("#pragma {}", first.words().join(" ")))?);
                edits.push(layout::relaid(file, old, &second.words()));
            }
            Part::Statements(statements) => {
                edits.push(Edit { span: old.span, text: statements.join(" ").into_bytes() })
            }
            Part::Gone => edits.push(layout::removed(file, old)),
            Part::Before(stmt, directive) => {
                let at = unit.stmt(*stmt).span.start;
                edits.push(layout::inserted(file, at, &format!("#pragma {}", directive.words().join(" ")))?);
            }
            Part::Behind(offset, directive) => {
                edits.push(layout::behind(
                    file,
                    *offset,
                    &format!("#pragma {}", directive.words().join(" ")),
                ));
            }
            Part::NeedsHeader => {}
        }
    }
    Some(edits)
}

/// The line that brings `omp.h`, before the first `#include`; `None` if the file has it.
fn header_edit(file: &SourceFile, scan: &Scan) -> Option<Edit> {
    if scan.includes.iter().any(|include| include.path == "omp.h") {
        return None;
    }
    let first = scan.includes.first().map_or(0, |include| include.span.start);
    layout::inserted(file, first, "#include <omp.h>")
}
