//! Rule pages that users bring.
//!
//! Invariant: they pass the checks of the pages that are compiled in.

use std::fs;
use std::path::Path;

use walkdir::WalkDir;

use super::place::walked;
use super::{Verdict, fail, print};
use crate::rules::{self, FILES, Rules};

/// Reads the pages of a folder with those that are compiled in; what is wrong comes with file and line.
pub fn read(folder: &Path) -> Result<Rules, String> {
    let own = own(folder)?;
    rules::with_own(&own).map_err(|errors| {
        let line = |error: &rules::LoadError| {
            format!("{}:{}: {}", folder.join(&error.path).display(), error.line, error.message)
        };
        errors.iter().map(line).collect::<Vec<_>>().join("\n")
    })
}

/// Checks the pages of a folder.
pub fn check(folder: &Path) -> Verdict {
    match own(folder).and_then(|own| read(folder).map(|_| own.len())) {
        Ok(1) => print(b"1 page: no mistakes\n"),
        Ok(count) => print(format!("{count} pages: no mistakes\n").as_bytes()),
        Err(why) => fail(&why),
    }
}

/// The pages of a folder: path below it, and text. Each takes the place of one that is compiled in.
fn own(folder: &Path) -> Result<Vec<(String, String)>, String> {
    let mut all = Vec::new();
    for entry in WalkDir::new(folder).sort_by_file_name() {
        let entry = entry.map_err(walked)?;
        let path = entry.path();
        if path.extension().is_none_or(|ending| ending != "md") {
            continue;
        }
        let name = path.strip_prefix(folder).unwrap_or(path).display().to_string();
        if !FILES.iter().any(|(known, _)| *known == name) {
            return Err(format!("{}: acc2omp has no page `{name}`", path.display()));
        }
        let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        all.push((name, text));
    }
    match all.is_empty() {
        true => Err(format!("{}: there are no pages", folder.display())),
        false => Ok(all),
    }
}
