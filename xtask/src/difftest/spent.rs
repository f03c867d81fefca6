//! Where the time of the comparisons goes.
//!
//! Invariant: each step of a comparison counts once, for the toolchain that takes it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use super::toolchain::Toolchain;

/// The time that toolchains take to build programs, and programs to run, added up over all threads.
#[derive(Debug, Default)]
pub struct Spent(Mutex<BTreeMap<(&'static str, &'static str), Duration>>);

impl Spent {
    /// What `job` returns; its time counts as this toolchain's `work`.
    pub fn on<T>(&self, toolchain: Toolchain, work: &'static str, job: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let done = job();
        if let Ok(mut all) = self.0.lock() {
            *all.entry((toolchain.name(), work)).or_default() += start.elapsed();
        }
        done
    }
}

impl fmt::Display for Spent {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        let Ok(all) = self.0.lock() else { return Ok(()) };
        let parts = all.iter().map(|((name, work), time)| format!("{name} {work} {} s", time.as_secs()));
        write!(to, "time: {}", parts.collect::<Vec<_>>().join(", "))
    }
}
