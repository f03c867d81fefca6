//! Builds CUDA's device code beside the host's: an object holds both, and programs are linked with the run-time library.
//!
//! Invariant: what the user's compiler would write is written by it; CUDA's compiler adds to it.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{self, ExitStatus};

use super::run;
use crate::RUNTIME;
use crate::cli::place::about;

/// What the names of the sections of objects have in common that hold device code, linked or not; and the names that the
/// run-time library alone defines.
const SIGNS: [&[u8]; 2] = [b"fatbin", b"acc2omp_"];

/// Where a CUDA toolkit may have its libraries.
const LIBRARIES: [&str; 3] = ["lib64", "lib", "targets/x86_64-linux/lib"];

/// How options begin that CUDA's compiler has, too; others are for the compiler of its host code.
const SHARED: [&str; 9] = ["-D", "-U", "-I", "-O", "-g", "-isystem", "-include", "-std=", "-L"];

/// Those of them that say which headers and names a source sees.
const OF_PREPROCESSOR: [&str; 5] = ["-D", "-U", "-I", "-isystem", "-include"];

/// How options begin that name outputs and libraries, or the language.
const OF_OUTPUTS: [&str; 4] = ["-o", "-x", "-M", "-l"];

/// Options whose value may be the next word.
const IN_TWO_WORDS: [&str; 12] =
    ["-D", "-U", "-I", "-isystem", "-include", "-L", "-o", "-x", "-MF", "-MT", "-MQ", "-l"];

/// The number that CUDA's compiler gives its warning of a variable that another file of device code defines, where it would make one
/// of its own.
const EXTERN: &str = "20044";

/// What the host's code in these objects is compiled with, as it may become a part of a shared library.
const OF_LIBRARIES: [&str; 2] = ["-Xcompiler", "-fPIC"];

/// Whether device code names what stands in other files of device code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links {
    /// It may, as it is linked with them.
    WithOthers,
    /// It must not, as it is linked by itself.
    Alone,
}

/// CUDA's compiler, as the variables of the environment say it that `acc2omp.mk` has, too.
#[derive(Debug)]
pub struct Nvcc {
    program: OsString,
    arch: OsString,
    flags: Vec<OsString>,
}

impl Nvcc {
    /// Reads `ACC2OMP_NVCC`, `ACC2OMP_ARCH` and `ACC2OMP_FLAGS`.
    pub fn of_environment() -> Nvcc {
        let variable = |name: &str, other: &str| std::env::var_os(name).unwrap_or_else(|| other.into());
        let flags = variable("ACC2OMP_FLAGS", "-O3");
        let flags = shlex::split(&flags.to_string_lossy()).unwrap_or_default();
        Nvcc {
            program: variable("ACC2OMP_NVCC", "nvcc"),
            arch: variable("ACC2OMP_ARCH", "sm_90"),
            flags: flags.into_iter().map(OsString::from).collect(),
        }
    }

    /// CUDA's compiler with the flags of all device code.
    fn command(&self) -> process::Command {
        let mut command = process::Command::new(&self.program);
        command.arg("-arch").arg(&self.arch);
        command
    }

    /// Compiles device code.
    pub fn device(
        &self,
        source: &Path,
        options: &[OsString],
        links: Links,
        object: &Path,
    ) -> io::Result<ExitStatus> {
        let mut command = self.command();
        command.args(["-std=c++17", "--expt-relaxed-constexpr"]).args(OF_LIBRARIES).args(&self.flags);
        match links {
            Links::WithOthers => command.arg("-rdc=true"),
            Links::Alone => command.args(["-rdc=false", "-diag-error", EXTERN]),
        };
        command.args(options).arg("-c").arg(source).arg("-o").arg(object);
        run::to_end(&mut command)
    }

    /// Compiles a host file that holds device code itself, as `words` would.
    pub fn host(&self, words: &[OsString], source: &OsStr, object: &Path) -> io::Result<ExitStatus> {
        let mut command = self.command();
        command.args(["-x", "cu", "-rdc=true", "--extended-lambda", "--expt-relaxed-constexpr"]);
        let has_standard = words.iter().any(|word| word.to_string_lossy().starts_with("-std="));
        if !has_standard {
            command.arg("-std=c++17");
        }
        command.args(for_nvcc(words)).arg("-c").arg(source).arg("-o").arg(object);
        run::to_end(&mut command)
    }

    /// Compiles the run-time library in a folder, and returns its object.
    fn runtime(&self, folder: &Path) -> io::Result<Result<PathBuf, ExitStatus>> {
        for (name, text) in RUNTIME {
            fs::write(folder.join(name), text)?;
        }
        let object = folder.join("acc2omp_cuda.o");
        let status = self.device(&folder.join(RUNTIME[1].0), &[], Links::WithOthers, &object)?;
        Ok(if status.success() { Ok(object) } else { Err(status) })
    }

