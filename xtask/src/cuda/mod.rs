//! CUDA: its compiler, and what stands for CUDA on the processor.
//!
//! Invariant: what is missing is an error, never a comparison left out.

mod runtime;
pub mod watched;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tempfile::TempDir;

pub use runtime::{Options, run};

use crate::difftest::fixture::is_fortran;
use crate::{Result, process, setup};

/// No compiler and no test may take longer.
pub const LIMIT: Duration = Duration::from_secs(180);

/// The GPU that the programs are for.
const ARCHITECTURE: &str = "-arch=sm_90";

/// nvcc without its optimisers: what they make is its own matter, and takes a third of the time.
pub const NOT_OPTIMISED: [&str; 2] = ["-Xcicc=-O0", "-Xptxas=-O0"];

/// The run-time library that translations call, in this folder.
pub const RUNTIME: &str = "src/cuda/runtime";
/// Its source.
pub const RUNTIME_SOURCE: &str = "acc2omp_cuda.cu";
/// Its header.
pub const RUNTIME_HEADER: &str = "acc2omp_cuda.h";

/// Its module for Fortran.
const MODULE: &str = "acc2omp_cuda_module.f90";
/// How the names of modules end that stand beside the translations of files in Fortran.
pub const INTERFACES: &str = "_acc_module.f90";

/// CUDA's library, and the name that linkers look for, which Python's packages do not have.
const LIBRARY: &str = "libcudart.so.13";
const LINKED_AS: &str = "libcudart.so";

/// CUDA on the processor, in this folder.
const SHIM: &str = "tests/cuda-shim";
const SHIM_HEADER: &str = "cuda_runtime.h";

/// What builds translations to CUDA.
#[derive(Clone, Debug, Default)]
pub struct Cuda {
    nvcc: PathBuf,
    /// A copy of the shim, with its header compiled.
    shim: PathBuf,
    /// What all programs are linked with: the run-time library, built with the shim, and the shim itself.
    objects: Vec<PathBuf>,
}

/// What this run has built, and where.
static PREPARED: Mutex<Option<(TempDir, Cuda)>> = Mutex::new(None);

impl Cuda {
    /// Looks for nvcc, and builds what all programs share, once for all steps of a run; `clear` removes it.
    pub fn prepare(root: &Path) -> Result<Cuda> {
        let mut prepared = PREPARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, cuda)) = &*prepared {
            return Ok(cuda.clone());
        }
        let work =
            tempfile::Builder::new().prefix("acc2omp-shim-").tempdir().map_err(|error| error.to_string())?;
        let cuda = Cuda::build(root, work.path())?;
        *prepared = Some((work, cuda.clone()));
        Ok(cuda)
    }

    /// Removes what `prepare` has built.
    pub fn clear() {
        PREPARED.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    fn build(root: &Path, work: &Path) -> Result<Cuda> {
        let place = work.join("cuda-shim");
        let runtime = place.join("acc2omp_cuda.o");
        let mut cuda = Cuda { nvcc: nvcc()?, objects: vec![runtime.clone()], shim: place };
        crate::files::copy(&root.join(SHIM), &cuda.shim)?;
        let linked_as = cuda.shim.join(LINKED_AS);
        symlink(cuda.library(), &linked_as).map_err(|error| format!("{}: {error}", linked_as.display()))?;
        let header = cuda.shim.join(SHIM_HEADER);
        let mut compiled = header.clone().into_os_string();
        compiled.push(".gch");
        let mut command = Command::new("g++");
        command
            .args(SHIM_ARGUMENTS)
            .args(CHECKED)
            .args(["-x", "c++-header"])
            .arg(&header)
            .arg("-o")
            .arg(compiled);
        build(&mut command)?;
        let mut command = cuda.on_processor();
        let source = root.join(RUNTIME).join(RUNTIME_SOURCE);
        build(command.arg("-c").arg(source).arg("-o").arg(runtime))?;
        for source in SHIM_SOURCES {
            let object = cuda.shim.join(source).with_extension("o");
            let mut command = Command::new("g++");
            command.args(SHIM_ARGUMENTS).args(["-O2", "-c"]).arg(cuda.shim.join(source));
            build(command.arg("-o").arg(&object))?;
            cuda.objects.push(object);
        }
        let mut command = Command::new("gfortran");
        command.args(["-O1", "-c", "-J"]).arg(&cuda.shim).arg(root.join(RUNTIME).join(MODULE));
        build(command.arg("-o").arg(cuda.module()))?;
        Ok(cuda)
    }

    /// Where the compiler finds the library's module.
    pub fn modules(&self) -> &Path {
        &self.shim
    }

    /// The module's object.
    pub fn module(&self) -> PathBuf {
        self.shim.join(MODULE).with_extension("o")
    }

    /// nvcc for what acc2omp wrote, as far as it does not depend on the step: any warning is an error.
    pub fn nvcc(&self) -> Command {
        let mut command = Command::new(&self.nvcc);
        command.args(["-std=c++17", ARCHITECTURE, "-Werror", "all-warnings"]);
        command
    }

    /// nvcc for programs that find CUDA's library beside them.
    pub fn nvcc_shared(&self) -> Command {
        let mut command = self.nvcc();
        command.args(["-O3", "-cudart", "shared", "-Xlinker", "-s", "-L"]).arg(&self.shim);
        command
    }

    /// CUDA's library.
    pub fn library(&self) -> PathBuf {
        self.nvcc.with_file_name("../lib").join(LIBRARY)
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
        command.args(SHIM_ARGUMENTS).args(CHECKED).arg("-I").arg(&self.shim);
        command.arg("-include").arg(self.shim.join(SHIM_HEADER)).args(["-x", "c++"]);
        command
    }
}

