//! The compilers of OpenMP and OpenACC for NVIDIA GPUs.
//!
//! Invariant: one that is missing is an error, never a column left out.

use std::path::PathBuf;
use std::process::Command;

use crate::cuda::LIMIT;
use crate::setup::{Clang, Gcc};
use crate::{Result, process};

/// The GPU, in the words of clang.
const ARCHITECTURE: &str = "sm_90";

/// clang and gcc with their parts for GPUs.
pub struct Offload {
    /// gcc.
    pub gcc: Gcc,
    /// The folder of clang's libraries.
    pub clang_libraries: PathBuf,
    clang: Clang,
}

impl Offload {
    /// Looks for both.
    pub fn find() -> Result<Offload> {
        let said = process::capture(Command::new("llvm-config-19").arg("--libdir"), LIMIT)?;
        Ok(Offload {
            gcc: Gcc::find()?,
            clang: Clang::find()?,
            clang_libraries: PathBuf::from(said.stdout.trim()),
        })
    }

    /// clang for OpenMP in C.
    pub fn clang(&self) -> Command {
        let mut command = Command::new("clang-19");
        let library = format!("libomptarget-nvptx-{ARCHITECTURE}.bc");
        command.args(["-O3", "-s", "-fopenmp", &format!("--offload-arch={ARCHITECTURE}")]);
        command.arg(format!("--cuda-path={}", self.clang.cuda().display()));
        command.arg(format!("--libomptarget-nvptx-bc-path={}", self.clang_libraries.join(library).display()));
        command.arg(format!("-L{}", self.clang_libraries.display()));
        command
    }

    /// gcc or gfortran, for `-fopenacc` or `-fopenmp`.
    pub fn gcc(&self, compiler: &str, directives: &str) -> Command {
        let mut command = self.gcc.command(compiler);
        command.args(["-O3", "-s", "-no-pie", directives, "-foffload=nvptx-none", "-foffload-options=-lm"]);
        command
    }
}
