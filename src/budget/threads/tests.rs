//! How many threads a run and its files have.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

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
