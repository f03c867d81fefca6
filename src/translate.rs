//! The façade: one source in, one translation out.
//!
//! Invariant: the same source and options give the same translation; nothing outside the returned edits changes.

use std::sync::Arc;

use crate::diag::Diag;
use crate::edit::Edit;
use crate::source::{Language, SourceFile, Span};

/// A source file with the local headers it includes.
#[derive(Clone, Debug)]
pub struct Source {
    /// The file to translate.
    pub file: SourceFile,
    /// The local headers that it reaches by `#include "…"`, in the order the compiler meets them; they are read for
    /// their declarations and not translated with it.
    pub headers: Vec<Arc<Header>>,
}

/// A header read for its declarations.
#[derive(Debug)]
pub struct Header {
    /// Its file.
    pub file: SourceFile,
}

impl Header {
    /// Reads a header's declarations.
    pub fn new(file: SourceFile) -> Header {
        Header { file }
    }
}

impl Source {
    /// A file without headers.
    pub fn new(name: impl Into<String>, bytes: Vec<u8>, language: Language) -> Source {
        Source { file: SourceFile::new(name, bytes, language), headers: Vec::new() }
    }

    /// The file paths between quotes in its `#include "…"` lines, in source order, of all preprocessor branches.
    pub fn quoted_includes(file: &SourceFile) -> Vec<String> {
        let _ = file;
        Vec::new()
    }
}

/// An OpenMP version, as `45` for 4.5.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Version(pub u8);

/// The compiler that the output is tuned for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Profile {
    /// Any compiler: one flat parallel loop.
    #[default]
    Generic,
    /// LLVM clang.
    Clang,
    /// GNU gcc.
    Gcc,
}

/// What to translate to.
#[derive(Clone, Debug)]
pub struct Options {
    /// The newest OpenMP version that the output may use.
    pub omp: Version,
    /// The compiler that the output is tuned for.
    pub profile: Profile,
    /// The device type whose `device_type` clauses count, in lower case (`nvidia`, `host` …).
    pub device_type: String,
}

impl Default for Options {
    fn default() -> Options {
        Options { omp: Version(45), profile: Profile::Generic, device_type: "nvidia".to_owned() }
    }
}

/// What became of a directive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Outcome {
    /// Translated with the same meaning.
    Exact,
    /// Translated; a diagnostic says what is weaker or differs.
    Noted,
    /// Left as it was; a diagnostic says why.
    Left,
}

/// One directive of the source, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectiveReport {
    /// Its bytes in the source.
    pub span: Span,
    /// Its name (`parallel loop`).
    pub name: String,
    /// What became of it.
    pub outcome: Outcome,
    /// The rule rows used, as `clause/present#0`.
    pub rows: Vec<String>,
}

/// The result for one file.
#[derive(Clone, Debug)]
pub struct Translation {
    /// The new text.
    pub text: Vec<u8>,
    /// The edits that make it from the source: sorted, disjoint.
    pub edits: Vec<Edit>,
    /// What there is to say, by place.
    pub diagnostics: Vec<Diag>,
    /// Every OpenACC directive of the source, by place.
    pub directives: Vec<DirectiveReport>,
}

/// Translates one source.
pub fn translate(source: &Source, options: &Options) -> Translation {
    let _ = options;
    Translation {
        text: source.file.bytes.clone(),
        edits: Vec::new(),
        diagnostics: Vec::new(),
        directives: Vec::new(),
    }
}
