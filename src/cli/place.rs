//! Where outputs go: files in folders that are opened one below the other, never through a link.
//!
//! Invariant: a file is written beside its place and then renamed, so that nobody ever sees a half of it; and no link on the way
//! leads a file out of its tree.

use std::ffi::{OsStr, OsString};
use std::fs::{self, Metadata};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, ErrorKind, Write};
use std::path::{Component, Path, PathBuf};

use cap_fs_ext::{DirExt, FollowSymlinks, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions};

/// How the name of a file begins that is not finished yet.
const UNFINISHED: &str = ".acc2omp-";

/// How it ends.
const ENDING: &str = ".tmp";

/// Letters and digits between the two.
const RANDOM: usize = 16;

/// A path as seen from the current folder, without links.
pub fn shown(path: &Path) -> PathBuf {
    let here = std::env::current_dir().and_then(|here| here.canonicalize());
    match (path.canonicalize(), here) {
        (Ok(real), Ok(here)) => pathdiff::diff_paths(&real, here).unwrap_or(real),
        _ => path.to_path_buf(),
    }
}

/// A path that is relative to a tree, as seen from the current folder; the file need not be there.
pub fn of_tree(path: &Path, tree: &Path) -> PathBuf {
    let mut plain = tree.canonicalize().unwrap_or_else(|_| tree.to_path_buf());
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    let here = std::env::current_dir().and_then(|here| here.canonicalize());
    let seen = here.ok().and_then(|here| pathdiff::diff_paths(&plain, here));
    seen.filter(|seen| !seen.as_os_str().is_empty()).unwrap_or(plain)
}

/// What there is to say of a folder that cannot be walked through.
pub fn walked(error: walkdir::Error) -> String {
    let place = error.path().map(|path| format!("{}: ", path.display())).unwrap_or_default();
    match error.io_error() {
        Some(why) => format!("{place}{why}"),
        None => error.to_string(),
    }
}

/// A folder that files are written to.
#[derive(Debug)]
pub struct Folder {
    dir: Dir,
    /// The folder as messages call it.
    path: PathBuf,
}

/// What a new file takes over from another one.
#[derive(Clone, Copy, Debug)]
pub enum Like<'a> {
    /// Nothing.
    New,
    /// Who may read, write and run it.
    Mode(&'a Path),
    /// That, and to whom it belongs.
    Owner(&'a Path),
}

impl Folder {
    /// Opens a folder that the user named.
    pub fn open(path: &Path) -> io::Result<Folder> {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        let dir = Dir::open_ambient_dir(path, ambient_authority()).map_err(|error| about(path, &error))?;
        Ok(Folder { dir, path: path.to_path_buf() })
    }

    /// The folder `below` this one; what is missing of it is made.
    pub fn below(&self, below: &Path) -> io::Result<Folder> {
        let mut here = Folder { dir: self.dir.try_clone()?, path: self.path.clone() };
        for part in below.components() {
            match part {
                Component::Normal(name) => here = here.inner(name)?,
                Component::CurDir => {}
                _ => return Err(about(below, &io::Error::other("does not lie below the output folder"))),
            }
        }
        Ok(here)
    }

    fn inner(&self, name: &OsStr) -> io::Result<Folder> {
        let path = self.path.join(name);
        match self.dir.create_dir(name) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(about(&path, &error)),
            _ => {}
        }
        let is_link = self.dir.symlink_metadata(name).is_ok_and(|meta| meta.is_symlink());
        if is_link {
            let why = "a symbolic link stands where a folder of the output belongs";
            return Err(about(&path, &io::Error::other(why)));
        }
        let dir = self.dir.open_dir_nofollow(name).map_err(|error| about(&path, &error))?;
        Ok(Folder { dir, path })
    }

    /// A file below as messages call it.
    pub fn named(&self, below: &Path) -> PathBuf {
        self.path.join(below)
    }

    /// Writes a file whole.
    pub fn write(&self, name: &OsStr, bytes: &[u8], like: Like) -> io::Result<Kept> {
        self.make(name, like, |file| file.write_all(bytes))
    }

    /// Opens a file of this folder to append to; it is made if it is not there.
    pub fn append(&self, name: &OsStr) -> io::Result<fs::File> {
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        self.opened(name, options).map_err(|error| about(&self.path.join(name), &error))
    }

    /// Opens a file that is neither a link nor something that would wait for others, as a fifo.
    fn opened(&self, name: &OsStr, mut options: OpenOptions) -> io::Result<fs::File> {
        let file = self.dir.open_with(name, options.follow(FollowSymlinks::No).nonblock(true))?.into_std();
        regular(&file.metadata()?).map(|()| file)
    }

    /// Removes a file of this folder.
    pub fn remove(&self, name: &OsStr) -> io::Result<()> {
        self.dir.remove_file(name).map_err(|error| about(&self.path.join(name), &error))
    }

    /// The bytes of a file of this folder that is not a link.
    pub fn read(&self, name: &OsStr) -> io::Result<Vec<u8>> {
        let mut options = OpenOptions::new();
        options.read(true);
        let mut bytes = Vec::new();
        io::Read::read_to_end(&mut self.opened(name, options)?, &mut bytes)?;
        Ok(bytes)
    }

    /// Gives a file of this folder the mode of another one.
    pub fn take_mode(&self, name: &OsStr, like: &Path) -> io::Result<()> {
        let mut options = OpenOptions::new();
        options.read(true);
        let (file, mode) = (self.opened(name, options)?, fs::metadata(like)?.permissions());
        if file.metadata()?.permissions() == mode { Ok(()) } else { file.set_permissions(mode) }
    }

    fn make(
        &self,
        name: &OsStr,
        like: Like,
        fill: impl FnOnce(&mut fs::File) -> io::Result<()>,
    ) -> io::Result<Kept> {
        let place = self.path.join(name);
        let unfinished = self.fresh_name();
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        let file = self.dir.open_with(&unfinished, &options).map_err(|error| about(&place, &error))?;
        let mut file = file.into_std();
        // Another run sees by the lock that this file is not left over. Where there are no locks, it may remove it.
        let _ = file.try_lock();
        let made = fill(&mut file)
            .and_then(|()| take_over(&file, like))
            .and_then(|kept| self.dir.rename(&unfinished, &self.dir, name).map(|()| kept));
        made.map_err(|error| {
            let _ = self.dir.remove_file(&unfinished);
            about(&place, &error)
        })
    }

    fn fresh_name(&self) -> OsString {
        // A new state is a random one.
        let random = RandomState::new().hash_one(std::process::id());
        format!("{UNFINISHED}{random:0width$x}{ENDING}", width = RANDOM).into()
    }

    /// Removes what a run that was killed has left here.
    pub fn sweep(&self) {
        for entry in self.dir.entries().into_iter().flatten().flatten() {
            let name = entry.file_name();
            if is_unfinished(&name) && self.is_left_over(&name) {
                let _ = self.dir.remove_file(&name);
            }
        }
    }

    fn is_left_over(&self, name: &OsStr) -> bool {
        let mut options = OpenOptions::new();
        options.read(true);
        self.opened(name, options).is_ok_and(|file| file.try_lock().is_ok())
    }
}

