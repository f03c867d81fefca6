//! The OpenMP language table: leaf directives, their clauses, since when.
//!
//! Invariant: one row for each leaf; languages differ in spelling only, and compounds are derived.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

/// The table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpenMp {
    /// Clauses by word.
    pub clause: BTreeMap<String, Clause>,
    /// Leaf directives by words.
    pub directive: BTreeMap<String, Directive>,
}

/// A clause.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clause {
    /// `none`, `list`, `expr` or `word`.
    pub argument: String,
    /// The modifiers that may stand before the colon, with the version each is from.
    #[serde(default)]
    pub modifiers: BTreeMap<String, u8>,
}

/// A leaf directive.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Directive {
    /// The version it is from.
    pub since: u8,
    /// Its clauses, with the version each is allowed from.
    pub clauses: BTreeMap<String, u8>,
}

/// The table that is compiled in.
pub fn table() -> &'static OpenMp {
    static TABLE: LazyLock<OpenMp> =
        LazyLock::new(|| match toml::from_str(include_str!("../../rules/lang/openmp.toml")) {
            Ok(table) => table,
            Err(error) => unreachable!("rules/lang/openmp.toml does not load: {error}"),
        });
    &TABLE
}

/// Whether `clause` may stand on `leaf` in `version`.
pub fn allowed(leaf: &str, clause: &str, version: u8) -> bool {
    let known = table().directive.get(leaf);
    known.is_some_and(|directive| {
        directive.since <= version && directive.clauses.get(clause).is_some_and(|since| *since <= version)
    })
}
