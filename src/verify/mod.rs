//! Builds and runs a program and its translations in copies of its tree, and compares what they do.
//!
//! Invariant: nothing is written outside `.acc2omp` of the tree but by the user's commands, and only commands of the
//! configuration run.

pub mod compare;
mod compiler;
mod config;
mod init;
mod launches;
mod report;
mod run;
mod tree;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};

use crate::report::Manner;

use compare::{Comparison, files, text};
use config::{Program, Rule};
use run::{End, Job};
use tree::Room;

pub use config::Settings;
pub use init::section;
pub use launches::Construct;
pub use report::{Report, Status, Tested};

/// The folder of all copies.
const FOLDER: &str = ".acc2omp/verify";

/// Where it is remembered that the user agreed.
const AGREED: &str = "agreed";

/// A verification.
#[derive(Debug)]
pub struct Verification<'a> {
    root: &'a Path,
    folder: PathBuf,
    settings: &'a Settings,
    manner: Manner,
}

/// What a run left.
struct Ran {
    copy: PathBuf,
    status: String,
    succeeded: bool,
    stdout: String,
    launches: launches::Launches,
    seconds: f64,
}

/// Why there is nothing to compare.
struct Failed {
    why: String,
    said: String,
}

impl From<String> for Failed {
    fn from(why: String) -> Failed {
        Failed { why, said: String::new() }
    }
}

