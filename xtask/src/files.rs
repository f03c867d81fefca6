//! Writes files.
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
