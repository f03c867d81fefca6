//! The compilers, how they are called, and how their programs are run.
//!
//! Invariant: a compiler that is missing is an error, never a comparison left out.

use std::path::{Path, PathBuf};
use std::process::Command;

use acc2omp::verify;

use super::fixture::is_fortran;
use super::spent::Spent;
use super::{LIMIT, Profile};
use crate::cuda::{self, Cuda};
use crate::setup::Flang;
use crate::{Result, files, process};

/// gcc, for OpenACC and for OpenMP.
const GCC: Compilers = Compilers { c: "gcc", cpp: "g++", fortran: "gfortran" };
/// clang, for OpenMP on a device with a memory of its own; flang beside it, for OpenMP on the host. For parts in C beside
/// Fortran on such a device there is a clang of flang's version.
const CLANG: Compilers = Compilers { c: "clang-19", cpp: "clang++-19", fortran: "flang-22" };
/// Says where clang's run-time libraries are.
const LLVM_CONFIG: &str = "llvm-config-19";

/// gcc runs programs on the host, whatever it could build for.
const NO_OFFLOADING: &str = "-foffload=disable";

/// LLVM's linker: GNU's takes longer for the images of a program than clang for its code.
const FAST_LINKER: &str = "-fuse-ld=lld";

/// flang reads a version of OpenMP that is too old for us if no option names another.
const FLANG_VERSION: &str = "-fopenmp-version=52";
/// Memory of the device that nothing was copied to holds nothing right: what is allocated is filled with other bytes, and
/// what was freed does not come back as it was.
const UNSET_MEMORY: [(&str, &str); 2] =
    [("MALLOC_PERTURB_", "165"), ("LIBOMPTARGET_MEMORY_MANAGER_THRESHOLD", "0")];

/// What flang says of words that it reads, but cannot build.
const UNFINISHED: &str = "not yet implemented";
/// What flang 22 says of a dummy array in `is_device_ptr`, which OpenMP 4.5 allows (2.10.4) and flang does not.
const NO_ADDRESS: &str = "in IS_DEVICE_PTR clause must be of type C_PTR";

/// What the linker says of routines for the memory of devices, which flang's programs for the host alone do without.
const NO_DEVICES: &str = "undefined reference to `omp_target_";

/// The programs of one kind of compiler.
struct Compilers {
    c: &'static str,
    cpp: &'static str,
    fortran: &'static str,
}

impl Compilers {
    fn of(&self, source: &str) -> &'static str {
        match source {
            _ if is_fortran(source) => self.fortran,
            _ if source.ends_with(".c") => self.c,
            _ => self.cpp,
        }
    }
}

/// The compilers that are there.
#[derive(Debug)]
pub struct Toolchains {
    /// The folder of clang's run-time libraries.
    llvm_libraries: String,
    /// What builds CUDA.
    cuda: Cuda,
    /// What builds Fortran for a device with a memory of its own.
    flang: Flang,
    /// The time that they take.
    pub spent: Spent,
}

/// A way to build and run a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Toolchain {
    /// gcc, OpenACC on the host.
    OpenAcc,
    /// gcc, directives ignored.
    Plain,
    /// gcc, OpenMP on the host.
    GccOpenMp,
    /// clang, OpenMP on a device that is the same processor with other memory.
    ClangOpenMp,
    /// flang, OpenMP on the host; it reads more strictly than gfortran, and more than it can build.
    Flang,
    /// flang, OpenMP on a device that is the same processor with other memory.
    FlangDevice,
    /// CUDA on the processor: gcc, and g++ with the shim for device code.
    Shim,
    /// nvcc, which builds device code for a GPU that is not there.
    Nvcc,
}

