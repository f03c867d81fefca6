//! CUDA: its compiler, and what stands for CUDA on the processor.
//!
//! Invariant: what is missing is an error, never a comparison left out.

mod bench;
mod runtime;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

pub use bench::{Options as BenchOptions, run as bench};
pub use runtime::{Options, run};

use crate::{Result, process, setup};

/// No compiler and no test may take longer.
pub const LIMIT: Duration = Duration::from_secs(180);

/// The GPU that the programs are for.
const ARCHITECTURE: &str = "-arch=sm_90";

/// The run-time library that translations call, in this folder.
pub const RUNTIME: &str = "src/cuda/runtime";
/// Its source.
pub const RUNTIME_SOURCE: &str = "acc2omp_cuda.cu";

/// CUDA on the processor, in this folder.
const SHIM: &str = "tests/cuda-shim";
const SHIM_HEADER: &str = "cuda_runtime.h";

/// What builds translations to CUDA.
#[derive(Clone, Debug, Default)]
pub struct Cuda {
    nvcc: PathBuf,
    /// A copy of the shim, with its header compiled.
    shim: PathBuf,
    /// The run-time library, built with the shim.
    pub runtime: PathBuf,
}

impl Cuda {
    /// Looks for nvcc, and builds in `work` what all programs share.
    pub fn prepare(root: &Path, work: &Path) -> Result<Cuda> {
        let place = work.join("cuda-shim");
        let cuda = Cuda { nvcc: nvcc()?, runtime: place.join("acc2omp_cuda.o"), shim: place };
        copy(&root.join(SHIM), &cuda.shim)?;
        let header = cuda.shim.join(SHIM_HEADER);
        let mut compiled = header.clone().into_os_string();
        compiled.push(".gch");
        let mut command = Command::new("g++");
        command.args(SHIM_ARGUMENTS).args(["-x", "c++-header"]).arg(&header).arg("-o").arg(compiled);
        build(&mut command)?;
        let mut command = cuda.on_processor();
        let source = root.join(RUNTIME).join(RUNTIME_SOURCE);
        build(command.arg("-c").arg(source).arg("-o").arg(&cuda.runtime))?;
        Ok(cuda)
    }

    /// nvcc for what acc2omp wrote, as far as it does not depend on the step: any warning is an error.
    pub fn nvcc(&self) -> Command {
        let mut command = Command::new(&self.nvcc);
        command.args(["-std=c++17", ARCHITECTURE, "-Werror", "all-warnings"]);
        command
    }

    /// nvcc for the host's code with device code in it (A0403), whose warnings are the program's.
    pub fn nvcc_in_place(&self) -> Command {
        let mut command = Command::new(&self.nvcc);
        command.args([
            "-std=c++17",
            ARCHITECTURE,
            "-x",
            "cu",
            "--extended-lambda",
            "--expt-relaxed-constexpr",
        ]);
        command
    }

    /// g++ with the shim, for sources of CUDA.
    pub fn on_processor(&self) -> Command {
        let mut command = Command::new("g++");
        command.args(SHIM_ARGUMENTS).arg("-I").arg(&self.shim);
        command.arg("-include").arg(self.shim.join(SHIM_HEADER)).args(["-x", "c++"]);
        command
    }
}

/// The shim's atomics look at floating-point numbers as words; fibers do not care for optimisation.
const SHIM_ARGUMENTS: &[&str] =
    &["-std=c++17", "-O0", "-Wall", "-Wno-unknown-pragmas", "-fno-strict-aliasing", "-DACC2OMP_ON_CPU"];

/// Where nvcc is.
fn nvcc() -> Result<PathBuf> {
    let nvcc = setup::nvcc()?;
    match nvcc.exists() {
        true => Ok(nvcc),
        false => Err(format!("{}: not found; `cargo xtask setup` installs it", nvcc.display())),
    }
}

/// Runs a compiler that must not fail.
fn build(command: &mut Command) -> Result<()> {
    match failure(command)? {
        Some(wrong) => Err(wrong),
        None => Ok(()),
    }
}

/// Runs a program; what is wrong if it fails.
fn failure(command: &mut Command) -> Result<Option<String>> {
    let done = process::capture(command, LIMIT)?;
    let name = command.get_program().to_string_lossy().into_owned();
    let told = || format!("{name}: {}\n{}{}", done.end(), done.stdout, done.stderr);
    Ok((!done.succeeded()).then(told))
}

/// Copies a folder.
fn copy(from: &Path, to: &Path) -> Result<()> {
    let told = |error: std::io::Error| format!("{}: {error}", from.display());
    fs::create_dir_all(to).map_err(told)?;
    for entry in fs::read_dir(from).map_err(told)? {
        let entry = entry.map_err(told)?;
        let place = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => copy(&entry.path(), &place)?,
            false => drop(fs::copy(entry.path(), place).map_err(told)?),
        }
    }
    Ok(())
}

/// The files of a folder with an ending, by name.
pub fn files(folder: &Path, ending: &str) -> Result<Vec<PathBuf>> {
    let told = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(told)? {
        let path = entry.map_err(told)?.path();
        if path.extension().is_some_and(|one| one == ending) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
