//! Compares the files that two programs wrote.
//!
//! Invariant: a file that only one of them has written is a difference, and a pattern without files tells nothing.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use globset::GlobBuilder;
use walkdir::WalkDir;

use super::{Comparison, binary, text};
use crate::verify::config::{Kind, Rule};

/// The time of files that no program has written.
const OLD: SystemTime = SystemTime::UNIX_EPOCH;

/// A folder in which a program ran.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The folder.
    pub folder: &'a Path,
    /// Files that were there before, and that it has not written to.
    pub unchanged: &'a BTreeSet<PathBuf>,
}

impl Place<'_> {
    /// The files that a pattern matches and that the program has written.
    pub fn written(&self, pattern: &str) -> Result<BTreeSet<PathBuf>, String> {
        let mut found = matching(self.folder, pattern)?;
        found.retain(|path| !self.unchanged.contains(path));
        Ok(found)
    }
}

/// The files below a folder that a pattern matches; none if there is no such folder.
fn matching(folder: &Path, pattern: &str) -> Result<BTreeSet<PathBuf>, String> {
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

/// Makes the files of a fresh copy old that patterns match, so that it is seen which of them a program writes.
pub fn age<'p>(folder: &Path, patterns: impl Iterator<Item = &'p str>) -> Result<(), String> {
    for pattern in patterns {
        for path in matching(folder, pattern)?.into_iter().map(|below| folder.join(below)) {
            // A link leads out of the copy.
            if !path.is_symlink() {
                let aged = File::open(&path).and_then(|file| file.set_modified(OLD));
                aged.map_err(|error| format!("{}: {error}", path.display()))?;
            }
        }
    }
    Ok(())
}

/// The files that patterns match and that nobody has written to since.
pub fn unchanged<'p>(
    folder: &Path,
    patterns: impl Iterator<Item = &'p str>,
) -> Result<BTreeSet<PathBuf>, String> {
    let mut all = BTreeSet::new();
    for pattern in patterns {
        let time = |below: &PathBuf| fs::metadata(folder.join(below)).and_then(|meta| meta.modified());
        all.extend(
            matching(folder, pattern)?.into_iter().filter(|below| time(below).is_ok_and(|now| now == OLD)),
        );
    }
    Ok(all)
}

/// Runs a user's command with two paths: whether they are the same.
pub type Ask<'a> = &'a mut dyn FnMut(&str, [&Path; 2]) -> Result<bool, String>;

/// Compares the files of a pattern in two folders, and perhaps in that of the noise build; `ask` runs the user's command.
pub fn compare(
    pattern: &str,
    rule: &Rule,
    places: [Place<'_>; 2],
    noise: Option<&Path>,
    ask: Ask<'_>,
) -> Vec<Comparison> {
    let folders = places.map(|place| place.folder);
    let [left, right] = match (places[0].written(pattern), places[1].written(pattern)) {
        (Ok(left), Ok(right)) => [left, right],
        (Err(why), _) | (_, Err(why)) => return vec![Comparison::unknown(pattern, why)],
    };
    if left.is_empty() && right.is_empty() {
        return vec![Comparison::unknown(pattern, "no file matches that was written".to_owned())];
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
