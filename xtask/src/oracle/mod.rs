//! Runs the loops that are called parallel in other orders, with poison in what each iteration is said to have of its own.
//!
//! Invariant: independent of the analysis. What is asked is what the programs print, and where another order must be seen
//! in it, it is.

mod c;
mod fortran;
mod label;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use acc2omp::source::{Language, Languages};
use acc2omp::{LoopVerdict, Options as Translator, Source, scan, translate};
use clap::Args;

use self::label::{Label, Standing};
use crate::difftest;
use crate::difftest::fixture::{self, Fixture, is_fortran, read_text};
use crate::{Result, Verdict, files, process};

/// What the names of the fixtures begin with.
const FIXTURES: &str = "nests-";

/// No compiler and no program may take longer.
const LIMIT: Duration = Duration::from_secs(60);

/// The seeds of the programs' data.
const SEEDS: [&str; 2] = ["1", "2"];

/// The orders: 1 is backwards, the other ones are seeds of permutations.
const ORDERS: [&str; 3] = ["1", "2", "3"];

/// Which loops to run.
#[derive(Args, Debug, Default)]
pub struct Options {
    /// Only the fixtures whose name holds NAME
    #[arg(long, value_name = "NAME")]
    only: Option<String>,

    /// Take the labels for verdicts: whether the fixtures themselves are right
    #[arg(long)]
    labels: bool,
}

/// A loop that is run in other orders.
#[derive(Clone, Debug)]
struct Chosen {
    /// Its number in the program.
    id: usize,
    /// The number of its file.
    file: usize,
    /// Its line, from 0.
    line: usize,
    /// What each iteration has of its own.
    private: Vec<String>,
    /// Another order must be seen in the results.
    differs: bool,
}

/// What was counted.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    loops: usize,
    parallel: usize,
    found: usize,
    sequential: usize,
    runs: usize,
    differences: usize,
    wrong: usize,
}

impl Sum {
    fn and(self, more: Sum) -> Sum {
        Sum {
            loops: self.loops + more.loops,
            parallel: self.parallel + more.parallel,
            found: self.found + more.found,
            sequential: self.sequential + more.sequential,
            runs: self.runs + more.runs,
            differences: self.differences + more.differences,
            wrong: self.wrong + more.wrong,
        }
    }

    /// At least nine tenths of the parallel loops must be found.
    fn verdict(self) -> Verdict {
        let is_enough = self.found * 10 >= self.parallel * 9;
        if self.wrong == 0 && is_enough { Verdict::Passed } else { Verdict::Failed }
    }
}

/// A fixture on its way.
struct Case<'a> {
    fixture: &'a Fixture,
    /// Where its programs go.
    work: PathBuf,
    sum: Sum,
    /// What is wrong, a line each.
    report: String,
}

/// Runs all loops; the last line printed counts.
pub fn run(options: &Options) -> Result<Verdict> {
    let root = difftest::root()?;
    let work = tempfile::Builder::new().prefix("acc2omp-oracle-").tempdir().map_err(|e| e.to_string())?;
    let mut fixtures = Vec::new();
    for folder in ["c", "cpp", "fortran"] {
        fixtures.extend(fixture::all(&root.join("fixtures").join(folder))?);
    }
    let is_wanted = |one: &Fixture| options.only.as_ref().is_none_or(|name| one.name.contains(name.as_str()));
    fixtures.retain(|one| one.name.starts_with(FIXTURES) && is_wanted(one));
    if fixtures.is_empty() {
        return Err(format!("no fixture `{FIXTURES}…` has such a name"));
    }
    let sum = each(&fixtures, |number, fixture| {
        let work = work.path().join(number.to_string());
        files::make_folder(&work)?;
        let mut case = Case { fixture, work, sum: Sum::default(), report: String::new() };
        case.run(options.labels)?;
        print!("{}", case.report);
        Ok(case.sum)
    })?;
    println!(
        "oracle: {} loops: {} of {} parallel ones found, {} sequential; {} runs in other orders, {} differences that \
         had to be seen; {} wrong",
        sum.loops, sum.found, sum.parallel, sum.sequential, sum.runs, sum.differences, sum.wrong
    );
    Ok(sum.verdict())
}

/// Does `job` for each of the fixtures, on as many threads as there are processors, and adds up.
fn each(fixtures: &[Fixture], job: impl Fn(usize, &Fixture) -> Result<Sum> + Sync) -> Result<Sum> {
    let (next, total) = (AtomicUsize::new(0), Mutex::new(Ok(Sum::default())));
    let take = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(fixture) = fixtures.get(number) else { return };
            let outcome = job(number, fixture);
            let Ok(mut total) = total.lock() else { return };
            *total = match (std::mem::replace(&mut *total, Ok(Sum::default())), outcome) {
                (Ok(sum), Ok(more)) => Ok(sum.and(more)),
                (Err(why), _) | (_, Err(why)) => Err(why),
            };
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(take);
        }
    });
    total.into_inner().map_err(|error| error.to_string())?
}

