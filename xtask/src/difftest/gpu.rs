//! Puts the translations of fixtures to CUDA into a folder, to be built and run on a machine with a GPU.
//!
//! Invariant: runs no translation; what the folder lacks is nvcc with its host compiler, and a shell.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::case::{Case, Tally, Wrong};
use super::toolchain::Toolchains;
use super::{LIMIT, Output, Suite, each, fixture, translate};
use crate::cuda::{self, RUNTIME, RUNTIME_HEADER, RUNTIME_SOURCE};
use crate::{Result, Verdict, files, process};

/// Builds and runs what stands beside it.
const SCRIPT: &str = include_str!("gpu.sh");
/// The libraries of programs in Fortran, beside the module of ours.
const LIBRARIES: [&str; 2] = ["libgfortran.a", "libquadmath.a"];

/// What all programs need, in this folder.
const SHARED: &str = "runtime";
/// The names of a program's files with device code, one in a line.
const DEVICE_CODE: &str = "device-code.txt";
/// The options for its compilers.
const OPTIONS: &str = "options.txt";
/// A directive that is untranslated, if there is one: the host runs its construct, with its own memory.
const UNTRANSLATED: &str = "untranslated.txt";
/// What the original prints.
const EXPECTED: &str = "expected.txt";

/// Fills `folder` with what the suites have, each translated to CUDA; `root` is the folder of the workspace.
pub fn fill(
    folder: &Path,
    root: &Path,
    suites: Vec<Suite>,
    toolchains: &Toolchains,
    translator: &Path,
) -> Result<Verdict> {
    files::make_folder(folder)?;
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    if folder.read_dir().map_err(failed)?.next().is_some() {
        return Err(format!("{}: there is something in this folder", folder.display()));
    }
    let folder = &folder.canonicalize().map_err(failed)?;
    beside(&folder.join(SHARED), root, toolchains)?;
    files::write(&folder.join("run.sh"), SCRIPT.as_bytes())?;
    let mut tally = Tally::default();
    for mut suite in suites.into_iter().filter(|suite| !suite.fixtures.is_empty()) {
        suite.fixtures.retain(|fixture| !fixture.marks.openmp);
        translate(translator, &suite)?;
        let output = Output::cuda();
        let translated = suite.work.join(output.name);
        let language = folder.join(fixture::name(&suite.folder));
        files::copy(&translated.join(RUNTIME_HEADER), &language.join(RUNTIME_HEADER))?;
        tally = tally.and(&each(&suite.fixtures, |fixture| {
            let case = Case { fixture, toolchains, work: &suite.work, together: None };
            report(&case, &translated.join(&fixture.name), &language.join(&fixture.name))
        })?);
    }
    println!("{} put there, {} failed; `sh run.sh` there builds and runs them", tally.passed, tally.failed);
    Ok(if tally.failed == 0 { Verdict::Passed } else { Verdict::Failed })
}

/// What all programs share.
fn beside(place: &Path, root: &Path, toolchains: &Toolchains) -> Result<()> {
    for name in [RUNTIME_SOURCE, RUNTIME_HEADER] {
        files::copy(&root.join(RUNTIME).join(name), &place.join(name))?;
    }
    files::copy(&toolchains.cuda_module(), &place.join("module.o"))?;
    for name in LIBRARIES {
        let mut command = Command::new("gfortran");
        let found = process::capture(command.arg(format!("-print-file-name={name}")), LIMIT)?;
        files::copy(Path::new(found.stdout.trim()), &place.join(name))?;
    }
    Ok(())
}

/// Puts one program there, from where it was translated to, and says if that is not possible.
fn report(case: &Case, translated: &Path, folder: &Path) -> Result<Tally> {
    Ok(match put(case, translated, folder)? {
        Ok(()) => Tally { passed: 1, ..Tally::default() },
        Err(wrong) => {
            println!("FAILED {}: {wrong}", case.fixture.name);
            Tally { failed: 1, ..Tally::default() }
        }
    })
}

/// Puts a program there with objects of its host code, the names of what nvcc compiles, and what the original prints.
fn put(case: &Case, translated: &Path, folder: &Path) -> Result<std::result::Result<(), Wrong>> {
    let original = match case.original()? {
        Ok(original) => original.unwrap_or_default(),
        Err(wrong) => return Ok(Err(wrong)),
    };
    let is_code = |path: &PathBuf| path.is_file() && path.extension().is_none_or(|ending| ending != "diff");
    for path in fixture::entries(translated)?.iter().filter(|path| is_code(path)) {
        files::copy(path, &folder.join(fixture::name(path)))?;
    }
    let options = &case.fixture.marks.options;
    let mut device = String::new();
    for source in case.cuda_sources(folder)? {
        if source == RUNTIME_SOURCE {
            continue;
        }
        if cuda::is_host(&source) {
            let object = folder.join(format!("{source}.o"));
            let strict = !case.fixture.marks.left;
            let mut command = case.toolchains.host_code(&source, folder, strict);
            command.args(options).arg(&source).arg("-o").arg(object);
            let built = process::capture(command.current_dir(folder), LIMIT)?;
            if !built.succeeded() {
                return Ok(Err(format!("{source}: {}\n{}", built.end(), built.stderr)));
            }
        } else {
            device += &source;
            device.push('\n');
        }
    }
    files::write(&folder.join(OPTIONS), options.join(" ").as_bytes())?;
    files::write(&folder.join(EXPECTED), original.stdout.as_bytes())?;
    if let Some(place) = case.first_left(translated)? {
        files::write(&folder.join(UNTRANSLATED), place.as_bytes())?;
    }
    // The script takes what has this file.
    files::write(&folder.join(DEVICE_CODE), device.as_bytes())?;
    Ok(Ok(()))
}
