//! What the grammar cannot read and is passed over.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

#![allow(clippy::unwrap_used)]
use std::path::Path;

use super::*;
use crate::host::fortran::tree;
use crate::host::{parse, parse_again};
use crate::scan::{self, View};
use crate::source::{Form, Language, Languages, SourceFile};

#[test]
fn what_is_read_again_reads_as_from_the_beginning() {
    let old = "program p\n  integer :: i, k(9)\n  do i = 1, 9\n    k(i) = i\n  end do\n  print *, k\nend program p\n";
    let past = Past::new(old.as_bytes(), &tree(old.as_bytes()).unwrap(), &[]).unwrap();
    for (gone, come) in [("k(i) = i", "k(i) = 2"), ("i, k(9)", "i, k(9), more"), ("print *, k\n", "")] {
        let start = old.find(gone).unwrap();
        let new = old.replace(gone, come);
        let replaced = Replaced { old: Span::new(start, start + gone.len()), length: come.len() };
        let again = past.again(new.as_bytes(), &[replaced]).unwrap();
        let fresh = tree(new.as_bytes()).unwrap();
        assert_eq!(again.root_node().to_sexp(), fresh.root_node().to_sexp(), "{come}");
    }
}

#[test]
fn views_of_fixtures_read_as_from_the_beginning() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let files = walkdir::WalkDir::new(folder).into_iter().flatten().map(walkdir::DirEntry::into_path);
    let mut compared = 0;
    for path in files {
        let Ok(bytes) = std::fs::read(&path) else { continue };
        let Some(language) = scan::language_of(&path, &bytes, &Languages::default()) else { continue };
        let conditions: Vec<usize> = bytes
            .windows(5)
            .enumerate()
            .filter(|(_, word)| matches!(*word, b"#else" | b"#elif"))
            .map(|(at, _)| at + 6)
            .collect();
        let file = SourceFile::new(path.display().to_string(), bytes, language);
        let mut past = None;
        parse_again(&file, &scan::scan(&file, &View::default()).0, &mut past);
        for at in conditions {
            let (scan, _) = scan::scan(&file, &View::reaching(&file, at as u32));
            let (again, fresh) = (parse_again(&file, &scan, &mut past), parse(&file, &scan));
            assert_eq!(format!("{again:?}"), format!("{fresh:?}"), "{}", file.name);
            compared += 1;
        }
    }
    assert!(compared > 5, "{compared}");
}

#[test]
fn what_was_passed_over_is_passed_over_again() {
    let procedure = |name: &str| format!("subroutine {name}\n  integer :: i\n  i = 1\nend subroutine\n");
    let [first, gone, last] = ["first", "gone", "last"].map(procedure);
    let blank = " ".repeat(gone.len() - 1) + "\n";
    let text = |first: &str, last: &str| format!("{first}{blank}{last}").into_bytes();
    let old = text(&first, &last);
    let functions = [Span::new(first.len(), first.len() + gone.len())];
    let gone = runs(&old, &functions);
    assert_eq!(gone, functions);
    let language = Language::Fortran(Form::Free);
    let past = Past::new(&old, &super::super::tree_without(language, &old, &gone).unwrap(), &gone).unwrap();
    let start = first.find("i = 1").unwrap();
    let replaced = Replaced { old: Span::new(start, start + 5), length: 9 };
    let new = text(&first.replace("i = 1", "i = 1 + 2"), &last);
    let again = past.again(&new, &[replaced]).unwrap();
    assert_eq!(again.root_node().to_sexp(), tree(&new).unwrap().root_node().to_sexp());
    // Code where there was none, and a change of what is passed over.
    assert!(past.again(format!("{first}{}{last}", procedure("gone")).as_bytes(), &[]).is_none());
    let inside = Replaced { old: Span::new(first.len() + 2, first.len() + 3), length: 1 };
    assert!(past.again(&old, &[inside]).is_none());
    assert_eq!(runs(&old, &[Span::new(first.len(), first.len() + 1)]), []);
}

#[test]
fn errors_are_left_to_others() {
    let old = b"program p\n  i = 1\nend program p\n";
    let past = Past::new(old, &tree(old).unwrap(), &[]).unwrap();
    assert!(past.again(b"program p\n  i = (\nend program p\n", &[]).is_none());
    assert!(past.again(b"program p\n", &[]).is_none());
    assert!(Past::new(b"i = (", &tree(b"i = (").unwrap(), &[]).is_none());
}

#[test]
fn near_differences_are_one() {
    let old = [b'a'; 100];
    let mut new = old;
    (new[1], new[20], new[90]) = (b'b', b'b', b'b');
    let expected = [Change { old: 1..21, new: 1..21 }, Change { old: 90..91, new: 90..91 }];
    assert_eq!(changes(&old, &new, &[]).unwrap(), expected);
}
