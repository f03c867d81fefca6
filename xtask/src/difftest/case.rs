//! One fixture through all of its comparisons.
//!
//! Invariant: a failure is reported once, with what is needed to understand it.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use super::fixture::{self, Fixture, left_directive, read_text};
use super::same::{Built, Given};
use super::together::Together;
use super::toolchain::{Toolchain, Toolchains};
use super::{LIMIT, Output, compare};
use crate::{Result, cuda, process};

/// Longer messages of a compiler are cut.
const MESSAGE_LINES: usize = 12;

/// How many comparisons went well, and how many did not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Those that went well.
    pub passed: usize,
    /// Those that did not.
    pub failed: usize,
    /// Those of them for which nothing was run, as the compiler or the translator does not know all that they use.
    pub not_run: usize,
    /// Those not made, since the same compiler has built the same text, or what the preprocessor makes the same.
    pub same: usize,
}

impl Tally {
    /// The sum of two.
    pub fn and(&self, more: &Tally) -> Tally {
        Tally {
            passed: self.passed + more.passed,
            failed: self.failed + more.failed,
            not_run: self.not_run + more.not_run,
            same: self.same + more.same,
        }
    }
}

/// What a program did.
#[derive(Default)]
pub struct Seen {
    /// What it printed.
    pub stdout: String,
    /// Why it was not run, if that is not a fault.
    why_not: Option<String>,
    /// How many constructs or kernels ran, where that can be counted.
    launches: Option<usize>,
}

/// What a comparison found wrong, as text for the user.
pub type Wrong = String;

/// Makes every comparison of a fixture and prints a line for it, and one for each failure.
pub fn run(case: &Case, outputs: &[Output]) -> Result<Tally> {
    let fixture = case.fixture;
    let mut report = String::new();
    let mut tally = Tally::default();
    match case.original()? {
        Err(wrong) => {
            tally.failed += 1;
            let _ = writeln!(report, "FAILED {} (original): {wrong}", fixture.name);
        }
        Ok(mut original) => {
            // What cannot be built as OpenACC before translation cannot be built beside it either.
            let is_plain = fixture.marks.plain || fixture.marks.left;
            let mut built = Built::new(case, original.is_some())?;
            for (output, toolchain) in pairs(outputs) {
                let toolchain = match toolchain {
                    Toolchain::FlangDevice if fixture.marks.host => Toolchain::Flang,
                    other => other,
                };
                let is_refused = match toolchain {
                    Toolchain::OpenAcc => is_plain,
                    Toolchain::Flang => {
                        fixture.marks.gfortran || fixture.marks.no_flang || fixture.marks.cuda
                    }
                    Toolchain::FlangDevice => fixture.marks.no_flang || fixture.marks.cuda,
                    Toolchain::GccOpenMp | Toolchain::ClangOpenMp => fixture.marks.cuda,
                    Toolchain::Shim | Toolchain::Nvcc => fixture.marks.openmp,
                    Toolchain::Plain => false,
                };
                if is_refused {
                    continue;
                }
                let given = Given::of(case, output, toolchain)?;
                // Without OpenACC nothing is known of a program that asks for it.
                if toolchain == Toolchain::Plain && given.texts.iter().any(|text| asks_for_openacc(text)) {
                    continue;
                }
                if built.holds(given)? {
                    tally.same += 1;
                    continue;
                }
                let mut judged = case.judge(output, toolchain, original.as_ref())?;
                if judged.is_err() && case.is_in_unit(output, toolchain) {
                    let alone = Case { together: None, ..*case };
                    judged = alone.judge(output, toolchain, original.as_ref())?;
                }
                let (name, by) = (&fixture.name, toolchain.name());
                match judged {
                    Ok(seen) => {
                        tally.passed += 1;
                        if toolchain.is_compared() {
                            if let Some(why) = seen.why_not {
                                let _ = writeln!(report, "read   {name} ({} by {by}): {why}", output.name);
                                tally.not_run += 1;
                            } else {
                                original.get_or_insert(seen);
                            }
                        }
                    }
                    Err(wrong) => {
                        tally.failed += 1;
                        let _ = writeln!(report, "FAILED {name} ({} by {by}): {wrong}", output.name);
                    }
                }
            }
        }
    }
    if tally.failed == 0 {
        let _ = writeln!(report, "ok     {} ({})", fixture.name, tally.passed);
    }
    print!("{report}");
    Ok(tally)
}

fn pairs(outputs: &[Output]) -> impl Iterator<Item = (&Output, Toolchain)> {
    outputs.iter().flat_map(|output| output.toolchains.iter().map(move |&built| (output, built)))
}

/// A fixture, and where and with what it is built.
pub struct Case<'a> {
    /// The fixture.
    pub fixture: &'a Fixture,
    /// The compilers.
    pub toolchains: &'a Toolchains,
    /// The folder for programs.
    pub work: &'a Path,
    /// What was built together with other fixtures.
    pub together: Option<&'a Together>,
}

