//! Fortran's modules: what was compiled earlier in a build is known to what is compiled later.
//!
//! Invariant: a file `NAME.acc2omp` stands where the compiler writes `NAME.mod`, and says which source defines the module and what
//! its compiler got.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::command::Command;
use crate::cli::build::CompilerFlags;
use crate::scan;

/// Options after which the folder of modules stands, in one word or two.
const FOLDERS: [&str; 5] = ["-module-dir", "-module", "-J", "-qmoddir=", "-fmoddir="];

/// How the file for a module ends.
const ENDING: &str = "acc2omp";

/// What is known of a module.
#[derive(Debug, Serialize, Deserialize)]
struct Known {
    source: PathBuf,
    directory: PathBuf,
    arguments: Vec<String>,
}

/// The sources of the modules that a file uses, and of those that these use, with what their compilers got; and the modules
/// of the program that were compiled, but of which the source is not known.
pub fn known(
    command: &Command,
    bytes: &[u8],
    flags: &CompilerFlags,
    here: &Path,
) -> (HashMap<PathBuf, CompilerFlags>, Vec<String>) {
    let mut folders = vec![folder(command, here)];
    folders.extend(flags.folders.iter().cloned());
    folders.push(here.to_path_buf());
    let (mut found, mut unknown) = (HashMap::new(), Vec::new());
    let mut met = BTreeSet::new();
    let mut open = scan::used_modules(bytes);
    while let Some(name) = open.pop() {
        if !met.insert(name.clone()) {
            continue;
        }
        let read = |folder: &PathBuf| -> Option<Known> {
            serde_json::from_slice(&fs::read(folder.join(file_name(&name))).ok()?).ok()
        };
        let known =
            folders.iter().find_map(read).and_then(|known| Some((fs::read(&known.source).ok()?, known)));
        let Some((text, known)) = known else {
            let compiled = folders.iter().find(|folder| folder.join(format!("{name}.mod")).is_file());
            // Modules of compilers and libraries are none of the program's.
            let is_of_program = |folder: &PathBuf| holds_modules(folder) || lies_below(folder, here);
            if compiled.is_some_and(is_of_program) {
                unknown.push(name);
            }
            continue;
        };
        open.extend(scan::used_modules(&text));
        found.insert(known.source, CompilerFlags::read(known.arguments, &known.directory));
    }
    (found, unknown)
}

/// Whether a folder is the one where the compiler runs, or below it.
fn lies_below(folder: &Path, here: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    real(folder).zip(real(here)).is_some_and(|(folder, here)| folder.starts_with(here))
}

/// Whether modules of a folder were compiled by `acc2omp cc`.
fn holds_modules(folder: &Path) -> bool {
    let mut entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.any(|entry| entry.path().extension().is_some_and(|ending| ending == ENDING))
}

/// Says for later compilations which modules a source defines. A module that cannot be remembered is not one that is known.
pub fn remember(command: &Command, bytes: &[u8], real: &Path, here: &Path) {
    let folder = folder(command, here);
    for name in scan::defined_modules(bytes) {
        let known =
            Known { source: real.to_path_buf(), directory: here.to_path_buf(), arguments: command.texts() };
        let written = serde_json::to_vec(&known).map_err(std::io::Error::other).and_then(|text| {
            let mut file = tempfile::NamedTempFile::new_in(&folder)?;
            std::io::Write::write_all(&mut file, &text)?;
            file.persist(folder.join(file_name(&name)))?;
            Ok(())
        });
        // A folder that cannot be written to fails the compiler, too.
        let _ = written;
    }
}

/// Where the compiler writes modules.
fn folder(command: &Command, here: &Path) -> PathBuf {
    let named = command.words.iter().zip(command.words.iter().skip(1).map(Some).chain([None])).find_map(
        |(word, next)| {
            let word = word.to_str()?;
            FOLDERS.iter().find_map(|option| match word.strip_prefix(option)? {
                "" => next.map(PathBuf::from),
                value => Some(PathBuf::from(value)),
            })
        },
    );
    named.map_or_else(|| here.to_path_buf(), |folder| here.join(folder))
}

fn file_name(module: &str) -> String {
    format!("{module}.{ENDING}")
}
