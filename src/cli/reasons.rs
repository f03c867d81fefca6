//! Which directive a diagnostic is about, and which diagnostics say why a directive is untranslated.
//!
//! Invariant: what is said of the run-time library or of the file as a whole is about no directive, unless it marks one.

use std::collections::{BTreeMap, BTreeSet};

use crate::diag::{Code, Diag, Severity};
use crate::rules;
use crate::source::{self, SourceFile, Span};
use crate::{DirectiveReport, Governed, Options, Outcome, Source, Translation, governed};

/// What is said of comments to acc2omp, of uses of the library and of `_OPENACC`, and of a file as a whole.
const OF_FILES: [u16; 9] = [32, 33, 305, 306, 339, 340, 341, 406, 407];

/// What leaves a whole file untranslated.
const OF_WHOLE_FILES: [u16; 6] = [22, 333, 334, 335, 404, 902];

/// The directives of a translation, and the code that each governs.
pub struct Reasons<'a> {
    file: &'a SourceFile,
    directives: &'a [DirectiveReport],
    diagnostics: &'a [Diag],
    regions: BTreeMap<Span, Governed>,
    /// The codes that are about no directive, unless a diagnostic marks one.
    of_files: BTreeSet<Code>,
}

impl<'a> Reasons<'a> {
    /// Those of a translation. The code is read only where somebody has to know of it.
    pub fn of(source: &'a Source, translation: &'a Translation, options: &Options) -> Reasons<'a> {
        let (directives, diagnostics) = (&translation.directives, &translation.diagnostics);
        let marks = |diag: &Diag| directives.iter().any(|one| one.span.contains(diag.primary.span));
        let (file, regions) = (&source.file, BTreeMap::new());
        let mut all = Reasons { file, directives, diagnostics, regions, of_files: of_files() };
        let is_inside = |diag: &Diag| !marks(diag) && !all.is_of_file(diag);
        let is_silent = |at: &usize| all.is_left(*at) && all.marking(directives[*at].span).is_empty();
        if diagnostics.iter().any(is_inside) || (0..directives.len()).any(|at| is_silent(&at)) {
            let known = governed(source, options);
            all.regions = known.into_iter().map(|one| (one.directive, one)).collect();
        }
        all
    }

    /// The directive that a diagnostic is about.
    pub fn about(&self, diag: &Diag) -> Option<usize> {
        let at = diag.primary.span;
        let marked = self.directives.iter().position(|one| one.span.contains(at) || one.span == at);
        if marked.is_some() || self.is_of_file(diag) {
            return marked;
        }
        let marks = |one: &DirectiveReport| diag.others.iter().any(|label| one.span.contains(label.span));
        let is_run = |directive: &usize| {
            self.regions.get(&self.directives[*directive].span).is_some_and(|region| region.is_run)
        };
        let is_left = |before: &usize| diag.severity >= Severity::Left && self.is_left(*before);
        self.around(at)
            .find(is_run)
            .or_else(|| self.directives.iter().position(marks))
            .or_else(|| self.around(at).next())
            .or_else(|| (0..self.count_before(at)).rev().find(is_left))
            .or_else(|| self.last_before(diag))
    }

    /// The last directive before a diagnostic, which the translation counts as one with something to know for its sake.
    pub fn last_before(&self, diag: &Diag) -> Option<usize> {
        self.count_before(diag.primary.span).checked_sub(1)
    }

    fn count_before(&self, place: Span) -> usize {
        self.directives.partition_point(|one| one.span.start <= place.start)
    }

    /// The diagnostics that say why a directive is untranslated: its own, or else those of the constructs around it, of what
    /// stands inside, of its other end, or of what is untranslated before it.
    pub fn why(&self, at: usize) -> Vec<usize> {
        if !self.is_left(at) {
            return Vec::new();
        }
        let mut tried = vec![at];
        tried.extend(self.partner(at));
        let own = self.directives[at].span;
        tried.extend(self.around(own).filter(|around| self.is_left(*around)));
        let found = tried.iter().map(|one| self.marking(self.directives[*one].span));
        let inside = tried.iter().filter_map(|one| self.regions.get(&self.directives[*one].span));
        let inside = inside.map(|region| self.marking(region.extent));
        let found = found.chain(inside).find(|found| !found.is_empty());
        found.or_else(|| self.before(own).map(|one| vec![one])).unwrap_or_default()
    }

    /// Whether a directive is untranslated.
    fn is_left(&self, at: usize) -> bool {
        self.directives[at].outcome == Outcome::Left
    }

    /// Whether a diagnostic that marks no directive is about none.
    fn is_of_file(&self, diag: &Diag) -> bool {
        self.of_files.contains(&diag.code)
    }

    /// The directives whose code holds a place, innermost first.
    fn around(&self, place: Span) -> impl Iterator<Item = usize> {
        let holds = move |at: &usize| {
            let region = self.regions.get(&self.directives[*at].span);
            region
                .is_some_and(|region| region.extent.contains(place) && region.directive.start <= place.start)
        };
        (0..self.directives.len()).rev().filter(holds)
    }

    /// The diagnostics of what is untranslated that mark a place in `span`.
    fn marking(&self, span: Span) -> Vec<usize> {
        let serious = |at: &usize| self.diagnostics[*at].severity >= Severity::Left;
        let marks = |at: &usize| {
            let diag = &self.diagnostics[*at];
            let labels = std::iter::once(&diag.primary).chain(&diag.others);
            labels.into_iter().any(|label| span.contains(label.span) || label.span.contains(span))
        };
        let is_meant = |at: &usize| serious(at) && marks(at) && !self.is_of_file(&self.diagnostics[*at]);
        (0..self.diagnostics.len()).filter(is_meant).collect()
    }

    /// The directive that begins what an `end` directive ends, by their words.
    fn partner(&self, at: usize) -> Option<usize> {
        let words = |at: usize| {
            let text = self.file.text(self.directives[at].span).to_ascii_lowercase();
            let words = source::words(&text).skip_while(|word| *word != "acc").skip(1);
            words.map(str::to_owned).collect::<Vec<_>>()
        };
        let own = words(at);
        let ended = own.first().filter(|word| *word == "end").and_then(|_| own.get(1))?;
        let mut depth = 0usize;
        (0..at).rev().find(|before| {
            let words = words(*before);
            match words.first() {
                Some(first) if first == "end" && words.get(1) == Some(ended) => depth += 1,
                Some(first) if first == ended && depth == 0 => return true,
                Some(first) if first == ended => depth -= 1,
                _ => {}
            }
            false
        })
    }

    /// The diagnostic that leaves the whole file; else the last one of what is untranslated before a place, or the first one
    /// after it.
    fn before(&self, place: Span) -> Option<usize> {
        let serious = |at: &usize| {
            let diag = &self.diagnostics[*at];
            diag.severity >= Severity::Left && !self.is_of_file(diag)
        };
        let is_before = |at: &usize| self.diagnostics[*at].primary.span.start <= place.start;
        let all = || (0..self.diagnostics.len()).filter(serious);
        let is_whole = |at: &usize| OF_WHOLE_FILES.map(Code).contains(&self.diagnostics[*at].code);
        all().find(is_whole).or_else(|| all().rfind(is_before)).or_else(|| all().next())
    }
}

/// The codes of what is said of files and of uses of the library.
fn of_files() -> BTreeSet<Code> {
    let of_calls = rules::rules().pages().filter(|page| page.entry.starts_with("api/"));
    let of_calls = of_calls.flat_map(|page| &page.rows).filter_map(|row| row.code);
    OF_FILES.map(Code).into_iter().chain(of_calls).collect()
}
