//! What a run found out, as data: the form of `schemas/report-1.json`.
//!
//! Invariant: a field changes its meaning only with `VERSION`; records are in the order of the inputs and of the source.

use std::collections::BTreeMap;

use serde::Serialize;
use sha2::{Digest, Sha256};

use super::Summary;
use super::terminal::word;
use crate::diag::{Code, Diag, Severity, pages};
use crate::source::{SourceFile, Span};

/// The version of the form.
pub const VERSION: u32 = 1;

/// So many bytes of a hash are a fingerprint.
const FINGERPRINT: usize = 10;

/// Lines and columns from one; columns count characters, and the end is the place after the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Place {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
    /// The line of the end.
    pub end_line: usize,
    /// The column of the end.
    pub end_column: usize,
}

impl Place {
    /// The place of bytes of a file.
    pub fn of(file: &SourceFile, span: Span) -> Place {
        let (line, column) = position(file, span.start);
        let (end_line, end_column) = position(file, span.end.max(span.start));
        Place { line, column, end_line, end_column }
    }
}

fn position(file: &SourceFile, offset: u32) -> (usize, usize) {
    let start = file.lines.span(file.lines.line(offset)).start;
    let before = String::from_utf8_lossy(file.slice(Span { start, end: offset.max(start) }));
    (file.line_number(offset), before.chars().count() + 1)
}

/// What became of a directive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Translated with the same meaning.
    Exact,
    /// Translated; a check or some parallelism is lost.
    Weaker,
    /// Translated; a named situation behaves differently.
    Differs,
    /// Left as it was.
    Left,
}

/// What a directive does with one variable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DataRecord {
    /// The variable or the part of it.
    pub item: String,
    /// The clause, or the clause that says the same as what is implied.
    pub clause: String,
    /// The rule page that implies it.
    pub implied_by: Option<String>,
}

/// What was found out about one loop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LoopRecord {
    /// The line of the loop.
    pub line: usize,
    /// Its iterations may run in any order.
    pub parallel: bool,
    /// The levels that share its iterations out, as `gang vector`; empty if none does.
    pub levels: String,
    /// The verdict as a sentence.
    pub verdict: String,
}

/// A rule that was used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RuleRecord {
    /// The row of the page, as `clause/present#0`.
    pub row: String,
    /// The page.
    pub page: String,
    /// The title of the page.
    pub title: String,
    /// The sections of the specifications that it cites, as `acc33:2.7.5`.
    pub sections: Vec<String>,
}

/// One directive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DirectiveRecord {
    /// Its fingerprint, which stays the same if its line moves.
    pub id: String,
    /// The file.
    pub file: String,
    /// Where it stands.
    #[serde(flatten)]
    pub place: Place,
    /// Its name, as `parallel loop`; empty if it was not read.
    pub label: String,
    /// Its text.
    pub original: String,
    /// What became of it.
    pub status: Status,
    /// The text that replaces it; empty if it is left untranslated, or if it needs none.
    pub target: String,
    /// The file that has the translation; none if no file is written.
    pub out_file: Option<String>,
    /// The line of the translation; none if it is not known.
    pub out_line: Option<usize>,
    /// What it does with variables.
    pub data: Vec<DataRecord>,
    /// The loops that are found to be parallel or not, of those the compiler decides on.
    pub loops: Vec<LoopRecord>,
    /// The rules used.
    pub rules: Vec<RuleRecord>,
    /// The fingerprints of the diagnostics about it.
    pub diagnostics: Vec<String>,
    /// The baseline has it.
    pub reviewed: bool,
}

/// A place that a diagnostic marks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MarkRecord {
    /// The place.
    #[serde(flatten)]
    pub place: Place,
    /// Words for it; may be empty.
    pub text: String,
}

/// What to do about a diagnostic.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FixRecord {
    /// As a sentence.
    pub text: String,
    /// As edits of the source which keep its results; may be empty.
    pub edits: Vec<EditRecord>,
}

/// An edit of a source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EditRecord {
    /// What is replaced.
    #[serde(flatten)]
    pub place: Place,
    /// The new text.
    pub text: String,
}

