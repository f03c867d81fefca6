//! References that are saved on one machine and used on another.
//!
//! Invariant: what is read is what was saved, for the same commands and comparisons, or an error says what does not fit.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use walkdir::WalkDir;

use super::launches::Launches;
use super::pins::{Kept, Pins};
use super::program::Ran;
use super::tree::{self, Room};
use super::{Settings, Verification};

/// The file that says what was saved.
const CONTENTS: &str = "golden.json";

/// The version of the form.
const FORMAT: u32 = 1;

/// What a folder holds.
#[derive(Debug, Deserialize, Serialize)]
struct Contents {
    format: u32,
    /// The commands of the reference and the noise build.
    commands: String,
    /// The patterns of the files that are compared.
    compared: BTreeSet<String>,
    /// How the programs ended, by their names.
    ends: BTreeMap<String, String>,
    /// What the pins are, if there are any.
    pins: Option<Recording>,
    /// The files, each with a hash.
    files: BTreeMap<String, String>,
}

/// How pins were recorded.
#[derive(Debug, Deserialize, PartialEq, Serialize)]
struct Recording {
    #[serde(flatten)]
    pins: Pins,
    /// Which end of a number comes first.
    endian: String,
    /// The directives, as `FILE:LINE: NAME`.
    directives: Vec<String>,
}

/// A saved reference.
#[derive(Debug)]
pub struct Golden {
    folder: PathBuf,
    contents: Contents,
}

impl Verification<'_> {
    /// Saves the programs that are right, by their names, and what their pins recorded.
    pub(super) fn saved(
        &self,
        folder: &Path,
        right: &[(&str, &Ran)],
        pins: Option<(&Pins, &Kept)>,
        room: &mut Room,
    ) -> Result<(), String> {
        let mut contents = Contents {
            format: FORMAT,
            commands: self.settings.commands_of(self.settings.right()),
            compared: patterns(self.settings),
            ends: right.iter().map(|(name, ran)| ((*name).to_owned(), ran.status.clone())).collect(),
            pins: None,
            files: BTreeMap::new(),
        };
        let mut all: Vec<(PathBuf, PathBuf)> = Vec::new();
        for (name, ran) in right {
            let own = Path::new(name);
            all.push((self.folder.join(format!("{name}.run.out")), own.join("stdout")));
            for pattern in &contents.compared {
                let found = ran.place().written(pattern)?;
                all.extend(
                    found.into_iter().map(|path| (ran.copy.join(&path), own.join("files").join(path))),
                );
            }
        }
        if let Some((pins, kept)) = pins {
            contents.pins = Some(recording(pins, &kept.directives));
            for (name, records) in &kept.folders {
                for entry in WalkDir::new(records).min_depth(1).sort_by_file_name() {
                    let path = entry.map_err(|error| error.to_string())?.into_path();
                    let own = path.file_name().unwrap_or_default();
                    all.push((path.clone(), Path::new(name).join("records").join(own)));
                }
            }
        }
        for (from, to) in all {
            let hash = copy(&from, &folder.join(&to), room)?;
            contents.files.insert(to.display().to_string(), hash);
        }
        let text = serde_json::to_string_pretty(&contents).map_err(|error| error.to_string())?;
        let path = folder.join(CONTENTS);
        fs::write(&path, text + "\n").map_err(|error| format!("{}: {error}", path.display()))
    }
}

/// Makes a folder ready for a reference: what was saved there before goes, and what is something else stays, with an error.
pub fn clear(folder: &Path) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let is_empty = || fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none());
    if folder.exists() && !is_empty() {
        if !folder.join(CONTENTS).is_file() {
            return Err(format!(
                "{}: holds something else than a saved reference, and stays as it is",
                folder.display()
            ));
        }
        for name in ["reference", "noise"] {
            tree::remove(&folder.join(name))?;
        }
        fs::remove_file(folder.join(CONTENTS)).map_err(failed)?;
    }
    fs::create_dir_all(folder).map_err(failed)
}

fn patterns(settings: &Settings) -> BTreeSet<String> {
    settings.patterns().map(str::to_owned).collect()
}

fn recording(pins: &Pins, directives: &[String]) -> Recording {
    let endian = if cfg!(target_endian = "little") { "little" } else { "big" };
    Recording { pins: pins.clone(), endian: endian.to_owned(), directives: directives.to_vec() }
}

