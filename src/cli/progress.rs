//! A progress bar that appears on a terminal when a run lasts.
//!
//! Invariant: nothing is drawn where standard error is not a terminal, or before the run has lasted for a second.

use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A run shorter than this shows no progress.
const PATIENCE: Duration = Duration::from_secs(1);

/// What the bar says.
const TEMPLATE: &str = "{bar:30} {pos} of {len} files, {msg} directives, {eta} left";

/// The progress of a run.
pub struct Progress {
    bar: ProgressBar,
    since: Instant,
    waiting: AtomicBool,
    directives: AtomicUsize,
}

impl Progress {
    /// A run of so many files.
    pub fn new(files: usize, quiet: bool) -> Progress {
        let bar = ProgressBar::with_draw_target(Some(files as u64), ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template(TEMPLATE) {
            bar.set_style(style);
        }
        let waiting = AtomicBool::new(!quiet && io::stderr().is_terminal());
        Progress { bar, since: Instant::now(), waiting, directives: AtomicUsize::new(0) }
    }

    /// A file is done, which has so many directives.
    pub fn done(&self, directives: usize) {
        let all = self.directives.fetch_add(directives, Ordering::Relaxed) + directives;
        if self.since.elapsed() > PATIENCE && self.waiting.swap(false, Ordering::Relaxed) {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.bar.set_message(all.to_string());
        self.bar.inc(1);
    }

    /// Nothing remains of the bar.
    pub fn end(&self) {
        self.bar.finish_and_clear();
    }
}
