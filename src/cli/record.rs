//! What came of a source, as a record of the report.
//!
//! Invariant: says what the translation says; nothing is judged here.

use std::collections::BTreeSet;

use super::reasons::Reasons;
use crate::diag::Diag;
use crate::edit::Edit;
use crate::report::{
    self, DataRecord, DiagnosticRecord, DirectiveRecord, EditRecord, FileRecord, LoopRecord, LoopVerdict,
    Place, RuleRecord, Seen, Status,
};
use crate::rules::{self, RowId};
use crate::source::{LineIndex, SourceFile};
use crate::{Advice, DataUse, DirectiveReport, Options, Outcome, Source, Translation};

/// The record of a translation, which is written to `out_file`; with both texts if they are shown.
pub fn of_translation(
    source: &Source,
    (translation, options): (&Translation, &Options),
    out_file: Option<String>,
    shows_texts: bool,
) -> FileRecord {
    let file = &source.file;
    let (mut seen, mut ids) = (Seen::default(), Seen::default());
    let mut diagnostics: Vec<DiagnosticRecord> =
        translation.diagnostics.iter().map(|diag| DiagnosticRecord::of(file, diag, &mut seen)).collect();
    let output = Written::of(file, translation);
    let mut directives: Vec<DirectiveRecord> = translation
        .directives
        .iter()
        .map(|one| DirectiveRecord {
            id: ids.fingerprint(file, "directive", one.span),
            out_file: out_file.clone(),
            ..directive(file, one, &output)
        })
        .collect();
    join(&Reasons::of(source, translation, options), &mut diagnostics, &mut directives, translation);
    for one in &translation.loops {
        let Some(of) = governing(&translation.directives, one.span.start) else { continue };
        let (parallel, levels) = match &one.verdict {
            LoopVerdict::Parallel { levels, .. } => (true, (*levels).to_owned()),
            LoopVerdict::Sequential { .. } => (false, String::new()),
        };
        let line = file.line_number(one.span.start);
        let verdict = report::verdict(&one.verdict);
        directives[of].loops.push(LoopRecord { line, parallel, levels, verdict });
    }
    let texts = shows_texts.then(|| (text(&file.bytes), text(&translation.text)));
    let directive_count = directives.len();
    FileRecord { file: file.name.clone(), out_file, directives, directive_count, diagnostics, texts }
}

/// Joins diagnostics to the directives that they are about, which get the status that the worst one says, and untranslated
/// directives to what says why.
fn join(
    reasons: &Reasons,
    records: &mut [DiagnosticRecord],
    directives: &mut [DirectiveRecord],
    translation: &Translation,
) {
    let mut worst = vec![Status::Exact; directives.len()];
    let mut is_moved = vec![false; directives.len()];
    for (record, diag) in records.iter_mut().zip(&translation.diagnostics) {
        let about = reasons.about(diag);
        if let Some(of) = about {
            record.directive = Some(directives[of].id.clone());
            directives[of].diagnostics.push(record.fingerprint.clone());
            worst[of] = worst[of].max(status(diag));
        }
        if let Some(before) = reasons.last_before(diag).filter(|before| about != Some(*before)) {
            is_moved[before] = true;
        }
    }
    for (at, one) in directives.iter_mut().enumerate().filter(|(_, one)| one.status != Status::Left) {
        let known = if is_moved[at] { Status::Exact } else { one.status };
        one.status = known.max(worst[at]);
    }
    for (at, one) in directives.iter_mut().enumerate() {
        for reason in reasons.why(at) {
            let reason = &records[reason].fingerprint;
            if !one.diagnostics.contains(reason) {
                one.diagnostics.push(reason.clone());
            }
        }
    }
}

