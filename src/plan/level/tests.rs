//! Tests of `level.rs`.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::Levels;

const GANG: Levels = Levels { gang: true, ..Levels::NONE };
const WORKER: Levels = Levels { worker: true, ..Levels::NONE };
const VECTOR: Levels = Levels { vector: true, ..Levels::NONE };

#[test]
fn levels_go_inward() {
    assert_eq!(Levels::ALL.inside(GANG), Levels::THREADS);
    assert_eq!(Levels::ALL.inside(WORKER), VECTOR);
    assert_eq!(Levels::ALL.inside(VECTOR), Levels::NONE);
    assert_eq!(Levels::ALL.inside(Levels::NONE), Levels::ALL);
    assert_eq!(Levels::THREADS.inside(GANG), Levels::THREADS);
}

#[test]
fn sets_of_levels() {
    assert_eq!(GANG.with(VECTOR).without(VECTOR), GANG);
    assert_eq!(GANG.with(WORKER).and(Levels::THREADS), WORKER);
    assert!(!Levels::NONE.any() && GANG.any() && !GANG.threads() && WORKER.threads());
}
