//! The scratch folder: a translation stands in it below the path of its source, with what it includes.
//!
//! Invariant: each inclusion leads to the file that it led to, or to that file's translation.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use super::depend::seen_from;
use super::folders::Folders;
use super::lines;
use crate::cli::build::CompilerFlags;
use crate::scan::{self, Outline};
use crate::source::{Language, SourceFile};
use crate::{RUNTIME, SUPPORT, Translation, cuda};

/// A file as a compiler reads it.
#[derive(Clone, Debug)]
pub struct Read {
    /// The source.
    pub file: SourceFile,
    /// Whether `-isystem` or the like names its folder.
    pub is_system: bool,
    /// The files that it includes: the name, whether it stands between quotes, and where it leads.
    pub includes: Vec<(String, bool, PathBuf)>,
    /// Whether it includes others by macros or by `#include_next`, which are not followed, or in folders of which the compiler
    /// does not say.
    pub may_include_more: bool,
}

/// The files of one compilation, by their paths without links.
pub type Files = BTreeMap<PathBuf, Read>;

/// A file that others include, as compilers call it from `here`.
pub fn included(path: &Path, bytes: Vec<u8>, language: Language, here: &Path) -> SourceFile {
    SourceFile::new(seen_from(&path.display().to_string(), here), bytes, language)
}

/// Reads a source and the files that it includes, directly or not, where a compiler that runs in `here` gets this, and
/// searches these folders.
pub fn read(
    source: SourceFile,
    real: &Path,
    flags: &CompilerFlags,
    searched: &Folders,
    here: &Path,
) -> Files {
    let mut files = Files::new();
    let mut open = vec![(real.to_path_buf(), source)];
    while let Some((path, file)) = open.pop() {
        let folder = path.parent().unwrap_or(Path::new(""));
        let first = flags.first.iter().filter(|_| path == real);
        let mut includes: Vec<(String, bool, PathBuf)> =
            first.map(|first| (String::new(), true, first.clone())).collect();
        let outline = Outline::of(&file);
        let mut is_hidden = false;
        for (name, is_quoted, _) in outline.includes() {
            let by_options = flags.included(Some(folder).filter(|_| is_quoted), name);
            let is_ours = is_quoted || !cuda::is_of_system(name);
            let by_itself = || searched.find(name).inspect_err(|()| is_hidden = true).ok().flatten();
            let Some(target) = by_options.or_else(|| is_ours.then(by_itself).flatten()) else { continue };
            includes.push((name.to_owned(), is_quoted, target));
        }
        for (_, _, target) in &includes {
            let is_new = !files.contains_key(target) && target != &path;
            if let Some(bytes) =
                fs::read(target).ok().filter(|bytes| is_new && bytes.len() < u32::MAX as usize)
            {
                let language = scan::language_included(target, &bytes, file.language);
                open.push((target.clone(), included(target, bytes, language, here)));
            }
        }
        let is_below = |folders: &[PathBuf]| folders.iter().any(|folder| path.starts_with(folder));
        let is_system = (is_below(&flags.system) || is_below(searched.known())) && !is_below(&flags.folders);
        let has_next = memchr::memmem::find(&file.bytes, b"include_next").is_some();
        let may_include_more = has_next || is_hidden || outline.computes_includes();
        files.insert(path, Read { file, is_system, includes, may_include_more });
    }
    files
}

/// The files that must stand in the scratch folder: those that change, and those that include them.
pub fn needed(files: &Files, changed: impl IntoIterator<Item = PathBuf>) -> BTreeSet<PathBuf> {
    let mut includers: BTreeMap<&Path, Vec<&Path>> = BTreeMap::new();
    for (path, read) in files {
        for (_, _, target) in &read.includes {
            includers.entry(target).or_default().push(path);
        }
    }
    let mut needed = BTreeSet::new();
    let mut open: Vec<PathBuf> = changed.into_iter().collect();
    while let Some(path) = open.pop() {
        if needed.contains(&path) {
            continue;
        }
        open.extend(includers.get(path.as_path()).into_iter().flatten().map(|path| path.to_path_buf()));
        needed.insert(path);
    }
    needed
}

/// The scratch folder of one source.
#[derive(Debug, Default)]
pub struct Mirror {
    root: PathBuf,
    /// A preprocessor reads what is Fortran, and takes nothing but its own language.
    is_strict: bool,
}

