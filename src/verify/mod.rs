//! Builds and runs a program and its translations in copies of its tree, and compares what they do.
//!
//! Invariant: nothing is written outside `.acc2omp` of the tree but by the user's commands, and only commands of the
//! configuration run.

mod bisect;
pub mod compare;
mod compiler;
mod config;
mod golden;
mod init;
mod launches;
mod leave;
mod made;
mod makefile;
mod pins;
mod program;
mod programs;
mod report;
pub mod run;
mod toolchain;
mod tree;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sha2::{Digest, Sha256};

use crate::pins::{Purpose, Site};
use crate::report::Manner;

use compare::{Comparison, files, text};
use config::Program;
use golden::Golden;
use program::{Failed, Ran, Shared, failure};
use run::{End, Job};
use tree::Room;

pub use config::{FILE, Rule, Settings};
pub use init::{Section, section};
pub use launches::{Construct, REPORT_LAUNCHES, launched};
pub use leave::{Directive, Left};
pub use pins::Pins;
pub use report::{Report, Status, Tested};

/// The folder of all copies.
const FOLDER: &str = ".acc2omp/verify";

/// Where it is remembered that the user agreed.
const AGREED: &str = "agreed";

/// Instruments the sources of a tree: the directives, each with its file.
pub type Instrument<'a> = &'a dyn Fn(&Path, Purpose) -> Result<Vec<(String, Site)>, String>;

/// The directives of a tree.
pub type Directives<'a> = &'a dyn Fn(&Path) -> Vec<Directive>;

/// How constructs are looked for at which a test differs.
pub struct Search<'a> {
    /// By what they find and leave on the device.
    pub pins: Option<Pins>,
    /// By running some on the device and the others on the host.
    pub bisect: bool,
    /// What instruments sources.
    pub instrument: Instrument<'a>,
    /// The directives of a tree, if those are left untranslated whose translation does not compile.
    pub leave: Option<Directives<'a>>,
    /// The folder of a saved reference, if it is used.
    pub golden: Option<&'a Path>,
}

/// The programs that are right.
struct Right<'a> {
    /// Where they were saved, if they did not run here.
    golden: Option<&'a Golden>,
    reference: &'a Ran,
    noise: Option<&'a Ran>,
}

/// A verification.
#[derive(Debug)]
pub struct Verification<'a> {
    root: &'a Path,
    folder: PathBuf,
    settings: &'a Settings,
    manner: Manner,
}

impl<'a> Verification<'a> {
    /// A verification of the tree of a folder; links in place of our folder are refused.
    pub fn of(root: &'a Path, settings: &'a Settings, manner: Manner) -> Result<Verification<'a>, String> {
        let folder = root.join(FOLDER);
        for own in [folder.parent().unwrap_or(&folder), &folder] {
            if own.is_symlink() {
                return Err(format!("{}: a link, which may lead elsewhere", own.display()));
            }
        }
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        // Commands run in copies: what they get of the folder must hold there, too.
        let folder = folder.canonicalize().map_err(|error| format!("{}: {error}", folder.display()))?;
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

    /// What the programs share.
    fn shared<'t>(&self, search: &Search<'t>, progress: &'t dyn Fn(&str)) -> Shared<'t> {
        let room = Room { limit: self.settings.disk.clone(), left: self.settings.bytes().unwrap_or(0) };
        Shared { room, progress, notes: Vec::new(), leave: search.leave }
    }

