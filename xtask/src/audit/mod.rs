//! Looks for variables that threads share and should not, in the finished text alone.
//!
//! Invariant: independent of the plan. Runs on a host hide a race; these are the checks that can fail.

pub mod code;
mod construct;
mod fortran;
mod poison;
mod pragma;
mod race;
mod rebuild;
mod strike;
mod text;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use acc2omp::source::Language;
use clap::{Args, ValueEnum};
use rayon::prelude::*;

use crate::difftest::toolchain::Toolchains;
use crate::difftest::{self, Output, Profile, Suite};
use crate::{Result, Verdict};

/// What to look at.
#[derive(Args, Debug, Default)]
pub struct Options {
    /// Folders of sources, to be translated and read [default: all fixtures and examples; the fixtures are also built
    /// with poison]
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// Take the files as they are: they are OpenMP already
    #[arg(long, requires = "paths")]
    translated: bool,
}

/// What was counted in all texts.
#[derive(Debug, Default)]
struct Sum {
    texts: usize,
    constructs: usize,
    in_macros: usize,
    races: usize,
    unread: usize,
    owned: usize,
    unseen: usize,
}

impl Sum {
    /// The sum of two.
    fn and(self, more: Sum) -> Sum {
        Sum {
            texts: self.texts + more.texts,
            constructs: self.constructs + more.constructs,
            in_macros: self.in_macros + more.in_macros,
            races: self.races + more.races,
            unread: self.unread + more.unread,
            owned: self.owned + more.owned,
            unseen: self.unseen + more.unseen,
        }
    }

    /// That of so many texts which are the same.
    fn times(self, count: usize) -> Sum {
        Sum {
            texts: self.texts * count,
            constructs: self.constructs * count,
            in_macros: self.in_macros * count,
            races: self.races * count,
            unread: self.unread * count,
            owned: self.owned * count,
            unseen: self.unseen * count,
        }
    }

    fn verdict(&self) -> Verdict {
        let wrong = self.races + self.unread + self.unseen;
        if wrong == 0 { Verdict::Passed } else { Verdict::Failed }
    }
}

/// Makes the audit; the last lines printed count.
pub fn run(options: &Options) -> Result<Verdict> {
    let root = difftest::root()?;
    let work = tempfile::Builder::new().prefix("acc2omp-audit-").tempdir().map_err(|e| e.to_string())?;
    if options.translated {
        return Ok(read_all(&options.paths)?.verdict());
    }
    let translator = difftest::build(&root)?;
    if !options.paths.is_empty() {
        let mut folders = Vec::new();
        for (number, folder) in options.paths.iter().enumerate() {
            let work = work.path().join(number.to_string());
            let suite = Suite { folder: folder.clone(), fixtures: Vec::new(), outputs: profiles(), work };
            folders.extend(translated(&translator, &suite)?);
        }
        return Ok(read_all(&folders)?.verdict());
    }
    let toolchains = Toolchains::find()?;
    let mut suites = difftest::suites(&difftest::Options::default(), &root, work.path())?;
    // What stands beside the original is the same text twice.
    suites.iter_mut().for_each(|suite| suite.outputs.retain(|output| !output.guarded));
    // The fixtures that cannot be built are read, too.
    let bad = root.join("fixtures/bad");
    let bad = Suite { folder: bad, fixtures: Vec::new(), outputs: profiles(), work: work.path().join("bad") };
    let mut folders = translated(&translator, &bad)?;
    for suite in &suites {
        folders.extend(translated(&translator, suite)?);
    }
    let read = read_all(&folders)?;
    if read.owned == 0 {
        return Err("no fixture has a clause that can be struck".to_owned());
    }
    let built = match suites.first() {
        Some(suite) => rebuild::run(suite, &toolchains, work.path())?,
        None => Verdict::Failed,
    };
    Ok(if built == Verdict::Passed { read.verdict() } else { built })
}

fn profiles() -> Vec<Output> {
    Profile::value_variants().iter().map(|profile| Output::of_profile(*profile)).collect()
}

