//! The chores of acc2omp, as `cargo xtask CHORE`.
//!
//! Invariant: exit status 0 is success, 1 a test that failed, 2 something that kept a chore from being done.

mod audit;
mod difftest;
mod process;
mod setup;
mod speed;
mod test;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// What keeps a chore from being done, as a sentence for the user.
type Result<T> = std::result::Result<T, String>;

/// How a chore ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Passed,
    Failed,
}

/// The chores of acc2omp.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Debug, Subcommand)]
enum Chore {
    /// Install the compilers that the tests need (Debian packages, by apt-get)
    Setup,
    /// Run every test: `cargo test`, then `audit`, then `difftest`
    Test,
    /// Build and run each fixture as OpenACC and as its translation, and compare what they print
    Difftest(difftest::Options),
    /// Look for variables that threads assign and share, in the translations alone
    Audit(audit::Options),
    /// Measure how fast the release build translates on one core, in MB/s
    Speed(speed::Options),
}

fn main() -> ExitCode {
    let done = match Arguments::parse().chore {
        Chore::Setup => setup::run(),
        Chore::Test => test::run(),
        Chore::Difftest(options) => difftest::run(&options),
        Chore::Audit(options) => audit::run(&options),
        Chore::Speed(options) => speed::run(&options),
    };
    match done {
        Ok(Verdict::Passed) => ExitCode::SUCCESS,
        Ok(Verdict::Failed) => ExitCode::from(1),
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::from(2)
        }
    }
}
