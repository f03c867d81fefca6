//! Writes what is compiled into a compilation database.
//!
//! Invariant: the database is whole at any time, and compilations beside one another lose none of its entries.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

use super::command::Command;
use crate::cli::place::about;

/// An entry of a compilation database, as clang's tools read them.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    directory: String,
    file: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    arguments: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    command: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    output: Option<String>,
}

/// Adds the sources of a command that runs `here`, in place of what was known of them.
pub fn add(database: &Path, command: &Command, here: &Path) -> io::Result<()> {
    let entries = command.sources.iter().map(|(at, _)| Entry {
        directory: here.display().to_string(),
        file: command.words[*at].to_string_lossy().into_owned(),
        arguments: command.texts(),
        command: None,
        output: command.output.as_ref().map(|output| output.display().to_string()),
    });
    let failed = |error: &io::Error| about(database, error);
    merge(database, entries.collect()).map_err(|error| failed(&error))
}

fn merge(database: &Path, entries: Vec<Entry>) -> io::Result<()> {
    let mut file = locked(database)?;
    let mut text = Vec::new();
    file.read_to_end(&mut text)?;
    let mut all: Vec<Entry> = if text.is_empty() { Vec::new() } else { serde_json::from_slice(&text)? };
    let key = |entry: &Entry| (entry.directory.clone(), entry.file.clone(), entry.output.clone());
    all.retain(|known| !entries.iter().any(|entry| key(entry) == key(known)));
    all.extend(entries);
    let folder = database.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut new = NamedTempFile::new_in(folder)?;
    new.write_all(&serde_json::to_vec_pretty(&all)?)?;
    new.as_file().set_permissions(file.metadata()?.permissions())?;
    new.persist(database)?;
    Ok(())
}

/// The database, which nobody else writes until the file is closed.
fn locked(database: &Path) -> io::Result<File> {
    loop {
        let file = File::options().read(true).write(true).create(true).truncate(false).open(database)?;
        file.lock()?;
        // Another one may have put a new file there meanwhile.
        if is_same(&file, database)? {
            return Ok(file);
        }
    }
}

#[cfg(unix)]
fn is_same(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    Ok(fs::metadata(path).is_ok_and(|meta| file.metadata().is_ok_and(|own| own.ino() == meta.ino())))
}

#[cfg(not(unix))]
fn is_same(_: &File, path: &Path) -> io::Result<bool> {
    Ok(fs::exists(path)?)
}
