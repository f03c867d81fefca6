//! One program: its copy of the tree, its build and its runs.
//!
//! Invariant: a run's output is kept beside the copy, whatever becomes of it.

use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::compare::files::{self, Place};
use super::config::Program;
use super::leave::{self, Left};
use super::run::{self, End, Job};
use super::tree::{self, Room};
use super::{Directives, FOLDER, Verification, compiler, launches};

/// What a run left.
pub struct Ran {
    /// The copy of the tree that it ran in.
    pub copy: PathBuf,
    /// How it ended, in words.
    pub status: String,
    /// Whether it ended with status 0.
    pub succeeded: bool,
    /// Its standard output, without what reports launches.
    pub stdout: String,
    /// The launches on the device.
    pub launches: launches::Launches,
    /// The seconds that it took.
    pub seconds: f64,
    /// The directives that were left untranslated for it to be built.
    pub left: Vec<Left>,
    /// Files to be compared that were in its copy before, and that it has not written to.
    pub unchanged: BTreeSet<PathBuf>,
}

impl Ran {
    /// The folder in which it ran.
    pub fn place(&self) -> Place<'_> {
        Place { folder: &self.copy, unchanged: &self.unchanged }
    }
}

/// Why there is nothing to compare.
pub struct Failed {
    /// In one line.
    pub why: String,
    /// What the compiler said.
    pub said: String,
    /// The directives that were left untranslated in vain.
    pub left: Vec<Left>,
}

impl From<String> for Failed {
    fn from(why: String) -> Failed {
        Failed { why, said: String::new(), left: Vec::new() }
    }
}

/// What all programs of a verification share.
pub struct Shared<'a> {
    /// The room that remains untranslated for copies.
    pub room: Room,
    /// Hears what is done.
    pub progress: &'a dyn Fn(&str),
    /// What else there is to say.
    pub notes: Vec<String>,
    /// The directives of a tree, if those are left untranslated whose translation does not compile.
    pub leave: Option<Directives<'a>>,
}

/// The file that is locked while programs are built and run.
const LOCK: &str = "lock";

/// Whether a program is a test.
fn is_test(name: &str) -> bool {
    !matches!(name.split('/').next_back(), Some("reference" | "noise"))
}