impl Toolchain {
    /// Its name in messages and folders.
    pub fn name(self) -> &'static str {
        match self {
            Toolchain::OpenAcc => "openacc",
            Toolchain::Plain => "plain",
            Toolchain::GccOpenMp => "gcc",
            Toolchain::ClangOpenMp => "clang",
            Toolchain::Flang => "flang",
            Toolchain::FlangDevice => "flang-device",
            Toolchain::Shim => "shim",
            Toolchain::Nvcc => "nvcc",
        }
    }

    /// Whether it builds translations to CUDA.
    pub fn is_cuda(self) -> bool {
        matches!(self, Toolchain::Shim | Toolchain::Nvcc)
    }

    /// Whether what it builds can be run here.
    pub fn is_run(self) -> bool {
        self != Toolchain::Nvcc
    }

    /// Whether what its programs print is that of the original: without directives, what is private is one variable with the
    /// one around.
    pub fn is_compared(self) -> bool {
        self.is_run() && self != Toolchain::Plain
    }

    /// How many constructs or kernels ran, by what its run-time printed to standard error; `None` if it does not say.
    pub fn launches(self, printed: &str) -> Option<usize> {
        let lines = |sign: &str| Some(printed.lines().filter(|line| line.contains(sign)).count());
        match self {
            // On the host, gcc's library launches nothing: it only reports constructs.
            Toolchain::OpenAcc => lines("GOACC_parallel_keyed"),
            Toolchain::ClangOpenMp | Toolchain::FlangDevice => {
                usize::try_from(verify::launched(printed)).ok()
            }
            Toolchain::Shim => lines("cuda-shim: a kernel"),
            Toolchain::Plain | Toolchain::GccOpenMp | Toolchain::Flang | Toolchain::Nvcc => None,
        }
    }

    /// The toolchains for a profile's output: those that it is for, or gcc, which reads the same directives, for one that is not
    /// at hand. What moves to the device and back is the same for all profiles, and clang's device sees it.
    pub fn of(profile: Profile) -> &'static [Toolchain] {
        match profile {
            Profile::Generic => &[Toolchain::GccOpenMp, Toolchain::ClangOpenMp],
            Profile::Clang => &[Toolchain::ClangOpenMp],
            Profile::Gcc | Profile::Cray => &[Toolchain::GccOpenMp],
        }
    }

    /// The toolchains for a profile's output in Fortran, where flang stands for clang; no compiler at hand stands for
    /// the rest.
    pub fn of_fortran(profile: Profile) -> &'static [Toolchain] {
        match profile {
            Profile::Gcc => &[Toolchain::GccOpenMp],
            Profile::Generic => &[Toolchain::GccOpenMp, Toolchain::Flang],
            Profile::Clang => &[Toolchain::FlangDevice],
            Profile::Cray => &[],
        }
    }

    /// Whether a compiler's message only says that it has read a word which it cannot build, or does not know.
    pub fn is_unfinished(self, message: &str) -> bool {
        let is_error = |line: &&str| line.contains(": error:");
        let mut errors = message.lines().filter(is_error).peekable();
        let has_only_this = errors.peek().is_some() && errors.all(|line| line.contains(NO_ADDRESS));
        let mut lost = message.lines().filter(|line| line.contains("undefined reference")).peekable();
        let has_no_devices = lost.peek().is_some() && lost.all(|line| line.contains(NO_DEVICES));
        self == Toolchain::Flang && (message.contains(UNFINISHED) || has_only_this || has_no_devices)
    }

    /// How often a program is run: a race in Fortran has no other witness than a second run that differs; the shim
    /// takes the threads in another order each time.
    pub fn runs(self, is_fortran: bool) -> usize {
        match self {
            Toolchain::GccOpenMp if is_fortran => 3,
            Toolchain::Shim | Toolchain::FlangDevice => 2,
            _ => 1,
        }
    }

    /// The arguments that say which directives count.
    fn arguments(self, source: &str) -> &'static [&'static str] {
        match self {
            Toolchain::OpenAcc => &["-fopenacc", NO_OFFLOADING],
            Toolchain::Plain => &[],
            Toolchain::GccOpenMp if is_fortran(source) => &["-fopenmp", NO_OFFLOADING],
            Toolchain::GccOpenMp => &["-fopenmp", NO_OFFLOADING, "-Wall"],
            Toolchain::ClangOpenMp => &["-fopenmp", "-fopenmp-targets=x86_64-pc-linux-gnu"],
            Toolchain::Flang if is_fortran(source) => &["-fopenmp", FLANG_VERSION, "-w"],
            Toolchain::FlangDevice if is_fortran(source) => {
                &["-fopenmp", "-fopenmp-targets=x86_64-pc-linux-gnu", FLANG_VERSION, "-w"]
            }
            Toolchain::FlangDevice => &["-fopenmp", "-fopenmp-targets=x86_64-pc-linux-gnu"],
            Toolchain::Flang => &["-fopenmp"],
            Toolchain::Shim | Toolchain::Nvcc if is_fortran(source) => &[],
            Toolchain::Shim | Toolchain::Nvcc => &["-Wall"],
        }
    }
}

impl Toolchain {
    /// The toolchains for output of an OpenMP version: gcc 12 stops at 5.0.
    pub fn of_version(version: u8, fortran: bool) -> &'static [Toolchain] {
        match version {
            0..=50 if fortran => &[Toolchain::GccOpenMp, Toolchain::Flang],
            0..=50 => &[Toolchain::GccOpenMp, Toolchain::ClangOpenMp],
            _ if fortran => &[Toolchain::Flang],
            _ => &[Toolchain::ClangOpenMp],
        }
    }
}