impl Case<'_> {
    /// What the original does; a fixture checks itself. `None` if nothing at hand can build it.
    pub fn original(&self) -> Result<std::result::Result<Option<Seen>, Wrong>> {
        if self.fixture.marks.unbuilt {
            return Ok(Ok(None));
        }
        let seen = self.build_and_run(self.of_original(), &self.fixture.folder, "original")?;
        let is_right = |seen: &Seen| seen.stdout.lines().any(|line| line == "ok 1");
        Ok(seen.and_then(|seen| match self.fixture.marks.unchecked || is_right(&seen) {
            true => Ok(Some(seen)),
            false => Err(format!("it does not print `ok 1`:\n{}", cut(&seen.stdout))),
        }))
    }

    /// What a translation does, if it does what the original did.
    fn judge(
        &self,
        output: &Output,
        toolchain: Toolchain,
        original: Option<&Seen>,
    ) -> Result<std::result::Result<Seen, Wrong>> {
        let outcome = self.translation(output, toolchain)?;
        Ok(outcome.and_then(|seen| match original.filter(|_| toolchain.is_compared()) {
            Some(original) if seen.why_not.is_none() => self.compare(original, &seen).map(|()| seen),
            _ => Ok(seen),
        }))
    }

    /// Whether a translation was built together with others.
    fn is_in_unit(&self, output: &Output, toolchain: Toolchain) -> bool {
        let folder = self.work.join(&output.name).join(&self.fixture.name);
        self.fixture.sources.iter().any(|source| self.in_unit(toolchain, &folder.join(source)).is_some())
    }

    /// What was built of a source and those of other fixtures.
    fn in_unit(&self, toolchain: Toolchain, source: &Path) -> Option<&Path> {
        self.together.and_then(|together| together.program(toolchain, source))
    }

    /// What a translation does.
    fn translation(&self, output: &Output, toolchain: Toolchain) -> Result<std::result::Result<Seen, Wrong>> {
        let folder = self.work.join(&output.name).join(&self.fixture.name);
        if toolchain.is_cuda()
            && self.fixture.is_fortran()
            && let Some(place) = self.first_left(&folder)?
        {
            // The host runs what is left untranslated, with its own memory; the reviewed differences tell what that is.
            let built = self.build(toolchain, &folder, &output.name, &[])?;
            return Ok(built.map(|_| Seen { why_not: Some(place), ..Seen::default() }));
        }
        let left = if output.guarded { None } else { self.left(&folder)? };
        match left {
            // The mark is for OpenMP: CUDA may know more.
            Some(wrong) if !(toolchain.is_cuda() && self.fixture.marks.left) => Ok(Err(wrong)),
            _ => {
                let given = output.given(toolchain, self.fixture.is_fortran());
                if toolchain == Toolchain::Plain {
                    // Without directives, what is private is one variable with the one around.
                    let built = self.build(toolchain, &folder, &output.name, &given)?;
                    return Ok(built.map(|_| Seen::default()));
                }
                self.build_given(toolchain, &folder, &output.name, &given)
            }
        }
    }

    /// What builds the original.
    pub fn of_original(&self) -> Toolchain {
        if self.fixture.marks.plain { Toolchain::Plain } else { Toolchain::OpenAcc }
    }

    /// The sources and what they include of the program, in a folder.
    pub fn texts(&self, folder: &Path) -> Result<Vec<String>> {
        let files = self.fixture.sources.iter().chain(&self.fixture.headers);
        files.map(|file| read_text(&folder.join(file))).collect()
    }

    fn compare(&self, original: &Seen, seen: &Seen) -> std::result::Result<(), Wrong> {
        if let Some(difference) = compare::first_difference(&original.stdout, &seen.stdout) {
            return Err(difference);
        }
        let least = self.fixture.marks.launches.or(original.launches);
        match (seen.launches, least) {
            (Some(launches), Some(least)) if launches < least => {
                Err(format!("{launches} kernels were launched, expected at least {least}"))
            }
            _ => Ok(()),
        }
    }

    /// What is wrong with the directives that are left untranslated, if anything.
    fn left(&self, folder: &Path) -> Result<Option<Wrong>> {
        Ok(match (self.first_left(folder)?, self.fixture.marks.left) {
            (Some(left), false) => Some(left),
            (None, true) => Some("no directive is untranslated: remove the mark `left`".to_owned()),
            _ => None,
        })
    }

    /// The first directive that is left untranslated.
    pub fn first_left(&self, folder: &Path) -> Result<Option<String>> {
        for source in self.fixture.sources.iter().chain(&self.fixture.headers) {
            let text = read_text(&folder.join(source))?;
            if let Some((number, line)) = left_directive(source, &text) {
                return Ok(Some(format!(
                    "a directive is untranslated, {source}:{number}: `{}`",
                    line.trim()
                )));
            }
        }
        Ok(None)
    }

    /// Builds the sources in `folder` and runs the program; `kind` is a word for its name.
    pub fn build_and_run(
        &self,
        toolchain: Toolchain,
        folder: &Path,
        kind: &str,
    ) -> Result<std::result::Result<Seen, Wrong>> {
        self.build_given(toolchain, folder, kind, &[])
    }

    /// The same with options for the compilers.
    fn build_given(
        &self,
        toolchain: Toolchain,
        folder: &Path,
        kind: &str,
        given: &[String],
    ) -> Result<std::result::Result<Seen, Wrong>> {
        match self.build(toolchain, folder, kind, given)? {
            Ok(Some(program)) if toolchain.is_run() => self.run(toolchain, &program),
            Ok(Some(_)) => Ok(Ok(Seen::default())),
            Ok(None) => Ok(Ok(Seen { why_not: Some("not built".to_owned()), ..Seen::default() })),
            Err(wrong) => Ok(Err(wrong)),
        }
    }

    /// The sources of a translation to CUDA in `folder`: modules of ours first, device code last.
    pub fn cuda_sources(&self, folder: &Path) -> Result<Vec<String>> {
        let modules = cuda::files(folder, "f90")?;
        let modules = modules.iter().map(|path| fixture::name(path));
        let modules = modules.filter(|name| name.ends_with(cuda::INTERFACES));
        let device = cuda::files(folder, "cu")?;
        let device = device.iter().map(|path| fixture::name(path));
        Ok(modules.chain(self.fixture.sources.iter().cloned()).chain(device).collect())
    }

    /// Builds the sources in `folder`. `None` if they were read without complaint, but the compiler cannot build all of them yet.
    fn build(
        &self,
        toolchain: Toolchain,
        folder: &Path,
        kind: &str,
        given: &[String],
    ) -> Result<std::result::Result<Option<PathBuf>, Wrong>> {
        if let [source] = self.fixture.sources.as_slice()
            && toolchain != Toolchain::Nvcc
            && let Some(program) = self.in_unit(toolchain, &folder.join(source))
        {
            return Ok(Ok(Some(program.to_path_buf())));
        }
        let program = self.work.join(format!("{}.{kind}.{}", self.fixture.name, toolchain.name()));
        // OpenACC that is not read, or knowingly left, is not an error.
        let strict = toolchain != Toolchain::Plain && !self.fixture.marks.left;
        let mut sources =
            if toolchain.is_cuda() { self.cuda_sources(folder)? } else { self.fixture.sources.clone() };
        let watched = match toolchain {
            Toolchain::Shim => cuda::watched::folder(folder)?,
            _ => folder.to_path_buf(),
        };
        let folder = watched.as_path();
        if toolchain == Toolchain::Nvcc {
            let mut all = Vec::new();
            for source in sources {
                let path = folder.join(&source);
                if cuda::is_for_device(&source, &read_text(&path)?)
                    && self.in_unit(toolchain, &path).is_none()
                {
                    all.push(source);
                }
            }
            sources = all;
        }
        for mut step in self.toolchains.build(toolchain, &sources, &program, strict)? {
            if step.get_program() != "objcopy" {
                step.args(&self.fixture.marks.options).args(given);
            }
            let step = step.current_dir(folder);
            let built = self.toolchains.spent.on(toolchain, "builds", || process::capture(step, LIMIT))?;
            if !built.succeeded() && toolchain.is_unfinished(&built.stderr) {
                return Ok(Ok(None));
            }
            if !built.succeeded() {
                return Ok(Err(format!("it cannot be built, {}\n{}", built.end(), cut(&built.stderr))));
            }
        }
        Ok(Ok(Some(program)))
    }

    /// Runs a program as often as a toolchain asks.
    fn run(&self, toolchain: Toolchain, program: &Path) -> Result<std::result::Result<Seen, Wrong>> {
        let first = self.execute(toolchain, program, 0)?;
        let Ok(seen) = first else { return Ok(first) };
        for run in 1..toolchain.runs(self.fixture.is_fortran()) {
            let again = match self.execute(toolchain, program, run)? {
                Ok(again) => again,
                Err(wrong) => return Ok(Err(wrong)),
            };
            if let Some(difference) = compare::first_difference(&seen.stdout, &again.stdout) {
                return Ok(Err(format!("a second run differs from the first, {difference}")));
            }
        }
        Ok(Ok(seen))
    }

    /// Runs a program once.
    fn execute(
        &self,
        toolchain: Toolchain,
        program: &Path,
        run: usize,
    ) -> Result<std::result::Result<Seen, Wrong>> {
        let is_fortran = self.fixture.is_fortran();
        let mut command = self.toolchains.execute(toolchain, program, is_fortran, run);
        let ran = self.toolchains.spent.on(toolchain, "runs", || process::capture(&mut command, LIMIT))?;
        if !ran.succeeded() {
            return Ok(Err(format!("it fails, {}\n{}", ran.end(), cut(&ran.stderr))));
        }
        let launches = toolchain.launches(&ran.stderr);
        Ok(Ok(Seen { launches, stdout: ran.stdout, ..Seen::default() }))
    }
}

/// Whether a program asks for OpenACC other than by directives.
fn asks_for_openacc(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    ["openacc.h", "use openacc", "openacc_lib.h", "_openacc"].iter().any(|word| text.contains(word))
}

fn cut(text: &str) -> String {
    let lines: Vec<&str> = text.lines().take(MESSAGE_LINES).collect();
    lines.join("\n")
}
