//! The manifest of an output tree: what was written from which source.
//!
//! Invariant: it stands in the folder `.acc2omp` of the tree and names files relative to the tree, so that both can be moved.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::name::Name;
use super::place::read;

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
    /// The compilation database.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub database: Option<Origin>,
    /// The files and folders that were translated.
    pub inputs: Vec<Name>,
    /// The files of the tree.
    pub files: BTreeMap<Name, Entry>,
}

/// A file of the tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// What acc2omp wrote: SHA-256.
    pub hash: String,
    /// The source that it was made from; none for the run-time library.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Origin>,
    /// The files that were read for it and have no output of their own, as headers elsewhere.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read: Vec<Origin>,
}

/// The source of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// Where it is.
    pub path: Name,
    /// What it was: SHA-256.
    pub hash: String,
}

impl Origin {
    /// A file as it is now, as seen from a tree.
    pub fn of(path: &Path, tree: &Path) -> Option<Origin> {
        let hash = hash(&read(path).ok()?);
        Some(Origin { path: from_tree(&path.canonicalize().ok()?, tree), hash })
    }

    /// Whether the file is as it was.
    pub fn stays(&self, tree: &Path) -> bool {
        read(&tree.join(&self.path)).is_ok_and(|bytes| hash(&bytes) == self.hash)
    }
}

impl Manifest {
    /// The manifest of a tree; `None` if it has none.
    pub fn load(out: &Path) -> Result<Option<Manifest>, String> {
        let path = out.join(FOLDER).join(MANIFEST);
        let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        match read(&path) {
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

/// What runs noted that were killed, before they wrote it.
#[derive(Debug, Default)]
pub struct Journal {
    /// Names and hashes of what they wrote.
    written: BTreeSet<(Name, String)>,
    /// What they merged.
    merged: Vec<(Name, Merge)>,
}

/// A file into which the changes of a translation were put. The hashes are SHA-256.
#[derive(Clone, Debug)]
pub struct Merge {
    /// What came of it.
    pub merged: String,
    /// The translation, which is the ground of edits from then on.
    pub ground: String,
    /// The edited file as it was.
    pub before: String,
}

/// How lines about merges begin.
const MERGED: &str = "merged";

impl Journal {
    /// That of a tree.
    pub fn load(out: &Path) -> Journal {
        let text = read(&out.join(FOLDER).join(JOURNAL)).unwrap_or_default();
        let text = String::from_utf8(text).unwrap_or_default();
        let mut journal = Journal::default();
        for (first, rest) in text.lines().filter_map(|line| line.split_once(' ')) {
            let mut words = rest.splitn(4, ' ').map(str::to_owned);
            let mut next = || words.next();
            match (first == MERGED).then(|| Some((next()?, next()?, next()?, next()?))).flatten() {
                Some((merged, ground, before, name)) => {
                    journal.merged.push((Name::from(name), Merge { merged, ground, before }));
                }
                None => drop(journal.written.insert((Name::from(rest.to_owned()), first.to_owned()))),
            }
        }
        journal
    }

    /// Whether such a text of a file was written.
    pub fn wrote(&self, name: &Name, hash: &str) -> bool {
        self.written.contains(&(name.clone(), hash.to_owned()))
    }

    /// The merges of a file, the last one first.
    pub fn merges(&self, name: &Name) -> impl Iterator<Item = &Merge> {
        self.merged.iter().rev().filter(move |(of, _)| of == name).map(|(_, merge)| merge)
    }

    /// Whether it is about a file.
    pub fn knows(&self, name: &Name) -> bool {
        self.merges(name).next().is_some() || self.written.iter().any(|(of, _)| of == name)
    }
}

impl Merge {
    /// The line of the journal.
    pub fn line(&self, name: &Name) -> String {
        format!("{MERGED} {} {} {} {}\n", self.merged, self.ground, self.before, name.text())
    }
}

/// The hash of bytes, in hexadecimal digits.
pub fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A path as seen from the tree.
pub fn from_tree(path: &Path, out: &Path) -> Name {
    pathdiff::diff_paths(path, out).as_deref().unwrap_or(path).into()
}
