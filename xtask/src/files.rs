//! Reads and writes files.
//!
//! Invariant: an error names the file.

use std::fs;
use std::path::Path;

use crate::Result;

/// Writes a file, and makes its folder.
pub fn write(file: &Path, bytes: &[u8]) -> Result<()> {
    let made = file.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(file, bytes));
    made.map_err(|error| format!("{}: {error}", file.display()))
}

/// Makes a folder, and those around it.
pub fn make_folder(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))
}

/// The text of a file.
pub fn read(file: &Path) -> Result<String> {
    fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))
}

/// Copies a file, or a folder with all that is in it.
pub fn copy(from: &Path, to: &Path) -> Result<()> {
    let failed = |error: std::io::Error| format!("{}: {error}", from.display());
    if !from.is_dir() {
        return write(to, &fs::read(from).map_err(failed)?);
    }
    for entry in fs::read_dir(from).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        copy(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}
