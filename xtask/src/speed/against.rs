//! Two programs on the same files, in turns.
//!
//! Invariant: what is printed is a ratio of two times that were measured in one run on one machine; each is the best of its
//! turns.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::{RUNS, once};
use crate::Result;

/// Compares the times that `old` and `new` take for each of some files or folders, with more options.
pub fn compare(old: &Path, new: &Path, places: &[&Path], options: &[String]) -> Result<()> {
    println!("{:>9} {:>9} {:>7}", "old", "new", "ratio");
    for place in places {
        if fs::metadata(place).is_err() {
            return Err(format!("{}: not found", place.display()));
        }
        let mut best = [Duration::MAX; 2];
        for _ in 0..RUNS {
            for (best, program) in best.iter_mut().zip([old, new]) {
                *best = once(|| start(program, place, options))?.min(*best);
            }
        }
        let [old, new] = best.map(|time| time.as_secs_f64());
        println!("{old:7.2} s {new:7.2} s {:7.2}  {}", old / new, place.display());
    }
    Ok(())
}

fn start(program: &Path, place: &Path, options: &[String]) -> Result<()> {
    let mut command = Command::new(program);
    command.args(["--quiet", "--jobs", "1", "--check"]).args(options).arg(place);
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    match status.map_err(|error| format!("{}: {error}", program.display()))?.code() {
        Some(0 | 1) => Ok(()),
        other => Err(format!("{}: ends with {other:?}", program.display())),
    }
}