/// Copies a file; the result is its hash.
fn copy(from: &Path, to: &Path, room: &mut Room) -> Result<String, String> {
    let failed = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    let bytes = fs::read(from).map_err(|error| failed(from, error))?;
    room.left = room
        .left
        .checked_sub(bytes.len() as u64)
        .ok_or_else(|| format!("the reference needs more than `disk = \"{}\"` allows", room.limit))?;
    fs::create_dir_all(to.parent().unwrap_or(to))
        .and_then(|()| fs::write(to, &bytes))
        .map_err(|error| failed(to, error))?;
    Ok(hash(&bytes))
}

fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Golden {
    /// Reads a saved reference, if it is one for these settings.
    pub fn read(folder: &Path, settings: &Settings) -> Result<Golden, String> {
        let wrong = |why: String| format!("{}: {why}", folder.display());
        let text = fs::read(folder.join(CONTENTS))
            .map_err(|error| wrong(format!("no saved reference ({CONTENTS}: {error})")))?;
        let value: serde_json::Value =
            serde_json::from_slice(&text).map_err(|error| wrong(format!("{CONTENTS}: {error}")))?;
        if value["format"] != FORMAT {
            let format = &value["format"];
            return Err(wrong(format!("saved in format {format}, and this acc2omp reads format {FORMAT}")));
        }
        let contents: Contents =
            serde_json::from_value(value).map_err(|error| wrong(format!("{CONTENTS}: {error}")))?;
        let commands = settings.commands_of(settings.right());
        if contents.commands != commands {
            let saved = &contents.commands;
            return Err(wrong(format!(
                "saved with other commands:\n{saved}acc2omp.toml has\n{commands}save it again"
            )));
        }
        if let Some(pattern) = patterns(settings).difference(&contents.compared).next() {
            return Err(wrong(format!("`{pattern}` was not compared when it was saved: save it again")));
        }
        for (name, saved) in &contents.files {
            let path = Path::new(name);
            let is_inside = path.components().all(|part| matches!(part, Component::Normal(_)));
            let bytes = fs::read(folder.join(path)).ok().filter(|_| is_inside);
            match bytes {
                None => return Err(wrong(format!("`{name}` is missing"))),
                Some(bytes) if hash(&bytes) != *saved => {
                    return Err(wrong(format!("`{name}` is not what was saved")));
                }
                Some(_) => {}
            }
        }
        let folder = folder.canonicalize().map_err(|error| wrong(error.to_string()))?;
        Ok(Golden { folder, contents })
    }

    /// A run that was saved.
    pub fn ran(&self, name: &str) -> Result<Option<Ran>, String> {
        let Some(status) = self.contents.ends.get(name) else { return Ok(None) };
        let own = self.folder.join(name);
        let path = own.join("stdout");
        let bytes = fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let files = own.join("files");
        Ok(Some(Ran {
            copy: files,
            status: status.clone(),
            succeeded: true,
            // As that of programs that run.
            stdout: bytes.iter().map(|byte| char::from(*byte)).collect(),
            launches: Launches::new(),
            seconds: 0.0,
            left: Vec::new(),
            unchanged: BTreeSet::new(),
        }))
    }

    /// Why the pins that were saved are not those that are asked for, if so.
    pub fn misfit(&self, pins: &Pins) -> Option<String> {
        let folder = self.folder.display();
        let Some(saved) = &self.contents.pins else {
            return Some(format!("{folder}: saved without `--pins`: save it again with them"));
        };
        let asked = recording(pins, &[]);
        if saved.pins != asked.pins {
            return Some(format!("{folder}: saved with other words for `--every`, `--first` or `--only`"));
        }
        (saved.endian != asked.endian)
            .then(|| format!("{folder}: saved where numbers have another order of bytes"))
    }

    /// Why pins of these directives cannot be compared with what was saved, if so.
    pub fn other_sources(&self, directives: &[String]) -> Option<String> {
        let saved = &self.contents.pins.as_ref()?.directives;
        let (one, other) = (saved.iter().collect::<BTreeSet<_>>(), directives.iter().collect());
        let apart = one.symmetric_difference(&other).next()?;
        let who =
            if one.contains(apart) { "the sources that it was saved for have" } else { "the sources have" };
        Some(format!("{}: saved for other sources: only {who} `{apart}`", self.folder.display()))
    }

    /// The folder of what a program recorded.
    pub fn records(&self, name: &str) -> PathBuf {
        self.folder.join(name).join("records")
    }
}
