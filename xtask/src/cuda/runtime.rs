//! The tests of the run-time library of CUDA by itself, and of what `--emit-build` writes.
//!
//! Invariant: each is run on the processor, with threads in several orders, and built by nvcc without a warning.

use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;

use super::{Cuda, LIMIT, NOT_OPTIMISED, RUNTIME, RUNTIME_SOURCE, build, failure, files};
use crate::difftest::{self, case::Tally, each, fixture::is_fortran, root};
use crate::{Result, Verdict, process};

/// Where the tests are.
const TESTS: &str = "tests/cuda-runtime";

/// How they are run on the processor: the order of the threads, and the number of devices.
const RUNS: &[(&str, &str)] = &[("1", "1"), ("2", "2"), ("3", "1")];

/// Which tests, and where to.
#[derive(Args, Debug, Default)]
pub struct Options {
    /// Only the tests whose name holds NAME
    #[arg(long, value_name = "NAME")]
    only: Option<String>,

    /// Put the programs that nvcc builds into DIR, to be run on a GPU: each prints `ok 1`
    #[arg(long, value_name = "DIR")]
    gpu: Option<PathBuf>,
}

/// Makes the tests; the last line printed counts them.
pub fn run(options: &Options) -> Result<Verdict> {
    let root = root()?;
    let work = tempfile::Builder::new().prefix("acc2omp-cuda-").tempdir().map_err(|e| e.to_string())?;
    let cuda = Cuda::prepare(&root)?;
    let wanted = |path: &PathBuf| {
        options.only.as_ref().is_none_or(|name| path.to_string_lossy().contains(name.as_str()))
    };
    let mut tests = files(&root.join(TESTS), "cu")?;
    tests.extend(files(&root.join(TESTS), "f90")?);
    tests.retain(wanted);
    if tests.is_empty() {
        return Err("no test has such a name".to_owned());
    }
    let programs = options.gpu.clone().unwrap_or_else(|| work.path().join("gpu"));
    crate::files::make_folder(&programs)?;
    let library = options.gpu.is_some().then(|| work.path().join("acc2omp_cuda.gpu.o"));
    if let Some(library) = &library {
        build(cuda.nvcc().arg("-c").arg(root.join(RUNTIME).join(RUNTIME_SOURCE)).arg("-o").arg(library))?;
    }
    let place = Place { cuda, root, work: work.path().to_path_buf(), library, programs };
    // Both ways of a test beside each other.
    let jobs: Vec<(&PathBuf, bool)> = tests.iter().flat_map(|test| [(test, true), (test, false)]).collect();
    let mut tally = each(&jobs, |(test, on_gpu)| place.report(test, *on_gpu))?;
    if options.only.is_none() {
        tally = tally.and(&counted("made program", "make", place.made()?));
        for (folder, ending, compiler) in COMPILED {
            tally = tally.and(&counted(folder, "cc", place.compiled(folder, ending, compiler)?));
        }
    }
    println!("{} passed, {} failed", tally.passed, tally.failed);
    Ok(if tally.failed == 0 { Verdict::Passed } else { Verdict::Failed })
}

struct Place {
    cuda: Cuda,
    root: PathBuf,
    work: PathBuf,
    /// The run-time library, built by nvcc, if the tests are to be run on a GPU.
    library: Option<PathBuf>,
    /// Where nvcc's programs go.
    programs: PathBuf,
}

/// Says how a test ended, and counts it.
fn counted(name: &str, kind: &str, wrong: Option<String>) -> Tally {
    match wrong {
        None => {
            println!("ok     {name} ({kind})");
            Tally { passed: 1, failed: 0, ..Tally::default() }
        }
        Some(wrong) => {
            println!("FAILED {name} ({kind}): {wrong}");
            Tally { passed: 0, failed: 1, ..Tally::default() }
        }
    }
}

/// A fixture that is built by make.
const MADE: &str = "jacobi-parallel";

/// Fixtures that are built by `acc2omp cc`: one whose source and header have constructs, and one in Fortran.
const COMPILED: [(&str, &str, &str); 2] =
    [("c/header-constructs", "c", "gcc"), ("fortran/jacobi-parallel", "f90", "gfortran")];

impl Place {
    /// Builds a fixture with the file that `--emit-build make` writes.
    fn made(&self) -> Result<Option<String>> {
        let folder = self.work.join("made");
        let mut command = Command::new(difftest::build(&self.root)?);
        command.arg(self.root.join("fixtures/c").join(MADE)).arg("-o").arg(&folder);
        build(command.args(["--to", "cuda", "--emit-build", "make", "--quiet"]))?;
        let rules =
            format!("include acc2omp.mk\nprogram: {MADE}.o $(ACC2OMP_OBJECTS)\n\t$(ACC2OMP_LINK) $^ -o $@\n");
        let makefile = folder.join("Makefile");
        crate::files::write(&makefile, rules.as_bytes())?;
        let mut command = Command::new("make");
        let compiler = format!("ACC2OMP_NVCC={}", self.cuda.nvcc().get_program().display());
        failure(command.current_dir(&folder).arg("program").arg(compiler))
    }

