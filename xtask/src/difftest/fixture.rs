//! A fixture: a folder with one program, and what its marks say about the comparison.
//!
//! Invariant: a mark that is not understood is an error, so that none is without effect unseen.

use std::fs;
use std::path::{Path, PathBuf};

use crate::Result;

/// How a mark's line begins.
const MARK: &str = "//@difftest";

/// The endings of files that are compiled.
const SOURCES: &[&str] = &["c", "cpp", "cc", "cxx", "C"];

/// The endings of headers.
const HEADERS: &[&str] = &["h", "hpp", "hh", "hxx"];

/// A program in a folder of its own.
#[derive(Debug)]
pub struct Fixture {
    /// The folder's name.
    pub name: String,
    /// The folder.
    pub folder: PathBuf,
    /// The names of the files that are compiled.
    pub sources: Vec<String>,
    /// The names of the headers beside them.
    pub headers: Vec<String>,
    /// What its marks say.
    pub marks: Marks,
}

/// What the lines `//@difftest …` say.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// The original is built without OpenACC, as no compiler at hand knows all that it uses.
    pub plain: bool,
    /// A directive is knowingly left in the translation.
    pub left: bool,
    /// No compiler at hand can build the original: the translations are compared with one another.
    pub unbuilt: bool,
    /// It does not say itself whether it is right.
    pub unchecked: bool,
    /// How many kernels the translation launches at least, where the original's constructs are no measure.
    pub launches: Option<usize>,
}

/// All fixtures of a folder, by name.
pub fn all(folder: &Path) -> Result<Vec<Fixture>> {
    let mut folders: Vec<PathBuf> = entries(folder)?.into_iter().filter(|path| path.is_dir()).collect();
    folders.sort();
    folders.into_iter().map(read).collect()
}

fn read(folder: PathBuf) -> Result<Fixture> {
    let mut files: Vec<PathBuf> = entries(&folder)?;
    files.sort();
    let ends = |path: &PathBuf, endings: &[&str]| {
        path.extension().is_some_and(|ending| endings.iter().any(|one| ending == *one))
    };
    let headers = files.iter().filter(|path| ends(path, HEADERS)).map(|path| name(path)).collect();
    files.retain(|path| ends(path, SOURCES));
    let mut marks = Marks::default();
    for file in &files {
        let text = read_text(file)?;
        for line in text.lines().filter_map(|line| line.strip_prefix(MARK)) {
            marks.read(line).map_err(|word| format!("{}: `{word}` is no mark", file.display()))?;
        }
    }
    let sources = files.iter().map(|path| name(path)).collect();
    Ok(Fixture { name: name(&folder), folder, sources, headers, marks })
}

impl Marks {
    fn read(&mut self, line: &str) -> std::result::Result<(), String> {
        for word in line.split_whitespace() {
            match word.strip_prefix("launches>=").map(str::parse) {
                Some(Ok(count)) => self.launches = Some(count),
                None if word == "plain" => self.plain = true,
                None if word == "left" => self.left = true,
                _ => return Err(word.to_owned()),
            }
        }
        Ok(())
    }
}

/// A file's text; bytes that are no UTF-8 are no matter here.
pub fn read_text(path: &Path) -> Result<String> {
    let bytes = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The first line that still holds an OpenACC directive, with its number.
pub fn left_directive(text: &str) -> Option<(usize, &str)> {
    (1..).zip(text.lines()).find(|(_, line)| is_directive(line) || line.contains("_Pragma(\"acc "))
}

/// Whether a line begins with `#pragma acc`, blanks anywhere.
fn is_directive(line: &str) -> bool {
    let Some(rest) = line.trim_start().strip_prefix('#') else { return false };
    let mut words = rest.split_whitespace();
    words.next() == Some("pragma") && words.next() == Some("acc")
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let told = |error: std::io::Error| format!("{}: {error}", folder.display());
    fs::read_dir(folder).map_err(told)?.map(|entry| Ok(entry.map_err(told)?.path())).collect()
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::{Marks, left_directive};

    #[test]
    fn marks_are_read() {
        let mut marks = Marks::default();
        marks.read(" plain launches>=12").unwrap();
        assert_eq!(marks, Marks { plain: true, launches: Some(12), ..Marks::default() });
        marks.read(" left").unwrap();
        assert!(marks.left);
        assert_eq!(marks.read(" launches>=x"), Err("launches>=x".to_owned()));
        assert_eq!(marks.read(" lef"), Err("lef".to_owned()));
    }

    #[test]
    fn directives_that_are_left_are_seen() {
        assert_eq!(left_directive("int a;\n #\tpragma  acc loop\n"), Some((2, " #\tpragma  acc loop")));
        assert_eq!(left_directive("_Pragma(\"acc data\")"), Some((1, "_Pragma(\"acc data\")")));
        assert_eq!(left_directive("#pragma omp target\n// pragma acc\n#pragma accurate\n"), None);
    }
}
