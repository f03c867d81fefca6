//! Tests of `subscript.rs`.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::{Extent, Range, Subscript};

#[test]
fn what_cannot_meet_is_apart() {
    let fixed = |text: &str| Extent::new(&Subscript::Fixed(text.into()));
    let range = |first: &str, last: &str| {
        let (first, last, step) = (first.into(), last.into(), "1".into());
        Extent::new(&Subscript::Range(Range { first, last, step }))
    };
    assert!(fixed("k").is_apart(&fixed("K - 1")) && !fixed("k").is_apart(&fixed("k")));
    assert!(!fixed("k").is_apart(&fixed("j")) && !fixed("k").is_apart(&fixed("1")));
    assert!(fixed("1").is_apart(&fixed("2")) && fixed("6").is_apart(&range("1", "5")));
    assert!(range("1", "5").is_apart(&range("10", "6")) && !range("1", "6").is_apart(&range("6", "9")));
    assert!(!range("1", "n").is_apart(&range("6", "9")));
    assert!(!fixed("f(k)").is_apart(&fixed("f(k) + 1 - k")));
}
