//! The `toml rule` fence as written.
//!
//! Invariant: unknown keys are refused; nothing here has been checked beyond its type.

use std::collections::BTreeMap;

use serde::Deserialize;

/// The fence.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawPage {
    /// A page about a clause.
    pub clause: Option<RawSubject>,
    /// A page about a directive.
    pub directive: Option<RawSubject>,
    /// A page about an implicit rule.
    pub implicit: Option<RawSubject>,
    /// A page about a routine of the run-time library, or a name of its header.
    pub routine: Option<RawSubject>,
    /// The rows for OpenMP.
    pub omp: Vec<toml::Spanned<RawRow>>,
    /// The rows for CUDA.
    #[serde(default)]
    pub cuda: Vec<toml::Spanned<RawCudaRow>>,
}

/// What a page is about.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawSubject {
    /// The OpenACC word, or the rule's name.
    pub name: String,
    /// The directives it may stand on; empty for a directive's own page.
    #[serde(default)]
    pub on: Vec<String>,
    /// Other names that mean the same; a routine's `…_async` counterparts take a queue as their last argument.
    #[serde(default)]
    pub also: Vec<String>,
    /// The names of a routine's arguments, for the holes of its templates; none for a name that is not called.
    pub args: Option<Vec<String>>,
    /// Calls of a routine are untranslated in Fortran.
    #[serde(default)]
    pub c_only: bool,
    /// The section that defines it.
    pub cite: String,
}

/// One row.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawRow {
    /// The OpenMP version from which it applies, as `45`.
    pub since: u8,
    /// Facts and the values accepted.
    #[serde(default)]
    pub when: BTreeMap<String, Vec<String>>,
    /// A clause template.
    pub emit: Option<toml::Spanned<String>>,
    /// Where the clause goes.
    pub on: Option<String>,
    /// A directive's words.
    pub directive: Option<String>,
    /// A statement template.
    pub statement: Option<String>,
    /// An expression that takes a call's place.
    pub call: Option<String>,
    /// Directives that take a call's statement's place.
    #[serde(default)]
    pub pragma: Vec<String>,
    /// Lines before and after the construct.
    pub around: Option<[String; 2]>,
    /// The first and the last lines while the construct's data is on the device.
    pub inside: Option<[String; 2]>,
    /// A strategy's name.
    pub strategy: Option<String>,
    /// Nothing is emitted.
    #[serde(default)]
    pub drop: bool,
    /// `same`, `weaker`, `differs` or `refused`.
    pub meaning: String,
    /// The diagnostic's code.
    pub code: Option<String>,
    /// The section that says so.
    #[serde(default)]
    pub cite: Vec<String>,
}

/// A row for CUDA.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawCudaRow {
    /// Facts and the values accepted.
    #[serde(default)]
    pub when: BTreeMap<String, Vec<String>>,
    /// What the translation does, in a sentence for its users.
    pub says: String,
    /// A text that the translation of an example has in it.
    pub shows: Option<String>,
    /// `same`, `weaker`, `differs` or `refused`.
    pub meaning: String,
    /// The diagnostic's code.
    pub code: Option<String>,
}
