//! Annotations as GitHub's workflows read them, and the summary of a step.
//!
//! Invariant: no more annotations of a level than a step may have; what has none is in the summary.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write;

use super::groups::numbers;
use super::record::{DiagnosticRecord, ErrorRecord, Report};
use super::terminal::shown;
use crate::diag::Severity;

/// So many annotations of a level a step may have.
const LIMIT: usize = 10;

/// The diagnostics of one code in one file, which are not reviewed.
struct Group<'a> {
    first: &'a DiagnosticRecord,
    severity: Severity,
    lines: Vec<usize>,
}

impl Report {
    /// The annotations, and the summary in Markdown.
    pub fn github(&self) -> (String, String) {
        let groups = self.groups();
        let mut annotations = String::new();
        let mut used: BTreeMap<&str, usize> = BTreeMap::new();
        let mut rest = 0;
        for one in &self.errors {
            let count = used.entry(level(Severity::Left)).or_default();
            *count += 1;
            if *count <= LIMIT {
                annotations += &error(one);
            } else {
                rest += 1;
            }
        }
        for group in groups.iter().filter(|group| group.severity > Severity::Info) {
            let count = used.entry(level(group.severity)).or_default();
            *count += 1;
            if *count <= LIMIT {
                annotations += &annotation(group);
            } else {
                rest += 1;
            }
        }
        (annotations, self.step(&groups, rest))
    }

    /// The groups, worst and largest first.
    fn groups(&self) -> Vec<Group<'_>> {
        let mut groups: BTreeMap<(&str, &str), Group> = BTreeMap::new();
        for one in self.diagnostics().filter(|one| !one.reviewed) {
            let fresh = || Group { first: one, severity: one.rank, lines: Vec::new() };
            let group = groups.entry((&one.code, &one.file)).or_insert_with(fresh);
            if one.rank > group.severity {
                (group.first, group.severity) = (one, one.rank);
            }
            group.lines.push(one.place.line);
        }
        let mut groups: Vec<Group> = groups.into_values().collect();
        groups.sort_by_key(|group| (Reverse(group.severity), Reverse(group.lines.len())));
        groups
    }

    fn step(&self, groups: &[Group], rest: usize) -> String {
        let sum = &self.summary;
        let mut text = format!(
            "## acc2omp\n\n| files | with OpenACC | directives | exact | weaker/differs | untranslated |\n\
             |---:|---:|---:|---:|---:|---:|\n| {} | {} | {} | {} | {} | {} |\n",
            sum.files, sum.with_openacc, sum.directives, sum.exact, sum.noted, sum.left
        );
        if rest > 0 {
            let _ = write!(
                text,
                "\n{rest} of these rows have no annotation: a step may have {LIMIT} of each level.\n"
            );
        }
        if !self.errors.is_empty() {
            text += "\n| file without a translation | why |\n|---|---|\n";
        }
        for one in &self.errors {
            let _ =
                writeln!(text, "| {} | {} |", cell(one.file.as_deref().unwrap_or("")), cell(&one.message));
        }
        if !groups.is_empty() {
            text += "\n| severity | code | file | count | lines | what |\n|---|---|---|---:|---|---|\n";
        }
        for group in groups {
            let one = group.first;
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} | {} | {} |",
                shown(one.rank),
                one.code,
                cell(&one.file),
                group.lines.len(),
                numbers(&group.lines).0,
                cell(&one.title)
            );
        }
        text
    }
}

fn annotation(group: &Group) -> String {
    let one = group.first;
    let mut message = one.message.clone();
    if let Some(fix) = &one.fix {
        let _ = write!(message, "\nHelp: {}", fix.text);
    }
    if group.lines.len() > 1 {
        let (count, lines) = (group.lines.len(), numbers(&group.lines).0);
        let _ = write!(message, "\n{count} of {} in this file: lines {lines}", one.code);
    }
    format!(
        "::{} file={},line={},endLine={},col={},title={}::{}\n",
        level(group.severity),
        property(&one.file),
        one.place.line,
        one.place.end_line,
        one.place.column,
        property(&format!("{} ({}): {}", one.code, shown(one.rank), one.title)),
        data(&message)
    )
}

/// The annotation of a file without a translation.
fn error(one: &ErrorRecord) -> String {
    let file = one.file.as_deref().map(|file| format!("file={},", property(file))).unwrap_or_default();
    format!("::error {file}title=no translation::{}\n", data(&one.message))
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Info => "notice",
        Severity::Weaker | Severity::Differs => "warning",
        Severity::Left | Severity::Bug => "error",
    }
}

/// A text in a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace(['\n', '\r'], " ")
}

/// The message of a workflow command.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A property of a workflow command.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests;
