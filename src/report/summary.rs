//! What a run counts.
//!
//! Invariant: adding summaries in any order gives the same sums.

use std::collections::BTreeMap;

use crate::diag::{Code, Diag, Severity};

/// The numbers of the closing table, of one file or of many.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Files that were read or copied.
    pub files: usize,
    /// Files that hold an OpenACC directive.
    pub with_openacc: usize,
    /// OpenACC directives.
    pub directives: usize,
    /// Directives translated with the same meaning.
    pub exact: usize,
    /// Directives translated with something to know.
    pub noted: usize,
    /// Directives left as they were.
    pub left: usize,
    /// Files that hold OpenACC in a language that is not translated yet.
    pub foreign: usize,
    /// Diagnostics by code.
    pub codes: BTreeMap<Code, Counted>,
}

/// How often a code was used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// Its worst severity.
    pub severity: Severity,
    /// The number of diagnostics.
    pub count: usize,
}

impl Summary {
    /// Counts diagnostics.
    pub fn note(&mut self, diagnostics: &[Diag]) {
        for diag in diagnostics {
            self.count(diag.code, Counted { severity: diag.severity, count: 1 });
        }
    }

    /// Adds the numbers of `other`.
    pub fn add(&mut self, other: &Summary) {
        self.files += other.files;
        self.with_openacc += other.with_openacc;
        self.directives += other.directives;
        self.exact += other.exact;
        self.noted += other.noted;
        self.left += other.left;
        self.foreign += other.foreign;
        other.codes.iter().for_each(|(code, counted)| self.count(*code, *counted));
    }

    /// Whether some OpenACC was not translated.
    pub fn something_left(&self) -> bool {
        let worst = self.codes.values().map(|counted| counted.severity).max();
        self.left > 0 || self.foreign > 0 || worst >= Some(Severity::Left)
    }

    fn count(&mut self, code: Code, more: Counted) {
        let known = self.codes.entry(code).or_insert(Counted { severity: more.severity, count: 0 });
        known.severity = known.severity.max(more.severity);
        known.count += more.count;
    }
}