/// One diagnostic.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DiagnosticRecord {
    /// Its fingerprint, which stays the same if its line moves.
    pub fingerprint: String,
    /// The code.
    pub code: String,
    /// How serious it is: `note`, `weaker`, `differs`, `left` or `bug`.
    pub severity: &'static str,
    /// What the code means.
    pub title: String,
    /// The file.
    pub file: String,
    /// Where it stands.
    #[serde(flatten)]
    pub place: Place,
    /// What is wrong or what differs.
    pub message: String,
    /// Words for the place; may be empty.
    pub label: String,
    /// Other places that matter.
    pub others: Vec<MarkRecord>,
    /// What to do.
    pub fix: Option<FixRecord>,
    /// The directive that it is about.
    pub directive: Option<String>,
    /// The baseline has it.
    pub reviewed: bool,
    /// The severity.
    #[serde(skip)]
    pub rank: Severity,
}

impl DiagnosticRecord {
    /// The record of a diagnostic. `seen` counts those of the file that have the same words.
    pub fn of(file: &SourceFile, diag: &Diag, seen: &mut Seen) -> DiagnosticRecord {
        let mark = |label: &crate::diag::Label| MarkRecord {
            place: Place::of(file, label.span),
            text: label.text.clone(),
        };
        let fix = (!diag.help.is_empty()).then(|| FixRecord { text: diag.help.clone(), edits: Vec::new() });
        let code = diag.code.to_string();
        DiagnosticRecord {
            fingerprint: seen.fingerprint(file, &code, diag.primary.span),
            severity: word(diag.severity),
            title: pages::title(diag.code).unwrap_or_default().to_owned(),
            code,
            file: file.name.clone(),
            place: Place::of(file, diag.primary.span),
            message: diag.message.clone(),
            label: diag.primary.text.clone(),
            others: diag.others.iter().map(mark).collect(),
            fix,
            directive: None,
            reviewed: false,
            rank: diag.severity,
        }
    }
}

/// How often words have got a fingerprint in one file.
#[derive(Debug, Default)]
pub struct Seen(BTreeMap<String, usize>);

impl Seen {
    /// A hash of what is said (`what`), of the file's name, of the lines that are marked and of the marked words, whatever
    /// their blanks: moving the lines, or changing others, keeps it. The same once more in a file gets another one.
    pub fn fingerprint(&mut self, file: &SourceFile, what: &str, span: Span) -> String {
        let line = file.lines.span(file.lines.line(span.start));
        let words = |span: Span| {
            let text = String::from_utf8_lossy(file.slice(span)).into_owned();
            text.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        let key = [what, &file.name, &words(line), &words(span)].join("\n");
        let count = self.0.entry(key.clone()).or_insert(0);
        *count += 1;
        let hash = Sha256::digest(format!("{key}\n{count}").as_bytes());
        hash.iter().take(FINGERPRINT).map(|byte| format!("{byte:02x}")).collect()
    }
}

/// What was found out about one file.
#[derive(Clone, Debug, Default)]
pub struct FileRecord {
    /// Its name.
    pub file: String,
    /// The file that has the translation.
    pub out_file: Option<String>,
    /// Its directives; none with `--advise`.
    pub directives: Vec<DirectiveRecord>,
    /// How many it has.
    pub directive_count: usize,
    /// Its diagnostics.
    pub diagnostics: Vec<DiagnosticRecord>,
    /// Its text, and that of the translation, for reports that show them.
    pub texts: Option<(String, String)>,
}

/// A file of which a run has no translation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ErrorRecord {
    /// The file; none if the message names it.
    pub file: Option<String>,
    /// Why.
    pub kind: ErrorKind,
    /// As a sentence.
    pub message: String,
}

/// Why a run has no translation of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ErrorKind {
    /// It could not be read or written.
    Failed,
    /// It holds OpenACC, and its name tells no language that is translated.
    Language,
}

impl ErrorRecord {
    /// OpenACC in a file whose name tells no language.
    pub fn of_language(file: &str) -> ErrorRecord {
        let message = "OpenACC is untranslated here: the file's name tells no language that is translated; \
                       `--language EXT=fortran`, `EXT=c` or `EXT=c++` says what files that end in `.EXT` are";
        ErrorRecord { file: Some(file.to_owned()), kind: ErrorKind::Language, message: message.to_owned() }
    }

    /// A failure.
    pub fn of_failure(file: Option<&str>, message: &str) -> ErrorRecord {
        ErrorRecord { file: file.map(str::to_owned), kind: ErrorKind::Failed, message: message.to_owned() }
    }
}

/// A file, in numbers.
#[derive(Debug, Serialize)]
struct FileCount<'a> {
    file: &'a str,
    out_file: Option<&'a str>,
    directives: usize,
    exact: usize,
    weaker: usize,
    differs: usize,
    left: usize,
    diagnostics: usize,
}

/// A code, in numbers.
#[derive(Debug, Serialize)]
struct CodeCount {
    code: String,
    severity: &'static str,
    title: &'static str,
    count: usize,
    reviewed: usize,
}

