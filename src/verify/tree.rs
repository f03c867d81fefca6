//! Copies of the tree.
//!
//! Invariant: a copy shares no file with the tree: links that lead into the tree lead into the copy.

use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::symlink;
use std::path::{Component, Path, PathBuf};

use walkdir::WalkDir;

/// Folders that are not copied.
const NOT_COPIED: [&str; 2] = [".acc2omp", ".git"];

/// How files begin that compilers have made.
const BUILT: [&[u8]; 2] = [b"\x7fELF", b"!<arch>\n"];

/// The room that remains untranslated for copies.
#[derive(Debug)]
pub struct Room {
    /// The limit as it is said.
    pub limit: String,
    /// The bytes that remain untranslated.
    pub left: u64,
}

/// Copies a tree to a place where nothing is; the result is a file that a compiler has made, if there is one.
pub fn copy(root: &Path, copy: &Path, room: &mut Room) -> Result<Option<PathBuf>, String> {
    let wanted = |entry: &walkdir::DirEntry| {
        entry.depth() == 0 || !NOT_COPIED.iter().any(|name| entry.file_name() == *name)
    };
    let mut built = None;
    let mut folders = Vec::new();
    for entry in WalkDir::new(root).sort_by_file_name().into_iter().filter_entry(wanted) {
        let entry = entry.map_err(|error| error.to_string())?;
        let below = entry.path().strip_prefix(root).unwrap_or(entry.path());
        let target = copy.join(below);
        let failed = |error: io::Error| format!("{}: {error}", entry.path().display());
        let kind = entry.file_type();
        if kind.is_dir() {
            fs::create_dir_all(&target).map_err(failed)?;
            folders.push((entry.path().to_path_buf(), target));
        } else if kind.is_symlink() {
            let to = fs::read_link(entry.path()).map_err(failed)?;
            symlink(link(root, copy, entry.path(), &to), &target).map_err(failed)?;
        } else if kind.is_file() {
            let meta = entry.metadata().map_err(|error| error.to_string())?;
            room.left = room.left.checked_sub(meta.len()).ok_or_else(|| {
                format!("the copies of the tree need more than `disk = \"{}\"` allows", room.limit)
            })?;
            if built.is_none() && is_built(entry.path()) {
                built = Some(below.to_path_buf());
            }
            copy_file(entry.path(), &target, &meta).map_err(failed)?;
        }
    }
    // A folder that may not be written gets its mode when it is full.
    for (from, to) in folders.iter().rev().filter(|(from, _)| from != root) {
        let mode = fs::metadata(from).map(|meta| meta.permissions());
        mode.and_then(|mode| fs::set_permissions(to, mode))
            .map_err(|error| format!("{}: {error}", to.display()))?;
    }
    Ok(built)
}

fn copy_file(from: &Path, to: &Path, meta: &fs::Metadata) -> io::Result<()> {
    fs::copy(from, to)?;
    // `make` goes by the times; a file that may not be written keeps that of its copy.
    if let (Ok(time), Ok(file)) = (meta.modified(), fs::File::options().append(true).open(to)) {
        file.set_modified(time)?;
    }
    Ok(())
}

fn is_built(path: &Path) -> bool {
    let mut head = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(8).read_to_end(&mut head));
    read.is_ok() && BUILT.iter().any(|start| head.starts_with(start))
}

/// Where a link of the copy leads.
fn link(root: &Path, copy: &Path, from: &Path, to: &Path) -> PathBuf {
    let whole = plain(&from.parent().unwrap_or(root).join(to));
    match whole.strip_prefix(root) {
        Ok(below) if to.is_absolute() => copy.join(below),
        Ok(_) => to.to_path_buf(),
        Err(_) => whole,
    }
}

/// A path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(out.pop()),
            Component::CurDir => {}
            other => out.push(other),
        }
    }
    out
}

/// Removes a copy, if there is one; what could not be written may be removed, too.
pub fn remove(copy: &Path) -> Result<(), String> {
    if !copy.exists() {
        return Ok(());
    }
    for entry in WalkDir::new(copy).contents_first(false).into_iter().flatten() {
        if entry.file_type().is_dir() {
            use std::os::unix::fs::PermissionsExt;
            let _ = fs::set_permissions(entry.path(), fs::Permissions::from_mode(0o755));
        }
    }
    fs::remove_dir_all(copy).map_err(|error| format!("{}: {error}", copy.display()))
}
