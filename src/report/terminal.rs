//! Messages with their source lines, and the closing table, for people.
//!
//! Invariant: the same diagnostics give the same text; colour is the only thing a terminal changes.

use std::borrow::Cow;
use std::collections::BTreeMap;

use annotate_snippets::{Annotation, AnnotationKind, Level, Renderer, Snippet};

use super::Summary;
use crate::diag::{Code, Diag, Severity, pages};
use crate::source::{SourceFile, Span};

/// Lines named behind "… and 11 more"; the rest is an ellipsis.
const LINES_NAMED: usize = 10;

/// Files named in one message; the rest is an ellipsis.
const FILES_NAMED: usize = 3;

/// The code of a use of the run-time library that is left.
const LIBRARY: u16 = 305;

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
    for diag in diags.iter().filter(|diag| manner.verbose || diag.severity > Severity::Info) {
        if manner.verbose || !folds(diag) {
            out += &one(file, diag, manner);
        } else if let Some(all) = repeated.remove(&diag.code) {
            out += &one(file, diag, manner);
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
    let mut lines: Vec<usize> =
        rest.iter().map(|diag| file.lines.line(diag.primary.span.start) + 1).collect();
    lines.dedup();
    let named: Vec<String> = lines.iter().take(LINES_NAMED).map(usize::to_string).collect();
    let ellipsis = if lines.len() > LINES_NAMED { ", …" } else { "" };
    let word = if lines.len() == 1 { "line" } else { "lines" };
    match rest.len() {
        0 => String::new(),
        more => {
            format!("… and {more} more of {code} in this file: {word} {}{ellipsis}\n\n", named.join(", "))
        }
    }
}

fn one(file: &SourceFile, diag: &Diag, manner: Manner) -> String {
    let excerpt = Excerpt::of(file, diag);
    let first = file.lines.line(excerpt.at) + 1;
    let primary = annotation(AnnotationKind::Primary, excerpt.range(diag.primary.span), &diag.primary.text);
    let context = diag
        .others
        .iter()
        .map(|label| annotation(AnnotationKind::Context, excerpt.range(label.span), &label.text));
    let snippet = Snippet::source(excerpt.text.as_str())
        .path(file.name.as_str())
        .line_start(first)
        .annotation(primary)
        .annotations(context);
    let code = diag.code.to_string();
    let mut group = level(diag.severity).primary_title(diag.message.as_str()).id(code).element(snippet);
    if !diag.help.is_empty() {
        group = group.element(Level::HELP.message(diag.help.as_str()));
    }
    let renderer = if manner.color { Renderer::styled() } else { Renderer::plain() };
    renderer.render(&[group]) + "\n\n"
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
    level.with_name(word(severity))
}

fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Info => "note",
        Severity::Weaker => "weaker",
        Severity::Differs => "differs",
        Severity::Left => "left",
        Severity::Bug => "bug",
    }
}

/// The lines that a diagnostic marks, as text.
struct Excerpt<'a> {
    file: &'a SourceFile,
    /// Where they begin in the file.
    at: u32,
    text: String,
}

