//! Makes programs at random, knows what they print, and looks for translations that print something else.
//!
//! Invariant: what a program prints is known from a model of OpenACC's memories (`model`), never from a compiler; and a failure
//! is reported with the command that makes its program again.

mod exclusions;
mod generate;
mod lab;
mod model;
mod print;
mod program;
mod random;
mod reduce;
mod report;
mod variant;
mod walk;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};

use self::generate::{Family, Made};
use self::lab::{Case, Failure, Lab, Outcome};
use self::report::{Found, Report};
use self::variant::Variant;
use crate::difftest::root;
use crate::difftest::toolchain::{Toolchain, Toolchains};
use crate::{Result, Verdict};

/// The languages of programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, ValueEnum)]
pub enum Language {
    /// C.
    C,
    /// C++.
    Cpp,
    /// Fortran.
    Fortran,
}

impl Language {
    /// What the names of its files end with.
    fn ending(self) -> &'static str {
        match self {
            Language::C => "c",
            Language::Cpp => "cpp",
            Language::Fortran => "f90",
        }
    }

    /// Its name on the command line.
    fn name(self) -> &'static str {
        match self {
            Language::C => "c",
            Language::Cpp => "cpp",
            Language::Fortran => "fortran",
        }
    }
}

/// What to look for, and how long.
#[derive(Args, Debug)]
pub struct Options {
    /// How many minutes to look for failures, reductions not counted
    #[arg(long, value_name = "N")]
    minutes: Option<f64>,

    /// The seed of the programs
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,

    /// Only programs of a family
    #[arg(long, value_name = "FAMILY")]
    only: Option<Family>,

    /// Only programs in a language
    #[arg(long, value_name = "LANGUAGE")]
    language: Option<Language>,

    /// Only the program with this number, in each way; prints it first
    #[arg(long, value_name = "NUMBER")]
    case: Option<u64>,

    /// Stop after so many programs; no limit of time then, unless it is given
    #[arg(long, value_name = "N")]
    programs: Option<u64>,

    /// Reduce so many failures at most
    #[arg(long, value_name = "N", default_value_t = 40)]
    reduce: usize,

    /// Check the machine itself: compare the originals, built without OpenACC and with it on the host, with the model
    #[arg(long)]
    originals: bool,

    /// Only the translations to CUDA
    #[arg(long)]
    cuda: bool,

    /// Threads
    #[arg(long, value_name = "N", default_value_t = 4)]
    jobs: usize,

    /// Write what was found into a folder, a file each
    #[arg(long, value_name = "DIR")]
    out: Option<std::path::PathBuf>,
}

/// The budget of `cargo xtask test`, with a fixed seed.
impl Default for Options {
    fn default() -> Options {
        Options {
            minutes: None,
            seed: 1,
            only: None,
            language: None,
            case: None,
            programs: Some(BUDGET),
            reduce: 6,
            originals: false,
            cuda: false,
            jobs: 4,
            out: None,
        }
    }
}

/// So many programs are built together.
const BATCH: u64 = 28;
/// So many programs `cargo xtask test` tries: a batch in each language.
const BUDGET: u64 = 3 * BATCH;
/// So long a hunt lasts if nothing is said.
const MINUTES: f64 = 5.0;

/// Looks for failures; the last line counts.
pub fn run(options: &Options) -> Result<Verdict> {
    let work = tempfile::Builder::new().prefix("acc2omp-hunt-").tempdir().map_err(|e| e.to_string())?;
    let toolchains = Toolchains::find()?.with_cuda(&root()?)?;
    if options.case.is_some() {
        return one(options, &toolchains, work.path());
    }
    let start = Instant::now();
    let limit = options.minutes.or(options.programs.is_none().then_some(MINUTES));
    let limit = limit.map(|minutes| Duration::from_secs_f64(minutes * 60.0));
    let (next, report) = (AtomicU64::new(0), Mutex::new(Report::default()));
    let worker = |job: usize| -> Result<()> {
        let folder = work.path().join(job.to_string());
        while limit.is_none_or(|limit| start.elapsed() < limit) {
            let batch = next.fetch_add(1, Ordering::Relaxed);
            if options.programs.is_some_and(|last| batch * BATCH >= last) {
                break;
            }
            let language = options.language.unwrap_or(
                [Language::C, Language::Fortran, Language::Cpp, Language::C][(batch % 4) as usize],
            );
            let lab = Lab { toolchains: &toolchains, work: folder.join(language.name()), language };
            let part = one_batch(options, &lab, batch)?;
            if let Ok(mut report) = report.lock() {
                report.add(part);
            }
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let jobs: Vec<_> = (0..options.jobs).map(|job| scope.spawn(move || worker(job))).collect();
        jobs.into_iter().try_for_each(|job| job.join().unwrap_or_else(|_| Err("a thread stopped".to_owned())))
    })?;
    let mut report = report.into_inner().map_err(|_| "a thread stopped".to_owned())?;
    report.seconds = start.elapsed().as_secs_f64();
    report.reduce(options, &toolchains, work.path())?;
    report.print(options)
}

