//! The table of the OpenACC language, `rules/lang/openacc.toml`.
//!
//! Invariant: says what may be written, never what it means; an unknown key is refused when the table is read.

use std::sync::LazyLock;

use serde::Deserialize;

/// The whole table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpenAcc {
    /// The version described.
    pub version: String,
    /// The directives, in the specification's order.
    #[serde(rename = "directive")]
    pub directives: Vec<Directive>,
    /// The clauses, in the specification's order.
    #[serde(rename = "clause")]
    pub clauses: Vec<Clause>,
    /// The library routines.
    #[serde(rename = "routine")]
    pub routines: Vec<Routine>,
}

/// What a directive governs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Association {
    /// The structured block after it.
    Block,
    /// The loop after it.
    Loop,
    /// The statement after it.
    Statement,
    /// The variables or the procedure it names or precedes.
    Declaration,
    /// Nothing: it acts where it stands.
    Standalone,
}

/// One directive.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Directive {
    /// Its words: `parallel loop`.
    pub name: String,
    /// What it governs.
    pub association: Association,
    /// The specification's section.
    pub section: String,
    /// That section's title.
    pub title: String,
    /// The OpenACC version that introduced it.
    pub since: String,
    /// The clauses that may stand on it.
    pub clauses: Vec<String>,
    /// The clauses that may stand after `device_type`; `None` if `device_type` does not divide its clauses.
    pub after_device_type: Option<Vec<String>>,
    /// The clauses that may stand on it once only.
    #[serde(default)]
    pub once: Vec<String>,
    /// Of each list one clause at most.
    #[serde(default)]
    pub exclusive: Vec<Vec<String>>,
    /// Of each list one clause at least.
    #[serde(default)]
    pub any: Vec<Vec<String>>,
}

/// One clause.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clause {
    /// Its word.
    pub name: String,
    /// Other words for it.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// The specification's section.
    pub section: String,
    /// That section's title.
    pub title: String,
    /// The OpenACC version that introduced it.
    pub since: String,
    /// Legal spellings in C.
    pub samples: Vec<String>,
}

/// Library routines that one section describes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Routine {
    /// Their names.
    pub names: Vec<String>,
    /// The specification's section.
    pub section: String,
    /// That section's title.
    pub title: String,
}

impl OpenAcc {
    /// The directive of that name, in lower case, its words a blank apart.
    pub fn directive(&self, name: &str) -> Option<&Directive> {
        self.directives.iter().find(|row| row.name == name)
    }

    /// The clause of that name or alias, in lower case.
    pub fn clause(&self, word: &str) -> Option<&Clause> {
        self.clauses.iter().find(|row| row.name == word || row.aliases.iter().any(|alias| alias == word))
    }

    /// A clause's word, in any case, as the table has it; empty if it is none.
    pub fn clause_word(&self, word: &str) -> &str {
        self.clause_words().find(|known| known.eq_ignore_ascii_case(word)).unwrap_or_default()
    }

    /// The section that describes a library routine.
    pub fn routine(&self, name: &str) -> Option<&Routine> {
        self.routines.iter().find(|row| row.names.iter().any(|known| known == name))
    }

    /// The names of all library routines.
    pub fn routine_names(&self) -> impl Iterator<Item = &str> {
        self.routines.iter().flat_map(|row| &row.names).map(String::as_str)
    }

    /// Whether some directive, clause or routine is described by this section.
    pub fn has_section(&self, section: &str) -> bool {
        self.directives.iter().any(|row| row.section == section)
            || self.clauses.iter().any(|row| row.section == section)
            || self.routines.iter().any(|row| row.section == section)
    }

    /// Every clause word, aliases too.
    pub fn clause_words(&self) -> impl Iterator<Item = &str> {
        self.clauses.iter().flat_map(|row| std::iter::once(&row.name).chain(&row.aliases)).map(String::as_str)
    }
}

/// The table, read once.
pub fn table() -> &'static OpenAcc {
    static TABLE: LazyLock<OpenAcc> = LazyLock::new(|| {
        toml::from_str(include_str!("../../rules/lang/openacc.toml")).expect("the table is read by a test")
    });
    &TABLE
}

#[cfg(test)]
mod tests;
