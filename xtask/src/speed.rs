//! How fast the translation is, on one core.
//!
//! Invariant: what is measured is the whole program, reading included; beside it stands what the grammar takes alone, on the
//! same machine in the same minute. What counts is the time on a processor: others may be at work, too.

mod against;
mod inputs;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use acc2omp::scan::{self, View};
use acc2omp::source::{Language, Languages, SourceFile};
use clap::Args;

use crate::{Result, Verdict, difftest, files, process};

/// As in the program that is measured: the grammar allocates every node by itself.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The best of so many runs counts.
const RUNS: usize = 5;

/// What to measure.
#[derive(Args, Debug)]
pub struct Options {
    /// Folders to measure [default: fixtures/fortran and fixtures/c]
    #[arg(value_name = "DIR")]
    folders: Vec<PathBuf>,

    /// The folder is copied until there are so many MB
    #[arg(long, value_name = "MB", default_value_t = 4)]
    megabytes: usize,

    /// Another build of acc2omp: both translate the same files in turns, and the ratio of their times is printed
    #[arg(long, value_name = "BINARY")]
    against: Option<PathBuf>,

    /// The build to compare [default: the release build of this tree, which is made first]
    #[arg(long, value_name = "BINARY", requires = "against")]
    binary: Option<PathBuf>,

    /// Writes the sources that docs/speed.md has figures of into a folder, and ends
    #[arg(long, value_name = "DIR", conflicts_with_all = ["folders", "against"])]
    inputs: Option<PathBuf>,

    /// An option for both, as `--with=--to=cuda`; may be given several times
    #[arg(long = "with", value_name = "OPTION", requires = "against", allow_hyphen_values = true)]
    with: Vec<String>,
}

/// Measures, and prints a line for each folder.
pub fn run(options: &Options) -> Result<Verdict> {
    if let Some(folder) = &options.inputs {
        return inputs::write(folder).map(|()| Verdict::Passed);
    }
    let root = difftest::root()?;
    if let (Some(old), Some(new)) = (&options.against, &options.binary) {
        let places: Vec<&Path> = options.folders.iter().map(PathBuf::as_path).collect();
        return against::compare(old, new, &places, &options.with).map(|()| Verdict::Passed);
    }
    if cfg!(debug_assertions) {
        return again(&root);
    }
    process::show(Command::new(env!("CARGO")).args(["build", "--quiet", "--release"]).current_dir(&root))?;
    // The folder of this program lies beside that of release builds.
    let here = std::env::current_exe().map_err(|error| error.to_string())?;
    let program = here.with_file_name("..").join("release/acc2omp");
    let mut folders = options.folders.clone();
    if folders.is_empty() {
        folders = ["fixtures/fortran", "fixtures/c"].map(|folder| root.join(folder)).to_vec();
    }
    if let Some(old) = &options.against {
        let places: Vec<&Path> = folders.iter().map(PathBuf::as_path).collect();
        return against::compare(old, &program, &places, &options.with).map(|()| Verdict::Passed);
    }
    for folder in folders {
        measure(&program, &folder, options.megabytes * 1_000_000)?;
    }
    Ok(Verdict::Passed)
}

/// Does it in a release build of this program: what is measured of the grammar is in here.
fn again(root: &Path) -> Result<Verdict> {
    let mut command = Command::new(env!("CARGO"));
    command.args(["run", "--quiet", "--release", "--package", "xtask", "--manifest-path"]);
    command.arg(root.join("Cargo.toml")).arg("--").args(std::env::args_os().skip(1));
    let status = command.status().map_err(|error| format!("cargo: {error}"))?;
    Ok(if status.success() { Verdict::Passed } else { Verdict::Failed })
}

fn measure(program: &Path, folder: &Path, wanted: usize) -> Result<()> {
    let sources = sources(folder);
    let bytes: usize = sources.iter().map(|(_, file)| file.bytes.len()).sum();
    if bytes == 0 {
        return Err(format!("{}: no sources", folder.display()));
    }
    let work = tempfile::Builder::new().prefix("acc2omp-speed-").tempdir().map_err(|e| e.to_string())?;
    let copies = wanted.div_ceil(bytes);
    for copy in 0..copies {
        for (path, file) in &sources {
            let to = work.path().join(copy.to_string()).join(path);
            files::write(&to, &file.bytes)?;
        }
    }
    let mut command = Command::new(program);
    command.args(["--quiet", "--jobs", "1", "--check"]).arg(work.path());
    let failed = |error: std::io::Error| format!("{}: {error}", program.display());
    let whole = best(|| command.status().map(drop).map_err(failed))?;
    let shadows: Vec<(Language, Vec<u8>)> = sources
        .iter()
        .map(|(_, file)| (file.language, scan::scan(file, &View::default()).0.shadow))
        .collect();
    let all = || (0..copies).flat_map(|_| &shadows);
    let grammar = best(|| all().try_for_each(|(language, text)| parse(*language, text)))?;
    let speed = |time: Duration| (bytes * copies) as f64 / 1e6 / time.as_secs_f64();
    println!(
        "{}: {:.1} MB, {:.2} s, {:.1} MB/s; the grammar alone {:.1} MB/s",
        folder.display(),
        (bytes * copies) as f64 / 1e6,
        whole.as_secs_f64(),
        speed(whole),
        speed(grammar)
    );
    Ok(())
}

/// The sources of a folder: paths in it, and what they hold.
fn sources(folder: &Path) -> Vec<(PathBuf, SourceFile)> {
    let mut pending = vec![folder.to_path_buf()];
    let mut found = Vec::new();
    while let Some(path) = pending.pop() {
        if let Ok(inside) = fs::read_dir(&path) {
            pending.extend(inside.flatten().map(|entry| entry.path()));
        } else if Language::of(&path).is_some()
            && let Ok(bytes) = fs::read(&path)
            && let Some(language) = scan::language_of(&path, &bytes, &Languages::default())
        {
            let name = path.display().to_string();
            let inner = path.strip_prefix(folder).unwrap_or(&path).to_path_buf();
            found.push((inner, SourceFile::new(name, bytes, language)));
        }
    }
    found
}

fn parse(language: Language, text: &[u8]) -> Result<()> {
    let grammar = match language {
        Language::C | Language::Header => tree_sitter_c::LANGUAGE,
        Language::Cpp => tree_sitter_cpp::LANGUAGE,
        Language::Fortran(_) => tree_sitter_fortran::LANGUAGE,
    };
    let mut parser = tree_sitter::Parser::new();
    parser.set_language(&grammar.into()).map_err(|error| error.to_string())?;
    parser.parse(text, None).map(drop).ok_or_else(|| "the grammar gives no tree".to_owned())
}

/// The shortest of some runs.
fn best(mut run: impl FnMut() -> Result<()>) -> Result<Duration> {
    let mut best = Duration::MAX;
    for _ in 0..RUNS {
        best = best.min(once(&mut run)?);
    }
    Ok(best)
}

/// What a run takes on a processor.
fn once(run: impl FnOnce() -> Result<()>) -> Result<Duration> {
    let before = process::spent()?;
    run()?;
    Ok(process::spent()? - before)
}
