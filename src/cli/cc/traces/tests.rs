//! Tests of `traces.rs`.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::mended;
use std::path::Path;

#[test]
fn sources_are_named_and_nothing_of_the_mirror() {
    let text = r#"{ "file": "/tmp/m4/s/a.c", "arguments": ["cc", "-ffile-prefix-map=/tmp/m4=", "-c", "/tmp/m4/s/a.c"]}, "/tmp/m4/s/a.h""#;
    let expected = r#"{ "file": "a.c", "arguments": ["cc", "-c", "a.c"]}, "/s/a.h""#;
    assert_eq!(mended(text, Path::new("/tmp/m4"), (Path::new("/tmp/m4/s/a.c"), "a.c")), expected);
}
