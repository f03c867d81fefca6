//! Every test there is.
//!
//! Invariant: the last line says how many comparisons passed and failed.

use std::process::Command;

use crate::{Result, Verdict, difftest, process};

/// Runs `cargo test` and then the comparisons; both, so that one run shows all that is wrong.
pub fn run() -> Result<Verdict> {
    let units = process::show(Command::new(env!("CARGO")).args(["test", "--workspace"]));
    let compared = difftest::run(&difftest::Options::default())?;
    match units {
        Ok(()) => Ok(compared),
        Err(why) => {
            println!("the tests before the comparisons failed: {why}");
            Ok(Verdict::Failed)
        }
    }
}