    /// Builds a fixture by `acc2omp cc`, each source by itself.
    fn compiled(&self, folder: &str, ending: &str, compiler: &str) -> Result<Option<String>> {
        let folder = self.root.join("fixtures").join(folder);
        let sources = files(&folder, ending)?;
        let name = folder.file_name().unwrap_or_default();
        let objects = self.work.join(name);
        crate::files::make_folder(&objects)?;
        let object =
            |source: &PathBuf| objects.join(source.file_name().unwrap_or_default()).with_extension("o");
        for source in &sources {
            let mut command = self.translating(compiler)?;
            command.current_dir(&objects).arg("-c").arg(source).arg("-o").arg(object(source));
            if let Some(wrong) = failure(&mut command)? {
                return Ok(Some(wrong));
            }
        }
        let mut command = self.translating(compiler)?;
        failure(command.args(sources.iter().map(object)).arg("-o").arg(self.programs.join(name)))
    }

    /// `acc2omp cc --to cuda -- COMPILER`.
    fn translating(&self, compiler: &str) -> Result<Command> {
        let mut command = Command::new(difftest::build(&self.root)?);
        command.args(["cc", "--to", "cuda", "--quiet", "--", compiler]);
        command.env("ACC2OMP_NVCC", self.cuda.nvcc().get_program());
        Ok(command)
    }

    fn report(&self, test: &Path, on_gpu: bool) -> Result<Tally> {
        let name = test.file_stem().unwrap_or_default().to_string_lossy();
        let kind = if on_gpu { "nvcc" } else { "shim" };
        let wrong = if on_gpu { self.for_gpu(test, &name)? } else { self.on_processor(test, &name)? };
        Ok(counted(&format!("runtime {name}"), kind, wrong))
    }

    fn for_gpu(&self, test: &Path, name: &str) -> Result<Option<String>> {
        let object = self.work.join(format!("{name}.gpu.o"));
        let Some(library) = &self.library else { return self.read_by_nvcc(test, &object) };
        let mut command = self.cuda.nvcc();
        if is_fortran(test) {
            if let Some(wrong) = failure(&mut self.fortran(test, &object))? {
                return Ok(Some(wrong));
            }
            command.arg(object).arg(self.cuda.module()).arg("-lgfortran");
        } else {
            command.arg("-I").arg(self.root.join(RUNTIME)).arg(test);
        }
        failure(command.arg(library).arg("-o").arg(self.programs.join(name)))
    }

    /// What nvcc says of a test that is not run: it is not linked, and not optimised.
    fn read_by_nvcc(&self, test: &Path, object: &Path) -> Result<Option<String>> {
        let mut command = match is_fortran(test) {
            true => self.fortran(test, object),
            false => {
                let mut command = self.cuda.nvcc();
                command.arg("-cuda").args(NOT_OPTIMISED).arg("-I").arg(self.root.join(RUNTIME));
                command.arg(test).arg("-o").arg(object);
                command
            }
        };
        failure(&mut command)
    }

    /// What compiles a test in Fortran to an object.
    fn fortran(&self, test: &Path, object: &Path) -> Command {
        let mut command = Command::new("gfortran");
        command.args(["-Wall", "-Werror", "-I"]).arg(self.cuda.modules());
        command.arg("-c").arg(test).arg("-o").arg(object);
        command
    }

    fn on_processor(&self, test: &Path, name: &str) -> Result<Option<String>> {
        let program = self.work.join(name);
        let mut command = self.cuda.on_processor();
        if is_fortran(test) {
            let object = program.with_extension("o");
            if let Some(wrong) = failure(&mut self.fortran(test, &object))? {
                return Ok(Some(wrong));
            }
            command.args(["-x", "none"]).arg(object).arg("-o").arg(&program);
        } else {
            command.arg("-Werror").arg("-I").arg(self.root.join(RUNTIME)).arg(test);
            command.args(["-x", "none", "-o"]).arg(&program);
        }
        self.cuda.link(&mut command, is_fortran(test));
        if let Some(wrong) = failure(&mut command)? {
            return Ok(Some(wrong));
        }
        for (seed, devices) in RUNS {
            let mut command = Command::new(&program);
            command.env("CUDA_SHIM_SEED", seed).env("CUDA_SHIM_DEVICES", devices).env("CUDA_SHIM_LEAKS", "1");
            let ran = process::capture(&mut command, LIMIT)?;
            if !ran.succeeded() || !ran.stdout.lines().any(|line| line == "ok 1") {
                let (stdout, stderr) = (&ran.stdout, &ran.stderr);
                return Ok(Some(format!("seed {seed}, {devices} devices: {}\n{stdout}{stderr}", ran.end())));
            }
        }
        Ok(None)
    }
}
