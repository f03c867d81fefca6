//! A fixture: a folder with one program, and what its marks say about the comparison.
//!
//! Invariant: a mark that is not understood is an error, so that none is without effect unseen.

use std::fs;
use std::path::{Path, PathBuf};

use acc2omp::source::Language;

use crate::{Result, hunt};

/// How a mark's line begins, in C and in Fortran.
const MARKS: [&str; 2] = ["//@difftest", "!@difftest"];

/// How a directive's line begins in Fortran, in any case; all but the first in the first column only.
const SENTINELS: [&str; 3] = ["!$acc", "c$acc", "*$acc"];

/// The endings of files that are compiled, beside those of Fortran.
const SOURCES: &[&str] = &["c", "cpp", "cc", "cxx", "C"];

/// The endings of files that others include.
pub const HEADERS: &[&str] = &["h", "hpp", "hh", "hxx", "inc"];

/// A program in a folder of its own.
#[derive(Debug)]
pub struct Fixture {
    /// The folder's name.
    pub name: String,
    /// The folder.
    pub folder: PathBuf,
    /// The names of the files that are compiled, sorted: a file of Fortran stands after those whose modules it uses.
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
    /// It is translated to OpenMP only.
    pub openmp: bool,
    /// It is built from its CUDA only: a compiler for OpenMP stops with an error of its own.
    pub cuda: bool,
    /// flang builds no OpenMP of it, or what it builds ends with a fault of its own.
    pub no_flang: bool,
    /// flang refuses what the translation has to say for all compilers; `--profile clang` says it otherwise.
    pub gfortran: bool,
    /// flang's own program is wrong on a device with a memory of its own.
    pub host: bool,
    /// No compiler at hand can build the original: the translations are compared with one another.
    pub unbuilt: bool,
    /// It does not say itself whether it is right.
    pub unchecked: bool,
    /// Options for all compilers, as `-DN=100` or `-UN`.
    pub options: Vec<String>,
    /// The translation gets these options.
    pub given: bool,
    /// Options of the translator, as `--nest=loop`, with which it is translated to OpenMP.
    pub translated: Vec<String>,
    /// How many kernels the translation launches at least, where the original's constructs are not measure.
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
    files.retain(|path| ends(path, SOURCES) || is_fortran(path));
    let mut marks = Marks::default();
    for file in &files {
        let text = read_text(file)?;
        let mark = |line| MARKS.iter().find_map(|mark| str::strip_prefix(line, mark));
        for line in text.lines().filter_map(mark) {
            marks.read(line).map_err(|word| format!("{}: `{word}` is not a mark", file.display()))?;
        }
    }
    let sources = files.iter().map(|path| name(path)).collect();
    Ok(Fixture { name: name(&folder), folder, sources, headers, marks })
}

/// Whether a file is Fortran, by its name.
pub fn is_fortran(path: impl AsRef<Path>) -> bool {
    Language::of(path.as_ref()).is_some_and(Language::is_fortran)
}

impl Fixture {
    /// Whether it is a program of Fortran, perhaps with parts in C.
    pub fn is_fortran(&self) -> bool {
        self.sources.iter().any(is_fortran)
    }

    /// The language that its compiler must know.
    pub fn language(&self) -> hunt::Language {
        match self.sources.iter().all(|source| source.ends_with(".c")) {
            _ if self.is_fortran() => hunt::Language::Fortran,
            true => hunt::Language::C,
            false => hunt::Language::Cpp,
        }
    }
}

impl Marks {
    /// The options that the translator gets for this fixture beside those for all.
    pub fn for_translator(&self, is_cuda: bool) -> Vec<String> {
        let given = if self.given { self.options.as_slice() } else { &[] };
        let of_openmp = if is_cuda { &[] } else { self.translated.as_slice() };
        [given, of_openmp].concat()
    }

    fn read(&mut self, line: &str) -> std::result::Result<(), String> {
        for word in line.split_whitespace() {
            match word.strip_prefix("launches>=").map(str::parse) {
                Some(Ok(count)) => self.launches = Some(count),
                None if word.starts_with("-D") || word.starts_with("-U") => {
                    self.options.push(word.to_owned())
                }
                None if word.starts_with("--") => self.translated.push(word.to_owned()),
                None if word == "given" => self.given = true,
                None if word == "plain" => self.plain = true,
                None if word == "left" => self.left = true,
                None if word == "openmp" => self.openmp = true,
                None if word == "cuda" => self.cuda = true,
                None if word == "no-flang" => self.no_flang = true,
                None if word == "gfortran" => self.gfortran = true,
                None if word == "host" => self.host = true,
                _ => return Err(word.to_owned()),
            }
        }
        Ok(())
    }
}

