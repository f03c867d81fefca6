//! Messages with their source lines, and the closing table, for people.
//!
//! Invariant: the same diagnostics give the same text; colour is the only thing a terminal changes.

use std::borrow::Cow;
use std::collections::BTreeMap;

use annotate_snippets::{Annotation, AnnotationKind, Level, Renderer, Snippet};

use super::Summary;
use super::excerpt::{Columns, pieces};
use super::groups::named_lines;
use crate::diag::{Code, Diag, Severity, pages};
use crate::source::SourceFile;

/// Files named in one message; the rest is an ellipsis.
const FILES_NAMED: usize = 3;

/// How to speak.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Manner {
    /// With colours.
    pub color: bool,
    /// Everything in full.
    pub verbose: bool,
}

/// The messages about one file. Unless the manner is verbose, notes of severity `Info` are left to the table, and of
/// many `Weaker` ones with one code the first is shown and the others are counted.
pub fn diagnostics(file: &SourceFile, diags: &[Diag], manner: Manner) -> String {
    let mut repeated: BTreeMap<Code, Vec<&Diag>> = BTreeMap::new();
    if !manner.verbose {
        diags
            .iter()
            .filter(|diag| folds(diag))
            .for_each(|diag| repeated.entry(diag.code).or_default().push(diag));
    }
    let mut out = String::new();
    let mut columns = Columns::default();
    for diag in diags.iter().filter(|diag| manner.verbose || diag.severity > Severity::Info) {
        if manner.verbose || !folds(diag) {
            out += &one(file, diag, manner, &mut columns);
        } else if let Some(all) = repeated.remove(&diag.code) {
            out += &one(file, diag, manner, &mut columns);
            out += &others(file, diag.code, all.get(1..).unwrap_or_default());
        }
    }
    out
}

/// Whether further diagnostics of this one's code are only counted.
fn folds(diag: &Diag) -> bool {
    diag.severity == Severity::Weaker
}

fn others(file: &SourceFile, code: Code, rest: &[&Diag]) -> String {
    let lines: Vec<usize> = rest.iter().map(|diag| file.lines.line(diag.primary.span.start) + 1).collect();
    match rest.len() {
        0 => String::new(),
        more => format!("… and {more} more of {code} in this file: {}\n\n", named_lines(&lines)),
    }
}

/// One message.
pub(super) fn one(file: &SourceFile, diag: &Diag, manner: Manner, columns: &mut Columns) -> String {
    let pieces = pieces(file, diag, columns);
    let snippets = pieces.iter().map(|piece| {
        let marks = piece.marks.iter().map(|(kind, range, label)| annotation(*kind, range.clone(), label));
        Snippet::source(piece.text.as_str())
            .path(file.name.as_str())
            .line_start(piece.line)
            .annotations(marks)
    });
    let code = diag.code.to_string();
    let title = level(diag.severity).primary_title(diag.message.as_str()).id(code);
    let mut group = title.elements(snippets);
    if !diag.help.is_empty() {
        group = group.element(Level::HELP.message(diag.help.as_str()));
    }
    let renderer = if manner.color { Renderer::styled() } else { Renderer::plain() };
    let mut text = renderer.render(&[group]) + "\n\n";
    for piece in &pieces {
        let Some((shown, meant)) = piece.column else { continue };
        let place = |column: usize| format!("{}:{}:{column}\n", file.name, piece.line);
        text = text.replacen(&place(shown), &place(meant), 1);
    }
    text
}

fn annotation(kind: AnnotationKind, range: std::ops::Range<usize>, text: &str) -> Annotation<'_> {
    let label = (!text.is_empty()).then_some(text);
    kind.span(range).label(label)
}

fn level(severity: Severity) -> Level<'static> {
    let level = match severity {
        Severity::Info => Level::NOTE,
        Severity::Weaker | Severity::Differs => Level::WARNING,
        Severity::Left | Severity::Bug => Level::ERROR,
    };
    level.with_name(shown(severity))
}

/// What a severity is called in messages for people.
pub(super) fn shown(severity: Severity) -> &'static str {
    match severity {
        Severity::Left => "untranslated",
        Severity::Info | Severity::Weaker | Severity::Differs | Severity::Bug => word(severity),
    }
}

