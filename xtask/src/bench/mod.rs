//! Builds the programs of `benches/suite` for a GPU, in all their styles, by all compilers.
//!
//! Invariant: runs none of them; the folder that it fills is carried to a machine with a GPU, where `run.sh` needs a shell only.

mod beside;
mod check;
mod offload;
mod program;
mod translation;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;

use self::offload::Offload;
use self::program::{Language, Program, SUITE};
use self::translation::{Place, Target};
use crate::cuda::{Cuda, RUNTIME_SOURCE, build, files};
use crate::difftest::{self, case::Tally, each, root};
use crate::{Result, Verdict, process};

/// The programs in CUDA by hand.
const BY_HAND: &str = "cuda";

/// What to build, and where to.
#[derive(Args, Debug)]
pub struct Options {
    /// The folder for the programs
    #[arg(value_name = "DIR", required_unless_present = "check")]
    folder: Option<PathBuf>,

    /// Build the programs in small sizes for the processor instead, run them, and compare their checksums; with `--only`
    /// in all ways, without it in those that take a minute
    #[arg(long, conflicts_with = "folder")]
    check: bool,

    /// Only the programs whose name holds NAME, as `jacobi`, `.f90.` or `jacobi.c.outer`
    #[arg(long, value_name = "NAME")]
    only: Option<String>,

    /// Translate with this program instead of the acc2omp of this tree
    #[arg(long, value_name = "PROGRAM")]
    translator: Option<PathBuf>,
}

/// Builds all, with what they need beside them; or checks them.
pub fn run(options: &Options) -> Result<Verdict> {
    let (only, given) = (options.only.as_deref(), options.translator.as_deref());
    step_back();
    match &options.folder {
        Some(folder) => bundle(folder, only, given),
        None => check::run(only, given),
    }
}

/// Checks all of them.
pub fn check() -> Result<Verdict> {
    check::run(None, None)
}

/// The translator: the one that is given, or that of this tree.
fn translator(root: &Path, given: Option<&Path>) -> Result<PathBuf> {
    given.map_or_else(|| difftest::build(root), |program| Ok(program.to_path_buf()))
}

fn bundle(folder: &Path, only: Option<&str>, given: Option<&Path>) -> Result<Verdict> {
    let root = root()?;
    let offload = Offload::find()?;
    let programs = program::all(&root, only, false)?;
    let work = tempfile::Builder::new().prefix("acc2omp-bench-").tempdir().map_err(|e| e.to_string())?;
    let translator = translator(&root, given)?;
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    fs::create_dir_all(folder.join("bin")).map_err(failed)?;
    let folder = folder.canonicalize().map_err(failed)?;
    fs::copy(root.join(SUITE).join("run.sh"), folder.join("run.sh")).map_err(failed)?;
    let cuda = Cuda::prepare(&root)?;
    let place = Place { root, work: work.path().to_path_buf() };
    place.translate(&translator, &programs, targets)?;
    beside::gather(&cuda, &offload, &folder.join("lib"))?;
    let shop = Shop { cuda, offload, place, folder };
    shop.runtime(&programs)?;
    let tally = each(&shop.jobs(programs)?, |job| shop.report(job))?;
    let place = shop.folder.display();
    println!("{} built, {} failed; run.sh in {place} compares them", tally.passed, tally.failed);
    Ok(if tally.failed == 0 { Verdict::Passed } else { Verdict::Failed })
}

/// The compilers, which take long, give way to what else the machine does.
fn step_back() {
    let own = std::process::id().to_string();
    let _ = process::capture(Command::new("renice").args(["-n", "10", "-p", &own]), crate::cuda::LIMIT);
}

/// What a language is translated to: clang has no Fortran, and flang nothing for NVIDIA GPUs that could be had here.
fn targets(language: Language) -> &'static [Target] {
    match language {
        Language::C => &[Target::Cuda, Target::Clang],
        Language::Fortran => &[Target::Cuda, Target::Gcc],
    }
}

/// A program to build, and how.
enum Job {
    /// CUDA by acc2omp.
    Cuda(Program),
    /// OpenMP by acc2omp.
    OpenMp(Program),
    /// OpenACC by gcc.
    OpenAcc(Program),
    /// CUDA by hand.
    Hand(PathBuf),
}

