//! `cargo xtask mutate`: puts faults into translations, and asks `acc2omp verify` whether it sees them and names their place.
//!
//! Invariant: what changes the output is found out from the output alone, not from what `verify` says.

mod cost;
mod fault;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use clap::Args;
use similar::{DiffTag, TextDiff};

use crate::setup::Flang;
use crate::{Result, Verdict, difftest, process};

use fault::{Fault, KINDS, Kind, directives, with_fault};

/// The programs that every run of the tests tries.
const OWN: &str = "tests/mutants";

/// The file of a program's configuration.
const FILE: &str = "acc2omp.toml";

/// A run of `verify` may take this long.
const LIMIT: Duration = Duration::from_secs(3 * 3600);

/// What stands in the build of a mutant for the command that makes a fault.
const MUTATE: &str = "$MUTATE";

/// How the names of tests begin that have a fault.
const MUTANT: &str = "fault-";

/// How many faults of each program are given to `verify` if nothing else is asked for.
const FAULTS: usize = 12;

/// As many in `cargo xtask test`: each program begins with other kinds, so that several have their turn.
const BUDGET: usize = 1;

/// So many times as many are tried to find those that change the output.
const TRIES: usize = 4;

/// A kind of fault that has changed nothing so many times, one after the other, waits for the others.
const MISSES: usize = 3;

/// What is asked for.
#[derive(Debug, Args)]
pub struct Options {
    /// The folders of programs, each with an `acc2omp.toml` whose `[verify.tests.mutant]` has `$MUTATE` in its `build`, after
    /// the translation, and whose other tests are right; those of the repository if none is named
    folders: Vec<PathBuf>,
    /// Find so many faults of each program that change its output
    #[arg(long, default_value_t = FAULTS)]
    faults: usize,
    /// Put in no faults: measure what pins and lines about launches cost the programs
    #[arg(long)]
    cost: bool,
    /// Change the translation here: for the `build` of a mutant
    #[arg(long, value_name = "FILE:NUMBER:KIND", hide = true)]
    apply: Option<Fault>,
}

impl Default for Options {
    fn default() -> Options {
        Options { folders: Vec::new(), faults: BUDGET, cost: false, apply: None }
    }
}

/// A fault, and the lines of the source that are its place.
struct Placed {
    fault: Fault,
    lines: BTreeSet<usize>,
}

impl Placed {
    /// The name of its kind.
    fn kind(&self) -> &'static str {
        KINDS.iter().find(|(kind, _)| *kind == self.fault.kind).map_or("", |(_, name)| name)
    }
}

/// What came of the faults of programs.
#[derive(Default)]
struct Score {
    faults: usize,
    changing: usize,
    reported: usize,
    named: usize,
    unbuilt: usize,
    alarms: usize,
    correct: usize,
    /// By kind: changing, reported, named.
    kinds: BTreeMap<&'static str, [usize; 3]>,
}

/// Tries the faults.
pub fn run(options: &Options) -> Result<Verdict> {
    if let Some(fault) = &options.apply {
        return apply(fault);
    }
    let acc2omp = difftest::build(Path::new("."))?;
    let folders = match options.folders.is_empty() {
        true => programs(Path::new(OWN))?,
        false => options.folders.clone(),
    };
    if options.cost {
        println!("{}", cost::HEADING);
        for folder in &folders {
            let room = tempfile::tempdir().map_err(|error| error.to_string())?;
            println!("{}", cost::line(&Trial::of(folder, room.path(), &acc2omp)?)?);
        }
        return Ok(Verdict::Passed);
    }
    let mut score = Score::default();
    for (number, folder) in folders.iter().enumerate() {
        // With few faults of each program, each begins with other kinds.
        program(folder, &acc2omp, options.faults, number * options.faults, &mut score)?;
    }
    println!("{}", score.text());
    let is_good = score.reported * 100 >= score.changing * 95
        && score.named * 100 >= score.changing * 80
        && score.alarms == 0
        && score.changing > 0;
    Ok(if is_good { Verdict::Passed } else { Verdict::Failed })
}

/// The folders in a folder.
fn programs(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut all: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    all.retain(|path| path.is_dir());
    all.sort();
    Ok(all)
}

