//! Builds the benchmarks of `benches/cuda` for a GPU.
//!
//! Invariant: runs none; the folder that it fills is carried to a machine with a GPU, where `run.sh` needs a shell only.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;

use super::{Cuda, LIMIT, build, files};
use crate::difftest::{self, case::Tally, each, fixture::is_fortran, root};
use crate::{Result, Verdict, process};

/// Where the benchmarks are: `NAME.c` and `NAME.f90` in OpenACC, and `NAME.cu`, the same in CUDA by hand.
const BENCHES: &str = "benches/cuda";

/// What to build, and where to.
#[derive(Args, Debug)]
pub struct Options {
    /// The folder for the programs
    #[arg(value_name = "DIR")]
    folder: PathBuf,

    /// Where the packages of gcc's compiler for NVIDIA GPUs are unpacked, if they are not installed
    #[arg(long, value_name = "DIR")]
    gcc_offload: Option<PathBuf>,

    /// Translate with this program instead of the acc2omp of this tree
    #[arg(long, value_name = "PROGRAM")]
    translator: Option<PathBuf>,
}

/// Builds all that can be built here.
pub fn run(options: &Options) -> Result<Verdict> {
    let root = root()?;
    let work = tempfile::Builder::new().prefix("acc2omp-bench-").tempdir().map_err(|e| e.to_string())?;
    let cuda = Cuda::prepare(&root, work.path())?;
    let translator = match &options.translator {
        Some(program) => program.clone(),
        None => difftest::build(&root)?,
    };
    let told = |error: std::io::Error| format!("{}: {error}", options.folder.display());
    fs::create_dir_all(&options.folder).map_err(told)?;
    fs::copy(root.join(BENCHES).join("run.sh"), options.folder.join("run.sh")).map_err(told)?;
    let folder = options.folder.canonicalize().map_err(told)?;
    let gcc = Gcc { unpacked: options.gcc_offload.clone() };
    gcc.libraries(&["libgfortran.so.5", "libquadmath.so.0"], &folder)?;
    let offloads = gcc.offloads()?;
    if offloads {
        gcc.libraries(&["libgomp.so.1", "libgomp-plugin-nvptx.so.1"], &folder)?;
    } else {
        println!("gcc here has no compiler for NVIDIA GPUs: the originals are left out");
    }
    let translated = work.path().join("translated");
    let mut command = Command::new(&translator);
    command.arg(root.join(BENCHES)).args(["--to", "cuda", "--quiet", "-o"]).arg(&translated);
    build(&mut command)?;
    let mut jobs = Vec::new();
    let mut sources = files(&root.join(BENCHES), "c")?;
    sources.extend(files(&root.join(BENCHES), "f90")?);
    for source in sources {
        jobs.push((source.clone(), Kind::Translation));
        let by_hand = source.with_extension("cu");
        if by_hand.exists() {
            jobs.push((by_hand, Kind::Hand));
        }
        if offloads {
            jobs.push((source, Kind::Gcc));
        }
    }
    let place = Place { cuda, gcc, folder, translated };
    let tally = each(&jobs, |(source, kind)| place.tell(source, *kind))?;
    println!(
        "{} built, {} failed; run.sh in {} compares them",
        tally.passed,
        tally.failed,
        options.folder.display()
    );
    Ok(if tally.failed == 0 { Verdict::Passed } else { Verdict::Failed })
}

#[derive(Clone, Copy)]
enum Kind {
    /// By acc2omp.
    Translation,
    /// OpenACC by gcc.
    Gcc,
    /// CUDA by hand.
    Hand,
}

impl Kind {
    /// The ending of its programs; `run.sh` knows them.
    fn ending(self) -> &'static str {
        match self {
            Kind::Translation => "acc2omp",
            Kind::Gcc => "gcc",
            Kind::Hand => "hand",
        }
    }
}

struct Place {
    cuda: Cuda,
    gcc: Gcc,
    folder: PathBuf,
    translated: PathBuf,
}

