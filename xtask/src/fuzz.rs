//! Looks for inputs that the translator cannot bear, by a fuzzer that follows the branches that are taken.
//!
//! Invariant: the targets and what must be true of them stand in the package `fuzz`; here they are built with libFuzzer's counters,
//! given what to begin with, and run for as long as was asked for.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use acc2omp::rules::openacc;
use acc2omp::scan;
use acc2omp::source::{Form, Language, Languages};
use clap::{Args, ValueEnum};

use crate::{Result, Verdict, difftest, process};

/// What the compiler gets, so that libFuzzer sees the branches: what `cargo bolero` says, without sanitizers, which stable
/// Rust does not have.
const FLAGS: &str = "--cfg fuzzing --cfg fuzzing_libfuzzer -Cpasses=sancov-module \
                     -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-level=4 \
                     -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares";

/// Where everything lies, below the repository's root: libFuzzer's options are split by blanks.
const PLACE: &str = "target/fuzz";

/// Longer inputs are not made.
const LONGEST: u64 = 8192;

/// Longer fixtures are not what to begin with: all of them would be tried by each process before anything is made of them, and
/// other tests translate them.
const LONGEST_SEED: usize = 1000;

/// An input may take so many seconds; on a machine that does other work, too.
const SLOWEST: u32 = 60;

/// A target of the package `fuzz`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Target {
    /// What finds directives and makes the shadow.
    Scanner,
    /// The parsers of directives.
    Directives,
    /// The whole path, for any text.
    Translation,
    /// The whole path, for programs that the bytes of an input choose.
    Programs,
}

impl Target {
    /// All, each with its share of the time.
    const ALL: [(Target, f64); 4] = [
        (Target::Scanner, 0.1),
        (Target::Directives, 0.1),
        (Target::Translation, 0.4),
        (Target::Programs, 0.4),
    ];

    fn name(self) -> &'static str {
        match self {
            Target::Scanner => "scanner",
            Target::Directives => "directives",
            Target::Translation => "translation",
            Target::Programs => "programs",
        }
    }
}

/// What to look at, and how long.
#[derive(Args, Debug)]
pub struct Options {
    /// How many minutes to look, building not counted
    #[arg(long, value_name = "N", default_value_t = 10.0)]
    minutes: f64,

    /// Processes that look at the same time [default: one for each core]
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,

    /// Only one target
    #[arg(long, value_name = "TARGET")]
    only: Option<Target>,
}

/// Builds the targets and runs them; what was found fails.
pub fn run(options: &Options) -> Result<Verdict> {
    let root = difftest::root()?;
    process::show(cargo(&root)?.arg("--no-run"))?;
    let jobs = options.jobs.unwrap_or_else(|| thread::available_parallelism().map_or(1, usize::from));
    let mut found = Vec::new();
    for (target, share) in Target::ALL {
        let share = match options.only {
            Some(only) if only != target => continue,
            Some(_) => 1.0,
            None => share,
        };
        let limit = Duration::from_secs_f64((options.minutes * 60.0 * share).max(1.0));
        found.extend(look(&root, target, jobs.max(1), limit)?);
    }
    found.iter().for_each(|path| println!("found: {}", path.display()));
    Ok(if found.is_empty() { Verdict::Passed } else { Verdict::Failed })
}

/// The command that builds the targets.
fn cargo(root: &Path) -> Result<Command> {
    let version = process::capture(Command::new("rustc").arg("-vV"), Duration::from_secs(60))?.stdout;
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).ok_or("rustc names no host")?;
    let mut command = Command::new(env!("CARGO"));
    // With a target, the flags are not for what runs while others are built.
    command.current_dir(root).args(["test", "--quiet", "--package", "fuzz", "--lib", "--profile", "fuzz"]);
    command.args(["--target", host, "--target-dir", PLACE]);
    command.env("RUSTFLAGS", FLAGS).env("BOLERO_FUZZER", "libfuzzer");
    Ok(command)
}

/// Lets processes look at a target, and returns what they found. Each begins with its share of the inputs: what all begin with
/// leads all of them the same way.
fn look(root: &Path, target: Target, jobs: usize, limit: Duration) -> Result<Vec<PathBuf>> {
    let place = root.join(PLACE).join(target.name());
    let _ = fs::remove_dir_all(place.join("found"));
    let failed = |error: std::io::Error| format!("{}: {error}", place.display());
    for folder in ["found", "logs"] {
        fs::create_dir_all(place.join(folder)).map_err(failed)?;
    }
    let corpora: Vec<PathBuf> = (0..jobs).map(|job| place.join(corpus(job))).collect();
    corpora.iter().try_for_each(fs::create_dir_all).map_err(failed)?;
    seed(root, &place, &corpora)?;
    let (end, before) = (Instant::now() + limit, process::spent()?);
    let runs: Result<u64> = thread::scope(|scope| {
        let workers: Vec<_> =
            (0..jobs).map(|job| scope.spawn(move || until(root, target, job, end))).collect();
        workers.into_iter().map(|worker| worker.join().map_err(|_| "a worker failed".to_owned())?).sum()
    });
    let runs = runs?;
    let inside = fs::read_dir(place.join("found")).map_err(|error| error.to_string())?;
    let mut found: Vec<PathBuf> = inside.flatten().map(|entry| entry.path()).collect();
    found.sort();
    let (name, minutes) = (target.name(), limit.as_secs_f64() / 60.0);
    let hours = (process::spent()? - before).as_secs_f64() / 3600.0;
    println!(
        "{name}: {runs} inputs in {jobs} processes and {minutes:.1} minutes, {hours:.2} hours on processors, {} found",
        found.len()
    );
    Ok(found)
}