/// A file's text; bytes that are not UTF-8 do not matter here.
pub fn read_text(path: &Path) -> Result<String> {
    let bytes = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The first line of the text of `source` that still holds an OpenACC directive, with its number.
pub fn left_directive<'a>(source: &str, text: &'a str) -> Option<(usize, &'a str)> {
    let is_left = match is_fortran(source) {
        true => has_sentinel,
        false => |line: &str| is_directive(line) || line.contains("_Pragma(\"acc "),
    };
    (1..).zip(text.lines()).find(|(_, line)| is_left(line))
}

/// Whether a line begins with `#pragma acc`, blanks anywhere.
fn is_directive(line: &str) -> bool {
    let Some(rest) = line.trim_start().strip_prefix('#') else { return false };
    let mut words = rest.split_whitespace();
    words.next() == Some("pragma") && words.next() == Some("acc")
}

/// Whether a line of Fortran begins with one of the sentinels.
fn has_sentinel(line: &str) -> bool {
    let begins = |line: &str, sentinel: &str| {
        let start = line.get(..sentinel.len());
        let is_word = |next: char| next.is_alphabetic() || next == '_';
        start.is_some_and(|start| start.eq_ignore_ascii_case(sentinel))
            && !line[sentinel.len()..].starts_with(is_word)
    };
    begins(line.trim_start(), SENTINELS[0]) || SENTINELS[1..].iter().any(|one| begins(line, one))
}

/// What is in a folder.
pub fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let given = |error: std::io::Error| format!("{}: {error}", folder.display());
    fs::read_dir(folder).map_err(given)?.map(|entry| Ok(entry.map_err(given)?.path())).collect()
}

/// A file's name without its folder.
pub fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::{Marks, is_fortran, left_directive};

    #[test]
    fn marks_are_read() {
        let mut marks = Marks::default();
        marks.read(" plain launches>=12").unwrap();
        assert_eq!(marks, Marks { plain: true, launches: Some(12), ..Marks::default() });
        marks.read(" left gfortran no-flang host openmp").unwrap();
        assert!(marks.left && marks.gfortran && marks.no_flang && marks.host && marks.openmp && !marks.cuda);
        marks.read(" given -DA=1 -UB").unwrap();
        assert!(marks.given && marks.options == ["-DA=1", "-UB"]);
        assert_eq!(marks.read(" launches>=x"), Err("launches>=x".to_owned()));
        assert_eq!(marks.read(" lef"), Err("lef".to_owned()));
    }

    #[test]
    fn directives_that_are_left_are_seen() {
        let in_c = |text| left_directive("a.c", text);
        assert_eq!(in_c("int a;\n #\tpragma  acc loop\n"), Some((2, " #\tpragma  acc loop")));
        assert_eq!(in_c("_Pragma(\"acc data\")"), Some((1, "_Pragma(\"acc data\")")));
        assert_eq!(in_c("#pragma omp target\n// pragma acc\n#pragma accurate\n!$acc loop\n"), None);
    }

    #[test]
    fn directives_of_fortran_that_are_left_are_seen() {
        let line = |text| left_directive("a.F90", text).map(|(number, _)| number);
        assert_eq!(line("x = 1\n  !$ACC loop\n"), Some(2));
        assert_eq!(line("!$acc&  copy(a)\n"), Some(1));
        assert_eq!(line("c$acc data\n"), Some(1));
        assert_eq!(line("C$Acc\n"), Some(1));
        assert_eq!(line("x\n*$acc1 copy(a)"), Some(2));
        assert_eq!(
            line("!$omp target\n! !$acc loop\n!$accurate\n s = '!$acc'\n c$acc\n!$ac\n!\u{e4}$acc\n"),
            None
        );
    }

    #[test]
    fn fortran_is_known_by_its_ending() {
        assert!(["a.f90", "a.F90", "a.f", "a.F", "a.for", "a.f95", "a.f03", "a.F08"].iter().all(is_fortran));
        assert!(!["a.c", "a.C", "a.cpp", "a.h", "f90", "a.f90.diff"].iter().any(is_fortran));
    }
}