impl Case<'_> {
    /// The fixture through all of its runs.
    fn run(&mut self, are_labels_verdicts: bool) -> Result<()> {
        let (mut texts, mut computed_texts) = (Vec::new(), Vec::new());
        let mut chosen = Vec::new();
        for (file, name) in self.fixture.sources.iter().enumerate() {
            let text = read_text(&self.fixture.folder.join(name))?;
            texts.push(text.clone());
            let text = computed(name, text)?;
            let labels = label::labels(&text).map_err(|why| format!("{name}: {why}"))?;
            let verdicts = if are_labels_verdicts { BTreeMap::new() } else { verdicts(name, &text)? };
            self.unlabelled(name, &text, &labels, &verdicts);
            for (line, label) in &labels {
                let verdict = verdicts.get(line);
                let run = match are_labels_verdicts {
                    true => self.believe(label),
                    false => self.judge(name, *line, label, verdict),
                };
                if let Some((private, differs)) = run {
                    chosen.push(Chosen { id: chosen.len(), file, line: *line, private, differs });
                }
            }
            computed_texts.push(text);
        }
        if chosen.is_empty() {
            return Ok(());
        }
        let mut rewritten = Vec::new();
        for (file, (name, text)) in self.fixture.sources.iter().zip(&computed_texts).enumerate() {
            let of_file: Vec<Chosen> = chosen.iter().filter(|one| one.file == file).cloned().collect();
            let new = match language(name, text)? {
                Language::Fortran(_) => fortran::rewrite(text, file == 0, chosen.len(), &of_file),
                language => c::rewrite(text, language, &of_file),
            };
            rewritten.push(new.map_err(|why| format!("{name}: {why}"))?);
        }
        let original = self.build("original", &texts)?;
        let permuted = self.build("permuted", &rewritten)?;
        self.permute(&original, &permuted, &chosen)
    }

    /// Reports loops that have a verdict and no label.
    fn unlabelled(
        &mut self,
        name: &str,
        text: &str,
        labels: &[(usize, Label)],
        verdicts: &BTreeMap<usize, LoopVerdict>,
    ) {
        for (number, line) in text.lines().enumerate() {
            let is_labelled = labels.iter().any(|(one, _)| *one == number);
            if verdicts.contains_key(&number) && label::begins_loop(line) && !is_labelled {
                self.wrong(name, number, "the loop has a verdict, but no label");
            }
        }
    }

    /// Holds a verdict against the label, and says how the loop is to be run: with what each iteration has of its own, and
    /// whether another order must be seen; `None`: it keeps its order.
    fn judge(
        &mut self,
        name: &str,
        line: usize,
        label: &Label,
        verdict: Option<&LoopVerdict>,
    ) -> Option<(Vec<String>, bool)> {
        self.sum.loops += 1;
        self.sum.parallel += usize::from(matches!(label, Label::Parallel { .. }));
        match label::judge(label, verdict) {
            Ok(Standing::Found) => self.sum.found += 1,
            Ok(Standing::Sequential) => self.sum.sequential += 1,
            Ok(Standing::OutOfReach | Standing::Free) => {}
            Err(why) => self.wrong(name, line, &why),
        }
        match (label, verdict) {
            (_, Some(LoopVerdict::Parallel { private, .. })) => Some((private.clone(), false)),
            (Label::Sequential { distance: true }, _) => Some((Vec::new(), true)),
            _ => None,
        }
    }

    /// Takes a label for the verdict, and says how the loop is to be run.
    fn believe(&mut self, label: &Label) -> Option<(Vec<String>, bool)> {
        self.sum.loops += 1;
        match label {
            Label::Parallel { private, .. } => {
                self.sum.parallel += 1;
                self.sum.found += 1;
                Some((private.clone(), false))
            }
            Label::Sequential { distance } => {
                self.sum.sequential += 1;
                distance.then(|| (Vec::new(), true))
            }
            Label::Accumulates => None,
        }
    }

    fn wrong(&mut self, name: &str, line: usize, why: &str) {
        self.sum.wrong += 1;
        let _ = writeln!(self.report, "{}/{name}:{}: {why}", self.fixture.name, line + 1);
    }

    /// Builds the fixture without OpenACC, from these texts.
    fn build(&self, name: &str, texts: &[String]) -> Result<PathBuf> {
        let place = self.work.join(name);
        files::make_folder(&place)?;
        for (source, text) in self.fixture.sources.iter().zip(texts) {
            files::write(&place.join(source), text.as_bytes())?;
        }
        let program = place.join("program");
        let is_c = |source: &String| source.ends_with(".c");
        let mut command = match &self.fixture.sources {
            sources if sources.iter().any(is_fortran) => {
                let mut command = Command::new("gfortran");
                command.args(["-ffree-line-length-none", "-ffixed-line-length-none"]);
                command
            }
            sources if sources.iter().all(is_c) => Command::new("gcc"),
            _ => Command::new("g++"),
        };
        command.current_dir(&place).args(["-O1", "-w"]).args(&self.fixture.sources);
        command.arg("-o").arg(&program).arg("-lm");
        let built = process::capture(&mut command, LIMIT)?;
        if !built.succeeded() {
            return Err(format!("{}: the {name} text: {}\n{}", self.fixture.name, built.end(), built.stderr));
        }
        Ok(program)
    }

    /// Runs every chosen loop in every order, with the data of every seed.
    fn permute(&mut self, original: &Path, permuted: &Path, chosen: &[Chosen]) -> Result<()> {
        let mut expected = Vec::new();
        for seed in SEEDS {
            let printed = execute(original, seed, None)?;
            if !printed.ends_with("ok 1\n") || execute(permuted, seed, None)? != printed {
                self.wrong("", 0, "the program itself is not right, or not the same when it can be permuted");
            }
            expected.push(printed);
        }
        for one in chosen {
            let name = &self.fixture.sources[one.file];
            let differing = self.differing(permuted, one, &expected)?;
            match differing {
                Some(_) if one.differs => self.sum.differences += 1,
                Some(how) => self.wrong(name, one.line, &format!("called parallel, but {how}")),
                None if one.differs => {
                    self.wrong(
                        name,
                        one.line,
                        "called sequential for a distance, and no order is seen to differ",
                    );
                }
                None => {}
            }
        }
        Ok(())
    }

    /// The first run of a loop that prints what the original does not.
    fn differing(&mut self, program: &Path, one: &Chosen, expected: &[String]) -> Result<Option<String>> {
        for (seed, expected) in SEEDS.into_iter().zip(expected) {
            for order in ORDERS {
                self.sum.runs += 1;
                let printed = execute(program, seed, Some((one.id, order)))?;
                if printed != *expected {
                    let line = printed.lines().zip(expected.lines()).find(|(new, old)| new != old);
                    let (new, old) = line.unwrap_or(("no more lines", "more"));
                    return Ok(Some(format!("order {order} with seed {seed} prints `{new}` for `{old}`")));
                }
            }
        }
        Ok(None)
    }
}

