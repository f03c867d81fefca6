//! The parts of clang and of gcc that build for NVIDIA GPUs.
//!
//! Invariant: no test needs them; nothing of them is installed in the system.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Kit, answer, cuda, unpack};
use crate::Result;

/// CUDA 12.6 as far as clang 19 needs it, which does not know the device code of CUDA 13.
const CUDA: &[&str] = &[
    "nvidia-cuda-nvcc-cu12==12.6.85",
    "nvidia-cuda-runtime-cu12==12.6.77",
    "nvidia-nvjitlink-cu12==12.6.85",
];

/// The linker of device code, which these packages do not have.
const LINKER: &str = include_str!("nvlink.py");

/// What of it goes where: folders of the packages, and of a CUDA that is installed as usual.
const PARTS: [(&str, &str); 3] =
    [("cuda_nvcc/bin", "bin"), ("cuda_nvcc/nvvm", "nvvm"), ("cuda_runtime/include", "include")];
const LINKER_LIBRARY: &str = "libnvJitLink.so.12";

/// gcc's compiler for NVIDIA GPUs, and the library that starts what it builds.
const GCC_PACKAGES: &[&str] = &["gcc-12-offload-nvptx", "libgomp-plugin-nvptx1", "nvptx-tools"];

/// Where Debian has gcc's own programs, and the libraries, below a root folder.
const GCC_PROGRAMS: &str = "usr/lib/gcc/x86_64-linux-gnu/12";
const GCC_LIBRARIES: &str = "usr/lib/x86_64-linux-gnu";

/// clang's CUDA.
#[derive(Debug)]
pub struct Clang {
    folder: PathBuf,
}

impl Clang {
    /// The place that [`install`] has filled.
    pub fn find() -> Result<Clang> {
        Ok(Clang { folder: found(&clang())? })
    }

    /// The folder that clang takes for an installed CUDA.
    pub fn cuda(&self) -> &Path {
        &self.folder
    }
}

/// gcc with its parts for NVIDIA GPUs.
#[derive(Debug)]
pub struct Gcc {
    folder: PathBuf,
}

impl Gcc {
    /// The place that [`install`] has filled.
    pub fn find() -> Result<Gcc> {
        Ok(Gcc { folder: found(&gcc())? })
    }

    /// gcc or gfortran, which finds the parts.
    pub fn command(&self, compiler: &str) -> Command {
        let mut command = Command::new(compiler);
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{path}", self.folder.join("usr/bin").display()));
        command.arg(format!("-B{}/", self.folder.join(GCC_PROGRAMS).display()));
        command.arg(format!("-B{}/", self.folder.join(GCC_LIBRARIES).display()));
        command
    }

    /// Where it has a library.
    pub fn library(&self, name: &str) -> Result<PathBuf> {
        let said = answer(self.command("gcc").arg(format!("-print-file-name={name}")))?;
        let path = PathBuf::from(said.trim());
        if path.is_absolute() { Ok(path) } else { Err(format!("{name}: not found")) }
    }
}

fn clang() -> Kit {
    Kit { name: "cuda12", contents: format!("{}\n{LINKER}", CUDA.join("\n")) }
}

fn gcc() -> Kit {
    Kit { name: "gcc-nvptx", contents: GCC_PACKAGES.join("\n") }
}

fn found(kit: &Kit) -> Result<PathBuf> {
    kit.check().map_err(|missing| format!("{missing}: missing; `cargo xtask setup --gpu` installs it"))?;
    kit.folder()
}

/// Installs both.
pub fn install() -> Result<()> {
    clang().install(install_clang)?;
    gcc().install(|folder| unpack(GCC_PACKAGES, folder))
}

fn install_clang(folder: &Path) -> Result<()> {
    let site = folder.with_extension("site");
    cuda::packages(CUDA, &site)?;
    let site = site.join("nvidia");
    let failed = |error: std::io::Error| format!("{}: {error}", site.display());
    for (part, place) in PARTS {
        fs::rename(site.join(part), folder.join(place)).map_err(failed)?;
    }
    let programs = folder.join("bin");
    fs::rename(site.join("nvjitlink/lib").join(LINKER_LIBRARY), programs.join(LINKER_LIBRARY))
        .map_err(failed)?;
    let linker = programs.join("nvlink");
    fs::write(&linker, LINKER).map_err(failed)?;
    fs::set_permissions(&linker, fs::Permissions::from_mode(0o755)).map_err(failed)?;
    fs::remove_dir_all(folder.with_extension("site")).map_err(failed)
}
