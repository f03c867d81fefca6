//! Edited files in conflict with a translation, before and after somebody has settled it.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

#![allow(clippy::unwrap_used)]
use super::*;

const CONFLICT: Conflict =
    Conflict { base: b"1\n2\n3\n4\n5\n", edited: b"1\n2 mine\n3\n4\n5\n", wanted: b"1\ntwo\n3\n4\nfive\n" };

fn resolved(now: &str) -> Option<String> {
    CONFLICT.resolved(now.as_bytes()).map(|text| String::from_utf8(text).unwrap())
}

#[test]
fn a_conflict_ends_where_its_lines_are_edited() {
    assert_eq!(resolved("1\n2 mine\n3\n4\n5\n"), None);
    assert_eq!(resolved("1\n2 mine\n3\n4 mine\n5\n"), None);
    assert_eq!(resolved("1\n2 mine\nmine, too\n3\n4\n5\n"), None);
    assert_eq!(resolved("1\ntwo mine\n3\n4\n5\n").unwrap(), "1\ntwo mine\n3\n4\nfive\n");
    assert_eq!(resolved("1\ntwo\n3\n4\n5\n").unwrap(), "1\ntwo\n3\n4\nfive\n");
    assert_eq!(resolved("1\n2 mine\ntwo\n3\n4\nfive\n").unwrap(), "1\n2 mine\ntwo\n3\n4\nfive\n");
}

#[test]
fn each_place_is_asked_for() {
    let two = Conflict { edited: b"1\n2 mine\n3\n4\n5 mine\n", ..CONFLICT };
    assert_eq!(two.resolved(b"1\ntwo mine\n3\n4\n5 mine\n"), None);
    assert_eq!(two.resolved(b"1\n2 mine\n3\n4\nfive mine"), None);
    assert_eq!(two.resolved(b"1\nII\n3\n4\nV\n").unwrap(), b"1\nII\n3\n4\nV\n");
}
