//! Leaves directives whose translation does not compile.
//!
//! Invariant: only `acc2omp.toml` of a copy is changed, and only by entries `[[at]]`.

use std::path::Path;

use serde::Serialize;

use super::compiler::Refusal;
use super::config;

/// A directive of the sources.
#[derive(Clone, Debug)]
pub struct Directive {
    /// The file, seen from the root.
    pub file: String,
    /// Its first line, from 1.
    pub line: usize,
    /// Its last line.
    pub last: usize,
    /// The last line of its construct, if it is a compute construct.
    pub end: Option<usize>,
    /// Its name, as `parallel loop`.
    pub name: String,
}

/// A directive that was left untranslated.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Left {
    /// The file, seen from the root.
    pub file: String,
    /// The line of the directive.
    pub line: usize,
    /// Its name.
    pub name: String,
    /// What the compiler said.
    pub message: String,
}

/// The directives to be left untranslated next: those of `all` whose lines have errors and that are not `left` yet.
pub fn next(refusals: &[Refusal], copy: &Path, all: &[Directive], left: &[Left]) -> Vec<Left> {
    let mut found: Vec<Left> = Vec::new();
    for refusal in refusals {
        let files = refusal.files(copy);
        let [file] = files.as_slice() else { continue };
        let file = file.display().to_string();
        let is_free = |one: &&Directive| {
            !left.iter().chain(&found).any(|left| left.file == one.file && left.line == one.line)
        };
        let own: Vec<&Directive> = all.iter().filter(|one| one.file == file).collect();
        let is_at = |one: &&&Directive| (one.line..=one.last).contains(&refusal.line);
        let is_around =
            |one: &&&Directive| one.end.is_some_and(|end| (one.line..=end).contains(&refusal.line));
        // What has just been found for an error of the same line is enough for it.
        let is_known = |one: &&Directive| found.iter().any(|left| left.file == file && left.line == one.line);
        if own.iter().filter(is_at).any(is_known) {
            continue;
        }
        let at = own.iter().filter(is_at).find(|one| is_free(one));
        let around = || own.iter().filter(is_around).rev().find(|one| is_free(one));
        if let Some(one) = at.or_else(around) {
            let (line, name, message) = (one.line, one.name.clone(), refusal.message.clone());
            found.push(Left { file, line, name, message });
        }
    }
    found
}

/// Has translations of a copy leave these directives.
pub fn leave(copy: &Path, left: &[Left]) -> Result<(), String> {
    left.iter().try_for_each(|one| {
        let folder = folder_of(copy, Path::new(&one.file));
        config::change(&copy.join(folder), |table| {
            let places = table.entry("at").or_insert_with(|| toml::Value::Array(Vec::new()));
            if let toml::Value::Array(places) = places {
                places.push(toml::Value::Table(one.entry(folder)));
            }
        })
    })
}

/// The folder, seen from the copy, whose `acc2omp.toml` counts for a file: the nearest one.
fn folder_of<'a>(copy: &Path, file: &'a Path) -> &'a Path {
    let mut around = file.ancestors().skip(1);
    around.find(|folder| copy.join(folder).join(config::FILE).is_file()).unwrap_or(Path::new(""))
}

impl Left {
    /// As it stands in the `acc2omp.toml` of a folder.
    fn entry(&self, folder: &Path) -> toml::Table {
        let file = Path::new(&self.file).strip_prefix(folder).unwrap_or(Path::new(&self.file));
        let mut table = toml::Table::new();
        table.insert("file".to_owned(), file.display().to_string().into());
        table.insert("line".to_owned(), (self.line as i64).into());
        table.insert("do".to_owned(), "leave".into());
        table
    }

    /// The lines for `acc2omp.toml` that leave it.
    pub fn lines(&self) -> String {
        format!("[[at]]\nfile = {:?}\nline = {}\ndo = \"leave\"\n", self.file, self.line)
    }
}
