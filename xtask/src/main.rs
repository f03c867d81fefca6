//! The chores of acc2omp, as `cargo xtask CHORE`.
//!
//! Invariant: exit status 0 is success, 1 a test that failed, 2 something that kept a chore from being done.

mod audit;
mod bench;
mod book;
mod count;
mod cuda;
mod difftest;
mod dist;
mod files;
mod fuzz;
mod hunt;
mod mutate;
mod oracle;
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
    /// Install the compilers that the tests need (Debian packages by apt-get, CUDA by pip)
    Setup(setup::Options),
    /// Run every test: `cargo test`, then `count`, `audit`, `oracle`, `cuda`, `bench-gpu --check`, `hunt`, `mutate`, `book` and `difftest`
    Test,
    /// Build and run each fixture as OpenACC and as its translation, and compare what they print
    Difftest(difftest::Options),
    /// Count the OpenACC directives that preprocessors show, before and after translation, and ask the translator for each
    Count(count::Options),
    /// Test the run-time library of translations to CUDA
    Cuda(cuda::Options),
    /// Build the benchmarks into a folder, to be run on a machine with a GPU
    BenchGpu(bench::Options),
    /// Look for variables that threads assign and share, in the translations alone
    Audit(audit::Options),
    /// Run the loops that are called parallel in other orders, and compare what the programs print
    Oracle(oracle::Options),
    /// Translate programs made at random, whose output is known, and compare what they print
    Hunt(hunt::Options),
    /// Put faults into translations, and ask `acc2omp verify` whether it sees them and names their place
    Mutate(mutate::Options),
    /// Look for inputs that the translator cannot bear, by a fuzzer that follows the branches taken
    Fuzz(fuzz::Options),
    /// Make the documentation as a site, and look for links in it that lead nowhere
    Book(book::Options),
    /// Make the archive that users install, in `target/archive`
    Dist(dist::Options),
    /// Measure how fast the release build translates on one core, in MB/s
    Speed(speed::Options),
}

fn main() -> ExitCode {
    let done = match Arguments::parse().chore {
        Chore::Setup(options) => setup::run(&options),
        Chore::Test => test::run(),
        Chore::Difftest(options) => difftest::run(&options),
        Chore::Count(options) => count::run(&options),
        Chore::Cuda(options) => cuda::run(&options),
        Chore::BenchGpu(options) => bench::run(&options),
        Chore::Audit(options) => audit::run(&options),
        Chore::Oracle(options) => oracle::run(&options),
        Chore::Hunt(options) => hunt::run(&options),
        Chore::Mutate(options) => mutate::run(&options),
        Chore::Fuzz(options) => fuzz::run(&options),
        Chore::Book(options) => book::run(&options),
        Chore::Dist(options) => dist::run(&options),
        Chore::Speed(options) => speed::run(&options),
    };
    cuda::Cuda::clear();
    match done {
        Ok(Verdict::Passed) => ExitCode::SUCCESS,
        Ok(Verdict::Failed) => ExitCode::from(1),
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::from(2)
        }
    }
}
