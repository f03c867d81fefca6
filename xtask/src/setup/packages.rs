//! Packages of Debian.
//!
//! Invariant: only what dpkg does not know as installed is asked for.

use std::process::{Command, Stdio};

use super::apt_get;
use crate::Result;

/// gcc and gfortran read OpenACC and OpenMP; clang with the pieces of LLVM that its offload linker needs runs OpenMP
/// on a device with a memory of its own; flang is the second reader of OpenMP in Fortran. `chromium` shows what `--format html`
/// writes. `make` runs what `--emit-build`
/// writes, `dpkg` unpacks, pip brings CUDA.
const PACKAGES: &[&str] = &[
    "gcc",
    "g++",
    "gfortran",
    "make",
    "python3-pip",
    "clang-19",
    "libomp-19-dev",
    "llvm-19",
    "lld-19",
    "clang-tools-19",
    "libclang-rt-19-dev",
    "flang-22",
    "chromium",
];

pub fn install() -> Result<()> {
    let missing = missing(&installed()?);
    if missing.is_empty() {
        println!("setup: all {} packages are installed", PACKAGES.len());
        return Ok(());
    }
    println!("setup: installing {}", missing.join(" "));
    apt_get(&["update"])?;
    apt_get(&[&["install", "--yes", "--no-install-recommends"], missing.as_slice()].concat())
}

pub fn check() -> Result<()> {
    let missing = missing(&installed()?);
    if missing.is_empty() { Ok(()) } else { Err(missing.join(", ")) }
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