    /// Builds and runs the programs that are right.
    fn right(&self, shared: &mut Shared) -> Result<(Ran, Option<Ran>), String> {
        let reference = self.program("reference", &self.settings.reference, shared);
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
                self.program("noise", noise, shared)
                    .map_err(|failed| format!("the noise build {}\n{}", failed.why, failed.said))?,
            ),
            None => None,
        };
        Ok((reference, noise))
    }

    /// Runs the reference and the noise build, and saves what they do in a folder.
    pub fn save(&self, folder: &Path, search: &Search, progress: &dyn Fn(&str)) -> Result<(), String> {
        golden::clear(folder)?;
        let mut shared = self.shared(search, progress);
        let _lock = self.prepare()?;
        let (reference, noise) = self.right(&mut shared)?;
        let mut right = vec![("reference", &reference)];
        right.extend(noise.as_ref().map(|noise| ("noise", noise)));
        let kept = match &search.pins {
            Some(pins) => Some((pins, self.kept(pins, search, &mut shared)?)),
            None => None,
        };
        let pins = kept.as_ref().map(|(pins, kept)| (*pins, kept));
        self.saved(folder, &right, pins, &mut shared.room)
    }

    /// Runs all programs, or the tests of these names; `progress` hears what is done.
    pub fn run(
        &self,
        names: &[String],
        constructs: &[Construct],
        search: &Search,
        progress: &dyn Fn(&str),
    ) -> Result<Report, String> {
        let golden = match search.golden {
            Some(folder) => Some(Golden::read(folder, self.settings)?),
            None => None,
        };
        if let Some(why) = golden.as_ref().zip(search.pins.as_ref()).and_then(|(one, pins)| one.misfit(pins))
        {
            return Err(why);
        }
        let mut shared = self.shared(search, progress);
        let _lock = self.prepare()?;
        let (reference, noise) = match &golden {
            Some(golden) => (golden.ran("reference")?.ok_or("no reference was saved")?, golden.ran("noise")?),
            None => self.right(&mut shared)?,
        };
        let mut tests = Vec::new();
        let chosen = |name: &str| names.is_empty() || names.iter().any(|one| one == name);
        for (name, test) in self.settings.tests().filter(|(name, _)| chosen(name)) {
            let ran = self.program(name, test, &mut shared);
            tests.push(match ran {
                Ok(ran) => self.judge(name, test, [&reference, &ran], noise.as_ref(), constructs),
                Err(failed) => Tested::failed(name, failed),
            });
        }
        let right = Right { golden: golden.as_ref(), reference: &reference, noise: noise.as_ref() };
        self.search(search, &right, &mut tests, &mut shared)?;
        let status = tests.iter().map(|test| test.status).max().unwrap_or(Status::Unknown);
        Ok(Report { format: 1, status, notes: shared.notes, tests })
    }

    /// Looks for the constructs at which tests differ, in the ways that are asked for.
    fn search(
        &self,
        search: &Search,
        right: &Right,
        tests: &mut [Tested],
        shared: &mut Shared,
    ) -> Result<(), String> {
        let mut pinned = None;
        for (name, test) in self.settings.tests() {
            let Some(tested) = tests.iter_mut().find(|tested| tested.name == name) else { continue };
            if let Some(pins) = &search.pins {
                if pinned.is_none() {
                    pinned = Some(match right.golden {
                        Some(golden) => self.saved_references(golden)?,
                        None => self.pinned_references(pins, search, shared)?,
                    });
                }
                if let Some(references) = &mut pinned {
                    self.pinned((pins, right.golden), search, (name, test), references, tested, shared);
                }
            }
            if search.bisect && tested.status != Status::Same {
                let found = self.bisected(search, (name, test), right, shared);
                tested.found.push(found.unwrap_or_else(|why| format!("bisection could not tell: {why}")));
            }
        }
        Ok(())
    }

    /// What a run does otherwise than the reference.
    fn compared(&self, [reference, own]: [&Ran; 2], noise: Option<&Ran>) -> Vec<Comparison> {
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
        let places = [reference.place(), own.place()];
        for pattern in self.settings.patterns() {
            let rule = &self.settings.compare[pattern];
            let noise = noise.map(|noise| noise.copy.as_path());
            let mut ask = |command: &str, paths: [&Path; 2]| self.ask(command, paths);
            comparisons.extend(files::compare(pattern, rule, places, noise, &mut ask));
        }
        comparisons
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
        let comparisons = self.compared(ran, noise);
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
            left: own.left.clone(),
            comparisons,
            launches: own.launches.iter().map(launched).collect(),
            never_ran: never_ran.map(|all| all.into_iter().cloned().collect()),
            seconds: own.seconds,
            culprit: None,
            found: Vec::new(),
        }
    }

    /// Asks the user's command whether two files are the same.
    fn ask(&self, command: &str, paths: [&Path; 2]) -> Result<bool, String> {
        let quoted = |path: &Path| {
            let text = path.to_str().ok_or("a path is not text")?;
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
            left: failed.left,
            comparisons: Vec::new(),
            launches: Vec::new(),
            never_ran: None,
            seconds: 0.0,
            culprit: None,
            found: Vec::new(),
        }
    }
}
