//! Makes what users install: an archive with the program, completions, manual pages and licences, the package of the source,
//! and their checksums.
//!
//! Invariant: what is archived was run from the archive; whether the program needs libraries is said, never assumed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use clap::Args;

use crate::{Result, Verdict, difftest, files, process};

/// No short step takes longer.
const LIMIT: Duration = Duration::from_secs(120);

/// The largest program that is let pass, and the largest package.
///
/// A program of less than 12 MB is out of reach: tables that the parsers read in place take 10.4 MB (`size` of their objects:
/// Fortran 6.39, C++ 3.37, C 0.59). The code takes 9.8 MB when it is optimised for size, and what unwinds the stack 1.3 MB, as a
/// mistake of ours in one file must not end the run for the others. The package holds source code and rules alone, 1.5 MB of them
/// in November 2026: what goes beyond is most likely a file that does not belong there.
const LARGEST: (u64, u64) = (24_000_000, 1_600_000);

/// Addresses that the loader puts in as a bit map: the list of them would be 0.6 MB. musl knows it since 1.2.4.
const PACKED: &str = "-C link-arg=-Wl,-z,pack-relative-relocs";

/// The subcommands with a manual page of their own.
const TOPICS: [&str; 8] = ["cc", "completions", "config", "drift", "explain", "man", "rules", "verify"];

/// Files of the repository that go along.
const DOCUMENTS: [&str; 5] = ["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT", "LICENSE-CC0"];

/// Where the archive goes.
#[derive(Args, Debug)]
pub struct Options {
    /// The folder of the archive: not `target/dist`, which cargo fills
    #[arg(long, value_name = "DIR", default_value = "target/archive")]
    out: PathBuf,
    /// Pack the program that tests use, to see in seconds that an archive is complete: nothing is optimised, and no size of the program
    /// is asked for
    #[arg(long)]
    check: bool,
}

/// Packs the program that tests use.
pub fn check() -> Result<Verdict> {
    run(&Options { out: PathBuf::from("target/dist-check"), check: true })
}

/// Builds, packs, unpacks and tries.
pub fn run(options: &Options) -> Result<Verdict> {
    let target = if options.check { Target::of_tests()? } else { Target::find()? };
    println!("dist: {} ({})", target.triple, target.how);
    let program = target.build()?;
    let name = format!("acc2omp-{}-{}", version(&program)?, target.triple);
    let out = std::path::absolute(&options.out).map_err(|error| error.to_string())?;
    let stage = out.join(&name);
    if stage.exists() {
        fs::remove_dir_all(&stage).map_err(|error| failed(&stage, &error))?;
    }
    fill(&stage, &program)?;
    let archive = format!("{name}.tar.gz");
    let mut tar = Command::new("tar");
    let tar = tar.args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mtime=@0"]);
    answer(tar.args(["-czf", &archive, &name]).current_dir(&out))?;
    let source = packaged(&out)?;
    for file in [&archive, &source] {
        let sum = answer(Command::new("sha256sum").arg(file).current_dir(&out))?;
        files::write(&out.join(format!("{file}.sha256")), sum.as_bytes())?;
    }
    let size = |path: &Path| fs::metadata(path).map_or(0, |meta| meta.len());
    let own = size(&stage.join("bin/acc2omp"));
    println!(
        "dist: {}: {} bytes; the program has {own}",
        out.join(&archive).display(),
        size(&out.join(&archive))
    );
    println!("dist: {}: {} bytes", out.join(&source).display(), size(&out.join(&source)));
    tried(&out, &archive, &name, target.is_static)?;
    let is_small = (options.check || own <= LARGEST.0) && size(&out.join(&source)) <= LARGEST.1;
    Ok(if is_small { Verdict::Passed } else { Verdict::Failed })
}

/// What is built for.
struct Target {
    triple: String,
    how: &'static str,
    flags: &'static str,
    is_static: bool,
    is_optimised: bool,
}

impl Target {
    /// This machine, without optimisation.
    fn of_tests() -> Result<Target> {
        let how = "the program of the tests";
        Ok(Target { triple: host()?, how, flags: "", is_static: false, is_optimised: false })
    }

    /// musl, if rustc and a linker for it are installed; otherwise the C library of this machine, linked statically if its
    /// archive is there.
    fn find() -> Result<Target> {
        let host = host()?;
        let musl = host.replace("-gnu", "-musl");
        let library = answer(Command::new("rustc").args(["--print", "target-libdir", "--target", &musl]));
        let has_musl = library.is_ok_and(|path| Path::new(path.trim()).is_dir());
        let has = |program: &str| Command::new(program).arg("--version").output().is_ok();
        if has_musl && has("musl-gcc") {
            return Ok(Target {
                triple: musl,
                how: "static, musl",
                flags: PACKED,
                is_static: true,
                is_optimised: true,
            });
        }
        let archive = answer(Command::new("gcc").arg("-print-file-name=libc.a"))?;
        Ok(match Path::new(archive.trim()).is_file() {
            true => Target {
                triple: host,
                how: "static, glibc: musl is not installed",
                flags: "-C target-feature=+crt-static",
                is_static: true,
                is_optimised: true,
            },
            false => Target {
                triple: host,
                how: "needs glibc as new as this machine's: neither musl nor libc.a is installed",
                flags: "",
                is_static: false,
                is_optimised: true,
            },
        })
    }