impl Job {
    /// The name of what is built: program, language, style and way; `run.sh` knows them.
    fn name(&self) -> String {
        match self {
            Job::Cuda(program) => format!("{}.cuda", program.full_name()),
            Job::OpenMp(program) => format!("{}.omp", program.full_name()),
            Job::OpenAcc(program) => format!("{}.acc", program.full_name()),
            Job::Hand(source) => {
                format!("{}.cu.hand.cuda", source.file_stem().unwrap_or_default().to_string_lossy())
            }
        }
    }
}

/// Where all is built.
struct Shop {
    cuda: Cuda,
    offload: Offload,
    place: Place,
    folder: PathBuf,
}

impl Shop {
    fn jobs(&self, programs: Vec<Program>) -> Result<Vec<Job>> {
        let mut jobs = Vec::new();
        for source in files(&self.place.root.join(SUITE).join(BY_HAND), "cu")? {
            let name = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            if programs.iter().any(|program| program.name == name) {
                jobs.push(Job::Hand(source));
            }
        }
        for program in programs {
            jobs.extend([Job::Cuda(program.clone()), Job::OpenMp(program.clone()), Job::OpenAcc(program)]);
        }
        Ok(jobs)
    }

    fn report(&self, job: &Job) -> Result<Tally> {
        let name = job.name();
        let program = self.folder.join("bin").join(&name);
        let done = match job {
            Job::Cuda(one) => self.to_cuda(one, &program),
            Job::OpenMp(one) => self.to_openmp(one, &program),
            Job::OpenAcc(one) => {
                let mut command = self.offload.gcc(one.language.gcc(), "-fopenacc");
                command.args(one.compiler_defines()).arg(self.place.source(one)).arg("-o").arg(&program);
                build(command.arg("-lm"))
            }
            Job::Hand(source) => {
                let mut command = self.cuda.nvcc_shared();
                command.arg("-I").arg(Language::C.folder(&self.place.root));
                build(command.arg(source).arg("-o").arg(&program))
            }
        };
        Ok(match done {
            Ok(()) => Tally { passed: 1, failed: 0, ..Tally::default() },
            Err(wrong) => {
                println!("FAILED {name}: {wrong}");
                Tally { passed: 0, failed: 1, ..Tally::default() }
            }
        })
    }

    /// Builds the run-time library of translations to CUDA, which all share.
    fn runtime(&self, programs: &[Program]) -> Result<()> {
        let Some(first) = programs.first() else { return Ok(()) };
        let source = self.place.translated(first, Target::Cuda).join(RUNTIME_SOURCE);
        let mut command = self.cuda.nvcc_shared();
        build(command.args(["-rdc=true", "-c"]).arg(source).arg("-o").arg(self.runtime_object()))
    }

    fn runtime_object(&self) -> PathBuf {
        self.place.work.join(RUNTIME_SOURCE).with_extension("o")
    }

    fn to_openmp(&self, one: &Program, program: &Path) -> Result<()> {
        let (mut command, target) = match one.language {
            Language::C => (self.offload.clang(), Target::Clang),
            Language::Fortran => (self.offload.gcc("gfortran", "-fopenmp"), Target::Gcc),
        };
        command.args(one.compiler_defines()).arg(self.place.translated(one, target).join(one.file()));
        build(command.arg("-o").arg(program).arg("-lm"))
    }

    fn to_cuda(&self, one: &Program, program: &Path) -> Result<()> {
        let folder = self.place.translated(one, Target::Cuda);
        let object = folder.join(format!("{}.o", one.name));
        let mut command = Command::new(one.language.gcc());
        command.current_dir(&folder).args(["-O3", "-c"]).args(one.compiler_defines());
        let mut link = self.cuda.nvcc_shared();
        if one.language == Language::Fortran {
            let mut modules = Command::new("gfortran");
            modules.current_dir(&folder).arg("-fsyntax-only").arg("-I").arg(self.cuda.modules());
            build(modules.arg(one.module_file()))?;
            command.arg("-I").arg(self.cuda.modules());
            link.arg(self.cuda.module()).arg("-lgfortran");
        }
        build(command.arg(one.file()).arg("-o").arg(&object))?;
        link.arg("-rdc=true").args(one.compiler_defines());
        link.arg(folder.join(one.device_file())).arg(self.runtime_object());
        build(link.arg(&object).arg("-o").arg(program))
    }
}
