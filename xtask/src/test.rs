//! Every test there is.
//!
//! Invariant: what is missing is said before the first test; the last lines say how long each step took and what failed.

use std::process::Command;
use std::thread;
use std::time::Instant;

use crate::{
    Result, Verdict, audit, bench, book, count, cuda, difftest, dist, hunt, mutate, oracle, process, setup,
};

/// A step of the test run, by its name.
type Step = (&'static str, fn() -> Result<Verdict>);

/// What is measured by time goes first, and alone.
const FIRST: &[Step] = &[("cargo test", units)];

/// Two rows of steps go on at the same time: in each there is much that one processor does alone.
const ROWS: [&[Step]; 2] = [
    &[("difftest", || difftest::run(&difftest::Options::default()))],
    &[
        ("count", || count::run(&count::Options::default())),
        ("audit", || audit::run(&audit::Options::default())),
        ("oracle", || oracle::run(&oracle::Options::default())),
        ("cuda", || cuda::run(&cuda::Options::default())),
        ("bench-gpu --check", bench::check),
        ("dist --check", dist::check),
        ("hunt", || hunt::run(&hunt::Options::default())),
        ("book", book::test),
        ("mutate", || mutate::run(&mutate::Options::default())),
    ],
];

/// Runs `cargo test`, then the comparisons, and beside them the count of directives, the audit, the oracle, the tests of CUDA's
/// run-time library, the benchmarks in small sizes, the contents of an archive, programs made at random, the documentation's
/// site and faults put into translations; all of them, so that one run shows all that is wrong.
pub fn run() -> Result<Verdict> {
    setup::check()?;
    let mut ended = row(FIRST)?;
    let rows: Result<Vec<_>> = thread::scope(|scope| {
        let rows: Vec<_> = ROWS.iter().map(|steps| scope.spawn(|| row(steps))).collect();
        rows.into_iter().map(|row| row.join().map_err(|_| "a step panicked".to_owned())?).collect()
    });
    ended.extend(rows?.into_iter().flatten());
    let lines: Vec<&str> = ended.iter().map(|(line, _)| line.as_str()).collect();
    println!("{}", lines.join("\n"));
    let has_failed = ended.iter().any(|(_, verdict)| *verdict == Verdict::Failed);
    Ok(if has_failed { Verdict::Failed } else { Verdict::Passed })
}

/// Runs steps one after the other; how each ended, as a line.
fn row(steps: &[Step]) -> Result<Vec<(String, Verdict)>> {
    let one = |(name, step): &Step| {
        let start = Instant::now();
        let verdict = step().map_err(|wrong| format!("{name}: {wrong}"))?;
        let word = if verdict == Verdict::Passed { "passed" } else { "FAILED" };
        let line = format!("{name}: {word}, {} s", start.elapsed().as_secs());
        println!("{line}");
        Ok((line, verdict))
    };
    steps.iter().map(one).collect()
}

/// What `cargo test` runs, in parts. An optimised build of the library is made once, for `cargo xtask` and for the tests that
/// translate whole trees: it takes longer than all of these tests. What is tested inside of packages needs none.
fn units() -> Result<Verdict> {
    let plain = "--config=profile.dev.package.acc2omp.opt-level=0";
    // The features of what is used are those of all packages that are chosen.
    let parts: [&[&str]; 5] = [
        &["--exclude", "fuzz", "--lib", plain],
        &["--bins"],
        &["--test", "it"],
        &["--exclude", "acc2omp", "--lib"],
        &["--doc"],
    ];
    let mut all = Verdict::Passed;
    for part in parts {
        if process::show(Command::new(env!("CARGO")).args(["test", "--workspace"]).args(part)).is_err() {
            all = Verdict::Failed;
        }
    }
    Ok(all)
}
