//! The programs in small sizes, on the processor: translated, built, run, and compared.
//!
//! Invariant: programs of one name print the same checksum, in both languages, in all styles, whatever builds them.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Mutex;

use super::program::{Language, Program, Style, all};
use super::translation::{Place, Target};
use super::translator;
use crate::cuda::LIMIT;
use crate::difftest::toolchain::{Toolchain, Toolchains};
use crate::difftest::{case::Tally, each, root};
use crate::{Result, Verdict, process};

/// Checks the programs whose names hold `only`.
pub fn run(only: Option<&str>, given: Option<&Path>) -> Result<Verdict> {
    let root = root()?;
    let programs = all(&root, only, true)?;
    let work = tempfile::Builder::new().prefix("acc2omp-bench-").tempdir().map_err(|e| e.to_string())?;
    let toolchains = Toolchains::find()?.with_cuda(&root)?;
    let translator = translator(&root, given)?;
    let place = Place { root, work: work.path().to_path_buf() };
    place.translate(&translator, &programs, targets)?;
    let shop = Shop { toolchains, place, seen: Mutex::default() };
    let jobs = programs.iter().flat_map(|program| {
        ways(program.language).iter().map(move |&(toolchain, target)| (program, toolchain, target))
    });
    let is_wanted = |program: &Program, toolchain| only.is_some() || is_quick(program, toolchain);
    let jobs: Vec<_> = jobs.filter(|&(program, toolchain, _)| is_wanted(program, toolchain)).collect();
    let tally = each(&jobs, |&(program, toolchain, target)| shop.report(program, toolchain, target))?;
    println!("{}", shop.toolchains.spent);
    println!("{} passed, {} failed", tally.passed, tally.failed);
    Ok(if tally.failed == 0 { Verdict::Passed } else { Verdict::Failed })
}

/// What builds a language, and the translation that it builds; `None` is the source.
fn ways(language: Language) -> &'static [(Toolchain, Option<Target>)] {
    match language {
        Language::C => &[
            (Toolchain::OpenAcc, None),
            (Toolchain::GccOpenMp, Some(Target::Clang)),
            (Toolchain::ClangOpenMp, Some(Target::Clang)),
            (Toolchain::Shim, Some(Target::Cuda)),
        ],
        Language::Fortran => &[
            (Toolchain::OpenAcc, None),
            (Toolchain::GccOpenMp, Some(Target::Gcc)),
            (Toolchain::Shim, Some(Target::Cuda)),
        ],
    }
}

/// Whether a program is built this way when all programs are: the shim takes most of the time, and what it has of the
/// styles that are omitted is in the others.
fn is_quick(program: &Program, toolchain: Toolchain) -> bool {
    match program.language {
        Language::C => toolchain != Toolchain::Shim || program.style != Style::Directed,
        Language::Fortran => toolchain != Toolchain::Shim || program.style == Style::Outer,
    }
}

/// What a language is translated to.
fn targets(language: Language) -> &'static [Target] {
    match language {
        Language::C => &[Target::Clang, Target::Cuda],
        Language::Fortran => &[Target::Gcc, Target::Cuda],
    }
}

/// How far a checksum may be from another, as sums are made in other orders, some in single precision.
const TOLERANCE: f64 = 1e-5;

struct Shop {
    toolchains: Toolchains,
    place: Place,
    /// The first checksum of each name.
    seen: Mutex<HashMap<String, f64>>,
}

impl Shop {
    fn report(&self, program: &Program, toolchain: Toolchain, target: Option<Target>) -> Result<Tally> {
        match self.wrong(program, toolchain, target)? {
            None => Ok(Tally { passed: 1, ..Tally::default() }),
            Some(wrong) => {
                println!("FAILED {} ({}): {wrong}", program.full_name(), toolchain.name());
                Ok(Tally { failed: 1, ..Tally::default() })
            }
        }
    }

    fn wrong(
        &self,
        program: &Program,
        toolchain: Toolchain,
        target: Option<Target>,
    ) -> Result<Option<String>> {
        let folder = match target {
            Some(target) => self.place.translated(program, target),
            None => self.place.sources(program.language, program.style),
        };
        let path = self.place.work.join(format!("{}.{}", program.full_name(), toolchain.name()));
        if let Some(wrong) = self.build(program, toolchain, &folder, &path)? {
            return Ok(Some(wrong));
        }
        let is_fortran = program.language == Language::Fortran;
        let mut command = self.toolchains.execute(toolchain, &path, is_fortran, 0);
        let ran = self.toolchains.spent.on(toolchain, "runs", || process::capture(&mut command, LIMIT))?;
        if !ran.succeeded() {
            return Ok(Some(format!("it fails, {}\n{}", ran.end(), ran.stderr)));
        }
        if toolchain.launches(&ran.stderr) == Some(0) {
            return Ok(Some("nothing ran on the device".to_owned()));
        }
        let printed: Option<f64> =
            ran.stdout.split_whitespace().next_back().and_then(|word| word.parse().ok());
        let Some(checksum) = printed else {
            return Ok(Some(format!("it prints no checksum: {}", ran.stdout)));
        };
        let mut seen = self.seen.lock().map_err(|error| error.to_string())?;
        let first = *seen.entry(program.name.clone()).or_insert(checksum);
        Ok(((checksum - first).abs() > TOLERANCE * first.abs())
            .then(|| format!("its checksum is {checksum}, that of another {first}")))
    }

    /// What keeps a program from being built.
    fn build(
        &self,
        program: &Program,
        toolchain: Toolchain,
        folder: &Path,
        path: &Path,
    ) -> Result<Option<String>> {
        let mut sources = vec![program.file()];
        if toolchain.is_cuda() {
            sources.push(program.device_file());
            if program.language == Language::Fortran {
                sources.insert(0, program.module_file());
            }
        }
        for mut step in self.toolchains.build(toolchain, &sources, path, false)? {
            if step.get_program() != "objcopy" {
                step.args(program.compiler_defines());
            }
            let step = step.current_dir(folder);
            let built = self.toolchains.spent.on(toolchain, "builds", || process::capture(step, LIMIT))?;
            if !built.succeeded() {
                return Ok(Some(format!("it cannot be built, {}\n{}", built.end(), built.stderr)));
            }
        }
        Ok(None)
    }
}
