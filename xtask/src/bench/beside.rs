//! The libraries that programs need beside them.
//!
//! Invariant: the other machine has libc, the libraries of C++, and the driver; all else is carried.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::offload::Offload;
use crate::cuda::{Cuda, LIMIT, build};
use crate::{Result, process};

/// clang's libraries for OpenMP.
const CLANG: [&str; 2] = ["libomp.so.5", "libomptarget.so.19.1"];
/// gcc's, Fortran's among them.
const GCC: [&str; 4] = ["libgomp.so.1", "libgomp-plugin-nvptx.so.1", "libgfortran.so.5", "libquadmath.so.0"];

/// What every machine has.
const EVERYWHERE: [&str; 5] = ["libc.", "libm.", "libstdc++.", "libgcc_s.", "ld-linux"];

/// Large libraries that LLVM's needs, and that no program here comes to use; and with what they bring.
const UNUSED: [&str; 2] = ["libz3.", "libicuuc."];
const BROUGHT: [&str; 1] = ["libicudata."];

/// Copies all into a folder.
pub fn gather(cuda: &Cuda, offload: &Offload, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    copy(&cuda.library(), folder)?;
    for name in GCC {
        copy(&offload.gcc.library(name)?, folder)?;
    }
    for name in CLANG {
        copy(&offload.clang_libraries.join(name), folder)?;
    }
    let devices = offload.clang_libraries.join(CLANG[1]);
    let needed = needed(&devices)?;
    let is_one = |path: &Path, names: &[&str]| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        names.iter().any(|start| name.starts_with(start))
    };
    for path in &needed {
        if is_one(path, &CLANG) || is_one(path, &EVERYWHERE) || is_one(path, &BROUGHT) {
            continue;
        }
        match is_one(path, &UNUSED) {
            true => stand_in(path, &needed, folder)?,
            false => copy(path, folder)?,
        }
    }
    Ok(())
}

fn copy(path: &Path, folder: &Path) -> Result<()> {
    let place = folder.join(path.file_name().unwrap_or_default());
    fs::copy(path, place).map(drop).map_err(|error| format!("{}: {error}", path.display()))
}

/// The libraries that one loads, by the words of ldd: `NAME => PATH (ADDRESS)`.
fn needed(library: &Path) -> Result<Vec<PathBuf>> {
    let said = output(Command::new("ldd").arg(library))?;
    let path = |line: &str| line.split_once("=> ")?.1.split_whitespace().next().map(PathBuf::from);
    Ok(said.lines().filter_map(path).filter(|path| path.is_absolute()).collect())
}

/// Makes a library of the same name, whose functions stop the program.
fn stand_in(library: &Path, users: &[PathBuf], folder: &Path) -> Result<()> {
    let has = symbols(library, "--defined-only")?;
    let mut wanted = Vec::new();
    for user in users.iter().filter(|user| *user != library) {
        wanted.extend(symbols(user, "--undefined-only")?.into_iter().filter(|one| has.contains(one)));
    }
    wanted.sort();
    wanted.dedup();
    let name = library.file_name().unwrap_or_default().to_string_lossy();
    let mut text = String::from(".text\n");
    for symbol in wanted {
        let _ = writeln!(text, ".globl {symbol}\n{symbol}:");
    }
    text += "ud2\n.section .note.GNU-stack,\"\",@progbits\n";
    let source = folder.join(format!("{name}.s"));
    let failed = |error: std::io::Error| format!("{}: {error}", source.display());
    fs::write(&source, text).map_err(failed)?;
    let mut command = Command::new("gcc");
    command.args(["-shared", "-nostdlib"]).arg(format!("-Wl,-soname,{name}")).arg(&source);
    build(command.arg("-o").arg(folder.join(&*name)))?;
    fs::remove_file(&source).map_err(failed)
}

/// The names that a library has, or wants, without their versions.
fn symbols(library: &Path, which: &str) -> Result<Vec<String>> {
    let said = output(Command::new("nm").args(["-D", which]).arg(library))?;
    let name = |line: &str| Some(line.split_whitespace().next_back()?.split('@').next()?.to_owned());
    Ok(said.lines().filter_map(name).collect())
}

fn output(command: &mut Command) -> Result<String> {
    let said = process::capture(command, LIMIT)?;
    let name = command.get_program().to_string_lossy().into_owned();
    if said.succeeded() { Ok(said.stdout) } else { Err(format!("{name}: {}\n{}", said.end(), said.stderr)) }
}
