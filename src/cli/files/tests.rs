//! Tests of `files.rs`.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

#![allow(clippy::unwrap_used)]
use super::*;

#[test]
fn one_file_named_twice_is_one_job() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.c");
    fs::write(&file, "x").unwrap();
    let tree =
        gather(&[folder.path().to_path_buf(), file.clone(), file], None, &Languages::default()).unwrap();
    assert_eq!(tree.jobs.len(), 1);
}