impl Cuda {
    /// Marks the variables of a host file's object as what no kernel may touch.
    pub fn mark_host(object: &Path) -> Command {
        let mut command = Command::new("objcopy");
        for (section, renamed) in HOST_SECTIONS {
            command.arg("--rename-section").arg(format!("{section}={renamed}"));
        }
        command.arg(object);
        command
    }

    /// What comes at the end of the command that links for the shim.
    pub fn link(&self, command: &mut Command, has_fortran: bool) {
        if has_fortran {
            command.arg(self.module()).arg("-lgfortran");
        }
        command.args(&self.objects).args(WRAPPED.map(|name| format!("-Wl,--wrap={name}")));
        command.args(["-pthread", "-lm"]);
    }
}

/// Each access of device code calls a function of the shim's checks.
const CHECKED: &[&str] = &[
    "-fsanitize=kernel-address",
    "--param=asan-instrumentation-with-call-threshold=0",
    "--param=asan-stack=0",
    "--param=asan-globals=0",
];
/// The sources of the shim, which are not built so themselves.
const SHIM_SOURCES: [&str; 5] = ["checks.cpp", "fibers.cpp", "host.cpp", "machine.cpp", "races.cpp"];
/// Functions of the C library that the checks see as well.
const WRAPPED: [&str; 6] = ["malloc", "calloc", "free", "memcpy", "memmove", "memset"];
/// The sections of a host file's variables, and what the checks call them.
const HOST_SECTIONS: [(&str, &str); 5] = [
    (".data", "cuda_host_data"),
    (".bss", "cuda_host_bss"),
    (".rodata", "cuda_host_rodata"),
    (".data.rel", "cuda_host_data_rel"),
    (".data.rel.local", "cuda_host_data_rel_local"),
];

/// The shim's atomics look at floating-point numbers as words; fibers do not care for optimisation.
const SHIM_ARGUMENTS: &[&str] =
    &["-std=c++17", "-O0", "-Wall", "-Wno-unknown-pragmas", "-fno-strict-aliasing", "-DACC2OMP_ON_CPU"];

/// Whether a source is a host's file without device code: one in C++ may hold such code itself (A0403).
pub fn is_host(name: &str) -> bool {
    name.ends_with(".c") || is_fortran(name)
}

/// Whether a source has device code, which nvcc must build: a file of CUDA, or one in C++ with kernels in it (A0403).
pub fn is_for_device(name: &str, text: &str) -> bool {
    name.ends_with(".cu") || ["__device__", "__global__"].iter().any(|word| text.contains(word))
}

/// Where nvcc is.
fn nvcc() -> Result<PathBuf> {
    let nvcc = setup::nvcc()?;
    match nvcc.exists() {
        true => Ok(nvcc),
        false => Err(format!("{}: not found; `cargo xtask setup` installs it", nvcc.display())),
    }
}

/// Runs a compiler that must not fail.
pub fn build(command: &mut Command) -> Result<()> {
    match failure(command)? {
        Some(wrong) => Err(wrong),
        None => Ok(()),
    }
}

/// Runs a program; what is wrong if it fails.
fn failure(command: &mut Command) -> Result<Option<String>> {
    let done = process::capture(command, LIMIT)?;
    let name = command.get_program().to_string_lossy().into_owned();
    let failed = || format!("{name}: {}\n{}{}", done.end(), done.stdout, done.stderr);
    Ok((!done.succeeded()).then(failed))
}

/// The files of a folder with an ending, by name.
pub fn files(folder: &Path, ending: &str) -> Result<Vec<PathBuf>> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|one| one == ending) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
