//! The tests that go through the front door: the library's façade, the binary, and the house's own rules.
//!
//! Invariant: no test here calls the inside of a room.
#![allow(clippy::unwrap_used, clippy::panic)]

mod advise;
mod affine;
mod branches;
mod builds;
mod careful;
mod cc;
mod cells;
mod circles;
mod cli;
mod commands;
mod conditions;
mod config;
mod cuda_rules;
mod diag;
mod existing;
mod fixtures;
mod fortran_cuda;
mod headers;
mod inductions;
mod islands;
mod leaving;
mod letters;
mod links;
mod loops;
mod packaging;
mod pins;
mod properties;
mod readme;
mod report;
mod reruns;
mod rooms;
mod rules;
mod scalars;
mod scaling;
mod schema;
mod spared;
mod support;
mod targets;
mod tidy;
mod usage;
mod verify;
mod words;

use std::path::{Path, PathBuf};

/// A path of the repository.
fn root(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The text of a file of the repository.
fn text(path: impl AsRef<Path>) -> String {
    let path = path.as_ref();
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// All files below a folder of the repository, sorted; none if there is no such folder.
fn files(folder: &str) -> Vec<PathBuf> {
    let walk = walkdir::WalkDir::new(root(folder)).sort_by_file_name().into_iter().flatten();
    walk.filter(|entry| entry.file_type().is_file()).map(walkdir::DirEntry::into_path).collect()
}

/// The path as the repository's listing shows it.
fn shown(path: &Path) -> String {
    path.strip_prefix(env!("CARGO_MANIFEST_DIR")).unwrap_or(path).display().to_string()
}