/// The numbers of a run.
#[derive(Debug, Serialize)]
struct Totals {
    files: usize,
    with_openacc: usize,
    directives: usize,
    exact: usize,
    weaker: usize,
    differs: usize,
    left: usize,
    library_left: usize,
    failed: usize,
    unknown_language: usize,
    diagnostics: usize,
    reviewed: usize,
    codes: Vec<CodeCount>,
}

#[derive(Debug, Serialize)]
struct Tool {
    name: &'static str,
    version: &'static str,
}

/// A whole run.
#[derive(Debug, Serialize)]
pub(super) struct Whole<'a> {
    version: u32,
    tool: Tool,
    target: &'a str,
    summary: Totals,
    files: Vec<FileCount<'a>>,
    errors: &'a [ErrorRecord],
    directives: Vec<&'a DirectiveRecord>,
    diagnostics: Vec<&'a DiagnosticRecord>,
}

/// What all reports are made from.
#[derive(Debug, Default)]
pub struct Report {
    /// What was translated to: `openmp` or `cuda`; `advice` if nothing was translated.
    pub target: &'static str,
    /// The files that hold OpenACC.
    pub files: Vec<FileRecord>,
    /// The files of which there is no translation.
    pub errors: Vec<ErrorRecord>,
    /// The rule pages that the directives name, by their names.
    pub pages: Vec<(String, String)>,
    /// What the run counts.
    pub summary: Summary,
}

impl Report {
    /// All diagnostics.
    pub(super) fn diagnostics(&self) -> impl Iterator<Item = &DiagnosticRecord> {
        self.files.iter().flat_map(|file| &file.diagnostics)
    }

    /// All directives.
    fn directives(&self) -> impl Iterator<Item = &DirectiveRecord> {
        self.files.iter().flat_map(|file| &file.directives)
    }

    /// The codes of the diagnostics, each once.
    pub(super) fn codes(&self) -> Vec<(Code, Severity)> {
        let mut codes: BTreeMap<Code, Severity> = BTreeMap::new();
        for one in self.diagnostics() {
            let Ok(code) = one.code.parse() else { continue };
            let known = codes.entry(code).or_insert(one.rank);
            *known = one.rank.max(*known);
        }
        codes.into_iter().collect()
    }

    /// The report in its published form.
    pub(super) fn whole(&self) -> Whole<'_> {
        let codes = self.codes().into_iter().map(|(code, severity)| {
            let name = code.to_string();
            let of = || self.diagnostics().filter(|one| one.code == name);
            CodeCount {
                severity: word(severity),
                title: pages::title(code).unwrap_or_default(),
                count: of().count(),
                reviewed: of().filter(|one| one.reviewed).count(),
                code: name.clone(),
            }
        });
        let count = |status: Status| self.directives().filter(|one| one.status == status).count();
        let summary = Totals {
            files: self.summary.files,
            with_openacc: self.summary.with_openacc,
            directives: self.summary.directives,
            exact: count(Status::Exact),
            weaker: count(Status::Weaker),
            differs: count(Status::Differs),
            left: count(Status::Left),
            library_left: self.summary.library_left(),
            failed: self.errors.iter().filter(|one| one.kind == ErrorKind::Failed).count(),
            unknown_language: self.summary.foreign,
            diagnostics: self.diagnostics().count(),
            reviewed: self.diagnostics().filter(|one| one.reviewed).count(),
            codes: codes.collect(),
        };
        Whole {
            version: VERSION,
            tool: Tool { name: "acc2omp", version: env!("CARGO_PKG_VERSION") },
            target: self.target,
            summary,
            files: self.files.iter().map(FileRecord::count).collect(),
            errors: &self.errors,
            directives: self.directives().collect(),
            diagnostics: self.diagnostics().collect(),
        }
    }

    /// The report as JSON.
    pub fn json(&self) -> String {
        serde_json::to_string_pretty(&self.whole()).unwrap_or_default() + "\n"
    }
}

impl FileRecord {
    fn count(&self) -> FileCount<'_> {
        let count = |status: Status| self.directives.iter().filter(|one| one.status == status).count();
        FileCount {
            file: &self.file,
            out_file: self.out_file.as_deref(),
            directives: self.directive_count,
            exact: count(Status::Exact),
            weaker: count(Status::Weaker),
            differs: count(Status::Differs),
            left: count(Status::Left),
            diagnostics: self.diagnostics.len(),
        }
    }
}

#[cfg(test)]
mod tests;