/// What a program prints, and how it ends if it does not end well.
fn execute(program: &Path, seed: &str, permuted: Option<(usize, &str)>) -> Result<String> {
    let mut command = Command::new(program);
    command.arg(seed);
    if let Some((id, order)) = permuted {
        command.env("ORACLE_LOOP", id.to_string()).env("ORACLE_ORDER", order);
    }
    let output = process::capture(&mut command, LIMIT)?;
    if output.succeeded() {
        return Ok(output.stdout);
    }
    Ok(format!("{}\n{}", output.end(), output.stdout))
}

fn language(name: &str, text: &str) -> Result<Language> {
    scan::language_of(Path::new(name), text.as_bytes(), &Languages::default())
        .ok_or_else(|| format!("{name}: its language is not known"))
}

/// The text with the statements that the translator puts into it so that variables are computed from loop variables. They
/// must change nothing where the loops run in their order, and the loops are called parallel with them.
fn computed(name: &str, text: String) -> Result<String> {
    let source = Source::new(name, text.as_bytes().to_vec(), language(name, &text)?);
    let mut text = text;
    for edit in translate(&source, &Translator::default()).inductions.iter().rev() {
        let statement = String::from_utf8_lossy(&edit.text);
        text.insert_str(edit.span.start as usize, &statement);
    }
    Ok(text)
}

/// What the translator finds out, by the line at which a loop begins.
fn verdicts(name: &str, text: &str) -> Result<BTreeMap<usize, LoopVerdict>> {
    let source = Source::new(name, text.as_bytes().to_vec(), language(name, text)?);
    let translation = translate(&source, &Translator::default());
    let by_line = translation.loops.into_iter().map(|one| {
        let line = source.file.lines.line(one.span.start);
        (line, one.verdict)
    });
    Ok(by_line.collect())
}