/// Puts a fault into the translation in the working folder.
fn apply(fault: &Fault) -> Result<Verdict> {
    // What waits for each construct has no order that could be wrong.
    let is_sync = || fs::read_to_string(FILE).is_ok_and(|text| text.contains("async = \"sync\""));
    let text = fs::read(&fault.file).map_err(|error| format!("{}: {error}", fault.file))?;
    let text = String::from_utf8_lossy(&text);
    let is_pinned = fault.kind == Kind::Late && text.contains("acc2omp_pin_begin");
    if is_pinned || fault.kind.is_order() && is_sync() {
        return Ok(Verdict::Passed);
    }
    let (text, _) =
        with_fault(&text, fault.number, fault.kind).ok_or_else(|| format!("{fault}: nothing there"))?;
    fs::write(&fault.file, text).map_err(|error| format!("{}: {error}", fault.file))?;
    Ok(Verdict::Passed)
}

/// Tries the faults of a program: those that change its output are given to `verify`.
fn program(folder: &Path, acc2omp: &Path, count: usize, first: usize, score: &mut Score) -> Result<()> {
    let room = tempfile::tempdir().map_err(|error| error.to_string())?;
    let trial = Trial::of(folder, room.path(), acc2omp)?;
    let translated = room.path().join("translated");
    trial.translate(&translated)?;
    trial.right_programs(score)?;
    // What differs between right programs says nothing.
    let rights = ["correct", "reference", "noise"].map(|name| trial.output(name));
    let right = without_roundings(rights[0].clone(), &rights);
    let is_changed = &|output: &Words| without_roundings(output.clone(), &rights) != right;
    let all = in_turn(faults(&trial.source, &translated)?, first);
    let (give, take) = mpsc::channel();
    thread::scope(|scope| {
        let (trial, all) = (&trial, &all);
        let folders = [&translated, room.path()];
        let tried = scope.spawn(move || trial.changing(all, folders, count, is_changed, give));
        // One run of `verify` takes those that were found during the one before.
        while let Ok(first) = take.recv() {
            let batch: Vec<&Placed> = std::iter::once(first).chain(take.try_iter()).collect();
            trial.faulty_programs(&batch, is_changed, score)?;
        }
        let tried = tried.join().map_err(|_| "a fault could not be tried".to_owned())??;
        score.faults += tried[0];
        score.unbuilt += tried[1];
        Ok(())
    })
}

/// Copies a folder, with its times: those say what has been built.
fn copy(folder: &Path, to: &Path) -> Result<()> {
    let copied = Command::new("cp").arg("-a").arg(folder).arg(to).status();
    match copied.is_ok_and(|status| status.success()) {
        true => Ok(()),
        false => Err(format!("{}: cannot be copied", folder.display())),
    }
}

/// Whether an output is another than that of the programs that are right.
type IsChanged<'a> = dyn Fn(&Words) -> bool + Sync + 'a;

/// What came of a program with a fault that ran without `verify`.
enum Tried {
    Unbuilt,
    Stopped,
    Ran(Words),
}

/// The words of the lines of an output.
type Words = Vec<Vec<String>>;

/// A program whose translation gets faults.
struct Trial<'a> {
    name: String,
    /// The tree as it was.
    source: PathBuf,
    /// Where `verify` runs.
    tree: PathBuf,
    settings: toml::Table,
    acc2omp: &'a Path,
    flang: PathBuf,
}

