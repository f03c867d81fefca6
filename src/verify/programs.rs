//! Which of several programs is tested: the one whose sources have OpenACC.
//!
//! Invariant: where more than one may be meant, none is taken.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// How files end that may hold directives.
pub const SOURCES: [&str; 20] = [
    "c", "cc", "cpp", "cxx", "C", "cu", "h", "hh", "hpp", "hxx", "f", "F", "f77", "for", "f90", "F90", "f95",
    "F95", "f03", "F03",
];

/// A program that is linked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Its path, or its name.
    pub path: PathBuf,
    /// The sources that are known, from the folder on.
    pub sources: BTreeSet<PathBuf>,
}

/// Which program is taken.
#[derive(Debug, PartialEq, Eq)]
pub enum Choice<'p> {
    /// No program is known.
    Nothing,
    /// This one, and why, if there are others.
    One(&'p Program, Option<String>),
    /// What `run` is, and what is said of it.
    Unclear(String, String),
}

/// Chooses among programs.
pub fn choose<'p>(root: &Path, programs: &'p [Program]) -> Choice<'p> {
    let names = |all: &[&Program]| {
        let names: Vec<String> = all.iter().map(|one| one.path.display().to_string()).collect();
        names.join(", ")
    };
    let all: Vec<&Program> = programs.iter().collect();
    let has_openacc = |one: &&Program| one.sources.iter().any(|path| has_openacc(&root.join(path)));
    match *all {
        [] => return Choice::Nothing,
        [one] => return Choice::One(one, None),
        _ => {}
    }
    let with: Vec<&Program> = all.iter().copied().filter(has_openacc).collect();
    if let [one] = *with {
        let why = format!(
            "of the programs {}, only {} has sources in which OpenACC was found: `run` is for it",
            names(&all),
            one.path.display()
        );
        return Choice::One(one, Some(why));
    }
    let (open, what) = match with.is_empty() {
        true => (names(&all), "are linked"),
        false => (names(&with), "have sources with OpenACC"),
    };
    Choice::Unclear(
        format!("false # which of {open}?"),
        format!("several programs {what}: {open}; say in `run` which one is tested"),
    )
}

/// Adds a program; one of the same path gets its sources.
pub fn add(programs: &mut Vec<Program>, program: Program) {
    match programs.iter_mut().find(|one| one.path == program.path) {
        Some(one) => one.sources.extend(program.sources),
        None => programs.push(program),
    }
}

/// Whether a word names a file of the folder that may hold directives.
pub fn is_source(root: &Path, word: &str) -> bool {
    let ending = Path::new(word).extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| SOURCES.contains(&ending)) && root.join(word).is_file()
}

/// Whether a line of a file looks like a directive of OpenACC.
fn has_openacc(path: &Path) -> bool {
    let bytes = fs::read(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    text.lines().any(|line| {
        let line = line.trim_start();
        let is_fortran = line.get(1..5).is_some_and(|sign| sign.eq_ignore_ascii_case("$acc"))
            && line.starts_with(['!', 'c', 'C', '*']);
        let pragma = line.strip_prefix('#').and_then(|rest| rest.trim_start().strip_prefix("pragma"));
        is_fortran
            || pragma.is_some_and(|rest| rest.split_whitespace().next() == Some("acc"))
            || line.contains("_Pragma(\"acc ")
    })
}

#[cfg(test)]
mod tests;