/// The record of advice, with the edits that it proposes; with both texts if they are shown.
pub fn of_advice(source: &Source, advice: &Advice, shows_texts: bool) -> FileRecord {
    let file = &source.file;
    let mut seen = Seen::default();
    let record = |(diag, edits): (&Diag, &Vec<Edit>)| {
        let mut record = DiagnosticRecord::of(file, diag, &mut seen);
        let edit = |edit: &Edit| EditRecord { place: Place::of(file, edit.span), text: text(&edit.text) };
        if let Some(fix) = &mut record.fix {
            fix.edits = edits.iter().map(edit).collect();
        }
        record
    };
    let diagnostics = advice.diagnostics.iter().zip(&advice.edits).map(record).collect();
    let texts = shows_texts.then(|| (text(&file.bytes), text(&advice.text)));
    let directive_count = advice.directives;
    FileRecord { file: file.name.clone(), directive_count, diagnostics, texts, ..FileRecord::default() }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The directive at a place, or the last one before it.
fn governing(directives: &[DirectiveReport], place: u32) -> Option<usize> {
    directives.partition_point(|one| one.span.start <= place).checked_sub(1)
}

/// The status of a translated directive with a diagnostic.
fn status(diag: &Diag) -> Status {
    use crate::diag::Severity::{Bug, Differs, Info, Left, Weaker};
    match diag.severity {
        Info => Status::Exact,
        Weaker => Status::Weaker,
        Differs | Left | Bug => Status::Differs,
    }
}

/// The record of a directive, except what stands in others.
fn directive(file: &SourceFile, one: &DirectiveReport, output: &Written) -> DirectiveRecord {
    let status = match one.outcome {
        Outcome::Exact => Status::Exact,
        Outcome::Noted => Status::Weaker,
        Outcome::Left => Status::Left,
    };
    let (target, out_line) = output.of_directive(one);
    let data = |one: &DataUse| DataRecord {
        item: one.item.to_string(),
        clause: one.how.to_owned(),
        implied_by: one.implied_by.map(str::to_owned),
    };
    DirectiveRecord {
        id: String::new(),
        file: file.name.clone(),
        place: Place::of(file, one.span),
        label: one.name.to_owned(),
        original: text(file.slice(one.span)),
        status,
        target,
        out_file: None,
        out_line,
        data: one.data.iter().map(data).collect(),
        loops: Vec::new(),
        rules: used(&one.rows),
        diagnostics: Vec::new(),
        reviewed: false,
    }
}

/// The texts of the rule pages that records name.
pub fn pages(files: &[FileRecord]) -> Vec<(String, String)> {
    let rules = files.iter().flat_map(|file| &file.directives).flat_map(|one| &one.rules);
    let implied = files.iter().flat_map(|file| &file.directives).flat_map(|one| &one.data);
    let names: BTreeSet<&str> = rules
        .map(|rule| rule.page.as_str())
        .chain(implied.filter_map(|one| one.implied_by.as_deref()))
        .collect();
    let page = |page: &&rules::Page| names.contains(page.entry.as_str());
    rules::rules().pages().filter(page).map(|page| (page.entry.clone(), page.text.clone())).collect()
}

/// The rows of rule pages, each once.
fn used(rows: &[&RowId]) -> Vec<RuleRecord> {
    let rows: BTreeSet<&RowId> = rows.iter().copied().collect();
    let record = |row: &RowId| {
        let page = rules::rules().pages().find(|page| page.entry == row.entry)?;
        let cited = page.rows.get(row.number).map(|row| row.cite.as_slice()).unwrap_or_default();
        let own = (!page.cite.is_empty()).then(|| page.cite.clone());
        Some(RuleRecord {
            row: row.to_string(),
            page: row.entry.clone(),
            title: page.title.replace('`', ""),
            sections: own.into_iter().chain(cited.iter().cloned()).collect(),
        })
    };
    rows.into_iter().filter_map(record).collect()
}

/// The text of a translation, and where its parts come from.
struct Written<'a> {
    file: &'a SourceFile,
    edits: &'a [Edit],
    text: &'a [u8],
    lines: LineIndex,
    /// The edits make the text.
    is_known: bool,
}

impl<'a> Written<'a> {
    fn of(file: &'a SourceFile, translation: &'a Translation) -> Written<'a> {
        let edits = translation.edits.as_slice();
        let is_known = !edits.is_empty() || translation.text == file.bytes;
        let text = translation.text.as_slice();
        Written { file, edits, text, lines: LineIndex::new(text), is_known }
    }

    /// What replaces a directive, and the line where that stands.
    fn of_directive(&self, one: &DirectiveReport) -> (String, Option<usize>) {
        if !self.is_known {
            return (String::new(), None);
        }
        // A translation may be put in before the directive's line.
        let start = self.file.lines.span(self.file.lines.line(one.span.start)).start;
        let touches = |edit: &&Edit| match edit.span.is_empty() {
            true => start <= edit.span.start && edit.span.start <= one.span.end,
            false => edit.span.start < one.span.end && edit.span.end > one.span.start,
        };
        let own: Vec<&Edit> = match one.outcome {
            Outcome::Left => Vec::new(),
            Outcome::Exact | Outcome::Noted => self.edits.iter().filter(touches).collect(),
        };
        let mut own = own.into_iter().filter(|edit| !edit.text.trim_ascii().is_empty());
        let Some(first) = own.next() else {
            return (String::new(), Some(self.lines.line(self.moved(one.span.start)) + 1));
        };
        let place = self.moved(first.span.start) + blanks(&first.text);
        let last = own.next_back().unwrap_or(first);
        let end = self.moved(last.span.start) as usize + last.text.len();
        let target = self.text.get(self.sentinel(place)..end).unwrap_or_default();
        (text(target.trim_ascii()), Some(self.lines.line(place) + 1))
    }

    /// The beginning of the line at a place of the translation, if a directive begins there: an edit may leave its first word.
    fn sentinel(&self, place: u32) -> usize {
        let start = self.lines.span(self.lines.line(place)).start as usize;
        let before = self.text.get(start..place as usize).unwrap_or_default();
        let before = before.trim_ascii_start();
        let is_sentinel = before.starts_with(b"#") || before.ends_with(b"$") && before.len() == 2;
        if is_sentinel { start } else { place as usize }
    }

    /// Where an offset of the source is in the translation, before what is put in there.
    fn moved(&self, offset: u32) -> u32 {
        let before = self.edits.partition_point(|edit| edit.span.start < offset);
        let grown: i64 = self.edits[..before]
            .iter()
            .map(|edit| edit.text.len() as i64 - i64::from(edit.span.end.min(offset) - edit.span.start))
            .sum();
        u32::try_from(i64::from(offset) + grown).unwrap_or_default()
    }
}

/// How many bytes of white space a text begins with.
fn blanks(text: &[u8]) -> u32 {
    (text.len() - text.trim_ascii_start().len()) as u32
}
