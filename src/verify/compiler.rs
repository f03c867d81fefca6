//! What compilers say of a build that fails.
//!
//! Invariant: a message is shown at the line that the compiler names, if that is one of the copy.

use std::fs;
use std::path::{Component, Path, PathBuf};

use walkdir::WalkDir;

use crate::report::{Manner, outside};

/// So many errors are shown.
const SHOWN: usize = 3;

/// So many lines of the log's end are shown where no error is found in it.
const TAIL: usize = 10;

/// An error of a compiler.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    /// The file as the compiler calls it.
    file: PathBuf,
    /// The folder where `make` runs the compiler, if it says so.
    folder: Option<PathBuf>,
    /// The line, from 1.
    pub line: usize,
    /// What the compiler says.
    pub message: String,
}

impl Refusal {
    /// The files of a copy that may be meant, seen from there: the likeliest comes first.
    pub fn files(&self, copy: &Path) -> Vec<PathBuf> {
        let below = |path: PathBuf| {
            let path = path.canonicalize().ok().filter(|path| path.is_file())?;
            path.strip_prefix(copy).map(Path::to_path_buf).ok()
        };
        if self.file.is_absolute() {
            return below(self.file.clone()).into_iter().collect();
        }
        if let Some(found) = self.folder.as_ref().and_then(|folder| below(folder.join(&self.file))) {
            return vec![found];
        }
        // A command of the build may have gone to any folder.
        let plain = self.file.components().filter(|part| matches!(part, Component::Normal(_)));
        let plain: PathBuf = plain.collect();
        let mut all: Vec<PathBuf> = below(copy.join(&self.file)).into_iter().collect();
        for entry in WalkDir::new(copy).sort_by_file_name().into_iter().flatten() {
            let path = entry.path().strip_prefix(copy).unwrap_or(entry.path());
            if entry.file_type().is_file() && path.ends_with(&plain) && !all.iter().any(|one| one == path) {
                all.push(path.to_path_buf());
            }
        }
        all
    }
}

/// The first errors of a log with their lines, or its end. Paths are seen from the copy.
pub fn errors(log: &str, copy: &Path, manner: Manner) -> String {
    let shown: Vec<String> = refusals(log)
        .into_iter()
        .filter_map(|refusal| {
            let path = refusal.files(copy).into_iter().next()?;
            let text = fs::read(copy.join(&path)).ok()?;
            let name = path.display().to_string();
            Some(outside(&name, &String::from_utf8_lossy(&text), refusal.line, &refusal.message, manner))
        })
        .take(SHOWN)
        .collect();
    if !shown.is_empty() {
        return shown.concat();
    }
    let lines: Vec<&str> = log.lines().collect();
    lines[lines.len().saturating_sub(TAIL)..].iter().map(|line| format!("  {line}\n")).collect()
}

/// The errors of a log, each once.
pub fn refusals(log: &str) -> Vec<Refusal> {
    let mut all: Vec<Refusal> = Vec::new();
    let mut place = None;
    let mut folders: Vec<PathBuf> = Vec::new();
    for line in log.lines() {
        if let Some(folder) = of_make(line, ": Entering directory ") {
            folders.push(folder);
        } else if of_make(line, ": Leaving directory ").is_some() {
            folders.pop();
        }
        let found = gnu(line).or_else(|| nvidia(line)).or_else(|| {
            let message = line.strip_prefix("Error: ").or_else(|| line.strip_prefix("Fatal Error: "))?;
            Some((place.take()?, message.to_owned()))
        });
        // gfortran says the place first: `a.f90:12:5:`.
        place = line.strip_suffix(':').and_then(located).or(place);
        let found = found.map(|((file, line), message)| {
            let folder = folders.last().cloned();
            Refusal { file, folder, line, message }
        });
        all.extend(found.filter(|one| !all.contains(one)));
    }
    all
}

/// A file and a line of it.
type Located = (PathBuf, usize);

/// The folder that `make` says it goes to or comes from.
fn of_make(line: &str, word: &str) -> Option<PathBuf> {
    let (_, folder) = line.split_once(word)?;
    Some(PathBuf::from(folder.trim_matches(['\'', '`', '"', '\u{2018}', '\u{2019}'])))
}

/// `a.c:12:5: error: …`
fn gnu(line: &str) -> Option<(Located, String)> {
    let kinds = [": error: ", ": fatal error: "];
    let (place, message) = kinds.iter().find_map(|kind| line.split_once(kind))?;
    Some((located(place)?, message.to_owned()))
}

/// `a.cu(12): error: …`, as nvcc says it, or `NVC++-S-0155-… (a.c: 12)`
fn nvidia(line: &str) -> Option<(Located, String)> {
    let place = |file: &str, line: &str| Some((PathBuf::from(file), line.trim().parse().ok()?));
    if let Some((before, message)) = line.split_once("): error: ").or_else(|| line.split_once("): error ")) {
        let (file, line) = before.rsplit_once('(')?;
        return Some((place(file, line)?, message.to_owned()));
    }
    let is_error = line.starts_with("NV") && ["-S-", "-F-"].iter().any(|kind| line.contains(kind));
    let (message, after) = line.strip_suffix(')').filter(|_| is_error)?.rsplit_once(" (")?;
    let (file, line) = after.rsplit_once(':')?;
    Some((place(file, line)?, message.to_owned()))
}

/// `a.c:12:5` or `a.c:12`
fn located(place: &str) -> Option<Located> {
    let (before, last) = place.rsplit_once(':')?;
    let last: usize = last.parse().ok()?;
    match before.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse().ok()?))) {
        Some((file, line)) => Some((PathBuf::from(file), line)),
        None => Some((PathBuf::from(before), last)),
    }
}

#[cfg(test)]
mod tests;