/// Runs a target again and again: it ends with each finding. Returns how many inputs it was given.
fn until(root: &Path, target: Target, job: usize, end: Instant) -> Result<u64> {
    let mut inputs = 0;
    for round in 0.. {
        let left = end.saturating_duration_since(Instant::now()).as_secs();
        if left == 0 {
            break;
        }
        let log = root.join(PLACE).join(target.name()).join("logs").join(format!("{job}-{round}"));
        inputs += once(root, target, job, &log, left)?;
    }
    Ok(inputs)
}

/// Runs a target for so many seconds, or until it finds something. Returns how many inputs it was given.
fn once(root: &Path, target: Target, job: usize, log: &Path, seconds: u64) -> Result<u64> {
    let failed = |error: std::io::Error| format!("{}: {error}", log.display());
    let (name, test) = (target.name(), format!("tests::{}", target.name()));
    // A test runs in the folder of its package.
    let place = format!("../../{PLACE}/{name}");
    // libFuzzer's entropic schedule searches a list of rare branches for each branch that an input takes: nine tenths of the time,
    // for a target with as many branches as `translation`.
    let words = format!(
        "{place}/{} -artifact_prefix={place}/found/ -dict={place}/words -max_total_time={seconds} -max_len={LONGEST} \
         -entropic=0 -timeout={SLOWEST} -report_slow_units={SLOWEST} -rss_limit_mb=4096 -print_final_stats=1",
        corpus(job)
    );
    let mut command = cargo(root)?;
    command.args(["--", &test, "--exact", "--nocapture", "--test-threads", "1"]);
    command
        .env("BOLERO_TEST_NAME", &test)
        .env("BOLERO_LIBTEST_HARNESS", "1")
        .env("BOLERO_LIBFUZZER_ARGS", words);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(File::create(log).map_err(failed)?);
    command.status().map_err(|error| format!("cargo: {error}"))?;
    let text = fs::read(log).map_err(failed)?;
    let text = String::from_utf8_lossy(&text);
    if !text.contains("INFO: seed corpus:") {
        return Err(format!("{}: the fuzzer did not run", log.display()));
    }
    let count = text.lines().find_map(|line| line.strip_prefix("stat::number_of_executed_units:"));
    Ok(count.and_then(|count| count.trim().parse().ok()).unwrap_or_default())
}

/// The folder of the inputs of a process.
fn corpus(job: usize) -> String {
    format!("corpus-{job}")
}

/// Gives a target the fixtures to begin with, in turn to each of its processes, and the words of OpenACC.
fn seed(root: &Path, place: &Path, corpora: &[PathBuf]) -> Result<()> {
    let failed = |error: std::io::Error| format!("{}: {error}", place.display());
    let kept =
        root.join("tests/fuzz/src/__fuzz__").join(place.file_name().unwrap_or_default()).join("corpus");
    let mut turns = corpora.iter().cycle();
    let mut next = || turns.next().map_or(place, PathBuf::as_path);
    for entry in fs::read_dir(kept).into_iter().flatten().flatten() {
        fs::copy(entry.path(), next().join(entry.file_name())).map_err(failed)?;
    }
    let mut pending = vec![root.join("fixtures")];
    let mut number = 0;
    while let Some(path) = pending.pop() {
        if let Ok(inside) = fs::read_dir(&path) {
            let mut inside: Vec<PathBuf> = inside.flatten().map(|entry| entry.path()).collect();
            inside.sort();
            pending.extend(inside);
        } else if let Ok(bytes) = fs::read(&path)
            && let Some(language) = scan::language_of(&path, &bytes, &Languages::default())
            && bytes.len() <= LONGEST_SEED
        {
            number += 1;
            let head = [byte_of(language), b'0' + (number % 8) as u8];
            let input = [&head[..], &bytes].concat();
            fs::write(next().join(format!("fixture-{number}")), input).map_err(failed)?;
        }
    }
    fs::write(place.join("words"), words()).map_err(failed)
}

/// How inputs say their language.
fn byte_of(language: Language) -> u8 {
    match language {
        Language::C | Language::Header => b'0',
        Language::Cpp => b'1',
        Language::Fortran(Form::Free) => b'2',
        Language::Fortran(Form::Fixed) => b'3',
    }
}

/// The words that the fuzzer puts into inputs.
fn words() -> String {
    let table = openacc::table();
    let heads = table.directives.iter().flat_map(|one| {
        [format!("\n#pragma acc {}\n", one.name), format!("\n!$acc {}\n", one.name), one.name.clone()]
    });
    let clauses = table.directives.iter().flat_map(|one| &one.clauses).filter_map(|word| table.clause(word));
    let samples = clauses.flat_map(|clause| clause.samples.iter().map(|sample| format!(" {sample}")));
    let others = [
        "for (int i = 0; i < n; i++) ",
        "_Pragma(\"acc loop\")",
        "#define M ",
        "#ifdef X\n",
        "#else\n",
        "#endif\n",
        "\\\n",
        "\r\n",
        "/*",
        "*/",
        "do i = 1, n\n",
        "end do\n",
        "&\n!$acc& ",
        "!$acc end ",
        "if (x) ",
        "template <class T> ",
    ];
    let mut all: Vec<String> = heads.chain(samples).chain(others.map(str::to_owned)).collect();
    all.sort();
    all.dedup();
    let escaped = |word: &String| {
        let bytes = word.bytes().map(|byte| match byte {
            b'"' | b'\\' => format!("\\{}", byte as char),
            0x20..0x7f => (byte as char).to_string(),
            _ => format!("\\x{byte:02x}"),
        });
        format!("\"{}\"\n", bytes.collect::<String>())
    };
    all.iter().map(escaped).collect()
}
