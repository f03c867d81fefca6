//! A flang that compiles `target` for a host device with a memory of its own.
//!
//! Invariant: nothing of it is installed in the system, as the packages of LLVM 22's run-time libraries exclude those of
//! LLVM 19; they are unpacked into a folder.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::{Kit, apt_get};
use crate::difftest::root;
use crate::{Result, process};

/// What of LLVM 22 is unpacked: the offload linker and the run-time library of devices.
const PACKAGES: &[&str] =
    &["clang-tools-22", "llvm-22", "llvm-22-linker-tools", "libomp-22-dev", "liboffload-22"];

/// The library that device code calls; Debian has one for GPUs only.
const DEVICE_LIBRARY: &str = "tests/flang-device/device.c";

/// No step takes longer.
const LIMIT: Duration = Duration::from_secs(600);

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

    /// The folder of programs that flang must find before all others.
    pub fn programs(&self) -> PathBuf {
        self.folder.join("root/usr/lib/llvm-22/bin")
    }

    /// The folder of run-time libraries.
    pub fn libraries(&self) -> PathBuf {
        self.folder.join("lib")
    }
}

fn kit() -> Result<Kit> {
    let library = root()?.join(DEVICE_LIBRARY);
    let text = fs::read_to_string(&library).map_err(|error| format!("{}: {error}", library.display()))?;
    Ok(Kit { name: "flang", contents: format!("{}\n{text}", PACKAGES.join("\n")) })
}

pub fn check() -> Result<()> {
    kit()?.check()
}

pub fn install() -> Result<()> {
    kit()?.install(|folder| {
        let told = |error: std::io::Error| format!("{}: {error}", folder.display());
        let packages = folder.join("packages");
        let flang = Flang { folder: folder.to_path_buf() };
        for place in [&packages, &flang.libraries()] {
            fs::create_dir_all(place).map_err(told)?;
        }
        apt_get(&["update"])?;
        let mut download = Command::new("apt-get");
        answer(download.args(["--quiet", "--quiet", "download"]).args(PACKAGES).current_dir(&packages))?;
        for entry in fs::read_dir(&packages).map_err(told)? {
            let package = entry.map_err(told)?.path();
            answer(Command::new("dpkg").arg("-x").arg(package).arg(folder.join("root")))?;
        }
        fs::remove_dir_all(&packages).map_err(told)?;
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
        let told = |error: std::io::Error| format!("{}: {error}", from.join(name).display());
        fs::copy(from.join(name), place.join(name)).map_err(told)?;
        symlink(name, place.join(alias)).map_err(told)?;
    }
    Ok(())
}

/// Builds the library of device code, and the `clang` that links it to each image for the device.
fn device(folder: &Path, flang: &Flang) -> Result<()> {
    let object = folder.join("device.o");
    let mut compile = Command::new("clang-19");
    compile.args(["-O1", "-fPIC", "-c"]).arg(root()?.join(DEVICE_LIBRARY)).arg("-o").arg(&object);
    answer(&mut compile)?;
    let script = format!(
        "#!/bin/sh\nexec clang-19 \"$@\" '{}' -L/usr/lib/llvm-22/lib/clang/22/lib/x86_64-pc-linux-gnu \
         -lflang_rt.runtime -lstdc++ -lm\n",
        object.display()
    );
    let linker = flang.programs().join("clang");
    let told = |error: std::io::Error| format!("{}: {error}", linker.display());
    if linker.exists() {
        fs::remove_file(&linker).map_err(told)?;
    }
    fs::write(&linker, script).map_err(told)?;
    fs::set_permissions(&linker, fs::Permissions::from_mode(0o755)).map_err(told)
}

/// What a program prints; it must not fail.
fn answer(command: &mut Command) -> Result<String> {
    let done = process::capture(command, LIMIT)?;
    let name = command.get_program().to_string_lossy().into_owned();
    match done.succeeded() {
        true => Ok(done.stdout),
        false => Err(format!("{name}: {}\n{}", done.end(), done.stderr)),
    }
}
