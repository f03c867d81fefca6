//! Every test there is.
//!
//! Invariant: what is missing is said before the first test; the last line says how many comparisons passed and failed.

use std::process::Command;

use crate::{Result, Verdict, audit, cuda, difftest, hunt, oracle, process, setup};

/// Runs `cargo test`, the audit, the oracle, the tests of CUDA's run-time library, programs made at random and the comparisons;
/// all, so that one run shows all that is wrong.
pub fn run() -> Result<Verdict> {
    setup::check()?;
    let units = process::show(Command::new(env!("CARGO")).args(["test", "--workspace"]));
    let audited = audit::run(&audit::Options::default())?;
    let ordered = oracle::run(&oracle::Options::default())?;
    let library = cuda::run(&cuda::Options::default())?;
    let hunted = hunt::run(&hunt::Options::default())?;
    let compared = difftest::run(&difftest::Options::default())?;
    if let Err(why) = &units {
        println!("the tests before the comparisons failed: {why}");
    }
    if audited == Verdict::Failed {
        println!("the audit before the comparisons failed");
    }
    if ordered == Verdict::Failed {
        println!("the loops in other orders before the comparisons failed");
    }
    if library == Verdict::Failed {
        println!("the tests of CUDA's run-time library before the comparisons failed");
    }
    if hunted == Verdict::Failed {
        println!("the programs made at random before the comparisons failed");
    }
    let passed =
        units.is_ok() && [audited, ordered, library, hunted].iter().all(|one| *one == Verdict::Passed);
    Ok(if passed { compared } else { Verdict::Failed })
}
