//! Tests of `compiler.rs`.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

use super::*;

#[test]
fn errors_are_read_with_their_places() {
    let log = "make: x\na.c:12:5: error: no\nsub/b.c:3: fatal error: gone\nc.f90:7:9:\n\n    7 | x\nError: Syntax error\nnote\n\
               d.cu(8): error: none\nNVC++-S-0155-Odd thing (e.c: 9)\nwarning (f.c: 1)\n";
    let places: Vec<(String, usize, String)> = refusals(log)
        .into_iter()
        .map(|one| (one.file.display().to_string(), one.line, one.message))
        .collect();
    let expected = [
        ("a.c", 12, "no"),
        ("sub/b.c", 3, "gone"),
        ("c.f90", 7, "Syntax error"),
        ("d.cu", 8, "none"),
        ("e.c", 9, "NVC++-S-0155-Odd thing"),
    ];
    assert_eq!(places, expected.map(|(file, line, text)| (file.to_owned(), line, text.to_owned())));
}

#[test]
fn make_says_which_folder_is_meant() {
    let log = "make[1]: Entering directory '/x/sub'\na.c:1: error: no\nmake[1]: Leaving directory '/x/sub'\na.c:2: error: no\n";
    let folders: Vec<_> = refusals(log).into_iter().map(|one| one.folder).collect();
    assert_eq!(folders, [Some(PathBuf::from("/x/sub")), None]);
}
