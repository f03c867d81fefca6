//! What files say of others at first sight.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

#![allow(clippy::unwrap_used)]
use super::*;

#[test]
fn inclusions_are_seen() {
    let text = b"#include \"a.h\"\n# include <b/c.h>\n#define X #x\n#include NAME\n#include \"open\n_Pragma";
    assert_eq!(included(text), [("a.h".to_owned(), true), ("b/c.h".to_owned(), false)]);
    let said = Said::by(text, Language::C);
    assert!(said.has_operator && !said.mentions_openacc);
}

#[test]
fn what_files_lead_to_counts_whoever_is_asked_first() {
    let place = tempfile::tempdir().unwrap();
    let texts = [
        ("a.h", "#include \"b.h\"\n"),
        ("b.h", "#include \"a.h\"\n#include \"c.h\"\n"),
        ("c.h", "#define P(x) _Pragma(#x)\n"),
        ("d.h", "#include \"e.h\"\n"),
        ("e.h", "#include \"d.h\"\n"),
    ];
    for (name, text) in texts {
        fs::write(place.path().join(name), text).unwrap();
    }
    let find = |folder: &Path, name: &str, _: bool| Some(folder.join(name));
    let flags = Arc::default();
    for order in [["a.h", "b.h", "c.h", "d.h", "e.h"], ["e.h", "c.h", "b.h", "d.h", "a.h"]] {
        let briefs = Briefs::default();
        for name in order {
            let path = place.path().join(name);
            let said = briefs.said((&path, &fs::read(&path).unwrap(), Language::C), &flags, &find);
            assert_eq!(said.has_operator, name < "d", "{name} in {order:?}");
            assert!(!said.mentions_openacc);
        }
    }
}
