//! Sizes of tiles.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::*;

#[test]
fn tiles_have_no_more_elements_than_can_be_counted() {
    let of = |sizes: &[&str]| sizes.iter().map(|size| (*size).to_owned()).collect::<Vec<String>>();
    for (sizes, count, is_beyond) in [
        (&["8", "4"][..], Some(32), false),
        (&["32768", "65535"], Some(2_147_450_880), false),
        (&["65536", "32768"], Some(2_147_483_648), true),
        (&["4294967296", "4294967296"], None, true),
        (&["99999999999999999999999", "1"], None, true),
        (&["SIZE", "4"], None, false),
        (&["65536", "SIZE", "65536"], None, true),
    ] {
        assert_eq!(elements(&of(sizes)), count, "{sizes:?}");
        assert_eq!(is_beyond_int(&of(sizes)), is_beyond, "{sizes:?}");
    }
    assert_eq!(elements(&[]), None);
}
