//! A report in SARIF 2.1.0, which code hosts and editors read.
//!
//! Invariant: a fix is offered only where its edits keep the results of the program by themselves.

use serde_json::{Value, json};

use super::record::{DiagnosticRecord, EditRecord, ErrorKind, ErrorRecord, Place, Report};
use crate::diag::{Code, Severity, pages};

/// Where the form is defined.
const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json";

impl Report {
    /// The report in SARIF.
    pub fn sarif(&self) -> String {
        let codes = self.codes();
        let rules: Vec<Value> = codes.iter().map(|(code, severity)| rule(*code, *severity)).collect();
        let index = |one: &DiagnosticRecord| codes.iter().position(|(code, _)| code.to_string() == one.code);
        let results: Vec<Value> =
            self.diagnostics().map(|one| result(one, index(one).unwrap_or_default())).collect();
        let notifications: Vec<Value> = self.errors.iter().map(notification).collect();
        let is_whole = self.errors.iter().all(|one| one.kind != ErrorKind::Failed);
        let run = json!({
            "tool": { "driver": {
                "name": "acc2omp",
                "version": env!("CARGO_PKG_VERSION"),
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            } },
            "columnKind": "unicodeCodePoints",
            "invocations": [{
                "executionSuccessful": is_whole,
                "toolExecutionNotifications": notifications,
            }],
            "results": results,
        });
        let log = json!({ "$schema": SCHEMA, "version": "2.1.0", "runs": [run] });
        serde_json::to_string_pretty(&log).unwrap_or_default() + "\n"
    }
}

/// A file without a translation.
fn notification(one: &ErrorRecord) -> Value {
    let file = one.file.as_deref();
    let locations: Vec<Value> = file
        .map(|file| json!({ "physicalLocation": { "artifactLocation": artifact(file) } }))
        .into_iter()
        .collect();
    json!({ "level": "error", "message": { "text": one.message }, "locations": locations })
}

fn rule(code: Code, severity: Severity) -> Value {
    let page = pages::page(code).unwrap_or_default();
    let summary = page.split("\n\n").nth(1).unwrap_or_default();
    json!({
        "id": code.to_string(),
        "shortDescription": { "text": pages::title(code).unwrap_or_default() },
        "fullDescription": { "text": summary },
        "help": { "text": page, "markdown": page },
        "defaultConfiguration": { "level": level(severity) },
    })
}

fn result(one: &DiagnosticRecord, rule: usize) -> Value {
    let text = match &one.fix {
        Some(fix) => format!("{}\nHelp: {}", one.message, fix.text),
        None => one.message.clone(),
    };
    let related: Vec<Value> = one
        .others
        .iter()
        .enumerate()
        .map(|(at, mark)| {
            json!({
                "id": at + 1,
                "physicalLocation": location(&one.file, mark.place),
                "message": { "text": mark.text },
            })
        })
        .collect();
    let mut result = json!({
        "ruleId": one.code,
        "ruleIndex": rule,
        "level": level(one.rank),
        "message": { "text": text },
        "locations": [{ "physicalLocation": location(&one.file, one.place) }],
        "partialFingerprints": { "acc2omp/v1": one.fingerprint },
    });
    let Some(fields) = result.as_object_mut() else { return result };
    if !related.is_empty() {
        fields.insert("relatedLocations".to_owned(), related.into());
    }
    if let Some(fix) = one.fix.as_ref().filter(|fix| !fix.edits.is_empty()) {
        let replacements: Vec<Value> = fix.edits.iter().map(replacement).collect();
        let change = json!({ "artifactLocation": artifact(&one.file), "replacements": replacements });
        let fix = json!([{ "description": { "text": fix.text }, "artifactChanges": [change] }]);
        fields.insert("fixes".to_owned(), fix);
    }
    if one.reviewed {
        fields
            .insert("suppressions".to_owned(), json!([{ "kind": "external", "justification": "baseline" }]));
    }
    result
}

fn replacement(edit: &EditRecord) -> Value {
    json!({ "deletedRegion": region(edit.place), "insertedContent": { "text": edit.text } })
}

fn location(file: &str, place: Place) -> Value {
    json!({ "artifactLocation": artifact(file), "region": region(place) })
}

fn region(place: Place) -> Value {
    json!({
        "startLine": place.line,
        "startColumn": place.column,
        "endLine": place.end_line,
        "endColumn": place.end_column,
    })
}

/// The name of a file as a URI: bytes with a meaning of their own there are written by their numbers.
fn artifact(file: &str) -> Value {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~/".contains(&byte);
    let encode = |byte: u8| match byte {
        _ if is_plain(byte) => char::from(byte).to_string(),
        b'\\' if cfg!(windows) => "/".to_owned(),
        _ => format!("%{byte:02X}"),
    };
    let path: String = file.bytes().map(encode).collect();
    let uri = if path.starts_with('/') { format!("file://{path}") } else { path };
    json!({ "uri": uri })
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Info => "note",
        Severity::Weaker | Severity::Differs => "warning",
        Severity::Left | Severity::Bug => "error",
    }
}
