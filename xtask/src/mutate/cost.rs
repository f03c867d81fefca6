//! What `acc2omp verify` costs a program: with pins, and with the variables that make run-time libraries report launches.
//!
//! Invariant: a time is that on processors, the least of runs that alternate: others may be at work, too.

use std::collections::BTreeMap;
use std::fs;

use acc2omp::verify::REPORT_LAUNCHES;

use super::{Trial, with_mutants};
use crate::{Result, process};

/// So many runs of each are made.
const RUNS: usize = 5;

/// The heading of the table.
pub const HEADING: &str = "| Program | OpenACC on the host | with pins | Translation | with lines | with pins |\n|---|---|---|---|---|---|";

/// A way to run a program: the folder of its copy, the command, and the environment.
type Way<'a> = (&'a str, &'a str, &'a [(&'a str, &'a str)]);

/// The line of a program.
pub fn line(trial: &Trial) -> Result<String> {
    let settings = with_mutants(&trial.settings, &[])?;
    let tests = trial.verified(&settings, &["correct".to_owned()])?;
    if tests.iter().any(|test| test["status"] != "same") {
        return Err(format!("{}: the translation is not the same: {tests:?}", trial.name));
    }
    let reference = trial.reference().unwrap_or_default();
    let translation = trial.mutant("run").unwrap_or(reference);
    let records = trial.tree.join("records");
    let pins: &[(&str, &str)] = &[("ACC2OMP_PIN", &records.display().to_string())];
    let ways: [Way; 5] = [
        ("reference", reference, &[]),
        ("pins/reference", reference, pins),
        ("correct", translation, &[]),
        ("correct", translation, &REPORT_LAUNCHES),
        ("pins/correct", translation, pins),
    ];
    let mut least: BTreeMap<usize, f64> = BTreeMap::new();
    for _ in 0..RUNS {
        for (at, (copy, run, environment)) in ways.iter().enumerate() {
            let _ = fs::remove_dir_all(&records);
            fs::create_dir(&records).map_err(|error| format!("{}: {error}", records.display()))?;
            let set: String =
                environment.iter().map(|(name, value)| format!("export {name}='{value}'; ")).collect();
            let before = process::spent()?;
            let folder = trial.tree.join(".acc2omp/verify").join(copy);
            let done = trial.shell(&(set + run), &folder)?;
            if !done.succeeded() {
                return Err(format!("{}: {copy}: {}\n{}", trial.name, done.end(), done.stderr));
            }
            let own = (process::spent()? - before).as_secs_f64();
            least.entry(at).and_modify(|old| *old = own.min(*old)).or_insert(own);
        }
    }
    let of = |at: usize| least.get(&at).copied().unwrap_or_default();
    let times = |at: usize, base: usize| format!("{:.3} ({:.1} times)", of(at), of(at) / of(base));
    let name = &trial.name;
    Ok(format!("| {name} | {:.3} | {} | {:.3} | {:.3} | {} |", of(0), times(1, 0), of(2), of(3), times(4, 2)))
}