/// Translates a suite in each of its ways, and returns the folders.
fn translated(translator: &Path, suite: &Suite) -> Result<Vec<PathBuf>> {
    difftest::translate(translator, suite)?;
    Ok(suite.outputs.iter().map(|output| suite.work.join(&output.name)).collect())
}

/// Texts whose loops and constructs macros write, which the audit does not follow, each with the reason.
const BY_MACROS: [(&str, &str); 8] = [
    ("chosen-heads/chosen-heads.c", "heads of loops are macros: that is what it is for"),
    (
        "macro-fragments/macro-fragments.c",
        "bounds, heads of loops and braces are macros: that is what it is for",
    ),
    ("header-chooses/header-chooses.cpp", "the branch that counts has a macro in place of statements"),
    (
        "macro-statements/macro-statements.c",
        "statements are macros without a semicolon: that is what it is for",
    ),
    (
        "macro-statements/macro-statements.F90",
        "heads of loops and statements are macros: that is what it is for",
    ),
    (
        "data-branches/data-branches.F90",
        "two directives of two branches have one end: each branch by itself is compiled and run",
    ),
    (
        "parted-constructs/parted-constructs.F90",
        "directives of two branches stand for one loop: each branch by itself is compiled and run",
    ),
    ("macro-lines/macro-lines.F90", "macros stand between directives and loops: that is what it is for"),
];

/// Reads all texts below the folders. The same text at the same place in several of them is read once, and counts for each.
fn read_all(folders: &[PathBuf]) -> Result<Sum> {
    let mut texts = BTreeMap::new();
    for folder in folders {
        for path in files(folder)? {
            let Some(language) = Language::of(&path) else { continue };
            let bytes = fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            let place = path.strip_prefix(folder).unwrap_or(&path).to_path_buf();
            let kind = folder.file_name().unwrap_or_default().to_string_lossy();
            let name = format!("{kind}/{}", place.display());
            let (_, _, count) = texts.entry((place, bytes)).or_insert((name, language, 0));
            *count += 1;
        }
    }
    let read = texts
        .par_iter()
        .map(|((_, bytes), (name, language, count))| read(name, *language, bytes).times(*count));
    let sum = read.reduce(Sum::default, Sum::and);
    println!(
        "audit: {} constructs in {} texts ({} in macros, not read): {} races, {} not understood",
        sum.constructs, sum.texts, sum.in_macros, sum.races, sum.unread
    );
    println!("without their clauses: {} variables, {} of them no race", sum.owned, sum.unseen);
    Ok(sum)
}

/// The files below a folder, but what acc2omp knows of it.
fn files(folder: &Path) -> Result<BTreeSet<PathBuf>> {
    let mut pending = vec![folder.to_path_buf()];
    let mut files = BTreeSet::new();
    while let Some(path) = pending.pop() {
        if path.file_name().is_some_and(|name| name == ".acc2omp") {
            continue;
        }
        if path.is_dir() {
            let failed = |error: std::io::Error| format!("{}: {error}", path.display());
            for entry in fs::read_dir(&path).map_err(failed)? {
                pending.push(entry.map_err(failed)?.path());
            }
        } else {
            files.insert(path);
        }
    }
    Ok(files)
}

/// Reads one text, and tells what is wrong with it.
fn read(name: &str, language: Language, bytes: &[u8]) -> Sum {
    let found = text::audit(bytes, language);
    let sum =
        Sum { texts: 1, constructs: found.constructs, in_macros: found.in_macros.len(), ..Sum::default() };
    if BY_MACROS.iter().any(|(text, _)| name.ends_with(text)) {
        return Sum { in_macros: sum.in_macros + found.constructs, ..sum };
    }
    for race in &found.races {
        println!("{name}:{}: {}", text::line(bytes, race.at), race.name);
    }
    for at in &found.unread {
        println!("{name}:{}: the code of this directive is not understood", text::line(bytes, *at));
    }
    let unseen = strike::unseen(bytes, language, &found.owned);
    for one in &unseen {
        let line = text::line(bytes, one.code.range().start);
        println!("{name}:{line}: {} would be no race without its clause", one.name);
    }
    Sum {
        races: found.races.len(),
        unread: found.unread.len(),
        owned: found.owned.len(),
        unseen: unseen.len(),
        ..sum
    }
}
