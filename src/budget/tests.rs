//! What a budget allows, and how work ends with it.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::{Exceeded, Limits, keep, reach, spend, within};

fn steps(steps: u64) -> Limits {
    Limits { steps, bytes: 100, depth: 10 }
}

#[test]
fn what_fits_is_done() {
    assert_eq!(within(steps(10), || (0..10).for_each(|_| spend(1))), Ok(()));
    assert_eq!(within(steps(9), || (0..10).for_each(|_| spend(1))), Err(Exceeded::Steps(9)));
    assert_eq!(within(steps(9), || keep(101)), Err(Exceeded::Bytes(100)));
    assert_eq!(within(steps(9), || reach(11)), Err(Exceeded::Depth(10)));
    // Outside of all work there is no limit.
    spend(u64::MAX);
}

#[test]
fn a_part_ends_by_itself_or_with_all() {
    let all = within(steps(100), || {
        let part = within(steps(10), || spend(11));
        assert_eq!(part, Err(Exceeded::Steps(10)));
        spend(90);
        within(steps(10), || spend(1))
    });
    assert_eq!(all, Err(Exceeded::Steps(100)));
}

#[test]
fn a_mistake_of_ours_stays_one() {
    let caught = std::panic::catch_unwind(|| within(steps(1), || std::panic::resume_unwind(Box::new(7))));
    assert!(caught.is_err());
    spend(1000);
}