impl<'a> Trial<'a> {
    /// A program, of which copies lie in a room.
    fn of(folder: &Path, room: &Path, acc2omp: &'a Path) -> Result<Trial<'a>> {
        let source = room.join("source");
        copy(folder, &source)?;
        let _ = fs::remove_dir_all(source.join(".acc2omp"));
        let path = source.join(FILE);
        let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let trial = Trial {
            name: folder.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            settings: text.parse().map_err(|error| format!("{}: {error}", path.display()))?,
            tree: room.join("tree"),
            source,
            acc2omp,
            flang: Flang::find()?.folder().to_path_buf(),
        };
        copy(&trial.source, &trial.tree)?;
        Ok(trial)
    }

    /// How the reference runs.
    fn reference(&self) -> Option<&str> {
        self.settings.get("verify")?.get("reference")?.get("run")?.as_str()
    }

    /// What a mutant's test says.
    fn mutant(&self, key: &str) -> Option<&str> {
        let tests = self.settings.get("verify")?.get("tests")?;
        tests.get("mutant")?.get(key)?.as_str()
    }

    /// Runs a command in a folder as `verify` would.
    fn shell(&self, command: &str, folder: &Path) -> Result<process::Output> {
        let verify = self.settings.get("verify");
        let limit = verify.and_then(|verify| verify.get("timeout")).and_then(toml::Value::as_integer);
        let limit = limit.and_then(|seconds| u64::try_from(seconds).ok()).unwrap_or(600);
        let own = self.acc2omp.parent().unwrap_or(self.acc2omp).display();
        let path = std::env::var("PATH").unwrap_or_default();
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(command).current_dir(folder);
        shell.env("PATH", format!("{own}:{path}")).env("FLANG", &self.flang);
        process::capture(&mut shell, Duration::from_secs(limit))
    }

    /// The build of a mutant before the fault is made, and after.
    fn parts(&self) -> Result<(&str, &str)> {
        let parts = self.mutant("build").and_then(|build| build.split_once(MUTATE));
        parts.ok_or_else(|| {
            "acc2omp.toml has no `[verify.tests.mutant]` with `$MUTATE` in its `build`".to_owned()
        })
    }

    /// Translates a copy of the tree as the build of a mutant does, and builds it.
    fn translate(&self, to: &Path) -> Result<()> {
        let (first, rest) = self.parts()?;
        copy(&self.source, to)?;
        let done = self.shell(&format!("{first}:{rest}"), to)?;
        match done.succeeded() {
            true => Ok(()),
            false => Err(format!("{}: {}\n{}", self.name, done.end(), done.stderr)),
        }
    }

    /// Builds and runs a program with a fault: what the fault does not touch has been built before.
    fn tried(&self, fault: &Fault, translated: &Path, folder: &Path) -> Result<Tried> {
        let _ = fs::remove_dir_all(folder);
        copy(translated, folder)?;
        let (_, rest) = self.parts()?;
        if !self.shell(&format!("{}{rest}", command_of(fault)?), folder)?.succeeded() {
            return Ok(Tried::Unbuilt);
        }
        let run = self.mutant("run").or_else(|| self.reference()).unwrap_or_default();
        let ran = self.shell(run, folder)?;
        Ok(match ran.status {
            None => Tried::Stopped,
            Some(_) => Tried::Ran(self.relevant(&ran.stdout)),
        })
    }

    /// Gives those of the faults that change the output, as many as are asked for; how many were tried, and how many not built.
    fn changing<'p>(
        &self,
        all: &'p [Placed],
        [translated, room]: [&Path; 2],
        count: usize,
        is_changed: &IsChanged,
        give: mpsc::Sender<&'p Placed>,
    ) -> Result<[usize; 2]> {
        let (mut tried, mut unbuilt, mut found) = (0, 0, 0);
        let mut left: Vec<&Placed> = all.iter().collect();
        let mut misses: BTreeMap<&str, usize> = BTreeMap::new();
        // `verify` is busy, too.
        let width = thread::available_parallelism().map_or(1, |all| all.get().saturating_sub(1).max(1));
        while !left.is_empty() && found < count && tried < TRIES * count {
            // A kind that has changed nothing several times waits until all others have been tried.
            let is_late = |one: &&Placed| misses.get(one.kind()).is_some_and(|misses| *misses >= MISSES);
            left.sort_by_key(is_late);
            let some: Vec<&Placed> = left.drain(..width.min(left.len())).collect();
            let ran = thread::scope(|scope| {
                let try_one = |(at, one): (usize, &&'p Placed)| {
                    let folder = room.join(format!("tried-{at}"));
                    let fault = &one.fault;
                    scope.spawn(move || self.tried(fault, translated, &folder))
                };
                let threads: Vec<_> = some.iter().enumerate().map(try_one).collect();
                let end = |thread: thread::ScopedJoinHandle<Result<Tried>>| {
                    thread.join().map_err(|_| "a fault could not be tried".to_owned())?
                };
                threads.into_iter().map(end).collect::<Result<Vec<_>>>()
            })?;
            for (one, ran) in some.into_iter().zip(ran) {
                if found == count {
                    return Ok([tried, unbuilt]);
                }
                tried += 1;
                let misses = misses.entry(one.kind()).or_default();
                *misses += 1;
                match ran {
                    Tried::Unbuilt => {
                        unbuilt += 1;
                        println!("{}: {}: is not built", self.name, one.fault);
                    }
                    Tried::Ran(output) if !is_changed(&output) => {
                        println!("{}: {}: changes nothing", self.name, one.fault);
                    }
                    Tried::Ran(_) | Tried::Stopped => {
                        found += 1;
                        *misses = 0;
                        give.send(one).map_err(|error| error.to_string())?;
                    }
                }
            }
        }
        Ok([tried, unbuilt])
    }

