//! Every test there is.
//!
//! Invariant: what is missing is said before the first test; the last lines say how long each step took and what failed.

use std::process::Command;
use std::time::Instant;

use crate::{
    Result, Verdict, audit, bench, book, count, cuda, difftest, dist, hunt, mutate, oracle, process, setup,
};

/// A step of the test run, by its name.
type Step = (&'static str, fn() -> Result<Verdict>);

/// Runs `cargo test`, the count of directives, the audit, the oracle, the tests of CUDA's run-time library, the benchmarks in
/// small sizes, the contents of an archive, programs made at random, the documentation's site and the comparisons; all of them,
/// so that one run shows all that is wrong.
pub fn run() -> Result<Verdict> {
    setup::check()?;
    let steps: [Step; 11] = [
        ("cargo test", units),
        ("count", || count::run(&count::Options::default())),
        ("audit", || audit::run(&audit::Options::default())),
        ("oracle", || oracle::run(&oracle::Options::default())),
        ("cuda", || cuda::run(&cuda::Options::default())),
        ("bench-gpu --check", bench::check),
        ("dist --check", dist::check),
        ("hunt", || hunt::run(&hunt::Options::default())),
        ("book", book::test),
        ("mutate", || mutate::run(&mutate::Options::default())),
        ("difftest", || difftest::run(&difftest::Options::default())),
    ];
    let mut all = Verdict::Passed;
    let mut lines = Vec::new();
    for (name, step) in steps {
        let start = Instant::now();
        let verdict = step()?;
        let word = if verdict == Verdict::Passed { "passed" } else { "FAILED" };
        lines.push(format!("{name}: {word}, {} s", start.elapsed().as_secs()));
        if verdict == Verdict::Failed {
            all = Verdict::Failed;
        }
    }
    println!("{}", lines.join("\n"));
    Ok(all)
}

/// What `cargo test` runs, in parts. An optimised build of the library is made once, for `cargo xtask` and for the tests that
/// translate whole trees: it takes longer than all of these tests. What is tested inside of packages needs none.
fn units() -> Result<Verdict> {
    let plain = |package: &str| format!("--config=profile.dev.package.{package}.opt-level=0");
    // The features of what is used are those of all packages that are chosen.
    let parts: [&[&str]; 5] = [
        &["--exclude", "fuzz", "--lib", &plain("acc2omp")],
        &["--bins", &plain("xtask")],
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
