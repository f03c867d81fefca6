//! Compares the files that two programs wrote.
//!
//! Invariant: a file that only one of them has is a difference, and a pattern without files tells nothing.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use globset::GlobBuilder;
use walkdir::WalkDir;

use super::{Comparison, binary, text};
use crate::verify::config::{Kind, Rule};

/// The files below a folder that a pattern matches; none if there is no such folder.
pub fn matching(folder: &Path, pattern: &str) -> Result<BTreeSet<PathBuf>, String> {
    let glob =
        GlobBuilder::new(pattern).literal_separator(true).build().map_err(|error| error.to_string())?;
    let glob = glob.compile_matcher();
    let mut found = BTreeSet::new();
    if !folder.exists() {
        return Ok(found);
    }
    for entry in WalkDir::new(folder) {
        let entry = entry.map_err(|error| error.to_string())?;
        let below = entry.path().strip_prefix(folder).unwrap_or(entry.path());
        if !entry.file_type().is_dir() && glob.is_match(below) {
            found.insert(below.to_path_buf());
        }
    }
    Ok(found)
}

/// Runs a user's command with two paths: whether they are the same.
pub type Ask<'a> = &'a mut dyn FnMut(&str, [&Path; 2]) -> Result<bool, String>;

/// Compares the files of a pattern in two folders, and perhaps in that of the noise build; `ask` runs the user's command.
pub fn compare(
    pattern: &str,
    rule: &Rule,
    folders: [&Path; 2],
    noise: Option<&Path>,
    ask: Ask<'_>,
) -> Vec<Comparison> {
    let [left, right] = match (matching(folders[0], pattern), matching(folders[1], pattern)) {
        (Ok(left), Ok(right)) => [left, right],
        (Err(why), _) | (_, Err(why)) => return vec![Comparison::unknown(pattern, why)],
    };
    if left.is_empty() && right.is_empty() {
        return vec![Comparison::unknown(pattern, "no file matches".to_owned())];
    }
    let one = |path: &PathBuf| {
        let what = path.display().to_string();
        let has = |set: &BTreeSet<PathBuf>| if set.contains(path) { "a file" } else { "no file" };
        if !left.contains(path) || !right.contains(path) {
            let mut all = Comparison::of(&what);
            all.differ("the file".to_owned(), has(&left), has(&right));
            return all;
        }
        let paths = [folders[0].join(path), folders[1].join(path)];
        match &rule.command {
            Some(command) => match ask(command, [&paths[0], &paths[1]]) {
                Ok(true) => Comparison::of(&what),
                Ok(false) => {
                    let mut all = Comparison::of(&what);
                    all.differ("the file".to_owned(), "", "the command says that it differs");
                    all
                }
                Err(why) => Comparison::unknown(&what, why),
            },
            None => contents(&what, rule, &paths, noise.map(|noise| noise.join(path))),
        }
    };
    left.union(&right).map(one).collect()
}

fn contents(what: &str, rule: &Rule, paths: &[PathBuf; 2], noise: Option<PathBuf>) -> Comparison {
    let (left, right) = match (fs::read(&paths[0]), fs::read(&paths[1])) {
        (Ok(left), Ok(right)) => (left, right),
        (Err(error), _) | (_, Err(error)) => return Comparison::unknown(what, error.to_string()),
    };
    let noise = noise.and_then(|path| fs::read(path).ok());
    let is_text = || std::str::from_utf8(&left).is_ok() && std::str::from_utf8(&right).is_ok();
    let kind = rule.kind.unwrap_or_else(|| if is_text() { Kind::Text } else { Kind::Bytes });
    if kind != Kind::Text {
        return binary::compare(what, rule, kind, [&left, &right], noise.as_deref());
    }
    // Other bytes than text must be the same bytes.
    let read = |bytes: &[u8]| bytes.iter().map(|byte| char::from(*byte)).collect::<String>();
    let noise = noise.as_deref().map(read);
    text::compare(what, rule, &read(&left), &read(&right), noise.as_deref())
}