    /// What a program has printed for `verify`.
    fn output(&self, test: &str) -> Words {
        let path = self.tree.join(".acc2omp/verify").join(format!("{test}.run.out"));
        self.relevant(&String::from_utf8_lossy(&fs::read(path).unwrap_or_default()))
    }

    fn relevant(&self, output: &str) -> Words {
        relevant(output, &words_of_ignored(&self.settings))
    }

    /// Asks `verify` about the tests of a configuration; what it says of each.
    fn verified(&self, settings: &toml::Table, names: &[String]) -> Result<Vec<serde_json::Value>> {
        let text = toml::to_string(settings).map_err(|error| error.to_string())?;
        let path = self.tree.join(FILE);
        fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
        let mut command = Command::new(self.acc2omp);
        command.current_dir(&self.tree).args(["verify", "--yes", "--pins", "--format", "json"]).args(names);
        command.env("FLANG", &self.flang);
        let done = process::capture(&mut command, LIMIT)?;
        let report: serde_json::Value = serde_json::from_str(&done.stdout)
            .map_err(|error| format!("{}: {error}\n{}", self.name, done.stderr))?;
        Ok(report["tests"].as_array().cloned().unwrap_or_default())
    }

    /// Asks `verify` about the programs that are right.
    fn right_programs(&self, score: &mut Score) -> Result<()> {
        for test in self.verified(&with_mutants(&self.settings, &[])?, &[])? {
            let is_right = test["status"] == "same" && test["culprit"].is_null();
            score.correct += 1;
            score.alarms += usize::from(!is_right);
            let alarm = if is_right { String::new() } else { format!(" (FALSE ALARM: {test})") };
            println!("{}: {}: {}{alarm}", self.name, test["name"], test["status"]);
        }
        Ok(())
    }

    /// Asks `verify` about programs with faults.
    fn faulty_programs(&self, placed: &[&Placed], is_changed: &IsChanged, score: &mut Score) -> Result<()> {
        let names: Vec<String> = (0..placed.len()).map(|number| format!("{MUTANT}{number}")).collect();
        let tests = self.verified(&with_mutants(&self.settings, placed)?, &names)?;
        for (one, name) in placed.iter().zip(&names) {
            let test = tests.iter().find(|test| test["name"] == name.as_str());
            let test = test.ok_or_else(|| format!("{}: nothing is said of {}", self.name, one.fault))?;
            score.add(&self.name, one, test, is_changed(&self.output(name)));
        }
        Ok(())
    }
}

