//! An output tree that is written again: what nobody changed is replaced, what somebody changed is merged or stays.
//!
//! Invariant: no text that acc2omp has not written is lost unless `--force` says so, whenever a run is killed; two runs never
//! write into one tree at once.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::conflict::Conflict;
use super::manifest::{self, Entry, Journal, Manifest, Merge, Origin};
use super::name::Name;
use super::place::{Folder, Kept, Like, about, is_gone, of_tree};
use crate::SUPPORT;
use crate::source::Language;

/// The lock of a tree.
const LOCK: &str = "lock";

/// The folder of what acc2omp wrote, as the ground on which edits are merged.
const BASE: &str = "base";

/// The folder of what will be the ground as soon as a merged file is written.
const NEXT: &str = "next";
/// The folders of edited files that a translation is in conflict with, as they were then, and of these translations.
const IN_CONFLICT: [&str; 2] = ["edited", "wanted"];

/// An output tree.
#[derive(Debug)]
pub struct Output {
    folder: Folder,
    real: PathBuf,
    /// What earlier runs wrote.
    old: Manifest,
    /// What runs noted that were killed.
    unfinished: Journal,
    force: bool,
    new: Mutex<BTreeMap<Name, Entry>>,
    journal: Mutex<File>,
    /// Held until the run ends.
    _lock: File,
}

/// A file to write.
#[derive(Clone, Copy, Debug)]
pub struct Piece<'a> {
    /// Its place below the tree.
    pub target: &'a Path,
    /// What it shall hold.
    pub bytes: &'a [u8],
    /// The file that it is made from, and what that holds; none for the run-time library.
    pub source: Option<(&'a Path, &'a [u8])>,
    /// Other files that were read for it, and their hashes.
    pub read: &'a [(PathBuf, String)],
    /// The file whose mode it takes over.
    pub like: &'a Path,
}

/// What a run says of itself for the manifest.
#[derive(Debug)]
pub struct Run<'a> {
    /// What it was about.
    pub inputs: &'a [PathBuf],
    /// What `acc2omp.toml` it read.
    pub config: Option<&'a Path>,
    /// Its compilation database.
    pub database: Option<&'a Path>,
    /// The words of its command line.
    pub arguments: Vec<String>,
}

/// What became of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Put {
    /// It is there as it shall be.
    Written,
    /// Somebody edited it, and its translation is as it was: it stays.
    Edited,
    /// Somebody edited it, and the changes of the translation were put into it.
    Merged,
    /// Somebody edited it, and the translation changed in the same lines: it stays.
    Conflict,
    /// A file stands there that acc2omp has not written: it stays.
    Foreign,
}

