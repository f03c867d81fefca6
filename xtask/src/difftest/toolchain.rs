//! The compilers, how they are called, and how their programs are run.
//!
//! Invariant: a compiler that is missing is an error, never a comparison left out.

use std::path::Path;
use std::process::Command;

use super::{LIMIT, Profile};
use crate::{Result, process};

/// gcc, for OpenACC and for OpenMP.
const GCC: Compilers = Compilers { c: "gcc", cpp: "g++" };
/// clang, for OpenMP on a device with a memory of its own.
const CLANG: Compilers = Compilers { c: "clang-19", cpp: "clang++-19" };
/// Says where clang's run-time libraries are.
const LLVM_CONFIG: &str = "llvm-config-19";

/// The programs of one kind of compiler.
struct Compilers {
    c: &'static str,
    cpp: &'static str,
}

/// The compilers that are there.
#[derive(Debug)]
pub struct Toolchains {
    /// The folder of clang's run-time libraries.
    llvm_libraries: String,
}

/// A way to build and run a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Toolchain {
    /// gcc, OpenACC on the host.
    OpenAcc,
    /// gcc, directives ignored.
    Plain,
    /// gcc, OpenMP on the host.
    GccOpenMp,
    /// clang, OpenMP on a device that is the same processor with other memory.
    ClangOpenMp,
}

impl Toolchain {
    /// Its name in messages and folders.
    pub fn name(self) -> &'static str {
        match self {
            Toolchain::OpenAcc => "openacc",
            Toolchain::Plain => "plain",
            Toolchain::GccOpenMp => "gcc",
            Toolchain::ClangOpenMp => "clang",
        }
    }

    /// What its run-time prints to standard error for each construct that runs; `None` if it cannot.
    pub fn launch(self) -> Option<&'static str> {
        match self {
            Toolchain::OpenAcc => Some("GOACC_parallel_keyed"),
            Toolchain::ClangOpenMp => Some("Entering OpenMP kernel"),
            Toolchain::Plain | Toolchain::GccOpenMp => None,
        }
    }

    /// The toolchains for a profile's output: all read all of it, but gcc's is tuned for gcc alone.
    pub fn of(profile: Profile) -> &'static [Toolchain] {
        match profile {
            Profile::Gcc => &[Toolchain::GccOpenMp],
            Profile::Generic | Profile::Clang | Profile::Cray => {
                &[Toolchain::GccOpenMp, Toolchain::ClangOpenMp]
            }
        }
    }
}

impl Toolchain {
    /// The toolchains for output of an OpenMP version: gcc 12 stops at 5.0.
    pub fn of_version(version: u8) -> &'static [Toolchain] {
        match version {
            0..=50 => &[Toolchain::GccOpenMp, Toolchain::ClangOpenMp],
            _ => &[Toolchain::ClangOpenMp],
        }
    }
}

impl Toolchains {
    /// Looks for the compilers.
    pub fn find() -> Result<Toolchains> {
        for program in [GCC.c, GCC.cpp, CLANG.c, CLANG.cpp] {
            ask(program, "--version")?;
        }
        let llvm_libraries = ask(LLVM_CONFIG, "--libdir")?.trim().to_owned();
        Ok(Toolchains { llvm_libraries })
    }

    /// The command that builds `sources`, in the folder they are in, into `program`.
    pub fn build(&self, toolchain: Toolchain, sources: &[String], program: &Path, strict: bool) -> Command {
        let compilers = if toolchain == Toolchain::ClangOpenMp { CLANG } else { GCC };
        let is_c = sources.iter().all(|source| source.ends_with(".c"));
        let mut command = Command::new(if is_c { compilers.c } else { compilers.cpp });
        command.args(match toolchain {
            Toolchain::OpenAcc => &["-fopenacc"][..],
            Toolchain::Plain => &[],
            Toolchain::GccOpenMp => &["-fopenmp", "-Wall"],
            Toolchain::ClangOpenMp => &["-fopenmp", "-fopenmp-targets=x86_64-pc-linux-gnu"],
        });
        command.arg(if strict { "-Werror=unknown-pragmas" } else { "-Wno-unknown-pragmas" });
        command.arg("-O1").args(sources).arg("-o").arg(program);
        if toolchain == Toolchain::ClangOpenMp {
            command.arg(format!("-L{}", self.llvm_libraries));
        }
        command.arg("-lm");
        command
    }

    /// The command that runs what was built.
    pub fn execute(&self, toolchain: Toolchain, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.env("OMP_NUM_THREADS", "4").env("OMP_WAIT_POLICY", "passive");
        match toolchain {
            Toolchain::OpenAcc => {
                command.env("GOMP_DEBUG", "1");
            }
            Toolchain::ClangOpenMp => {
                command.env("LD_LIBRARY_PATH", &self.llvm_libraries);
                command.env("OMP_TARGET_OFFLOAD", "MANDATORY").env("LIBOMPTARGET_INFO", "1");
                // LLVM 19 stops with an assertion where a hidden helper thread runs a region on the host as its device.
                command.env("LIBOMP_USE_HIDDEN_HELPER_TASK", "0");
            }
            Toolchain::Plain | Toolchain::GccOpenMp => {}
        }
        command
    }
}

fn ask(program: &str, question: &str) -> Result<String> {
    let answer = process::capture(Command::new(program).arg(question), LIMIT)
        .map_err(|why| format!("{why}; `cargo xtask setup` installs the compilers"))?;
    if !answer.succeeded() {
        return Err(format!("{program} {question}: {}", answer.end()));
    }
    Ok(answer.stdout)
}