impl Score {
    /// Adds what came of a fault.
    fn add(&mut self, name: &str, one: &Placed, test: &serde_json::Value, is_changed: bool) {
        let why = test["why"].to_string();
        let is_stopped = why.contains("time limit");
        if !is_changed && !is_stopped {
            println!("{name}: {}: changes nothing when it runs again", one.fault);
            return;
        }
        let is_reported = test["status"] == "different" || is_stopped;
        let culprit = &test["culprit"];
        let lines: Vec<u64> = culprit["line"].as_u64().into_iter().collect();
        let is_file = culprit["file"] == one.fault.file.as_str();
        let is_near = |line: &u64| one.lines.contains(&(*line as usize));
        let moved = culprit["moved_by"].to_string();
        let is_moved = one.lines.iter().any(|line| moved.contains(&format!("{}:{line}\"", one.fault.file)));
        // Where constructs run one after the other, none is wrong.
        let is_order = one.fault.kind.is_order() && test["found"].to_string().contains("not waited for");
        let found = test["found"].to_string();
        let is_end = |line| found.contains(&format!("of {}:{line} begins", one.fault.file));
        let is_ended = one.lines.iter().any(is_end);
        let is_named = is_file && lines.iter().any(is_near) || is_moved || is_order || is_ended;
        self.changing += 1;
        self.reported += usize::from(is_reported);
        self.named += usize::from(is_named);
        let row = self.kinds.entry(one.kind()).or_default();
        row[0] += 1;
        row[1] += usize::from(is_reported);
        row[2] += usize::from(is_named);
        let word = |is: bool, yes: &'static str, no: &'static str| if is { yes } else { no };
        let status = test["status"].as_str().unwrap_or_default();
        println!(
            "{name}: {}: {status}, {}, {} ({} of {:?}; culprit {}:{}, {})",
            one.fault,
            word(is_reported, "reported", "NOT REPORTED"),
            word(is_named, "named", "NOT NAMED"),
            one.fault.file,
            one.lines,
            culprit["file"],
            culprit["line"],
            test["found"]
        );
    }

    fn text(&self) -> String {
        let mut text = String::from(
            "| fault | changes the output | reported | place named |\n| --- | --- | --- | --- |\n",
        );
        for (kind, [changing, reported, named]) in &self.kinds {
            text += &format!("| {kind} | {changing} | {reported} | {named} |\n");
        }
        let Score { faults, changing, reported, named, unbuilt, alarms, correct, .. } = self;
        text + &format!(
            "| all | {changing} | {reported} | {named} |\n\n{faults} faults, {unbuilt} of which no compiler takes; {alarms} false alarms in {correct} programs as they are translated"
        )
    }
}

/// All faults of a translation.
fn faults(tree: &Path, translated: &Path) -> Result<Vec<Placed>> {
    let mut all = Vec::new();
    let mut files = Vec::new();
    below(translated, &mut files)?;
    files.sort();
    for path in files {
        let below = path.strip_prefix(translated).unwrap_or(&path);
        let (Ok(text), Ok(source)) = (fs::read(&path), fs::read(tree.join(below))) else { continue };
        if text == source || below.to_string_lossy().contains("acc2omp") {
            continue;
        }
        let (text, source) = (String::from_utf8_lossy(&text), String::from_utf8_lossy(&source));
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        for number in 0..directives(&lines).len() {
            for (kind, _) in KINDS {
                let Some((_, line)) = with_fault(&text, number, kind) else { continue };
                let lines = places(&source, &text, line);
                let file = below.display().to_string();
                all.push(Placed { fault: Fault { file, number, kind }, lines });
            }
        }
    }
    Ok(all)
}

fn below(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        if path.is_dir() { below(&path, files)? } else { files.push(path) }
    }
    Ok(())
}

/// The lines, from 1, of the directives of the source that a line of its translation, from 0, belongs to.
fn places(source: &str, text: &str, line: usize) -> BTreeSet<usize> {
    let diff = TextDiff::from_lines(source, text);
    let hunk = diff.ops().iter().find(|op| op.new_range().contains(&line));
    let Some(op) = hunk else { return BTreeSet::new() };
    let (first, last) = match op.tag() {
        DiffTag::Equal => {
            let at = op.old_range().start + line - op.new_range().start;
            (at, at)
        }
        _ => (op.old_range().start, op.old_range().end.max(op.old_range().start + 1) - 1),
    };
    let sites: Vec<usize> =
        source.lines().enumerate().filter(|(_, line)| is_site(line)).map(|(at, _)| at).collect();
    let inside: BTreeSet<usize> =
        sites.iter().filter(|at| (first..=last).contains(*at)).map(|at| at + 1).collect();
    match inside.is_empty() {
        false => inside,
        true => sites.iter().rfind(|at| **at <= last).map(|at| at + 1).into_iter().collect(),
    }
}

