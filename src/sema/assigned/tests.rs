//! Sets of what is assigned, and what they share.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use std::collections::BTreeSet;

use super::{Assigned, SymbolId};

fn set(members: &BTreeSet<u32>) -> Assigned {
    let mut set = Assigned::default();
    members.iter().for_each(|member| set.insert(SymbolId(*member)));
    set
}

#[test]
fn sets_hold_what_sets_of_the_library_hold() {
    let mut state = 1_u32;
    let mut next = |bound: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) % bound
    };
    for round in 0..200 {
        let bound = [40, 400, 4_000_000][round % 3];
        let mut some = || -> BTreeSet<u32> { (0..60).map(|_| next(bound)).collect() };
        let (one, other) = (some(), some());
        let (a, b) = (set(&one), set(&other));
        let (both, all) = (a.common(&b), a.with(&b));
        for member in one.iter().chain(&other).copied().chain(0..50) {
            let id = SymbolId(member);
            assert_eq!(a.contains(id), one.contains(&member));
            assert_eq!(both.contains(id), one.contains(&member) && other.contains(&member));
            assert_eq!(all.contains(id), one.contains(&member) || other.contains(&member));
        }
        let again = all.common(&a).with(&b);
        assert!(one.iter().all(|member| again.contains(SymbolId(*member))));
    }
}