impl Toolchains {
    /// Looks for the compilers.
    pub fn find() -> Result<Toolchains> {
        for program in [GCC, CLANG].iter().flat_map(|one| [one.c, one.cpp, one.fortran]) {
            ask(program, "--version")?;
        }
        let llvm_libraries = ask(LLVM_CONFIG, "--libdir")?.trim().to_owned();
        Ok(Toolchains {
            llvm_libraries,
            cuda: Cuda::default(),
            flang: Flang::find()?,
            spent: Spent::default(),
        })
    }

    /// Makes CUDA ready.
    pub fn with_cuda(self, root: &Path) -> Result<Toolchains> {
        Ok(Toolchains { cuda: Cuda::prepare(root)?, ..self })
    }

    /// The commands that build `sources`, one after the other in the folder they are in, into `program`.
    pub fn build(
        &self,
        toolchain: Toolchain,
        sources: &[String],
        program: &Path,
        strict: bool,
    ) -> Result<Vec<Command>> {
        if toolchain.is_cuda() {
            return self.build_cuda(toolchain, sources, program, strict);
        }
        if sources.iter().any(is_fortran) {
            return self.build_fortran(toolchain, sources, program, strict);
        }
        let of_cpp = sources.iter().find(|source| !source.ends_with(".c"));
        let Some(first) = of_cpp.or(sources.first()) else { return Ok(Vec::new()) };
        let mut command = compiler(toolchain, first, strict);
        command.args(sources).arg("-o").arg(program);
        self.link(toolchain, &mut command);
        Ok(vec![command])
    }

    /// The command that prints what the preprocessor makes of `source`.
    pub fn preprocess(toolchain: Toolchain, source: &str) -> Command {
        // A device that is the same processor has the same macros.
        let host = if toolchain == Toolchain::ClangOpenMp { Toolchain::Flang } else { toolchain };
        let mut command = compiler(host, source, true);
        if is_fortran(source) {
            command.arg("-cpp");
        }
        command.args(["-E", "-P", source]);
        command
    }

    /// Each source that is not Fortran becomes an object; the Fortran compiler takes the rest and links. What it writes
    /// besides the program goes into a folder beside that.
    fn build_fortran(
        &self,
        toolchain: Toolchain,
        sources: &[String],
        program: &Path,
        strict: bool,
    ) -> Result<Vec<Command>> {
        let place = &parts(program)?;
        let compiler = |source: &str| {
            if toolchain != Toolchain::FlangDevice {
                return compiler(toolchain, source, strict);
            }
            let own = self.flang.compiler();
            let program = if is_fortran(source) { Path::new(CLANG.fortran) } else { &own };
            let mut command = called(program, toolchain, source, strict);
            let path = std::env::var_os("PATH").unwrap_or_default();
            let linkers = Path::new(&self.llvm_libraries).with_file_name("bin");
            let paths = [self.flang.programs(), linkers].into_iter().chain(std::env::split_paths(&path));
            command.env("PATH", std::env::join_paths(paths).unwrap_or(path));
            command
        };
        let (fortran, others): (Vec<&String>, Vec<&String>) =
            sources.iter().partition(|source| is_fortran(source));
        let Some(first) = fortran.first() else { return Ok(Vec::new()) };
        let mut commands = Vec::new();
        let mut link = compiler(first);
        link.arg("-J").arg(place).args(&fortran);
        for source in &others {
            let object = place.join(format!("{source}.o"));
            link.arg(&object);
            let mut command = compiler(source);
            command.args(["-c", source.as_str(), "-o"]).arg(object);
            commands.push(command);
        }
        link.arg("-o").arg(program);
        if others.iter().any(|source| !source.ends_with(".c")) {
            link.arg("-lstdc++");
        }
        self.link(toolchain, &mut link);
        commands.push(link);
        Ok(commands)
    }

