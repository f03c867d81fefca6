//! What comes of a source.
//!
//! Invariant: directives and diagnostics are in the order of the source, each once.

use crate::diag::{self, Code, Diag, Severity};
use crate::edit::Edit;
use crate::plan::Closed;
use crate::report::LoopFeedback;
use crate::rules::RowId;
use crate::scan::{self, View};
use crate::source::{SourceFile, Span};

use super::{DataUse, Source};

/// A file that stands beside a translation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beside {
    /// Its name, without folder.
    pub name: String,
    /// Its text.
    pub text: Vec<u8>,
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
    pub name: &'static str,
    /// What became of it.
    pub outcome: Outcome,
    /// The rule rows used.
    pub rows: Vec<&'static RowId>,
    /// What it does with variables.
    pub data: Box<[DataUse]>,
}

impl DirectiveReport {
    /// A directive that is left untranslated, and of which nothing else is known.
    pub(super) fn left(span: Span) -> DirectiveReport {
        DirectiveReport { span, name: "", outcome: Outcome::Left, rows: Vec::new(), data: Box::default() }
    }

    /// Whether it is a compute construct, combined ones among them.
    pub fn is_compute(&self) -> bool {
        let first = self.name.split_whitespace().next();
        first.is_some_and(|word| ["parallel", "kernels", "serial"].contains(&word))
    }
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
    /// The rule rows used for the run-time library.
    pub api_rows: Vec<&'static RowId>,
    /// The text includes the header `SUPPORT`, which must lie beside it.
    pub needs_support: bool,
    /// Files that belong beside it: for CUDA, the device code and the header of its launchers.
    pub beside: Vec<Beside>,
    /// What was found out about the loops that OpenACC leaves to the compiler, by place.
    pub loops: Vec<LoopFeedback>,
    /// The edits among them, all insertions, that compute variables from loop variables: the source does the same with them.
    pub inductions: Vec<Edit>,
    /// Loops that such edits could make parallel.
    pub(super) closed: Vec<Closed>,
}

impl Translation {
    /// Whether there is a directive on a line of which something was asked for (A0030, A0031).
    pub fn grants(&self, file: &SourceFile, line: usize) -> bool {
        self.granted(file).any(|granted| granted == line)
    }

    /// The lines of directives of which something was asked for (A0030, A0031).
    pub(super) fn granted(&self, file: &SourceFile) -> impl Iterator<Item = usize> {
        let granted = self.diagnostics.iter().filter(|diag| [Code(30), Code(31)].contains(&diag.code));
        granted.map(|diag| file.line_number(diag.primary.span.start))
    }

    /// For CUDA, whether the text holds device code itself, so that CUDA's compiler must build it (A0403).
    pub fn holds_device_code(&self) -> bool {
        self.diagnostics.iter().any(|diag| diag.code == Code(403))
    }

    pub(super) fn untouched(source: &Source) -> Translation {
        let text = source.file.bytes.clone();
        Translation {
            text,
            edits: Vec::new(),
            diagnostics: Vec::new(),
            directives: Vec::new(),
            api_rows: Vec::new(),
            needs_support: false,
            beside: Vec::new(),
            loops: Vec::new(),
            inductions: Vec::new(),
            closed: Vec::new(),
        }
    }

    /// A source that stays as it is, for a reason that is reported at the first directive.
    pub(super) fn untranslated(source: &Source, why: impl Fn(Span) -> Diag) -> Translation {
        let (scan, diagnostics) = scan::scan(&source.file, &View::default());
        let mut translation = Translation { diagnostics, ..Translation::untouched(source) };
        let first = scan.directives.first().map(|first| first.span);
        translation.diagnostics.extend(first.map(why));
        let report = |text: &scan::DirectiveText| DirectiveReport::left(text.span);
        translation.directives = scan.directives.iter().map(report).collect();
        translation
    }

    /// Takes all edits back: the output did not parse.
    pub(super) fn withdraw(&mut self, file: &SourceFile) {
        let at = self.edits.first().map_or(Span::at(0), |edit| edit.span);
        self.leave(file);
        self.diagnostics.push(diag::output_not_parsed(at));
    }

    /// Leaves the whole source as it is, as some of it cannot be read.
    pub(super) fn leave_unread(&mut self, file: &SourceFile) {
        let made = self.directives.iter().filter(|report| report.outcome != Outcome::Left);
        let said: Vec<Diag> = made.map(|report| diag::not_understood(report.span)).collect();
        self.leave(file);
        self.diagnostics.extend(said);
    }

    /// Leaves the whole source as it is.
    pub(super) fn leave(&mut self, file: &SourceFile) {
        self.text = file.bytes.clone();
        self.edits.clear();
        self.needs_support = false;
        self.beside.clear();
        self.loops.clear();
        self.directives.iter_mut().for_each(|report| report.outcome = Outcome::Left);
    }

    /// Sorts the diagnostics, each once.
    pub(super) fn settle(&mut self) {
        let mut seen = std::collections::HashSet::new();
        self.diagnostics.retain(|diag| seen.insert((diag.code, diag.primary.span, diag.message.clone())));
        self.diagnostics.sort_by_key(|diag| (diag.primary.span.start, diag.code, diag.message.clone()));
    }

    /// Marks the directives that the diagnostics are about.
    pub(super) fn mark(&mut self) {
        let serious = self.diagnostics.iter().filter(|diag| diag.severity >= Severity::Weaker);
        let places: Vec<u32> = serious.map(|diag| diag.primary.span.start).collect();
        places.into_iter().for_each(|place| self.mark_before(place));
    }

    /// Says something of directives, which are marked.
    pub(super) fn say(&mut self, said: Vec<Diag>) {
        if said.is_empty() {
            return;
        }
        said.iter().for_each(|diag| self.mark_before(diag.primary.span.start));
        self.diagnostics.extend(said);
        self.settle();
    }

    /// Marks the directive at a place or the last one before it.
    pub(super) fn mark_before(&mut self, place: u32) {
        let at = self.directives.partition_point(|report| report.span.start <= place);
        let Some(report) = at.checked_sub(1).and_then(|at| self.directives.get_mut(at)) else { return };
        if report.outcome == Outcome::Exact {
            report.outcome = Outcome::Noted;
        }
    }

    /// Leaves directives that macros write.
    pub(super) fn leave_written(&mut self, written: &[(Span, String)]) {
        for (span, name) in written {
            let at = self.directives.partition_point(|report| report.span.start < span.start);
            self.directives.insert(at, DirectiveReport::left(*span));
            self.diagnostics.push(diag::in_macro(*span, name));
        }
        if !written.is_empty() {
            self.settle();
        }
    }

    /// Says, once, that lines need a preprocessor.
    pub(super) fn say_unprocessed(&mut self, lines: &[Span]) {
        let Some(first) = lines.first() else { return };
        self.diagnostics.push(diag::needs_preprocessor(*first));
        self.settle();
        lines.iter().for_each(|lines| self.mark_before(lines.start));
    }
}