/// The bytes of a file, by whatever links; what waits for a writer, as a fifo, is not read.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    regular(&fs::metadata(path)?)?;
    fs::read(path)
}

fn regular(meta: &Metadata) -> io::Result<()> {
    match () {
        () if meta.is_file() => Ok(()),
        () if meta.is_dir() => Err(ErrorKind::IsADirectory.into()),
        () => Err(io::Error::other("not a regular file")),
    }
}

/// Whether something is not there, rather than out of reach.
pub fn is_gone(path: &Path) -> bool {
    path.try_exists().is_ok_and(|is_there| !is_there)
}

/// Whether a file of this name is one that is being written, or that a run which was killed has left.
pub fn is_unfinished(name: &OsStr) -> bool {
    let name = name.to_str().and_then(|name| name.strip_prefix(UNFINISHED));
    let random = name.and_then(|name| name.strip_suffix(ENDING));
    random.is_some_and(|random| random.len() == RANDOM && random.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Whether all that a new file should take over from another one could be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    /// It belongs to whom the other one does.
    pub owner: bool,
    /// So many other names the file has that was there.
    pub other_names: u64,
}

fn take_over(file: &fs::File, like: Like) -> io::Result<Kept> {
    let (path, owner) = match like {
        Like::New => return Ok(Kept { owner: true, other_names: 0 }),
        Like::Mode(path) => (path, false),
        Like::Owner(path) => (path, true),
    };
    let meta = fs::metadata(path).map_err(|error| about(path, &error))?;
    // A new owner takes rights away that the file may have.
    let owner = !owner || keep_owner(file, &meta)?;
    file.set_permissions(meta.permissions())?;
    Ok(Kept { owner, other_names: other_names(&meta) })
}

#[cfg(unix)]
fn other_names(meta: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::nlink(meta).saturating_sub(1)
}

#[cfg(not(unix))]
fn other_names(_: &Metadata) -> u64 {
    0
}

#[cfg(unix)]
fn keep_owner(file: &fs::File, old: &Metadata) -> io::Result<bool> {
    use std::os::unix::fs::{MetadataExt, fchown};
    let new = file.metadata()?;
    if (new.uid(), new.gid()) == (old.uid(), old.gid()) {
        return Ok(true);
    }
    if fchown(file, Some(old.uid()), Some(old.gid())).is_ok() {
        return Ok(true);
    }
    // Its group may be one of ours.
    let _ = fchown(file, None, Some(old.gid()));
    Ok(false)
}

#[cfg(not(unix))]
fn keep_owner(_: &fs::File, _: &Metadata) -> io::Result<bool> {
    Ok(true)
}

/// The error that says which file it is about.
pub fn about(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests;