impl Verification<'_> {
    /// Makes a folder in which commands find this acc2omp. Nobody else verifies here as long as the result lives.
    pub(super) fn prepare(&self) -> Result<File, String> {
        let path = self.folder.join(LOCK);
        let failed = |error: std::io::Error| format!("{}: {error}", path.display());
        let lock = File::options().append(true).create(true).open(&path).map_err(failed)?;
        if matches!(lock.try_lock(), Err(TryLockError::WouldBlock)) {
            return Err(format!("{}: another `acc2omp verify` runs here", self.root.display()));
        }
        let bin = self.folder.join("bin");
        tree::remove(&bin)?;
        let own = std::env::current_exe().map_err(|error| error.to_string())?;
        fs::create_dir_all(&bin)
            .and_then(|()| std::os::unix::fs::symlink(own, bin.join("acc2omp")))
            .map_err(|error| format!("{}: {error}", bin.display()))?;
        Ok(lock)
    }

    /// The `PATH` of commands.
    pub(super) fn path(&self) -> String {
        let others = std::env::var("PATH").unwrap_or_default();
        format!("{}:{others}", self.folder.join("bin").display())
    }

    /// Copies the tree, builds a program there and runs it.
    pub(super) fn program(&self, name: &str, program: &Program, shared: &mut Shared) -> Result<Ran, Failed> {
        let copy = self.copied(name, shared)?;
        let left = self.built(name, program, &copy, shared)?;
        match self.ran(name, program, &copy, &[], shared) {
            Ok(ran) => Ok(Ran { left, ..ran }),
            Err(failed) => Err(Failed { left, ..failed }),
        }
    }

    /// A fresh copy of the tree.
    pub(super) fn copied(&self, name: &str, shared: &mut Shared) -> Result<PathBuf, String> {
        let copy = self.folder.join(name);
        tree::remove(&copy)?;
        (shared.progress)(&format!("{name}: copying the tree"));
        if let Some(built) = tree::copy(self.root, &copy, &mut shared.room)? {
            let name = built.display();
            let note = format!(
                "the tree holds what a compiler has made (`{name}`): let each `build` make all anew, as by `make clean`"
            );
            if !shared.notes.contains(&note) {
                shared.notes.push(note);
            }
        }
        files::age(&copy, self.settings.patterns())?;
        Ok(copy)
    }

    /// Builds a program in its copy; the result are directives that were left untranslated for that.
    pub(super) fn built(
        &self,
        name: &str,
        program: &Program,
        copy: &Path,
        shared: &Shared,
    ) -> Result<Vec<Left>, Failed> {
        let Some(build) = &program.build else { return Ok(Vec::new()) };
        let mut left = Vec::new();
        loop {
            let why = self.build(name, build, copy, shared)?;
            let Some((why, can_be_left)) = why else { return Ok(left) };
            let log = fs::read(self.log(name, "build.log")).unwrap_or_default();
            let log = String::from_utf8_lossy(&log);
            let directives = shared.leave.filter(|_| can_be_left && is_test(name)).map(|all| all(copy));
            let next = directives.map(|all| leave::next(&compiler::refusals(&log), copy, &all, &left));
            let next = next.unwrap_or_default();
            if next.is_empty() {
                let said = compiler::errors(&log, copy, self.manner);
                let why = format!("{why} (see {FOLDER}/{name}.build.log)");
                return Err(Failed { why, said, left });
            }
            (shared.progress)(&format!("{name}: leaving {} directives", left.len() + next.len()));
            leave::leave(copy, &next)?;
            left.extend(next);
        }
    }

    /// Runs the command of a build: why it failed, if so, and whether the compiler may have said why.
    fn build(
        &self,
        name: &str,
        command: &str,
        copy: &Path,
        shared: &Shared,
    ) -> Result<Option<(String, bool)>, String> {
        (shared.progress)(&format!("{name}: building"));
        let end = run::run(&Job {
            command,
            folder: copy,
            environment: &[("PATH", self.path())],
            stdout: self.log(name, "build.log"),
            stderr: None,
            limit: Duration::from_secs(self.settings.timeout),
            bytes: shared.room.left,
        })?;
        Ok(match (failure(&end, "build"), end) {
            (Some(why), _) => Some((why, false)),
            (None, End::Status(status)) if !status.success() => {
                Some((format!("does not build: {status}"), true))
            }
            (None, _) => None,
        })
    }

    /// Runs a program in its copy, with more in its environment.
    pub(super) fn ran(
        &self,
        name: &str,
        program: &Program,
        copy: &Path,
        more: &[(&str, String)],
        shared: &Shared,
    ) -> Result<Ran, Failed> {
        let is_test = is_test(name);
        let mut environment = vec![("PATH", self.path())];
        if is_test {
            environment.extend(launches::REPORT_LAUNCHES.map(|(name, value)| (name, value.to_owned())));
        }
        environment.extend(more.iter().cloned());
        (shared.progress)(&format!("{name}: running"));
        let start = Instant::now();
        let end = run::run(&Job {
            command: self.settings.run(program),
            folder: copy,
            environment: &environment,
            stdout: self.log(name, "run.out"),
            stderr: Some(self.log(name, "run.log")),
            limit: Duration::from_secs(self.settings.timeout),
            bytes: shared.room.left,
        })?;
        if let Some(why) = failure(&end, "run") {
            return Err(Failed::from(why));
        }
        let seconds = start.elapsed().as_secs_f64();
        let End::Status(status) = end else { return Err(Failed::from("did not end".to_owned())) };
        // Bytes that are not text are compared as they are.
        let read = |path: PathBuf| -> Result<String, String> {
            let bytes = fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            Ok(bytes.iter().map(|byte| char::from(*byte)).collect())
        };
        let (mut stdout, mut launches) = (read(self.log(name, "run.out"))?, launches::Launches::new());
        if is_test {
            launches::take(&read(self.log(name, "run.log"))?, &mut launches);
            stdout = launches::take(&stdout, &mut launches);
        }
        let (status, succeeded) = (status.to_string(), status.success());
        let (left, unchanged) = (Vec::new(), files::unchanged(copy, self.settings.patterns())?);
        Ok(Ran { copy: copy.to_path_buf(), status, succeeded, stdout, launches, seconds, left, unchanged })
    }

    fn log(&self, name: &str, what: &str) -> PathBuf {
        self.folder.join(format!("{name}.{what}"))
    }
}

/// Why a command did not come to its own end.
pub fn failure(end: &End, what: &str) -> Option<String> {
    match end {
        End::Status(_) => None,
        End::TimedOut => Some(format!("was stopped at its time limit (`{what}`)")),
        End::TooMuch => Some(format!("wrote more than `disk` allows (`{what}`)")),
        End::Stopped => Some(format!("was stopped (`{what}`)")),
    }
}
