//! The diagnostics that somebody has reviewed.
//!
//! Invariant: a diagnostic is known by its fingerprint alone; what else a baseline says of it is for people.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::record::{FileRecord, Report};

/// The version of the form.
const VERSION: u32 = 1;

/// One reviewed diagnostic or directive.
#[derive(Clone, Debug, Deserialize, Serialize)]
struct Entry {
    fingerprint: String,
    /// The code, or the name of the directive.
    #[serde(default)]
    code: String,
    #[serde(default)]
    file: String,
    #[serde(default)]
    line: usize,
}

#[derive(Debug, Deserialize, Serialize)]
struct Form {
    version: u32,
    reviewed: Vec<Entry>,
}

/// What has been reviewed.
#[derive(Clone, Debug, Default)]
pub struct Baseline {
    known: BTreeSet<String>,
}

impl Baseline {
    /// Reads a baseline.
    pub fn read(text: &str) -> Result<Baseline, String> {
        let form: Form = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if form.version != VERSION {
            return Err(format!("it has version {}, and this program reads version {VERSION}", form.version));
        }
        Ok(Baseline { known: form.reviewed.into_iter().map(|entry| entry.fingerprint).collect() })
    }

    /// Marks what it has of a file.
    pub fn mark(&self, record: &mut FileRecord) {
        for one in &mut record.diagnostics {
            one.reviewed = self.known.contains(&one.fingerprint);
        }
        for one in &mut record.directives {
            one.reviewed = self.known.contains(&one.id);
        }
    }
}

/// A baseline that has all diagnostics of a run.
pub fn baseline(report: &Report) -> String {
    let entry = |one: &super::record::DiagnosticRecord| Entry {
        fingerprint: one.fingerprint.clone(),
        code: one.code.clone(),
        file: one.file.clone(),
        line: one.place.line,
    };
    let form = Form { version: VERSION, reviewed: report.diagnostics().map(entry).collect() };
    serde_json::to_string_pretty(&form).unwrap_or_default() + "\n"
}

#[cfg(test)]
mod tests;
