//! What compilers say of a build that fails.
//!
//! Invariant: a message is shown at the line that the compiler names, if that is one of the copy.

use std::fs;
use std::path::{Path, PathBuf};

use crate::report::{Manner, outside};

/// So many errors are shown.
const SHOWN: usize = 3;

/// So many lines of the log's end are shown where no error is found in it.
const TAIL: usize = 10;

/// An error of a compiler.
#[derive(Debug, PartialEq)]
struct Refusal {
    file: PathBuf,
    line: usize,
    message: String,
}

/// The first errors of a log with their lines, or its end. Paths are seen from the copy.
pub fn errors(log: &str, copy: &Path, manner: Manner) -> String {
    let shown: Vec<String> = refusals(log)
        .into_iter()
        .filter_map(|refusal| {
            let path = copy.join(&refusal.file);
            let text = fs::read(&path).ok()?;
            let name = path.strip_prefix(copy).unwrap_or(&path).display().to_string();
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

fn refusals(log: &str) -> Vec<Refusal> {
    let mut all: Vec<Refusal> = Vec::new();
    let mut place = None;
    for line in log.lines() {
        let found = gnu(line).or_else(|| {
            let message = line.strip_prefix("Error: ").or_else(|| line.strip_prefix("Fatal Error: "))?;
            let (file, line) = place.take()?;
            Some(Refusal { file, line, message: message.to_owned() })
        });
        // gfortran says the place first: `a.f90:12:5:`.
        place = line.strip_suffix(':').and_then(located).or(place);
        all.extend(found.filter(|one| !all.contains(one)));
    }
    all
}

/// `a.c:12:5: error: …`
fn gnu(line: &str) -> Option<Refusal> {
    let kinds = [": error: ", ": fatal error: "];
    let (place, message) = kinds.iter().find_map(|kind| line.split_once(kind))?;
    let (file, line) = located(place)?;
    Some(Refusal { file, line, message: message.to_owned() })
}

/// `a.c:12:5` or `a.c:12`
fn located(place: &str) -> Option<(PathBuf, usize)> {
    let (before, last) = place.rsplit_once(':')?;
    let last: usize = last.parse().ok()?;
    match before.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse().ok()?))) {
        Some((file, line)) => Some((PathBuf::from(file), line)),
        None => Some((PathBuf::from(before), last)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_read_with_their_places() {
        let log = "make: x\na.c:12:5: error: no\nsub/b.c:3: fatal error: gone\nc.f90:7:9:\n\n    7 | x\nError: Syntax error\nnote\n";
        let places: Vec<(String, usize, String)> = refusals(log)
            .into_iter()
            .map(|one| (one.file.display().to_string(), one.line, one.message))
            .collect();
        let expected = [("a.c", 12, "no"), ("sub/b.c", 3, "gone"), ("c.f90", 7, "Syntax error")];
        assert_eq!(places, expected.map(|(file, line, text)| (file.to_owned(), line, text.to_owned())));
    }
}