    /// Links the device code of objects into one more object.
    fn link(&self, objects: &[&OsStr], object: &Path) -> io::Result<ExitStatus> {
        let mut command = self.command();
        command.arg("-dlink").args(OF_LIBRARIES).args(objects).arg("-o").arg(object);
        run::to_end(&mut command)
    }

    /// The folder of CUDA's libraries.
    fn libraries(&self) -> Option<PathBuf> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut places = std::env::split_paths(&path).map(|folder| folder.join(&self.program));
        let program = places.find(|place| place.is_file())?.canonicalize().ok()?;
        let root = program.parent()?.parent()?;
        let has_libraries = |folder: &PathBuf| folder.join("libcudadevrt.a").is_file();
        LIBRARIES.into_iter().map(|name| root.join(name)).find(has_libraries)
    }
}

/// Options of a compiler as CUDA's compiler takes them, without sources and outputs.
fn for_nvcc(words: &[OsString]) -> Vec<OsString> {
    let mut taken: Vec<OsString> = Vec::new();
    for (word, value) in options(words) {
        let text = word.to_string_lossy();
        if SHARED.iter().any(|begin| text.starts_with(begin)) {
            taken.extend([Some(word), value].into_iter().flatten().cloned());
        } else if text != "-c" && !OF_OUTPUTS.iter().any(|begin| text.starts_with(begin)) {
            taken.push("-Xcompiler".into());
            taken.push(text.replace(',', "\\,").into());
        }
    }
    taken
}

/// The options of a command that say which headers and names device code sees.
pub fn of_preprocessor(words: &[OsString]) -> Vec<OsString> {
    let is_wanted = |word: &OsString| {
        let text = word.to_string_lossy();
        OF_PREPROCESSOR.iter().any(|begin| text.starts_with(begin))
    };
    let wanted = options(words).into_iter().filter(|(word, _)| is_wanted(word));
    wanted.flat_map(|(word, value)| [Some(word), value]).flatten().cloned().collect()
}

/// The options of a command, with the next word where it is the option's value.
fn options(words: &[OsString]) -> Vec<(&OsString, Option<&OsString>)> {
    let mut words = words.iter().skip(1);
    let mut all = Vec::new();
    while let Some(word) = words.next() {
        let text = word.to_string_lossy();
        if IN_TWO_WORDS.contains(&&*text) {
            all.push((word, words.next()));
        } else if text.starts_with('-') {
            all.push((word, None));
        }
    }
    all
}

/// Joins objects into the first of them.
pub fn join(object: &Path, others: &[PathBuf], folder: &Path) -> io::Result<ExitStatus> {
    let joined = folder.join("joined.o");
    let mut command = process::Command::new("ld");
    command.arg("-r").arg(object).args(others).arg("-o").arg(&joined);
    let status = run::to_end(&mut command)?;
    if status.success() {
        fs::copy(&joined, object).map_err(|error| about(object, &error))?;
    }
    Ok(status)
}

/// Runs a command that links: with device code, the run-time library, and CUDA's, if one of its objects needs them.
pub fn link(nvcc: &Nvcc, words: &[OsString], folder: &Path, here: &Path) -> io::Result<ExitStatus> {
    let is_input = |word: &&OsString| {
        let ending = Path::new(word).extension().and_then(OsStr::to_str);
        matches!(ending, Some("o" | "a" | "obj")) && needs_library(&here.join(word))
    };
    let objects: Vec<&OsStr> = words.iter().skip(1).filter(is_input).map(OsString::as_os_str).collect();
    let mut all = words.to_vec();
    if !objects.is_empty() {
        let runtime = match nvcc.runtime(folder)? {
            Ok(object) => object,
            Err(status) => return Ok(status),
        };
        let linked = folder.join("acc2omp_device.o");
        let with_runtime: Vec<&OsStr> = objects.into_iter().chain([runtime.as_os_str()]).collect();
        let status = nvcc.link(&with_runtime, &linked)?;
        if !status.success() {
            return Ok(status);
        }
        all.extend([linked.into_os_string(), runtime.into_os_string()]);
        all.extend(nvcc.libraries().map(|place| OsString::from(format!("-L{}", place.display()))));
        let libraries = ["-lcudadevrt", "-lcudart_static", "-lrt", "-lpthread", "-ldl", "-lm", "-lstdc++"];
        all.extend(libraries.map(OsString::from));
    }
    run::words(&all)
}

/// Whether an object or a library has code for a device, or calls the run-time library.
fn needs_library(path: &Path) -> bool {
    let has = |bytes: &[u8]| SIGNS.iter().any(|sign| memchr::memmem::find(bytes, sign).is_some());
    fs::read(path).is_ok_and(|bytes| has(&bytes))
}

#[cfg(test)]
mod tests;
