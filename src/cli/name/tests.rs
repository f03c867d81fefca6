//! Names of files as text.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

#![allow(clippy::unwrap_used)]
use super::*;

#[test]
#[cfg(unix)]
fn any_path_comes_back_from_its_text() {
    let of = |bytes: &[u8]| Name(path_of(bytes.to_vec()));
    for (bytes, text) in [
        (&b"a/b.c"[..], "a/b.c"),
        ("\u{fffd}é.c".as_bytes(), "\u{fffd}é.c"),
        (b"\xff.c", "\x00ff.c"),
        (b"a\xc3", "a\x00c3"),
        (b"a\nb\r", "a\x000ab\x000d"),
    ] {
        let name = of(bytes);
        assert_eq!(name.text(), text);
        assert_eq!(name.text().lines().count(), 1);
        assert_eq!(Name::from(name.text()), name);
    }
    // As manifests had them before.
    assert_eq!(Name::from("a\nb".to_owned()), of(b"a\nb"));
    let json = serde_json::to_string(&of(b"\xfe\"")).unwrap();
    assert_eq!(serde_json::from_str::<Name>(&json).unwrap(), of(b"\xfe\""));
}