impl<'a> Excerpt<'a> {
    fn of(file: &'a SourceFile, diag: &Diag) -> Excerpt<'a> {
        let all = diag.others.iter().fold(diag.primary.span, |all, label| all.to(label.span));
        let from = file.lines.span(file.lines.line(all.start));
        let to = file.lines.span(file.lines.line(all.end.max(all.start + 1) - 1));
        Excerpt { file, at: from.start, text: readable(file.slice(from.to(to))).trim_end().to_owned() }
    }

    /// The place of `span` in the text.
    fn range(&self, span: Span) -> std::ops::Range<usize> {
        let start = self.place(span.start);
        start..self.place(span.end).max(start)
    }

    fn place(&self, offset: u32) -> usize {
        let before = Span { start: self.at, end: offset.max(self.at) };
        self.text.floor_char_boundary(readable(self.file.slice(before)).len().min(self.text.len()))
    }
}

/// Text of bytes of any encoding; control characters are shown as blanks.
fn readable(bytes: &[u8]) -> String {
    let blank = |c: char| if c.is_ascii_control() && c != '\n' && c != '\t' { ' ' } else { c };
    String::from_utf8_lossy(bytes).chars().map(blank).collect()
}

/// One message about all files of `names`, which hold OpenACC in a language that is not translated yet.
pub fn foreign(names: &[&str], manner: Manner) -> String {
    let shown = if manner.verbose { names.len() } else { FILES_NAMED };
    let named = names.iter().take(shown).copied().collect::<Vec<_>>().join(", ");
    let ellipsis = if names.len() > shown { ", … (`-v` names all)" } else { "" };
    let files = if names.len() == 1 { "1 file".to_owned() } else { format!("{} files", names.len()) };
    match names.len() {
        0 => String::new(),
        _ => format!(
            "left: OpenACC in {files} of a language that is not translated yet: {named}{ellipsis}\n\n"
        ),
    }
}

/// The closing table: what became of the directives, the notes by code, where to read more.
pub fn table(summary: &Summary, manner: Manner) -> String {
    let cells = [
        ("files", summary.files),
        ("with OpenACC", summary.with_openacc),
        ("directives", summary.directives),
        ("exact", summary.exact),
        ("with notes", summary.noted),
        ("left", summary.left),
    ];
    let mut out = cells.iter().map(|(name, _)| format!("{name:>14}")).collect::<String>() + "\n";
    out += &cells.iter().map(|(_, count)| format!("{count:>14}")).collect::<String>();
    out += "\n";
    // The table counts directives.
    if let Some(names) = summary.codes.get(&Code(LIBRARY)) {
        let (uses, are) = if names.count == 1 { ("use", "is") } else { ("uses", "are") };
        out += &format!("\n{} {uses} of the run-time library {are} left, too\n", names.count);
    }
    if !summary.codes.is_empty() {
        out += "\n";
    }
    for (code, counted) in &summary.codes {
        let title = pages::title(*code).map_or(Cow::Borrowed(""), Cow::Borrowed);
        out += &format!("{:>8}  {code}  {:<8}{title}\n", counted.count, word(counted.severity));
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
mod tests {
    use super::*;
    use crate::diag;
    use crate::source::Language;

    fn file(bytes: &[u8]) -> SourceFile {
        SourceFile::new("x.c", bytes.to_vec(), Language::C)
    }

    #[test]
    fn a_message_shows_its_line() {
        let file = file(b"int a;\r\n#pragma acc parallel async\r\n{ }\r\n");
        let text = diagnostics(&file, &[diag::synchronous(Span::new(29, 34), "async")], Manner::default());
        let expected = "\
weaker[A0205]: the host waits here, for `async`
 --> x.c:2:22
  |
2 | #pragma acc parallel async
  |                      ^^^^^ now synchronous
  |
  = help: results are the same; overlap of transfers and kernels is lost

";
        assert_eq!(text, expected);
    }

    #[test]
    fn further_notes_of_one_code_are_counted() {
        let file = file(b"a\nb\nc\n");
        let notes: Vec<Diag> =
            [0, 2, 4].map(|at| diag::absent_unchecked(Span::new(at, at + 1), "update")).into();
        let text = diagnostics(&file, &notes, Manner::default());
        assert!(text.ends_with("… and 2 more of A0204 in this file: lines 2, 3\n\n"), "{text}");
        let full = diagnostics(&file, &notes, Manner { verbose: true, color: false });
        assert_eq!(full.matches("[A0204]").count(), 3);
    }

    #[test]
    fn information_waits_for_the_table() {
        let file = file(b"a\n");
        let note = [diag::cache_dropped(Span::new(0, 1))];
        assert_eq!(diagnostics(&file, &note, Manner::default()), "");
        let mut summary = Summary::default();
        summary.note(&note);
        let text = table(&summary, Manner::default());
        assert!(text.contains("A0222  note") && text.contains("`-v`"), "{text}");
        assert!(!summary.something_left());
    }

    #[test]
    fn odd_bytes_and_places_do_not_break_a_message() {
        let file = file("\u{e4}\t\u{1b}[31mé\r\n".as_bytes());
        let length = file.bytes.len();
        for start in 0..=length {
            for end in start..=length {
                let note = diag::not_understood(Span::new(start, end)).with(Span::at(length), "here");

                assert!(diagnostics(&file, &[note], Manner::default()).contains("A0009"));
            }
        }
        let latin = SourceFile::new("l.c", b"\xe4\xf6\xfc x\n".to_vec(), Language::C);
        let text = diagnostics(&latin, &[diag::not_understood(Span::new(4, 5))], Manner::default());
        assert!(text.contains("l.c:1:5"), "{text}");
        let empty = SourceFile::new("e.c", Vec::new(), Language::C);
        assert!(
            diagnostics(&empty, &[diag::not_understood(Span::at(0))], Manner::default()).contains("A0009")
        );
    }
}
