//! Tests of `motion.rs`.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::Motion::{self, Copy, Copyin, Copyout, Create, NoCreate, Present};

#[test]
fn two_clauses_ask_for_what_either_does() {
    let both = |one: Motion, other: Motion| {
        assert_eq!(one.and(other), other.and(one));
        one.and(other)
    };
    assert_eq!(both(Copyin, Copyout { zero: false }), Copy);
    assert_eq!(both(Copyin, Copyin), Copyin);
    assert_eq!(both(Copyin, Create { zero: true }), Copyin);
    assert_eq!(both(Copyout { zero: false }, Create { zero: true }), Copyout { zero: true });
    assert_eq!(both(Create { zero: false }, Create { zero: true }), Create { zero: true });
    assert_eq!(both(Create { zero: false }, NoCreate), Create { zero: false });
    assert_eq!(both(NoCreate, NoCreate), NoCreate);
    assert_eq!(both(Present, Present), Present);
    assert_eq!(both(Present, Copy), Copy);
    assert_eq!(both(Present, NoCreate), NoCreate);
}
