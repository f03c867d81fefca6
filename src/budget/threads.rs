//! The threads that a file may have beside its own, for parts that do not depend on one another.
//!
//! Invariant: their number decides how long a piece of work takes, never what comes of it nor whether its budget is enough.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::{Exceeded, left, spend_part, within_part};

/// The threads of a run that nobody uses at the moment. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Threads(Arc<AtomicUsize>);

/// What a piece of work gave, and what it cost in steps and bytes.
pub(super) type Part<T> = (Result<T, Exceeded>, u64, u64);

impl Threads {
    /// A thread has nothing more to do.
    pub fn free(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn take(&self) -> bool {
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |free| free.checked_sub(1)).is_ok()
    }

    /// Does something with each number below `count`, and returns the results in their order; `None` as soon as one gives nothing:
    /// what comes after that one is not done, or does not count.
    pub fn each<T: Send>(&self, count: usize, work: impl Fn(usize) -> Option<T> + Sync) -> Option<Vec<T>> {
        let (limits, next, end) = (left(), AtomicUsize::new(0), AtomicUsize::new(count));
        let one = || {
            let at = next.fetch_add(1, Ordering::Relaxed);
            (at < end.load(Ordering::Relaxed)).then(|| {
                let part = within_part(limits, || work(at));
                if !matches!(part.0, Ok(Some(_))) {
                    end.fetch_min(at, Ordering::Relaxed);
                }
                (at, part)
            })
        };
        let mut done: Vec<(usize, Part<Option<T>>)> = thread::scope(|scope| {
            let (mut done, mut helpers) = (Vec::with_capacity(count), Vec::new());
            loop {
                if next.load(Ordering::Relaxed) + 1 < end.load(Ordering::Relaxed) && self.take() {
                    helpers.push(scope.spawn(|| {
                        let done: Vec<_> = std::iter::from_fn(one).collect();
                        self.free();
                        done
                    }));
                }
                let Some(own) = one() else { break };
                done.push(own);
            }
            for helper in helpers {
                done.extend(helper.join().unwrap_or_else(|payload| resume_unwind(payload)));
            }
            done
        });
        done.sort_by_key(|(at, _)| *at);
        done.truncate(end.into_inner() + 1);
        let (steps, bytes) = done.iter().fold((0_u64, 0_u64), |(steps, bytes), (_, (_, more, kept))| {
            (steps.saturating_add(*more), bytes.saturating_add(*kept))
        });
        if steps <= limits.steps && bytes <= limits.bytes && done.iter().all(|(_, one)| one.0.is_ok()) {
            spend_part(steps, bytes);
            return done.into_iter().filter_map(|(_, (result, ..))| result.ok()).collect();
        }
        // One after the other, the budget ends where it would without other threads.
        drop(done);
        (0..count).map(work).collect()
    }
}

#[cfg(test)]
mod tests;
