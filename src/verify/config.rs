//! `[verify]` in `acc2omp.toml`: the programs, their commands and what is compared.
//!
//! Invariant: what the section may say is here, and nothing else is taken.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// The file that says what is asked for.
pub const FILE: &str = "acc2omp.toml";

/// The test that has no name of its own.
pub const TEST: &str = "test";

/// Names of copies that are not those of tests.
const TAKEN: [&str; 3] = ["reference", "noise", "bin"];

/// What is asked for.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The program that is right.
    pub reference: Program,
    /// The same program with other roundings.
    pub noise: Option<Program>,
    /// The only translation, or one of them.
    pub test: Option<Program>,
    /// Further ones by their names.
    #[serde(default)]
    pub tests: BTreeMap<String, Program>,
    /// The seconds that a command may take.
    #[serde(default = "timeout")]
    pub timeout: u64,
    /// The room that copies and outputs may take, as in `10 GB`.
    #[serde(default = "disk")]
    pub disk: String,
    /// What is compared, and how: `stdout` or a pattern of paths.
    #[serde(default)]
    pub compare: BTreeMap<String, Rule>,
}

/// A program.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// The command that builds it.
    pub build: Option<String>,
    /// The command that runs it; that of the reference if it is not said.
    pub run: Option<String>,
    /// Whether it must run constructs on a device.
    #[serde(default = "yes")]
    pub device: bool,
}

/// How one thing is compared.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// The absolute difference that is allowed.
    pub atol: Option<f64>,
    /// The difference that is allowed, relative to the larger of both.
    pub rtol: Option<f64>,
    /// The units in the last place that are allowed.
    pub ulp: Option<u64>,
    /// How many blanks stand between words, and around a line, is not compared.
    #[serde(default)]
    pub any_blanks: bool,
    /// Lines that hold one of these words are not compared.
    #[serde(default)]
    pub ignore: Vec<String>,
    /// What a file holds.
    #[serde(rename = "type")]
    pub kind: Option<Kind>,
    /// The command that compares two files: status 0 says that they are the same.
    pub command: Option<String>,
}

/// What a file holds.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum Kind {
    Text,
    Bytes,
    F32le,
    F32be,
    F64le,
    F64be,
    I32le,
    I32be,
    I64le,
    I64be,
}

/// Changes `acc2omp.toml` of a copy of the tree.
pub fn change(copy: &Path, change: impl FnOnce(&mut toml::Table)) -> Result<(), String> {
    let path = copy.join(FILE);
    let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let text = fs::read_to_string(&path).map_err(|error| failed(&error))?;
    let mut table: toml::Table = text.parse().map_err(|error| failed(&error))?;
    change(&mut table);
    let text = toml::to_string(&table).map_err(|error| failed(&error))?;
    fs::write(&path, text).map_err(|error| failed(&error))
}

fn timeout() -> u64 {
    600
}

fn disk() -> String {
    "10 GB".to_owned()
}

fn yes() -> bool {
    true
}

impl Settings {
    /// Why this cannot be meant.
    pub fn wrong(&self) -> Option<String> {
        if self.reference.run.is_none() {
            return Some("`reference` has no `run`".to_owned());
        }
        if self.test.is_none() && self.tests.is_empty() {
            return Some("there is neither `test` nor `[verify.tests.NAME]`".to_owned());
        }
        let is_name = |name: &str| {
            !name.starts_with(['.', '-'])
                && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
                && !name.is_empty()
        };
        let is_taken = |name: &str| TAKEN.contains(&name) || name == TEST && self.test.is_some();
        if let Some(name) = self.tests.keys().find(|name| !is_name(name) || is_taken(name)) {
            return Some(format!("a test cannot be called `{name}`"));
        }
        let is_wrong = |value: Option<f64>| value.is_some_and(|value| !value.is_finite() || value < 0.0);
        for (name, rule) in &self.compare {
            if is_wrong(rule.atol) || is_wrong(rule.rtol) {
                return Some(format!("`{name}`: a tolerance is a number that is not negative"));
            }
            if rule.command.is_some() && (name == "stdout" || rule.kind.is_some()) {
                return Some(format!("`{name}`: `command` is about files, and goes without `type`"));
            }
            if name != "stdout"
                && let Err(error) = globset::Glob::new(name)
            {
                return Some(format!("`{name}`: {error}"));
            }
        }
        (self.bytes().is_none()).then(|| "`disk` is a number with a unit, as in `10 GB`".to_owned())
    }

    /// The room that copies may take.
    pub fn bytes(&self) -> Option<u64> {
        let text = self.disk.trim();
        let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let unit = match text[digits..].trim() {
            "B" | "" => 1,
            "kB" | "KB" => 1000,
            "MB" => 1_000_000,
            "GB" => 1_000_000_000,
            "TB" => 1_000_000_000_000,
            _ => return None,
        };
        text[..digits].parse::<u64>().ok()?.checked_mul(unit)
    }

    /// The tests by their names.
    pub fn tests(&self) -> impl Iterator<Item = (&str, &Program)> {
        let one = self.test.iter().map(|test| (TEST, test));
        one.chain(self.tests.iter().map(|(name, test)| (name.as_str(), test)))
    }

    /// The patterns of files that are compared.
    pub fn patterns(&self) -> impl Iterator<Item = &str> {
        self.compare.keys().map(String::as_str).filter(|pattern| *pattern != "stdout")
    }

    /// How a program is run.
    pub fn run<'a>(&'a self, program: &'a Program) -> &'a str {
        program.run.as_deref().or(self.reference.run.as_deref()).unwrap_or_default()
    }

    /// The programs that are right, by their names.
    pub fn right(&self) -> impl Iterator<Item = (&str, &Program)> {
        let noise = self.noise.as_ref().map(|noise| ("noise", noise));
        std::iter::once(("reference", &self.reference)).chain(noise)
    }

    /// The commands of programs, as they are shown.
    pub fn commands_of<'a>(&self, programs: impl Iterator<Item = (&'a str, &'a Program)>) -> String {
        let mut text = String::new();
        for (name, program) in programs {
            if let Some(build) = &program.build {
                text += &format!("  {name}, build: {build}\n");
            }
            text += &format!("  {name}, run: {}\n", self.run(program));
        }
        text
    }

    /// All commands that may be run, as they are shown.
    pub fn commands(&self) -> String {
        let mut text = self.commands_of(self.right().chain(self.tests()));
        for (pattern, rule) in &self.compare {
            if let Some(command) = &rule.command {
                text += &format!("  compare {pattern}: {command}\n");
            }
        }
        text
    }
}