    /// Each source becomes an object; the run-time library is one already. nvcc makes the device's code, and nothing is linked.
    fn build_cuda(
        &self,
        toolchain: Toolchain,
        sources: &[String],
        program: &Path,
        strict: bool,
    ) -> Result<Vec<Command>> {
        let place = parts(program)?;
        let mut commands = Vec::new();
        let mut link = Command::new("g++");
        for source in sources.iter().filter(|source| *source != cuda::RUNTIME_SOURCE) {
            let object = place.join(format!("{source}.o"));
            let is_device = !cuda::is_host(source);
            let in_place = is_device && !source.ends_with(".cu");
            let mut command = match (is_device, toolchain) {
                (true, Toolchain::Nvcc) => self.device_code(in_place),
                (false, Toolchain::Nvcc) => continue,
                (true, _) => {
                    let mut command = self.cuda.on_processor();
                    command.arg("-c");
                    command
                }
                (false, _) => self.host_code(source, &place, strict),
            };
            command.arg(source).arg("-o").arg(&object);
            commands.push(command);
            if !is_device {
                commands.push(Cuda::mark_host(&object));
            }
            link.arg(object);
        }
        if toolchain == Toolchain::Shim {
            link.arg("-o").arg(program);
            self.cuda.link(&mut link, sources.iter().any(is_fortran));
            commands.push(link);
        }
        Ok(commands)
    }

    /// What compiles a file of the host beside device code to an object; modules of Fortran lie in `place`.
    pub fn host_code(&self, source: &str, place: &Path, strict: bool) -> Command {
        let mut command = compiler(Toolchain::Shim, source, strict);
        command.arg("-c");
        if is_fortran(source) {
            command.arg("-J").arg(place).arg("-I").arg(self.cuda.modules());
        }
        command
    }

    /// The object of the run-time library's module for Fortran.
    pub fn cuda_module(&self) -> PathBuf {
        self.cuda.module()
    }

    /// nvcc for a file with device code, or for one of the host with kernels in it. It checks all code, and makes that of the
    /// device. What is for the host is built with the shim, so that of a file with both it writes the code that a compiler for
    /// the host would get, and no object.
    pub fn device_code(&self, in_place: bool) -> Command {
        let mut command = if in_place { self.cuda.nvcc_in_place() } else { self.cuda.nvcc() };
        command.args([if in_place { "-cuda" } else { "-cubin" }, "-rdc=true"]).args(cuda::NOT_OPTIMISED);
        command
    }

    /// The libraries at the end of the command that links.
    fn link(&self, toolchain: Toolchain, command: &mut Command) {
        match toolchain {
            Toolchain::ClangOpenMp => {
                command.arg(FAST_LINKER).arg(format!("-L{}", self.llvm_libraries));
            }
            Toolchain::Flang => {
                command.arg(format!("-L{}", self.llvm_libraries));
            }
            Toolchain::FlangDevice => {
                command.arg(FAST_LINKER).arg("-L").arg(self.flang.libraries());
            }
            _ => {}
        }
        command.arg("-lm");
    }

    /// The command that runs what was built, for the first time (0) or again.
    pub fn execute(&self, toolchain: Toolchain, program: &Path, is_fortran: bool, run: usize) -> Command {
        let mut command = Command::new(program);
        let threads = if is_fortran { "8" } else { "4" };
        command.env("OMP_NUM_THREADS", threads).env("OMP_WAIT_POLICY", "passive");
        match toolchain {
            Toolchain::OpenAcc => {
                command.env("GOMP_DEBUG", "1");
            }
            Toolchain::ClangOpenMp => {
                command.env("LD_LIBRARY_PATH", &self.llvm_libraries);
                command
                    .env("OMP_TARGET_OFFLOAD", "MANDATORY")
                    .env("LIBOMPTARGET_INFO", "16")
                    .envs(UNSET_MEMORY);
                // LLVM 19 stops with an assertion where a hidden helper thread runs a region on the host as its device.
                command.env("LIBOMP_USE_HIDDEN_HELPER_TASK", "0");
            }
            Toolchain::Flang => {
                command.env("LD_LIBRARY_PATH", &self.llvm_libraries);
            }
            Toolchain::FlangDevice => {
                command.env("LD_LIBRARY_PATH", self.flang.libraries());
                command
                    .env("OMP_TARGET_OFFLOAD", "MANDATORY")
                    .env("LIBOMPTARGET_INFO", "16")
                    .envs(UNSET_MEMORY);
                command.env("LIBOMP_USE_HIDDEN_HELPER_TASK", "0");
                if run > 0 {
                    command.env("FLANG_DEVICE_ORDER", run.to_string());
                }
            }
            Toolchain::Shim => {
                command.env("CUDA_SHIM_LOG", "1").env("CUDA_SHIM_SEED", (run + 1).to_string());
            }
            Toolchain::Plain | Toolchain::GccOpenMp | Toolchain::Nvcc => {}
        }
        command
    }
}

/// A folder beside a program for what it is built from.
fn parts(program: &Path) -> Result<PathBuf> {
    let mut place = program.as_os_str().to_owned();
    place.push(".parts");
    let place = PathBuf::from(place);
    files::make_folder(&place)?;
    Ok(place)
}

