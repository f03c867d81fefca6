//! The tests of the run-time library of CUDA by itself, and of what `--emit-build` writes.
//!
//! Invariant: each is run on the processor, with threads in several orders, and built by nvcc without a warning.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;

use super::{Cuda, LIMIT, RUNTIME, RUNTIME_SOURCE, build, failure, files};
use crate::difftest::{self, case::Tally, each, root};
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
    let cuda = Cuda::prepare(&root, work.path())?;
    let library = work.path().join("acc2omp_cuda.gpu.o");
    build(cuda.nvcc().arg("-c").arg(root.join(RUNTIME).join(RUNTIME_SOURCE)).arg("-o").arg(&library))?;
    let wanted = |path: &PathBuf| {
        options.only.as_ref().is_none_or(|name| path.to_string_lossy().contains(name.as_str()))
    };
    let mut tests = files(&root.join(TESTS), "cu")?;
    tests.retain(wanted);
    if tests.is_empty() {
        return Err("no test has such a name".to_owned());
    }
    let programs = options.gpu.clone().unwrap_or_else(|| work.path().join("gpu"));
    fs::create_dir_all(&programs).map_err(|error| format!("{}: {error}", programs.display()))?;
    let place = Place { cuda, root, work: work.path().to_path_buf(), library, programs };
    // Both ways of a test beside each other.
    let jobs: Vec<(&PathBuf, bool)> = tests.iter().flat_map(|test| [(test, true), (test, false)]).collect();
    let mut tally = each(&jobs, |(test, on_gpu)| place.tell(test, *on_gpu))?;
    if options.only.is_none() {
        tally = tally.and(&told("made program", "make", place.made()?));
        tally = tally.and(&told("program with constructs of headers", "cc", place.compiled()?));
    }
    println!("{} passed, {} failed", tally.passed, tally.failed);
    Ok(if tally.failed == 0 { Verdict::Passed } else { Verdict::Failed })
}

struct Place {
    cuda: Cuda,
    root: PathBuf,
    work: PathBuf,
    /// The run-time library, built by nvcc.
    library: PathBuf,
    /// Where nvcc's programs go.
    programs: PathBuf,
}

/// Says how a test ended, and counts it.
fn told(name: &str, kind: &str, wrong: Option<String>) -> Tally {
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

/// A fixture whose source and header have constructs.
const COMPILED: &str = "header-constructs";

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
        fs::write(&makefile, rules).map_err(|error| format!("{}: {error}", makefile.display()))?;
        let mut command = Command::new("make");
        let compiler = format!("ACC2OMP_NVCC={}", self.cuda.nvcc().get_program().display());
        failure(command.current_dir(&folder).arg("program").arg(compiler))
    }

    /// Builds a fixture of several sources by `acc2omp cc`.
    fn compiled(&self) -> Result<Option<String>> {
        let folder = self.root.join("fixtures/c").join(COMPILED);
        let nvcc = self.cuda.nvcc();
        for source in files(&folder, "c")? {
            let object = self.work.join(source.with_extension("o").file_name().unwrap_or_default());
            let mut command = self.translating(nvcc.get_program())?;
            command.arg("-c").arg(&source).arg("-o").arg(object);
            if let Some(wrong) = failure(&mut command)? {
                return Ok(Some(wrong));
            }
        }
        let mut command = self.translating(nvcc.get_program())?;
        let objects = files(&folder, "c")?.into_iter().map(|source| source.with_extension("o"));
        command.args(objects.map(|object| self.work.join(object.file_name().unwrap_or_default())));
        failure(command.arg("-o").arg(self.programs.join(COMPILED)))
    }

    /// `acc2omp cc --to cuda -- gcc`.
    fn translating(&self, nvcc: &OsStr) -> Result<Command> {
        let mut command = Command::new(difftest::build(&self.root)?);
        command.args(["cc", "--to", "cuda", "--quiet", "--", "gcc"]).env("ACC2OMP_NVCC", nvcc);
        Ok(command)
    }

    fn tell(&self, test: &Path, on_gpu: bool) -> Result<Tally> {
        let name = test.file_stem().unwrap_or_default().to_string_lossy();
        let kind = if on_gpu { "nvcc" } else { "shim" };
        let wrong = if on_gpu { self.for_gpu(test, &name)? } else { self.on_processor(test, &name)? };
        Ok(told(&format!("runtime {name}"), kind, wrong))
    }

    fn for_gpu(&self, test: &Path, name: &str) -> Result<Option<String>> {
        let mut command = self.cuda.nvcc();
        command.arg("-I").arg(self.root.join(RUNTIME)).arg(test).arg(&self.library);
        failure(command.arg("-o").arg(self.programs.join(name)))
    }

    fn on_processor(&self, test: &Path, name: &str) -> Result<Option<String>> {
        let program = self.work.join(name);
        let mut command = self.cuda.on_processor();
        command.arg("-Werror").arg("-I").arg(self.root.join(RUNTIME)).arg(test);
        command.args(["-x", "none", "-o"]).arg(&program);
        self.cuda.link(&mut command);
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