impl<'a> Verification<'a> {
    /// A verification of the tree of a folder; links in the place of our folder are refused.
    pub fn of(root: &'a Path, settings: &'a Settings, manner: Manner) -> Result<Verification<'a>, String> {
        let folder = root.join(FOLDER);
        for own in [folder.parent().unwrap_or(&folder), &folder] {
            if own.is_symlink() {
                return Err(format!("{}: a link, which may lead elsewhere", own.display()));
            }
        }
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        Ok(Verification { root, folder, settings, manner })
    }

    /// The name of what the user agrees to: these commands in this folder of this machine.
    fn mark(&self) -> String {
        use std::os::unix::fs::MetadataExt;
        let number = fs::metadata(self.root).map_or(0, |meta| meta.ino());
        let text = format!("{}\n{number}\n{}", self.root.display(), self.settings.commands());
        Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Whether the user has agreed to these commands.
    pub fn is_agreed(&self) -> bool {
        fs::read_to_string(self.folder.join(AGREED)).is_ok_and(|mark| mark.trim() == self.mark())
    }

    /// Remembers that the user agrees.
    pub fn agree(&self) -> Result<(), String> {
        let path = self.folder.join(AGREED);
        fs::write(&path, self.mark() + "\n").map_err(|error| format!("{}: {error}", path.display()))
    }

    /// Runs all programs, or the tests of these names; `tell` hears what is done.
    pub fn run(
        &self,
        names: &[String],
        constructs: &[Construct],
        tell: &dyn Fn(&str),
    ) -> Result<Report, String> {
        let mut room = Room { limit: self.settings.disk.clone(), left: self.settings.bytes().unwrap_or(0) };
        let mut notes = Vec::new();
        self.prepare()?;
        let reference = self.program("reference", &self.settings.reference, &mut room, tell, &mut notes);
        let reference =
            reference.map_err(|failed| format!("the reference {}\n{}", failed.why, failed.said))?;
        if !reference.succeeded {
            let end = &reference.status;
            return Err(format!(
                "the reference ends with {end}: it proves nothing (see {FOLDER}/reference.run.log)"
            ));
        }
        let noise = match &self.settings.noise {
            Some(noise) => Some(
                self.program("noise", noise, &mut room, tell, &mut notes)
                    .map_err(|failed| format!("the noise build {}\n{}", failed.why, failed.said))?,
            ),
            None => None,
        };
        let mut tests = Vec::new();
        let chosen = |name: &str| names.is_empty() || names.iter().any(|one| one == name);
        for (name, test) in self.settings.tests().filter(|(name, _)| chosen(name)) {
            let ran = self.program(name, test, &mut room, tell, &mut notes);
            tests.push(match ran {
                Ok(ran) => self.judge(name, test, [&reference, &ran], noise.as_ref(), constructs),
                Err(failed) => Tested::failed(name, failed),
            });
        }
        let status = tests.iter().map(|test| test.status).max().unwrap_or(Status::Unknown);
        notes.dedup();
        Ok(Report { format: 1, status, notes, tests })
    }

    /// Makes a folder in which commands find this acc2omp.
    fn prepare(&self) -> Result<(), String> {
        let bin = self.folder.join("bin");
        tree::remove(&bin)?;
        let own = std::env::current_exe().map_err(|error| error.to_string())?;
        fs::create_dir_all(&bin)
            .and_then(|()| std::os::unix::fs::symlink(own, bin.join("acc2omp")))
            .map_err(|error| format!("{}: {error}", bin.display()))
    }

    /// The `PATH` of commands.
    fn path(&self) -> String {
        let others = std::env::var("PATH").unwrap_or_default();
        format!("{}:{others}", self.folder.join("bin").display())
    }

    /// Copies the tree, builds a program there and runs it.
    fn program(
        &self,
        name: &str,
        program: &Program,
        room: &mut Room,
        tell: &dyn Fn(&str),
        notes: &mut Vec<String>,
    ) -> Result<Ran, Failed> {
        let copy = self.folder.join(name);
        tree::remove(&copy)?;
        tell(&format!("{name}: copying the tree"));
        if let Some(built) = tree::copy(self.root, &copy, room)? {
            let name = built.display();
            notes.push(format!(
                "the tree holds what a compiler has made (`{name}`): let each `build` make all anew, as by `make clean`"
            ));
        }
        let is_test = !matches!(name, "reference" | "noise");
        let own = vec![("PATH", self.path())];
        let mut telling = own.clone();
        if is_test {
            telling.extend(launches::TELL.map(|(name, value)| (name, value.to_owned())));
        }
        let log = |what: &str| self.folder.join(format!("{name}.{what}"));
        let job = |command, environment| Job {
            command,
            folder: &copy,
            environment,
            stdout: log("build.log"),
            stderr: None,
            limit: Duration::from_secs(self.settings.timeout),
            bytes: room.left,
        };
        if let Some(build) = &program.build {
            tell(&format!("{name}: building"));
            let end = run::run(&job(build, &own))?;
            let why = failure(&end, "build").or_else(|| match end {
                End::Status(status) if !status.success() => Some(format!("does not build: {status}")),
                _ => None,
            });
            if let Some(why) = why {
                let text = fs::read(log("build.log")).unwrap_or_default();
                let said = compiler::errors(&String::from_utf8_lossy(&text), &copy, self.manner);
                return Err(Failed { why: format!("{why} (see {FOLDER}/{name}.build.log)"), said });
            }
        }
        tell(&format!("{name}: running"));
        let start = Instant::now();
        let command = self.settings.run(program);
        let run = Job { stdout: log("run.out"), stderr: Some(log("run.log")), ..job(command, &telling) };
        let end = run::run(&run)?;
        if let Some(why) = failure(&end, "run") {
            return Err(Failed::from(why));
        }
        let seconds = start.elapsed().as_secs_f64();
        let End::Status(status) = end else { return Err(Failed::from("did not end".to_owned())) };
        // Bytes that are no text are compared as they are.
        let read = |path: PathBuf| -> Result<String, String> {
            let bytes = fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            Ok(bytes.iter().map(|byte| char::from(*byte)).collect())
        };
        let (mut stdout, mut launches) = (read(log("run.out"))?, launches::Launches::new());
        if is_test {
            launches::take(&read(log("run.log"))?, &mut launches);
            stdout = launches::take(&stdout, &mut launches);
        }
        Ok(Ran { copy, status: status.to_string(), succeeded: status.success(), stdout, launches, seconds })
    }

    /// Compares a test with the reference.
    fn judge(
        &self,
        name: &str,
        test: &Program,
        ran: [&Ran; 2],
        noise: Option<&Ran>,
        constructs: &[Construct],
    ) -> Tested {
        let [reference, own] = ran;
        let mut status = Comparison::of("status");
        if reference.status != own.status {
            status.differ("the end".to_owned(), &reference.status, &own.status);
        }
        let mut comparisons = vec![status];
        let rule = self.settings.compare.get("stdout").cloned();
        if let Some(rule) = rule.or_else(|| self.settings.compare.is_empty().then(Rule::default)) {
            let noise = noise.map(|noise| noise.stdout.as_str());
            comparisons.push(text::compare("stdout", &rule, &reference.stdout, &own.stdout, noise));
        }
        let folders = [reference.copy.as_path(), own.copy.as_path()];
        for (pattern, rule) in self.settings.compare.iter().filter(|(pattern, _)| *pattern != "stdout") {
            let noise = noise.map(|noise| noise.copy.as_path());
            let mut ask = |command: &str, paths: [&Path; 2]| self.ask(command, paths);
            comparisons.extend(files::compare(pattern, rule, folders, noise, &mut ask));
        }
        let mut why = Vec::new();
        let is_silent = reference.stdout.is_empty() && own.stdout.is_empty();
        if is_silent && self.settings.compare.keys().all(|what| what == "stdout") {
            why.push("nothing was compared: the program prints nothing, and no files are named".to_owned());
        }
        if test.device && own.launches.is_empty() {
            why.push(
                "nothing ran on a device: build with a target for one and look whether it is there, or say `device = false` if it shall run on the host"
                    .to_owned(),
            );
        }
        let status = if comparisons.iter().any(|one| one.differences > 0) {
            Status::Different
        } else if !why.is_empty() || comparisons.iter().any(|one| one.unknown.is_some()) {
            Status::Unknown
        } else {
            Status::Same
        };
        let never_ran = launches::never_ran(constructs, &own.launches);
        let launched = |(origin, count): (&launches::Origin, &u64)| report::Launched {
            origin: origin.clone(),
            count: *count,
        };
        Tested {
            name: name.to_owned(),
            status,
            why,
            said: String::new(),
            comparisons,
            launches: own.launches.iter().map(launched).collect(),
            never_ran: never_ran.map(|all| all.into_iter().cloned().collect()),
            seconds: own.seconds,
        }
    }

    /// Asks the user's command whether two files are the same.
    fn ask(&self, command: &str, paths: [&Path; 2]) -> Result<bool, String> {
        let quoted = |path: &Path| {
            let text = path.to_str().ok_or("a path is no text")?;
            shlex::try_quote(text).map(|text| text.into_owned()).map_err(|error| error.to_string())
        };
        let [reference, test] = [quoted(paths[0])?, quoted(paths[1])?];
        // A path may hold the other's mark.
        let pieces = command.split("{reference}").map(|piece| piece.replace("{test}", &test));
        let command = pieces.collect::<Vec<_>>().join(&reference);
        let end = run::run(&Job {
            command: &command,
            folder: &self.folder,
            environment: &[("PATH", self.path())],
            stdout: self.folder.join("compare.log"),
            stderr: None,
            limit: Duration::from_secs(self.settings.timeout),
            bytes: self.settings.bytes().unwrap_or(0),
        })?;
        match (failure(&end, "compare"), end) {
            (Some(why), _) => Err(format!("the command {why}")),
            // `sh` finds no such command, or cannot run it.
            (None, End::Status(status)) if matches!(status.code(), None | Some(126 | 127)) => {
                Err(format!("the command ends with {status}"))
            }
            (None, End::Status(status)) => Ok(status.success()),
            (None, _) => Err("the command did not end".to_owned()),
        }
    }
}

impl Tested {
    fn failed(name: &str, failed: Failed) -> Tested {
        Tested {
            name: name.to_owned(),
            status: Status::Unknown,
            why: vec![failed.why],
            said: failed.said,
            comparisons: Vec::new(),
            launches: Vec::new(),
            never_ran: None,
            seconds: 0.0,
        }
    }
}

/// Why a command did not come to its own end.
fn failure(end: &End, what: &str) -> Option<String> {
    match end {
        End::Status(_) => None,
        End::TimedOut => Some(format!("was stopped at its time limit (`{what}`)")),
        End::TooMuch => Some(format!("wrote more than `disk` allows (`{what}`)")),
        End::Stopped => Some(format!("was stopped (`{what}`)")),
    }
}