/// What a severity is called in reports.
pub(super) fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Info => "note",
        Severity::Weaker => "weaker",
        Severity::Differs => "differs",
        Severity::Left => "left",
        Severity::Bug => "bug",
    }
}

/// One message about all files of `names`, which hold OpenACC in a language that is not translated yet.
pub fn foreign(names: &[&str], manner: Manner) -> String {
    if names.is_empty() {
        return String::new();
    }
    let is_for_fypp = |name: &&str| name.to_ascii_lowercase().ends_with(".fypp");
    let fypp = match names.iter().any(is_for_fypp) {
        true => "  help: `.fypp` is for Fypp: run `fypp` first, and translate the files that it writes\n",
        false => "",
    };
    let language = match names.iter().all(is_for_fypp) {
        true => "",
        false => {
            "  help: `--language EXT=fortran`, `EXT=c` or `EXT=c++` says what files that end in `.EXT` are\n"
        }
    };
    format!(
        "untranslated: OpenACC in {} whose name tells no language that is translated: {}\n{fypp}{language}\n",
        counted(names, "file"),
        named(names, manner)
    )
}

/// One message about all sources of `names`, which the compilation database lacks.
pub fn unlisted(names: &[&str], manner: Manner) -> String {
    if names.is_empty() {
        return String::new();
    }
    format!(
        "note: the compilation database lacks {} with OpenACC: {}\n  help: only `-D`, `-U` and `-I` of the command line count there\n\n",
        counted(names, "source"),
        named(names, manner)
    )
}

/// One message about all files of `names`, which sources include and which are not among the inputs.
pub fn beside(names: &[&str], manner: Manner) -> String {
    if names.is_empty() {
        return String::new();
    }
    format!(
        "note: OpenACC in {} that sources include stays as it is: {}\n  help: name these files, or their folder, beside the sources\n\n",
        counted(names, "file"),
        named(names, manner)
    )
}

fn counted(names: &[&str], what: &str) -> String {
    let ending = if names.len() == 1 { "" } else { "s" };
    format!("{} {what}{ending}", names.len())
}

/// The first names, or all of them.
fn named(names: &[&str], manner: Manner) -> String {
    let shown = if manner.verbose { names.len() } else { FILES_NAMED };
    let named = names.iter().take(shown).copied().collect::<Vec<_>>().join(", ");
    let ellipsis = if names.len() > shown { ", … (`-v` names all)" } else { "" };
    named + ellipsis
}

/// The closing table: what became of the directives, the notes by code, where to read more.
pub fn table(summary: &Summary, manner: Manner) -> String {
    let cells = [
        ("files", summary.files),
        ("with OpenACC", summary.with_openacc),
        ("directives", summary.directives),
        ("exact", summary.exact),
        ("weaker/differs", summary.noted),
        ("untranslated", summary.left),
    ];
    let width = |name: &str| (name.len() + 2).max(14);
    let names = cells.iter().map(|(name, _)| format!("{name:>0$}", width(name)));
    let mut out = names.collect::<String>() + "\n";
    out += &cells.iter().map(|(name, count)| format!("{count:>0$}", width(name))).collect::<String>();
    out += "\n";
    // The table counts directives.
    let library = summary.library_left();
    if library > 0 {
        let (uses, are) = if library == 1 { ("use", "is") } else { ("uses", "are") };
        out += &format!("\n{library} {uses} of the run-time library {are} untranslated, too\n");
    }
    if !summary.codes.is_empty() {
        out += "\n";
    }
    for (code, counted) in &summary.codes {
        let title = pages::title(*code).map_or(Cow::Borrowed(""), Cow::Borrowed);
        out += &format!("{:>8}  {code}  {:<14}{title}\n", counted.count, shown(counted.severity));
    }
    out + &closing(summary, manner)
}

fn closing(summary: &Summary, manner: Manner) -> String {
    let worst =
        summary.codes.iter().max_by_key(|(code, counted)| (counted.severity, std::cmp::Reverse(**code)));
    let Some((code, _)) = worst else { return String::new() };
    let silent = summary.codes.values().filter(|counted| counted.severity == Severity::Info);
    let hidden: usize = silent.map(|counted| counted.count).sum();
    let hint = if hidden > 0 && !manner.verbose { "; `-v` shows the notes as well" } else { "" };
    format!("\n`acc2omp explain {code}` tells more about a code{hint}\n")
}

#[cfg(test)]
mod tests;
