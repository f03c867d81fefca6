//! Tests of `options.rs`.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::Options;

#[test]
fn no_name_begins_with_a_digit() {
    let name = |folder: &str| Options { folder: folder.to_owned(), ..Options::default() }.unit_name("2mm.c");
    assert_eq!([name(""), name("a"), name("3d")], ["_2mm", "a__2mm", "_3d__2mm"]);
}