/// The compiler for a source, with all arguments that do not depend on the step.
fn compiler(toolchain: Toolchain, source: &str, strict: bool) -> Command {
    let compilers = match toolchain {
        Toolchain::ClangOpenMp | Toolchain::Flang | Toolchain::FlangDevice => CLANG,
        Toolchain::OpenAcc | Toolchain::Plain | Toolchain::GccOpenMp | Toolchain::Shim | Toolchain::Nvcc => {
            GCC
        }
    };
    called(Path::new(compilers.of(source)), toolchain, source, strict)
}

/// `program` with these arguments.
fn called(program: &Path, toolchain: Toolchain, source: &str, strict: bool) -> Command {
    let mut command = Command::new(program);
    command.args(toolchain.arguments(source));
    // In Fortran a directive that is not known is always an error.
    if !is_fortran(source) {
        command.arg(if strict { "-Werror=unknown-pragmas" } else { "-Wno-unknown-pragmas" });
    }
    // What an optimiser makes of a translation is the compiler's matter, and takes half of the time of a build.
    command.arg("-O0");
    command
}

fn ask(program: &str, question: &str) -> Result<String> {
    let answer = process::capture(Command::new(program).arg(question), LIMIT)
        .map_err(|why| format!("{why}; `cargo xtask setup` installs the compilers"))?;
    if !answer.succeeded() {
        return Err(format!("{program} {question}: {}", answer.end()));
    }
    Ok(answer.stdout)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::process::Command;

    use super::{Cuda, Flang, Spent, Toolchain, Toolchains};

    fn built(toolchain: Toolchain, sources: &[&str]) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let toolchains = Toolchains {
            llvm_libraries: "/llvm".to_owned(),
            cuda: Cuda::default(),
            flang: Flang::default(),
            spent: Spent::default(),
        };
        let sources: Vec<String> = sources.iter().map(|&source| source.to_owned()).collect();
        let commands = toolchains.build(toolchain, &sources, &folder.path().join("p"), true).unwrap();
        let text = |command: &Command| {
            let words = std::iter::once(command.get_program()).chain(command.get_args());
            let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
            words.join(" ").replace(&*folder.path().to_string_lossy(), "T")
        };
        commands.iter().map(text).collect()
    }

    #[test]
    fn one_command_builds_c_and_another_cpp() {
        let c = "gcc -fopenmp -foffload=disable -Wall -Werror=unknown-pragmas -O0 a.c b.c -o T/p -lm";
        assert_eq!(built(Toolchain::GccOpenMp, &["a.c", "b.c"]), [c]);
        let cpp = "g++ -fopenacc -foffload=disable -Werror=unknown-pragmas -O0 a.c b.cpp -o T/p -lm";
        assert_eq!(built(Toolchain::OpenAcc, &["a.c", "b.cpp"]), [cpp]);
    }

    #[test]
    fn fortran_links_what_each_language_has_built() {
        let c = "gcc -fopenacc -foffload=disable -Werror=unknown-pragmas -O0 -c k.c -o T/p.parts/k.c.o";
        let fortran =
            "gfortran -fopenacc -foffload=disable -O0 -J T/p.parts m.f90 n.F T/p.parts/k.c.o -o T/p -lm";
        assert_eq!(built(Toolchain::OpenAcc, &["k.c", "m.f90", "n.F"]), [c, fortran]);
        assert_eq!(built(Toolchain::Plain, &["m.f90"]), ["gfortran -O0 -J T/p.parts m.f90 -o T/p -lm"]);
    }

    #[test]
    fn flang_may_read_more_than_it_builds() {
        let build = "flang-22 -fopenmp -fopenmp-version=52 -w -O0 -J T/p.parts m.f90 -o T/p -L/llvm -lm";
        assert_eq!(built(Toolchain::Flang, &["m.f90"]), [build]);
        assert!(Toolchain::Flang.is_unfinished("error: x.f90:3: not yet implemented: DEPEND"));
        assert!(!Toolchain::Flang.is_unfinished("error: Semantic errors"));
        let one = "x.f90:1:2: error: Variable 'x' in IS_DEVICE_PTR clause must be of type C_PTR";
        assert!(Toolchain::Flang.is_unfinished(&format!("error: Semantic errors in x.f90\n{one}\n")));
        assert!(!Toolchain::Flang.is_unfinished(&format!("{one}\nx.f90:2:1: error: no\n")));
        assert!(!Toolchain::GccOpenMp.is_unfinished("not yet implemented"));
    }
}