    /// Builds the program, and returns where it is.
    fn build(&self) -> Result<PathBuf> {
        if !self.is_optimised {
            return difftest::build(&difftest::root()?);
        }
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--locked", "--bin", "acc2omp"]);
        cargo.args(["-p", "acc2omp", "--profile", "dist", "--target", &self.triple]);
        process::show(cargo.env("RUSTFLAGS", self.flags))?;
        Ok(target_folder()?.join(&self.triple).join("dist/acc2omp"))
    }
}

/// The triple of this machine.
fn host() -> Result<String> {
    let rustc = answer(Command::new("rustc").arg("-vV"))?;
    let host = rustc.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.ok_or("rustc names no host")?.to_owned())
}

/// Cargo's target folder.
fn target_folder() -> Result<PathBuf> {
    let metadata =
        answer(Command::new(env!("CARGO")).args(["metadata", "--no-deps", "--format-version", "1"]))?;
    let metadata: serde_json::Value = serde_json::from_str(&metadata).map_err(|error| error.to_string())?;
    let folder = metadata["target_directory"].as_str().ok_or("cargo names no target folder")?;
    Ok(PathBuf::from(folder))
}

/// Packs the source, and returns the package's name.
fn packaged(out: &Path) -> Result<String> {
    let mut cargo = Command::new(env!("CARGO"));
    answer(cargo.args(["package", "--package", "acc2omp", "--no-verify", "--allow-dirty", "--quiet"]))?;
    let name = format!("acc2omp-{}.crate", env!("CARGO_PKG_VERSION"));
    let made = target_folder()?.join("package").join(&name);
    files::write(&out.join(&name), &fs::read(&made).map_err(|error| failed(&made, &error))?)?;
    Ok(name)
}

/// What the program calls its version.
fn version(program: &Path) -> Result<String> {
    let said = answer(Command::new(program).arg("--version"))?;
    Ok(said.split_whitespace().last().unwrap_or_default().to_owned())
}

/// Puts the files where a prefix has them.
fn fill(stage: &Path, program: &Path) -> Result<()> {
    let bin = stage.join("bin/acc2omp");
    files::write(&bin, &fs::read(program).map_err(|error| failed(program, &error))?)?;
    let rights = fs::metadata(program).map_err(|error| failed(program, &error))?.permissions();
    fs::set_permissions(&bin, rights).map_err(|error| failed(&bin, &error))?;
    let says = |arguments: &[&str]| answer(Command::new(program).args(arguments));
    for (shell, place) in [
        ("bash", "share/bash-completion/completions/acc2omp"),
        ("zsh", "share/zsh/site-functions/_acc2omp"),
        ("fish", "share/fish/vendor_completions.d/acc2omp.fish"),
    ] {
        files::write(&stage.join(place), says(&["completions", shell])?.as_bytes())?;
    }
    let man = stage.join("share/man/man1");
    files::write(&man.join("acc2omp.1"), says(&["man"])?.as_bytes())?;
    for topic in TOPICS {
        files::write(&man.join(format!("acc2omp-{topic}.1")), says(&["man", topic])?.as_bytes())?;
    }
    for document in DOCUMENTS {
        let text = fs::read(document).map_err(|error| failed(Path::new(document), &error))?;
        files::write(&stage.join("share/doc/acc2omp").join(document), &text)?;
    }
    Ok(())
}

/// Unpacks the archive into a folder of its own, and runs the program there.
fn tried(out: &Path, archive: &str, name: &str, is_static: bool) -> Result<()> {
    answer(
        Command::new("sha256sum").args(["--check", "--quiet", &format!("{archive}.sha256")]).current_dir(out),
    )?;
    let place = tempfile::tempdir().map_err(|error| error.to_string())?;
    answer(Command::new("tar").arg("-xzf").arg(out.join(archive)).current_dir(&place))?;
    let program = place.path().join(name).join("bin/acc2omp");
    let said = answer(Command::new(&program).arg("--version").env_clear())?;
    let needs = process::capture(Command::new("ldd").arg(&program), LIMIT)?;
    let needs = format!("{}{}", needs.stdout, needs.stderr);
    let is_alone = ["statically linked", "not a dynamic executable"].iter().any(|word| needs.contains(word));
    println!(
        "dist: {} runs; {}",
        said.trim(),
        if is_alone { "it needs no library" } else { "it needs libraries" }
    );
    match is_static && !is_alone {
        true => Err(format!("the program is not static: {needs}")),
        false => Ok(()),
    }
}

fn failed(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}", path.display())
}

/// What a program prints; it must not fail.
fn answer(command: &mut Command) -> Result<String> {
    process::answer(command, LIMIT)
}
