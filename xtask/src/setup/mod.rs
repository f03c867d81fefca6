//! Installs the compilers that the tests need.
//!
//! Invariant: what is installed already stays as it is, so that a second run is over at once; [`check`] asks for all that
//! [`run`] installs for tests.

mod cuda;
mod flang;
mod gpu;
mod packages;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use clap::Args;

pub use cuda::nvcc;
pub use flang::Flang;
pub use gpu::{Clang, Gcc};

use crate::{Result, Verdict, process};

/// No step takes longer.
const LIMIT: Duration = Duration::from_secs(600);

/// The file in a folder of [`Kit`] that says what was installed; written last.
const INSTALLED: &str = "installed.txt";

/// What to install.
#[derive(Args, Debug)]
pub struct Options {
    /// What `bench-gpu` needs besides: clang's and gcc's parts for NVIDIA GPUs, which no test asks for
    #[arg(long)]
    gpu: bool,
}

/// Installs what is missing.
pub fn run(options: &Options) -> Result<Verdict> {
    packages::install()?;
    cuda::install()?;
    flang::install()?;
    if options.gpu {
        gpu::install()?;
    }
    Ok(Verdict::Passed)
}

/// Says what is missing, if anything; so that it is known before the first test, and not after the last.
pub fn check() -> Result<()> {
    let found = [packages::check(), cuda::check(), flang::check()];
    let missing: Vec<String> = found.into_iter().filter_map(std::result::Result::err).collect();
    match missing.is_empty() {
        true => Ok(()),
        false => Err(format!("missing: {}; `cargo xtask setup` installs it", missing.join(", "))),
    }
}

/// What is installed in a folder of its own below cargo's target folder.
struct Kit {
    /// The folder's name.
    name: &'static str,
    /// What it is made of: another text means that it must be made again.
    contents: String,
}

impl Kit {
    /// Its folder: below the target folder that this program was built in.
    fn folder(&self) -> Result<PathBuf> {
        let here = std::env::current_exe().map_err(|error| error.to_string())?;
        let target = here.parent().and_then(Path::parent);
        Ok(target.ok_or_else(|| format!("{} is in no target folder", here.display()))?.join(self.name))
    }

    fn is_installed(&self) -> Result<bool> {
        Ok(fs::read_to_string(self.folder()?.join(INSTALLED)).is_ok_and(|text| text == self.contents))
    }

    fn check(&self) -> Result<()> {
        match self.is_installed()? {
            true => Ok(()),
            false => Err(self.folder()?.display().to_string()),
        }
    }

    /// Makes the folder with `make`, which is given an empty one, unless it is there as it should be.
    fn install(&self, make: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
        if self.is_installed()? {
            println!("setup: {} is installed", self.name);
            return Ok(());
        }
        println!("setup: installing {}", self.name);
        let folder = self.folder()?;
        let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
        if folder.exists() {
            fs::remove_dir_all(&folder).map_err(failed)?;
        }
        fs::create_dir_all(&folder).map_err(failed)?;
        make(&folder)?;
        fs::write(folder.join(INSTALLED), &self.contents).map_err(failed)
    }
}

/// apt-get, as root.
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

/// Unpacks packages of Debian into a folder, without what they depend on.
fn unpack(packages: &[&str], folder: &Path) -> Result<()> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let place = folder.join("packages");
    fs::create_dir_all(&place).map_err(failed)?;
    apt_get(&["update"])?;
    let mut download = Command::new("apt-get");
    answer(download.args(["--quiet", "--quiet", "download"]).args(packages).current_dir(&place))?;
    for entry in fs::read_dir(&place).map_err(failed)? {
        let package = entry.map_err(failed)?.path();
        answer(Command::new("dpkg").arg("-x").arg(package).arg(folder))?;
    }
    fs::remove_dir_all(&place).map_err(failed)
}

/// What a program prints; it must not fail.
fn answer(command: &mut Command) -> Result<String> {
    process::answer(command, LIMIT)
}
