//! The manifest of an output tree: what was written from which source.
//!
//! Invariant: it stands in the folder `.acc2omp` of the tree and names files relative to the tree, so that both can be moved.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The folder of what acc2omp knows of an output tree.
pub const FOLDER: &str = ".acc2omp";

/// The manifest in it.
pub const MANIFEST: &str = "manifest.json";

/// What was written by runs that did not come to their end.
pub const JOURNAL: &str = "journal";

/// What was written into a tree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The version of acc2omp that wrote it last.
    pub version: String,
    /// The words of its command line.
    pub arguments: Vec<String>,
    /// What `acc2omp.toml` said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<Origin>,
    /// The files and folders that were translated.
    pub inputs: Vec<PathBuf>,
    /// The files of the tree.
    pub files: BTreeMap<String, Entry>,
}

/// A file of the tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// What acc2omp wrote: SHA-256.
    pub hash: String,
    /// The source that it was made from; none for the run-time library.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Origin>,
}

/// The source of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// Where it is.
    pub path: PathBuf,
    /// What it was: SHA-256.
    pub hash: String,
}

impl Manifest {
    /// The manifest of a tree; `None` if it has none.
    pub fn load(out: &Path) -> Result<Option<Manifest>, String> {
        let path = out.join(FOLDER).join(MANIFEST);
        let way_out =
            "without this file, nothing there counts as written by acc2omp; `--force` replaces it all";
        let failed = |error: &dyn std::fmt::Display| format!("{}: {error}; {way_out}", path.display());
        match fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|error| failed(&error)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed(&error)),
        }
    }

    /// The text that `load` reads.
    pub fn text(&self) -> io::Result<Vec<u8>> {
        let mut text = serde_json::to_vec_pretty(self)?;
        text.push(b'\n');
        Ok(text)
    }
}

/// What runs wrote that were killed: names and hashes.
pub fn journal(out: &Path) -> BTreeSet<(String, String)> {
    let text = fs::read_to_string(out.join(FOLDER).join(JOURNAL)).unwrap_or_default();
    let line = |line: &str| line.split_once(' ').map(|(hash, name)| (name.to_owned(), hash.to_owned()));
    text.lines().filter_map(line).collect()
}

/// The hash of bytes, in hexadecimal digits.
pub fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A path as seen from the tree; what is no UTF-8 in it is replaced, as JSON has no other text.
pub fn from_tree(path: &Path, out: &Path) -> PathBuf {
    let path = pathdiff::diff_paths(path, out).unwrap_or_else(|| path.to_path_buf());
    PathBuf::from(path.to_string_lossy().into_owned())
}
