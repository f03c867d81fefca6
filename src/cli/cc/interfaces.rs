//! Compiles the modules that a translation of Fortran to CUDA uses: the library's, and the one with its own interfaces.
//!
//! Invariant: what they become lies in the scratch folder; the object of the library's module goes into that of the source, where
//! its symbols are weak, so that each object has them and all of a program are one.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use super::run;
use crate::RUNTIME_MODULE;

/// Options that say where code may lie, which all objects of a program share.
const OF_PLACE: [&str; 6] = ["-fPIC", "-fpic", "-fPIE", "-fpie", "-fno-pie", "-fno-PIE"];

/// Compiles modules by the compiler of `words` into a folder; returns the object of the library's.
pub fn compile(
    words: &[OsString],
    modules: &[PathBuf],
    folder: &Path,
    here: &Path,
) -> io::Result<Result<PathBuf, ExitStatus>> {
    let own = folder.join(RUNTIME_MODULE.0);
    fs::write(&own, RUNTIME_MODULE.1)?;
    for source in std::iter::once(&own).chain(modules) {
        let status = run::to_end(compiler(words, here).current_dir(folder).arg("-c").arg(source))?;
        if !status.success() {
            return Ok(Err(status));
        }
    }
    let object = own.with_extension("o");
    let status = run::to_end(Command::new("objcopy").arg("--weaken").arg(&object))?;
    Ok(if status.success() { Ok(object) } else { Err(status) })
}

/// The compiler of `words`, for a folder that is not the one where it was called.
fn compiler(words: &[OsString], here: &Path) -> Command {
    let name = words.first().map(OsString::as_os_str).unwrap_or_default();
    let is_path = Path::new(name).components().count() > 1;
    let program = if is_path { here.join(name).into_os_string() } else { name.to_owned() };
    let mut command = Command::new(program);
    let is_of_place = |word: &&OsString| OF_PLACE.iter().any(|option| word.as_os_str() == OsStr::new(option));
    command.args(words.iter().filter(is_of_place));
    command
}