impl Output {
    /// Opens a tree, which is made if it is not there.
    pub fn open(out: &Path, force: bool) -> Result<Output, String> {
        let failed = |error: io::Error| about(out, &error).to_string();
        let named = |error: io::Error| error.to_string();
        fs::create_dir_all(out).map_err(failed)?;
        let folder = Folder::open(out).map_err(named)?;
        folder.sweep();
        let own = folder.below(Path::new(manifest::FOLDER)).map_err(named)?;
        own.sweep();
        let lock = own.append(LOCK.as_ref()).map_err(named)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(format!("{}: another run of acc2omp writes into it", out.display()));
            }
            // Some file systems have no locks.
            Err(TryLockError::Error(_)) => {}
        }
        let old = match Manifest::load(out) {
            Err(_) if force => Manifest::default(),
            Err(why) => {
                let lost = "without this file, nothing there counts as written by acc2omp";
                return Err(format!("{why}; {lost}; `--force` replaces it all"));
            }
            Ok(known) => known.unwrap_or_default(),
        };
        let unfinished = Journal::load(out);
        let journal = own.append(manifest::JOURNAL.as_ref()).map_err(named)?;
        let real = out.canonicalize().map_err(failed)?;
        let (new, journal) = (Mutex::default(), Mutex::new(journal));
        Ok(Output { folder, real, old, unfinished, force, new, journal, _lock: lock })
    }

    /// The folder of the tree.
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Writes a file, unless that would lose what somebody wrote.
    pub fn put(&self, piece: Piece) -> io::Result<Put> {
        let name = Name::from(piece.target);
        let known = self.settled(&piece, &name, self.known(&piece, &name)?)?;
        let hash = manifest::hash(piece.bytes);
        let put = self.decide(&piece, &name, known.as_ref(), &hash)?;
        let source = piece.source.map(|(path, bytes)| {
            let same = || piece.bytes == bytes;
            let hash = if same() { hash.clone() } else { manifest::hash(bytes) };
            Origin { path: manifest::from_tree(path, &self.real), hash }
        });
        let entry = match (put, known) {
            // The next run must find what the edits were made in.
            (Put::Conflict | Put::Foreign, known) => known,
            _ => Some(Entry { hash: hash.clone(), source, read: self.read(&piece) }),
        };
        let is_source = piece.source.is_some() && Language::of(piece.target).is_some();
        // Before what may fail yet: the file is there.
        if let Some(entry) = entry {
            self.new.lock().unwrap_or_else(PoisonError::into_inner).insert(name, entry);
        }
        // The support header grows with what its tree uses.
        if (is_source || piece.target.ends_with(SUPPORT)) && !matches!(put, Put::Conflict | Put::Foreign) {
            self.keep(BASE, &piece, piece.bytes)?;
        }
        if put != Put::Conflict {
            self.forget_conflict(piece.target)?;
        }
        Ok(put)
    }

    fn read(&self, piece: &Piece) -> Vec<Origin> {
        let seen = |path: &PathBuf| manifest::from_tree(path, &self.real);
        piece.read.iter().map(|(path, hash)| Origin { path: seen(path), hash: hash.clone() }).collect()
    }

    fn decide(&self, piece: &Piece, name: &Name, known: Option<&Entry>, hash: &str) -> io::Result<Put> {
        let folder = self.folder_of(piece.target)?;
        let file = piece.target.file_name().unwrap_or_default();
        let there = match folder.read(file) {
            Ok(there) => Some(there),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) if error.kind() == ErrorKind::InvalidFilename => return Err(error),
            // What cannot be read, as a link, is none of ours.
            Err(_) if !self.force => return Ok(Put::Foreign),
            Err(_) => None,
        };
        let Some(there) = there.filter(|_| !self.force) else {
            return self.write(piece, name, hash).map(|_| Put::Written);
        };
        if there == piece.bytes {
            if piece.source.is_some() {
                // Only the owner may: a new file has another one.
                folder.take_mode(file, piece.like).or_else(|_| self.write(piece, name, hash).map(drop))?;
            }
            return Ok(Put::Written);
        }
        let there_hash = manifest::hash(&there);
        let is_ours =
            known.is_some_and(|known| known.hash == there_hash) || self.unfinished.wrote(name, &there_hash);
        if is_ours {
            return self.write(piece, name, hash).map(|_| Put::Written);
        }
        let Some(known) = known else { return Ok(Put::Foreign) };
        if known.hash == hash {
            return Ok(Put::Edited);
        }
        let base = self.kept(BASE, piece.target).filter(|base| manifest::hash(base) == known.hash);
        match base.map(|base| diffy::merge_bytes(&base, &there, piece.bytes)) {
            Some(Ok(merged)) => {
                let line =
                    Merge { merged: manifest::hash(&merged), ground: hash.to_owned(), before: there_hash };
                self.keep(NEXT, piece, piece.bytes)?;
                self.note(&line.line(name))?;
                self.replace(piece, &merged).map(|_| Put::Merged)
            }
            Some(Err(_)) => self.note_conflict(piece, &there).map(|()| Put::Conflict),
            None => Ok(Put::Conflict),
        }
    }

    /// What acc2omp wrote of a file before, by the manifest, or by a run that was killed after it.
    fn known(&self, piece: &Piece, name: &Name) -> io::Result<Option<Entry>> {
        let Some(known) = self.old.files.get(name).filter(|_| self.unfinished.knows(name)) else {
            return Ok(self.old.files.get(name).cloned());
        };
        let there = self.folder_of(piece.target)?.read(piece.target.file_name().unwrap_or_default());
        let there = manifest::hash(&there.unwrap_or_default());
        let with = |hash: String| Some(Entry { hash, ..known.clone() });
        let base = self.kept(BASE, piece.target).map(|base| manifest::hash(&base));
        if let Some(merge) = self.unfinished.merges(name).find(|merge| merge.merged == there) {
            let next = self.kept(NEXT, piece.target);
            if let Some(next) = next.filter(|next| manifest::hash(next) == merge.ground) {
                self.keep(BASE, piece, &next)?;
            }
            return Ok(with(merge.ground.clone()));
        }
        let is_before = self.unfinished.merges(name).any(|merge| merge.before == there);
        if there == known.hash || self.unfinished.wrote(name, &there) || is_before {
            return Ok(Some(known.clone()));
        }
        // Somebody edited it since: what it was made from says the ground, if that run came so far.
        let came_so_far = |base: &String| {
            self.unfinished.wrote(name, base)
                || self.unfinished.merges(name).any(|merge| merge.ground == *base)
        };
        Ok(with(base.filter(came_so_far).unwrap_or_default()))
    }

    /// What acc2omp wrote of a file before: where somebody has ended a conflict since, that is the translation that was in it.
    fn settled(&self, piece: &Piece, name: &Name, known: Option<Entry>) -> io::Result<Option<Entry>> {
        let [edited, wanted] = IN_CONFLICT.map(|folder| self.kept(folder, piece.target));
        let (Some(edited), Some(wanted), Some(entry)) = (edited, wanted, &known) else { return Ok(known) };
        let now = self.folder_of(piece.target)?.read(piece.target.file_name().unwrap_or_default());
        let (Ok(now), Some(base)) = (now, self.kept(BASE, piece.target)) else { return Ok(known) };
        let conflict = Conflict { base: &base, edited: &edited, wanted: &wanted };
        let Some(resolved) = conflict.resolved(&now) else { return Ok(known) };
        if resolved != now {
            self.replace(piece, &resolved)?;
        }
        let hash = manifest::hash(&wanted);
        self.note(&format!("{hash} {}\n", name.text()))?;
        self.keep(BASE, piece, &wanted)?;
        Ok(Some(Entry { hash, ..entry.clone() }))
    }

    /// Keeps what a conflict is about, unless it is known already: somebody may have ended it in one of several places.
    fn note_conflict(&self, piece: &Piece, there: &[u8]) -> io::Result<()> {
        let [edited, wanted] = IN_CONFLICT;
        if self.kept(wanted, piece.target).is_none_or(|wanted| wanted != piece.bytes) {
            self.keep(edited, piece, there)?;
            self.keep(wanted, piece, piece.bytes)?;
        }
        Ok(())
    }

    fn forget_conflict(&self, target: &Path) -> io::Result<()> {
        let places = IN_CONFLICT.map(|folder| Output::place(folder, target));
        places
            .iter()
            .filter(|place| self.real.join(place).is_file())
            .try_for_each(|place| self.folder_of(place)?.remove(place.file_name().unwrap_or_default()))
    }

    /// The translation that a file is in conflict with, as messages call it.
    pub fn wanted(&self, target: &Path) -> Option<PathBuf> {
        let place = Output::place(IN_CONFLICT[1], target);
        self.real.join(&place).is_file().then(|| self.folder.named(&place))
    }

    /// Notes what will be written before it is: a run that is killed must know it again.
    fn write(&self, piece: &Piece, name: &Name, hash: &str) -> io::Result<Kept> {
        self.note(&format!("{hash} {}\n", name.text()))?;
        self.replace(piece, piece.bytes)
    }

    fn note(&self, line: &str) -> io::Result<()> {
        let mut journal = self.journal.lock().unwrap_or_else(PoisonError::into_inner);
        let place = || self.folder.named(&Path::new(manifest::FOLDER).join(manifest::JOURNAL));
        // A full disk may have cut off the line before.
        journal.write_all(format!("\n{line}").as_bytes()).map_err(|error| about(&place(), &error))
    }

    fn replace(&self, piece: &Piece, bytes: &[u8]) -> io::Result<Kept> {
        let file = piece.target.file_name().unwrap_or_default();
        self.folder_of(piece.target)?.write(file, bytes, Like::Mode(piece.like))
    }

    fn folder_of(&self, target: &Path) -> io::Result<Folder> {
        self.folder.below(target.parent().unwrap_or(Path::new("")))
    }

    /// Where something is kept of a file, in a folder of ours.
    fn place(folder: &str, target: &Path) -> PathBuf {
        Path::new(manifest::FOLDER).join(folder).join(target)
    }

    fn kept(&self, folder: &str, target: &Path) -> Option<Vec<u8>> {
        let place = Output::place(folder, target);
        if !self.real.join(&place).is_file() {
            return None;
        }
        self.folder_of(&place).ok()?.read(place.file_name()?).ok()
    }

    fn keep(&self, folder: &str, piece: &Piece, bytes: &[u8]) -> io::Result<()> {
        if self.kept(folder, piece.target).is_some_and(|kept| kept == bytes) {
            return Ok(());
        }
        let place = Output::place(folder, piece.target);
        let file = place.file_name().unwrap_or_default();
        self.folder_of(&place)?.write(file, bytes, Like::Mode(piece.like)).map(drop)
    }

    /// Writes the manifest of a run, and says which files of the tree no source makes any more.
    pub fn finish(self, run: Run) -> io::Result<Vec<String>> {
        let new = self.new.into_inner().unwrap_or_else(PoisonError::into_inner);
        let sources: BTreeSet<&Name> =
            new.values().filter_map(|entry| entry.source.as_ref()).map(|source| &source.path).collect();
        let mut stale = Vec::new();
        for (name, entry) in self.old.files.iter().filter(|(name, _)| !new.contains_key(*name)) {
            let Some(source) = &entry.source else { continue };
            let is_there = self.real.join(name).exists();
            let name = self.folder.named(name).display().to_string();
            if is_there && is_gone(&self.real.join(&source.path)) {
                stale.push(format!(
                    "{name}: its source {} is gone",
                    of_tree(&source.path, &self.real).display()
                ));
            } else if is_there && sources.contains(&source.path) {
                stale.push(format!("{name}: nothing is written to it any more"));
            }
        }
        let mut files = self.old.files;
        files.retain(|name, _| new.contains_key(name) || self.real.join(name).exists());
        files.extend(new);
        let inputs = run.inputs.iter().filter_map(|input| input.canonicalize().ok());
        let inputs: BTreeSet<Name> =
            inputs.map(|input| manifest::from_tree(&input, &self.real)).chain(self.old.inputs).collect();
        let manifest = Manifest {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            arguments: run.arguments,
            config: run.config.and_then(|path| Origin::of(path, &self.real)),
            database: run.database.and_then(|path| Origin::of(path, &self.real)),
            inputs: inputs.into_iter().collect(),
            files,
        };
        let own = self.folder.below(Path::new(manifest::FOLDER))?;
        let like = self.real.join(manifest::FOLDER).join(LOCK);
        own.write(manifest::MANIFEST.as_ref(), &manifest.text()?, Like::Mode(&like))?;
        own.remove(manifest::JOURNAL.as_ref())?;
        Ok(stale)
    }
}