impl Mirror {
    /// Makes it.
    pub fn new(root: PathBuf, is_strict: bool) -> io::Result<Mirror> {
        fs::create_dir_all(&root)?;
        Ok(Mirror { root, is_strict })
    }

    /// Where the mirror begins.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where the mirror has a file or folder.
    pub fn place(&self, real: &Path) -> PathBuf {
        let names = real.components().filter(|part| matches!(part, Component::Normal(_)));
        names.fold(self.root.clone(), |place, name| place.join(name))
    }

    /// Writes a file beside others that the translation needs.
    pub fn write(&self, real: &Path, bytes: &[u8]) -> io::Result<PathBuf> {
        let place = self.place(real);
        place.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::write(&place, bytes)?;
        Ok(place)
    }

    /// Writes the translation `text` of a file, which compilers call `name`.
    pub fn file(
        &self,
        real: &Path,
        read: &Read,
        text: &[u8],
        name: &str,
        needed: &BTreeSet<PathBuf>,
    ) -> io::Result<()> {
        let language = read.file.language;
        let text = match language.is_fortran() {
            true => text.to_vec(),
            false => self.redirected(read, real, text, needed),
        };
        let numbered = lines::numbered(&read.file.bytes, &text, name, language, self.is_strict);
        // Of a header of the system, compilers say less.
        let head: &[u8] = if read.is_system { b"#pragma GCC system_header\n" } else { b"" };
        self.write(real, &[head, &numbered].concat()).map(drop)
    }

    /// Writes what belongs beside a translation.
    pub fn beside(&self, real: &Path, translation: &Translation) -> io::Result<()> {
        let support = crate::whole_support();
        let mut files: Vec<(&str, &[u8])> = Vec::new();
        if translation.needs_support {
            files.push((SUPPORT, support.as_bytes()));
        }
        if !translation.beside.is_empty() {
            files.push((RUNTIME[0].0, RUNTIME[0].1.as_bytes()));
        }
        files.extend(translation.beside.iter().map(|file| (file.name.as_str(), file.text.as_slice())));
        for (name, text) in files {
            self.write(&real.with_file_name(name), text)?;
        }
        Ok(())
    }

    /// A C text whose inclusions lead to where they led, or to translations.
    fn redirected(&self, read: &Read, real: &Path, text: &[u8], needed: &BTreeSet<PathBuf>) -> Vec<u8> {
        let folder = real.parent().unwrap_or(Path::new(""));
        let mut out = Vec::with_capacity(text.len());
        let mut done = 0;
        let file = read.file.with(text.to_vec());
        for (name, is_quoted, span) in Outline::of(&file).includes() {
            let known = read.includes.iter().find(|(known, quoted, _)| known == name && *quoted == is_quoted);
            let Some((_, _, target)) = known else { continue };
            let is_beside = is_quoted && folder.join(name).is_file();
            let path = match needed.contains(target) {
                true => self.place(target),
                false if is_beside => target.clone(),
                false => continue,
            };
            // The name may stand on several lines.
            let line = file.slice(span);
            let (open, close) = if is_quoted { (b'"', b'"') } else { (b'<', b'>') };
            let Some(first) = memchr::memchr(open, line) else { continue };
            let Some(length) = memchr::memchr(close, line.get(first + 1..).unwrap_or_default()) else {
                continue;
            };
            let at = span.start as usize + first;
            out.extend_from_slice(text.get(done..at).unwrap_or_default());
            out.extend(format!("\"{}\"", path.display()).bytes());
            done = at + length + 2;
        }
        out.extend_from_slice(text.get(done..).unwrap_or_default());
        out
    }

    /// Links what Fortran files include from beside them: their lines have no room for longer names.
    pub fn link(&self, files: &Files) -> io::Result<()> {
        for (real, read) in files.iter().filter(|(_, read)| read.file.language.is_fortran()) {
            let folder = real.parent().unwrap_or(Path::new(""));
            for (name, is_quoted, target) in &read.includes {
                let place = self.place(&folder.join(name));
                if *is_quoted && folder.join(name).is_file() && !place.exists() {
                    place.parent().map_or(Ok(()), fs::create_dir_all)?;
                    link(target, &place)?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(unix)]
fn link(target: &Path, place: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, place)
}

#[cfg(not(unix))]
fn link(target: &Path, place: &Path) -> io::Result<()> {
    fs::copy(target, place).map(drop)
}
