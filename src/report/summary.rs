//! What a run counts.
//!
//! Invariant: adding summaries in any order gives the same sums.

use std::collections::BTreeMap;

use crate::diag::{Code, Diag, Severity};

/// The code of a use of the run-time library that is left untranslated.
const LIBRARY: u16 = 305;

/// The numbers of the closing table, of one file or of many.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Files that were read or copied.
    pub files: usize,
    /// Files that hold OpenACC: directives, uses of the run-time library, or something else to report.
    pub with_openacc: usize,
    /// OpenACC directives.
    pub directives: usize,
    /// Directives translated with the same meaning.
    pub exact: usize,
    /// Directives translated, of which a diagnostic says what is weaker or differs.
    pub noted: usize,
    /// Directives that are untranslated.
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

    /// Uses of the run-time library that are untranslated.
    pub fn library_left(&self) -> usize {
        self.codes.get(&Code(LIBRARY)).map_or(0, |counted| counted.count)
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
