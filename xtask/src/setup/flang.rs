//! A flang that compiles `target` for a host device with a memory of its own.
//!
//! Invariant: nothing of it is installed in the system, as the packages of LLVM 22's run-time libraries exclude those of
//! LLVM 19; they are unpacked into a folder.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Kit, answer, unpack};
use crate::Result;
use crate::difftest::root;

/// What of LLVM 22 is unpacked: the offload linker, the run-time library of devices, and the compiler for parts in C, as
/// images of LLVM 19 are described in another way.
const PACKAGES: &[&str] = &[
    "clang-22",
    "clang-tools-22",
    "libclang-common-22-dev",
    "libomp-22-dev",
    "liboffload-22",
    "llvm-22",
    "llvm-22-linker-tools",
];

/// The compiler for parts in C; its own name is the one of the program that links images.
const CLANG: &str = "clang-22";

/// The program that links an image, with the library of device code and without the host's libraries of OpenMP, which have
/// functions of the same names.
const LINKER: &str = r#"#!/bin/sh
last=
for word; do
    shift
    case "$last $word" in
        *" -l" | "-l omp" | "-l omptarget") ;;
        "-l "*) set -- "$@" -l "$word" ;;
        *) set -- "$@" "$word" ;;
    esac
    last=$word
done
"#;

/// The library that device code calls; Debian has one for GPUs only.
const DEVICE_LIBRARY: &str = "tests/flang-device/device.c";

/// Fortran's own library, which comes as an archive. A program and its images share one made of it: with one each they
/// would have buffers of their own for what they print, and it would come out in another order.
const FORTRAN_LIBRARY: &str = "/usr/lib/llvm-22/lib/clang/22/lib/x86_64-pc-linux-gnu/libflang_rt.runtime.a";

/// Where it was unpacked.
#[derive(Clone, Debug, Default)]
pub struct Flang {
    folder: PathBuf,
}

impl Flang {
    /// The place that [`install`] has filled.
    pub fn find() -> Result<Flang> {
        Ok(Flang { folder: kit()?.folder()? })
    }

    /// The folder of all of it.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The folder of programs that flang must find before all others.
    pub fn programs(&self) -> PathBuf {
        self.folder.join("root/usr/lib/llvm-22/bin")
    }

    /// The compiler for parts in C.
    pub fn compiler(&self) -> PathBuf {
        self.programs().join(CLANG)
    }

    /// The folder of run-time libraries.
    pub fn libraries(&self) -> PathBuf {
        self.folder.join("lib")
    }
}

fn kit() -> Result<Kit> {
    let library = root()?.join(DEVICE_LIBRARY);
    let text = fs::read_to_string(&library).map_err(|error| format!("{}: {error}", library.display()))?;
    Ok(Kit { name: "flang", contents: format!("{}\n{LINKER}{text}", PACKAGES.join("\n")) })
}

pub fn check() -> Result<()> {
    kit()?.check()
}

pub fn install() -> Result<()> {
    kit()?.install(|folder| {
        let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
        let flang = Flang { folder: folder.to_path_buf() };
        fs::create_dir_all(flang.libraries()).map_err(failed)?;
        unpack(PACKAGES, &folder.join("root"))?;
        libraries(&flang)?;
        device(folder, &flang)
    })
}

/// Gathers the run-time libraries: LLVM 19's library of threads serves both.
fn libraries(flang: &Flang) -> Result<()> {
    let threads = answer(Command::new("llvm-config-19").arg("--libdir"))?;
    let devices = flang.folder.join("root/usr/lib/llvm-22/lib");
    for (from, name, alias) in [
        (Path::new(threads.trim()), "libomp.so.5", "libomp.so"),
        (&devices, "libomptarget.so.22.1", "libomptarget.so"),
    ] {
        let place = flang.libraries();
        let failed = |error: std::io::Error| format!("{}: {error}", from.join(name).display());
        fs::copy(from.join(name), place.join(name)).map_err(failed)?;
        symlink(name, place.join(alias)).map_err(failed)?;
    }
    Ok(())
}

/// Builds the library of device code, and the `clang` that links it to each image for the device.
fn device(folder: &Path, flang: &Flang) -> Result<()> {
    let (linker, compiler) = (flang.programs().join("clang"), flang.compiler());
    let failed = |error: std::io::Error| format!("{}: {error}", linker.display());
    // What was unpacked is a link to the other name.
    fs::remove_file(&compiler).map_err(failed)?;
    fs::rename(&linker, &compiler).map_err(failed)?;
    let object = folder.join("device.o");
    let mut compile = Command::new(&compiler);
    compile.args(["-O1", "-fPIC", "-c"]).arg(root()?.join(DEVICE_LIBRARY)).arg("-o").arg(&object);
    answer(&mut compile)?;
    let mut share = Command::new(&compiler);
    share.args([
        "-shared",
        "-s",
        "-Wl,--no-undefined,--whole-archive",
        FORTRAN_LIBRARY,
        "-Wl,--no-whole-archive",
    ]);
    share.args(["-lstdc++", "-lm", "-o"]).arg(flang.libraries().join("libflang_rt.runtime.so"));
    answer(&mut share)?;
    let script = format!("{LINKER}exec '{}' \"$@\" '{}'\n", compiler.display(), object.display());
    fs::write(&linker, script).map_err(failed)?;
    fs::set_permissions(&linker, fs::Permissions::from_mode(0o755)).map_err(failed)
}
