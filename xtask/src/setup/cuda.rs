//! CUDA's compiler, of Python's packages.
//!
//! Invariant: the versions belong together, and to a driver.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::Kit;
use crate::{Result, process};

/// CUDA 13.0, as far as nvcc needs it, and its checker of memory.
const CUDA: &[&str] = &[
    "nvidia-cuda-nvcc==13.0.88",
    "nvidia-cuda-crt==13.0.88",
    "nvidia-nvvm==13.0.88",
    "nvidia-cuda-runtime==13.0.96",
    "nvidia-cuda-cccl==13.0.85",
    "nvidia-cuda-sanitizer-api==13.0.85",
];

/// Where the packages put it.
const IN_SITE: &str = "nvidia/cu13";

fn kit() -> Kit {
    Kit { name: "cuda", contents: CUDA.join("\n") }
}

/// Where nvcc is.
pub fn nvcc() -> Result<PathBuf> {
    Ok(kit().folder()?.join("bin/nvcc"))
}

pub fn check() -> Result<()> {
    kit().check()
}

/// Installs CUDA. nvcc finds its parts by where it is itself, except for `lib64`.
pub fn install() -> Result<()> {
    kit().install(|folder| {
        let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
        let site = folder.with_extension("site");
        packages(CUDA, &site)?;
        fs::remove_dir_all(folder).map_err(failed)?;
        fs::rename(site.join(IN_SITE), folder).map_err(failed)?;
        symlink(Path::new("lib"), folder.join("lib64")).map_err(failed)?;
        fs::remove_dir_all(&site).map_err(failed)
    })
}

/// Puts packages of Python into a folder.
pub fn packages(names: &[&str], site: &Path) -> Result<()> {
    if site.exists() {
        fs::remove_dir_all(site).map_err(|error| format!("{}: {error}", site.display()))?;
    }
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "install", "--quiet", "--no-deps", "--root-user-action", "ignore"]);
    process::show(pip.arg("--target").arg(site).args(names))
        .map_err(|why| format!("{why}; pip of Python 3 is needed"))
}
