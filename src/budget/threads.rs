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
mod tests {
    use super::super::{Exceeded, Limits, reach, spend, steps_left, within};
    use super::Threads;

    fn limits(steps: u64) -> Limits {
        Limits { steps, bytes: 100, depth: 10 }
    }

    #[test]
    fn results_come_in_order_and_cost_what_they_cost_alone() {
        for helpers in 0..3 {
            let threads = Threads::default();
            (0..helpers).for_each(|_| threads.free());
            let done = within(limits(100), || {
                let all = threads.each(9, |at| {
                    spend(at as u64);
                    Some(at * at)
                });
                (all, steps_left())
            });
            assert_eq!(done, Ok((Some(vec![0, 1, 4, 9, 16, 25, 36, 49, 64]), 64)));
            assert!((0..helpers).all(|_| threads.take()) && !threads.take());
        }
    }

    #[test]
    fn the_budget_is_that_of_all_together() {
        let threads = Threads::default();
        threads.free();
        let spent = |most: u64| {
            let work = |_| {
                spend(10);
                Some(())
            };
            within(limits(most), || threads.each(4, work).is_some())
        };
        assert_eq!(spent(39), Err(Exceeded::Steps(39)));
        assert_eq!(spent(40), Ok(true));
        let work = |at| {
            reach(at * 4);
            Some(())
        };
        let deep = within(limits(90), || threads.each(4, work).is_some());
        assert_eq!(deep, Err(Exceeded::Depth(10)));
    }

    #[test]
    fn what_comes_after_nothing_costs_nothing() {
        for helpers in 0..3 {
            let threads = Threads::default();
            (0..helpers).for_each(|_| threads.free());
            let work = |at| {
                spend(10);
                (at != 2).then_some(at)
            };
            let done = within(limits(100), || (threads.each(9, work), steps_left()));
            assert_eq!(done, Ok((None, 70)));
        }
    }
}