/// The programs of a batch, and what became of them.
fn one_batch(options: &Options, lab: &Lab, batch: u64) -> Result<Report> {
    let start = Instant::now();
    let made: Vec<(usize, Made)> = (batch * BATCH..(batch + 1) * BATCH)
        .filter_map(|number| {
            let family = family(options, number);
            Some((number as usize, generate::program(options.seed, lab.language, family, number)?))
        })
        .collect();
    let mut report = Report::default();
    report.generated = start.elapsed().as_secs_f64();
    report.lost = BATCH as usize - made.len();
    let cases: Vec<Case> = made
        .iter()
        .map(|(number, made)| Case { number: *number, program: &made.program, expected: &made.expected })
        .collect();
    let mut seen = BTreeMap::new();
    for variant in variants(options, lab.language, batch) {
        let outcomes = lab.trial(&cases, &variant, &mut seen)?;
        for ((number, made), outcome) in made.iter().zip(outcomes) {
            report.count(lab.language, *number, made, &variant, outcome);
        }
    }
    report.programs(lab.language, &made);
    Ok(report)
}

fn variants(options: &Options, language: Language, batch: u64) -> Vec<Variant> {
    match options.originals {
        true => vec![variant::original(Toolchain::Plain), variant::original(Toolchain::OpenAcc)],
        false => chosen(options, variant::of(language, batch)),
    }
}

fn chosen(options: &Options, mut all: Vec<Variant>) -> Vec<Variant> {
    all.retain(|one| !options.cuda || one.toolchain.is_cuda());
    all
}

fn family(options: &Options, number: u64) -> Family {
    options.only.unwrap_or(Family::ALL[(number % Family::ALL.len() as u64) as usize])
}

/// One program, in all ways.
fn one(options: &Options, toolchains: &Toolchains, work: &Path) -> Result<Verdict> {
    let number = options.case.unwrap_or_default();
    let language = options.language.ok_or("--case needs --language")?;
    let family = family(options, number);
    let made = generate::program(options.seed, language, family, number).ok_or("there is no such program")?;
    println!("{}", print::text(&made.program, language, number as usize));
    println!("{:?}", made.expected.separate);
    let lab = Lab { toolchains, work: work.to_path_buf(), language };
    let case = Case { number: number as usize, program: &made.program, expected: &made.expected };
    let mut verdict = Verdict::Passed;
    let all: Vec<Variant> = match options.originals {
        true => variants(options, language, 0),
        false => chosen(options, variant::all(language)),
    };
    for variant in all {
        let outcome = lab.trial(&[case], &variant, &mut BTreeMap::new())?.remove(0);
        println!("{}: {outcome:?}", variant.name());
        if let Outcome::Failed(failure) = outcome {
            verdict = Verdict::Failed;
            if options.reduce > 0 {
                let (small, _, failure) = reduce::reduced(&lab, &made.program, &variant, &failure)?;
                println!("{failure}\n{}", print::text(&small, language, number as usize));
                break;
            }
        }
    }
    Ok(verdict)
}

/// A failure as it was found, before it is reduced.
fn found(language: Language, number: usize, made: &Made, variant: &Variant, failure: Failure) -> Found {
    Found { language, number, made: made.clone(), variant: *variant, failure }
}