/// Whether a directive of OpenACC stands on a line at which things are recorded.
fn is_site(line: &str) -> bool {
    let own = line.trim_start().to_ascii_lowercase();
    let words = own.strip_prefix("#pragma acc ").or_else(|| own.strip_prefix("!$acc "));
    let names = ["parallel", "kernels", "serial", "data", "update", "enter", "exit"];
    words.is_some_and(|words| names.iter().any(|name| words.trim_start().starts_with(name)))
}

/// The faults in the order in which they are tried: each kind in turn, from the kind with the number `first` on, and spread
/// over the program.
fn in_turn(all: Vec<Placed>, first: usize) -> Vec<Placed> {
    let mut kinds: Vec<Vec<Placed>> = KINDS.iter().map(|_| Vec::new()).collect();
    for one in all {
        if let Some(at) = KINDS.iter().position(|(kind, _): &(Kind, _)| *kind == one.fault.kind) {
            kinds[at].push(one);
        }
    }
    kinds.rotate_left(first % KINDS.len());
    let mut found = Vec::new();
    for turn in 0.. {
        if kinds.iter().all(Vec::is_empty) {
            break;
        }
        for kind in kinds.iter_mut().filter(|kind| !kind.is_empty()) {
            // From the beginning, the end and the middle in turn.
            let at = [0, kind.len() - 1, kind.len() / 2][turn % 3];
            found.push(kind.remove(at));
        }
    }
    found
}

/// The command that puts a fault into the translation in the working folder.
fn command_of(fault: &Fault) -> Result<String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    Ok(format!("'{}' mutate --apply '{fault}'", own.display()))
}

/// The configuration with a test for each fault, and one for the translation as it is.
fn with_mutants(settings: &toml::Table, placed: &[&Placed]) -> Result<toml::Table> {
    let mut table = settings.clone();
    let tests = table
        .get_mut("verify")
        .and_then(|verify| verify.get_mut("tests"))
        .and_then(toml::Value::as_table_mut);
    let tests = tests.ok_or("acc2omp.toml has no `[verify.tests.mutant]`")?;
    let mutant = tests.remove("mutant").ok_or("acc2omp.toml has no `[verify.tests.mutant]`")?;
    let build = mutant.get("build").and_then(toml::Value::as_str).unwrap_or_default();
    let with = |command: &str| {
        let mut test = mutant.clone();
        test.as_table_mut().into_iter().for_each(|table| {
            table.insert("build".to_owned(), build.replace(MUTATE, command).into());
        });
        test
    };
    tests.insert("correct".to_owned(), with(":"));
    for (number, one) in placed.iter().enumerate() {
        tests.insert(format!("{MUTANT}{number}"), with(&command_of(&one.fault)?));
    }
    Ok(table)
}

/// The words of lines that are not compared.
fn words_of_ignored(settings: &toml::Table) -> Vec<String> {
    let stdout =
        settings.get("verify").and_then(|verify| verify.get("compare")).and_then(|all| all.get("stdout"));
    let words = stdout.and_then(|rule| rule.get("ignore")).and_then(toml::Value::as_array);
    words.into_iter().flatten().filter_map(|word| Some(word.as_str()?.to_owned())).collect()
}

/// The output without lines that are not compared and without those about launches, and numbers to eight digits.
fn relevant(output: &str, ignored: &[String]) -> Words {
    let lines = output.lines().filter(|line| !ignored.iter().any(|word| line.contains(word.as_str())));
    let rounded = |word: &str| match word.parse::<f64>() {
        Ok(number) => format!("{number:.8e}"),
        Err(_) => word.to_owned(),
    };
    lines.map(|line| line.split_whitespace().map(rounded).collect()).collect()
}

/// The output without the words that right programs print differently.
fn without_roundings(mut output: Words, rights: &[Words]) -> Words {
    for (at, line) in output.iter_mut().enumerate() {
        for (number, word) in line.iter_mut().enumerate() {
            let mut all = rights.iter().filter_map(|lines| lines.get(at)?.get(number));
            let first = all.next();
            if all.any(|other| Some(other) != first) {
                word.clear();
            }
        }
    }
    output
}
