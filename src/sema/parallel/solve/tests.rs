//! Systems with and without solutions in integers.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::System;

fn system(equal: &[&[i128]], positive: &[&[i128]]) -> System {
    let mut system = System::default();
    equal.iter().for_each(|row| system.zero(row.to_vec()));
    positive.iter().for_each(|row| system.not_negative(row.to_vec()));
    system
}

#[test]
fn the_greatest_common_divisor_decides() {
    // 2 x - 2 y = 1
    assert!(!system(&[&[2, -2, -1]], &[]).may_be_solved());
    assert!(system(&[&[2, -3, -1]], &[]).may_be_solved());
}

#[test]
fn bounds_decide() {
    // x = y + 10, 0 <= x, y <= 9
    let bounds: [&[i128]; 4] = [&[1, 0, 0], &[-1, 0, 9], &[0, 1, 0], &[0, -1, 9]];
    assert!(!system(&[&[1, -1, -10]], &bounds).may_be_solved());
    assert!(system(&[&[1, -1, -9]], &bounds).may_be_solved());
    // 100 x + y = 100 z + w with 0 <= y, w < 100 and x < z
    let rows: [&[i128]; 5] =
        [&[0, 1, 0, 0, 0], &[0, -1, 0, 0, 99], &[0, 0, 0, 1, 0], &[0, 0, 0, -1, 99], &[-1, 0, 1, 0, -1]];
    assert!(!system(&[&[100, 1, -100, -1, 0]], &rows).may_be_solved());
}

#[test]
fn bounds_are_rounded() {
    // 1 <= 2 x <= 1
    assert!(!system(&[], &[&[2, -1], &[-2, 1]]).may_be_solved());
}
