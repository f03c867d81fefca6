//! Which loops are divided among which levels.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::{Levels, Wish, assigned};

const GANG: Levels = Levels { gang: true, ..Levels::NONE };
const WORKER: Levels = Levels { worker: true, ..Levels::NONE };
const VECTOR: Levels = Levels { vector: true, ..Levels::NONE };

fn unnamed(below: usize, free: Levels) -> Levels {
    assigned(Wish { below, ..Wish::default() }, free)
}

fn named(named: Levels, below: usize) -> Levels {
    assigned(Wish { named, below, ..Wish::default() }, Levels::ALL)
}

#[test]
fn a_loop_that_names_no_level_takes_what_loops_inside_do_not_want() {
    assert_eq!(unnamed(0, Levels::ALL), Levels::ALL);
    assert_eq!(unnamed(1, Levels::ALL), GANG.with(WORKER));
    assert_eq!(unnamed(2, Levels::ALL), GANG);
    assert_eq!(unnamed(1, Levels::THREADS), WORKER);
    assert_eq!(unnamed(0, Levels::THREADS), Levels::THREADS);
    assert_eq!(unnamed(0, Levels::NONE), Levels::NONE);
}

#[test]
fn a_loop_takes_the_levels_that_it_names_and_those_that_nothing_inside_wants() {
    assert_eq!(named(GANG, 0), Levels::ALL);
    assert_eq!(named(GANG, 1), GANG);
    assert_eq!(named(VECTOR, 1), VECTOR);
    let calls = Wish { named: GANG, calls: true, ..Wish::default() };
    assert_eq!(assigned(calls, Levels::ALL), GANG);
    assert_eq!(assigned(calls, Levels::THREADS), Levels::NONE);
    let unnamed = Wish { named: Levels::NONE, ..calls };
    assert_eq!(assigned(unnamed, Levels::ALL), GANG);
    assert_eq!(assigned(unnamed, Levels::THREADS), Levels::NONE);
}

#[test]
fn gangs_divide_an_outermost_loop_that_names_other_levels() {
    let wish = Wish { named: VECTOR, below: 1, is_over_gangs: true, ..Wish::default() };
    assert_eq!(assigned(wish, Levels::ALL), GANG.with(VECTOR));
    assert_eq!(assigned(wish, Levels::THREADS), VECTOR);
}