impl Place {
    fn tell(&self, source: &Path, kind: Kind) -> Result<Tally> {
        let name = source.file_stem().unwrap_or_default().to_string_lossy();
        let program = self.folder.join(format!("{name}.{}", kind.ending()));
        let done = match kind {
            Kind::Hand => build(self.cuda.nvcc().arg("-O3").arg(source).arg("-o").arg(program)),
            Kind::Gcc => {
                let mut command = self.gcc.command(compiler(source));
                command.args([
                    "-O3",
                    "-no-pie",
                    "-fopenacc",
                    "-foffload=nvptx-none",
                    "-foffload-options=-lm",
                ]);
                command.arg(source).arg("-o").arg(program).arg("-lm");
                build(&mut command)
            }
            Kind::Translation => self.translation(source, &program),
        };
        Ok(match done {
            Ok(()) => Tally { passed: 1, failed: 0, ..Tally::default() },
            Err(wrong) => {
                println!("FAILED {name} ({}): {wrong}", kind.ending());
                Tally { passed: 0, failed: 1, ..Tally::default() }
            }
        })
    }

    fn translation(&self, source: &Path, program: &Path) -> Result<()> {
        let name = source.file_stem().unwrap_or_default().to_string_lossy();
        let host = self.translated.join(source.file_name().unwrap_or_default());
        let object = host.with_extension("o");
        let mut command = Command::new(compiler(source));
        command.current_dir(&self.translated).args(["-O3", "-c"]);
        let mut link = self.cuda.nvcc();
        if is_fortran(source) {
            let interfaces = self.translated.join(format!("{}{}", name.replace('-', "_"), super::INTERFACES));
            let mut modules = Command::new(compiler(source));
            modules.current_dir(&self.translated).arg("-fsyntax-only").arg("-I").arg(self.cuda.modules());
            build(modules.arg(interfaces))?;
            command.arg("-I").arg(self.cuda.modules());
            link.arg(self.cuda.module()).arg("-lgfortran");
        }
        build(command.arg(&host).arg("-o").arg(&object))?;
        // Its CUDA by hand beside it has the same name: the device file has the source's ending in its own.
        let names =
            [format!("{name}_acc.cu"), format!("{name}_c_acc.cu")].map(|name| self.translated.join(name));
        link.args(["-O3", "-rdc=true"]).args(names.iter().filter(|name| name.exists()));
        build(link.arg(self.translated.join(super::RUNTIME_SOURCE)).arg(&object).arg("-o").arg(program))
    }
}

/// gcc's compiler for a source.
fn compiler(source: &Path) -> &'static str {
    if is_fortran(source) { "gfortran" } else { "gcc" }
}

/// gcc, with a compiler for NVIDIA GPUs if there is one.
struct Gcc {
    /// The root folder of packages that are not installed.
    unpacked: Option<PathBuf>,
}

/// Where Debian has gcc's own programs, and the libraries, below a root folder.
const GCC_PROGRAMS: &str = "usr/lib/gcc/x86_64-linux-gnu/12";
const GCC_LIBRARIES: &str = "usr/lib/x86_64-linux-gnu";

impl Gcc {
    fn command(&self, compiler: &str) -> Command {
        let mut command = Command::new(compiler);
        if let Some(root) = &self.unpacked {
            let path = std::env::var("PATH").unwrap_or_default();
            command.env("PATH", format!("{}:{path}", root.join("usr/bin").display()));
            command.arg(format!("-B{}/", root.join(GCC_PROGRAMS).display()));
            command.arg(format!("-B{}/", root.join(GCC_LIBRARIES).display()));
        }
        command
    }

    /// Whether it can build for NVIDIA GPUs: it has a compiler for them, and a library that starts what that builds.
    fn offloads(&self) -> Result<bool> {
        let name = "accel/nvptx-none/mkoffload";
        let said = process::capture(self.command("gcc").arg(format!("-print-prog-name={name}")), LIMIT)?;
        Ok(said.stdout.trim() != name && self.library("libgomp-plugin-nvptx.so.1")?.is_some())
    }

    /// Where it has a library, if it has.
    fn library(&self, name: &str) -> Result<Option<PathBuf>> {
        let said = process::capture(self.command("gcc").arg(format!("-print-file-name={name}")), LIMIT)?;
        let path = PathBuf::from(said.stdout.trim());
        Ok((path.is_absolute() && path.exists()).then_some(path))
    }

    /// Copies what programs need beside them.
    fn libraries(&self, names: &[&str], folder: &Path) -> Result<()> {
        for name in names {
            let path = self.library(name)?.ok_or_else(|| format!("{name}: not found"))?;
            fs::copy(&path, folder.join(name)).map_err(|error| format!("{}: {error}", path.display()))?;
        }
        Ok(())
    }
}
