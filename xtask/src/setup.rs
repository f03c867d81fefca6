//! Installs the compilers that the tests need.
//!
//! Invariant: what is installed already is left alone, so that a second run is over at once.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::Args;

use crate::{Result, Verdict, process};

/// What to install.
#[derive(Args, Debug)]
pub struct Options {
    /// CUDA's compiler too: no packages of Debian, but of Python, below cargo's target folder
    #[arg(long)]
    cuda: bool,
}

/// gcc and gfortran read OpenACC and OpenMP; clang with the pieces of LLVM that its offload linker needs runs OpenMP
/// on a device with a memory of its own; flang is the second reader of OpenMP in Fortran.
const PACKAGES: &[&str] = &[
    "gcc",
    "g++",
    "gfortran",
    "clang-19",
    "libomp-19-dev",
    "llvm-19",
    "lld-19",
    "clang-tools-19",
    "libclang-rt-19-dev",
    "flang-22",
];

/// CUDA 13.0, as far as nvcc needs it, and its checker of memory. Their versions belong together, and to a driver.
const CUDA: &[&str] = &[
    "nvidia-cuda-nvcc==13.0.88",
    "nvidia-cuda-crt==13.0.88",
    "nvidia-nvvm==13.0.88",
    "nvidia-cuda-runtime==13.0.96",
    "nvidia-cuda-cccl==13.0.85",
    "nvidia-cuda-sanitizer-api==13.0.85",
];

/// Where the packages put it.
const CUDA_IN_SITE: &str = "nvidia/cu13";

/// The file that says what was installed; written last.
const CUDA_INSTALLED: &str = "installed.txt";

/// Installs what is missing.
pub fn run(options: &Options) -> Result<Verdict> {
    packages()?;
    if options.cuda {
        cuda(&cuda_folder()?)?;
    }
    Ok(Verdict::Passed)
}

/// The folder of CUDA, with `bin/nvcc` in it: `cuda` in cargo's target folder.
pub fn cuda_folder() -> Result<PathBuf> {
    let here = std::env::current_exe().map_err(|error| error.to_string())?;
    let target = here.parent().and_then(Path::parent);
    Ok(target.ok_or_else(|| format!("{} is in no target folder", here.display()))?.join("cuda"))
}

/// Installs CUDA into a folder. nvcc finds its parts by where it is itself, except for `lib64`.
fn cuda(folder: &Path) -> Result<()> {
    let wanted = CUDA.join("\n");
    if fs::read_to_string(folder.join(CUDA_INSTALLED)).is_ok_and(|installed| installed == wanted) {
        println!("setup: CUDA is installed");
        return Ok(());
    }
    println!("setup: installing {}", CUDA.join(" "));
    let told = |error: std::io::Error| format!("{}: {error}", folder.display());
    let site = folder.with_extension("site");
    for old in [folder, &site] {
        if old.exists() {
            fs::remove_dir_all(old).map_err(told)?;
        }
    }
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "install", "--quiet", "--no-deps", "--root-user-action", "ignore", "--target"]);
    process::show(pip.arg(&site).args(CUDA)).map_err(|why| format!("{why}; pip of Python 3 is needed"))?;
    fs::rename(site.join(CUDA_IN_SITE), folder).map_err(told)?;
    symlink("lib", folder.join("lib64")).map_err(told)?;
    fs::remove_dir_all(&site).map_err(told)?;
    fs::write(folder.join(CUDA_INSTALLED), wanted).map_err(told)
}

/// Installs the packages that are missing.
fn packages() -> Result<()> {
    let missing = missing(&installed()?);
    if missing.is_empty() {
        println!("setup: all {} packages are installed", PACKAGES.len());
        return Ok(());
    }
    println!("setup: installing {}", missing.join(" "));
    apt_get(&["update"])?;
    apt_get(&[&["install", "--yes", "--no-install-recommends"], missing.as_slice()].concat())
}

/// What dpkg says about the packages, a line each; it complains about those that it does not know.
fn installed() -> Result<String> {
    let query = Command::new("dpkg-query")
        .args(["--show", "--showformat=${Package} ${db:Status-Status}\\n"])
        .args(PACKAGES)
        .stderr(Stdio::null())
        .output()
        .map_err(|error| {
            format!("dpkg-query: {error}; setup knows Debian only, see the list in {}", file!())
        })?;
    Ok(String::from_utf8_lossy(&query.stdout).into_owned())
}

fn missing(installed: &str) -> Vec<&'static str> {
    let there = |package: &&str| installed.lines().any(|line| line == format!("{package} installed"));
    PACKAGES.iter().copied().filter(|package| !there(package)).collect()
}

fn apt_get(arguments: &[&str]) -> Result<()> {
    let mut command = if is_root() { Command::new("apt-get") } else { Command::new("sudo") };
    if !is_root() {
        command.arg("apt-get");
    }
    process::show(command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive"))
}

fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|id| id.stdout == b"0\n")
}

#[cfg(test)]
mod tests {
    use super::{PACKAGES, missing};

    #[test]
    fn only_what_is_installed_counts() {
        let all: String = PACKAGES.iter().map(|package| format!("{package} installed\n")).collect();
        assert!(missing(&all).is_empty());
        let removed = all.replace("gcc installed", "gcc config-files");
        assert_eq!(missing(&removed), ["gcc"]);
        assert_eq!(missing(""), PACKAGES);
    }
}
