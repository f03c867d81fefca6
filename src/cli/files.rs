//! Finds the inputs and writes the outputs.
//!
//! Invariant: a file is written beside its place and then renamed, so that nobody ever sees a half of it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;
use walkdir::{DirEntry, WalkDir};

use crate::SUPPORT;
use crate::source::Language;

/// A file to translate or copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// The path to read, as the user would write it.
    pub path: PathBuf,
    /// The same without symbolic links.
    pub real: PathBuf,
    /// Its place under the output folder.
    pub target: PathBuf,
    /// Another source of C or C++ in its folder has its name, but for the ending.
    pub has_namesake: bool,
    /// The folders that it lies in, as a C name, if a source of another folder has its name.
    pub folder: String,
}

impl Job {
    /// The name that messages use.
    pub fn name(&self) -> String {
        let name = self.path.strip_prefix(".").unwrap_or(&self.path);
        name.display().to_string()
    }
}

/// What the inputs hold.
#[derive(Debug, Default)]
pub struct Tree {
    /// The files, in a fixed order.
    pub jobs: Vec<Job>,
    /// The folders to make under the output folder.
    pub folders: BTreeSet<PathBuf>,
    /// The folders in which headers are looked for, without symbolic links.
    pub roots: Vec<PathBuf>,
    /// What was not read, and why: no failure.
    pub skipped: Vec<String>,
    /// What could not be read, and why.
    pub failures: Vec<String>,
}

/// Walks the inputs. A tree under `out` mirrors them: it is not walked itself, and no input may lie where it writes.
pub fn gather(inputs: &[PathBuf], out: Option<&Path>) -> Result<Tree, String> {
    let mut tree = Tree::default();
    let real_out = out.and_then(|out| out.canonicalize().ok());
    for input in inputs {
        let meta = fs::metadata(input).map_err(|error| format!("{}: {error}", input.display()))?;
        let real = input.canonicalize().map_err(|error| format!("{}: {error}", input.display()))?;
        if meta.is_dir() {
            tree.walk(input, real, real_out.as_deref())?;
        } else if meta.is_file() {
            tree.file(input, real);
        } else {
            return Err(format!("{}: neither a file nor a folder", input.display()));
        }
    }
    tree.jobs = distinct(tree.jobs, out.is_some())?;
    find_namesakes(&mut tree.jobs, out.is_some());
    find_shared_names(&mut tree.jobs);
    match real_out {
        Some(out) => refuse_overwriting(&tree.jobs, &out).map(|()| tree),
        None => Ok(tree),
    }
}

impl Tree {
    fn file(&mut self, path: &Path, real: PathBuf) {
        let target = PathBuf::from(path.file_name().unwrap_or(real.as_os_str()));
        self.roots.extend(real.parent().map(Path::to_path_buf));
        self.jobs.push(Job {
            path: path.to_path_buf(),
            real,
            target,
            has_namesake: false,
            folder: String::new(),
        });
    }

    fn walk(&mut self, root: &Path, real: PathBuf, out: Option<&Path>) -> Result<(), String> {
        let out = out.and_then(|out| out.strip_prefix(&real).ok());
        if out == Some(Path::new("")) {
            return Err(format!("{} is both input and output: use `--in-place`", root.display()));
        }
        let wanted = |entry: &DirEntry| {
            entry.depth() == 0 || entry.file_name() != ".git" && Some(below(root, entry.path())) != out
        };
        for entry in WalkDir::new(root).sort_by_file_name().into_iter().filter_entry(wanted) {
            match entry {
                Ok(entry) => self.entry(root, &real, &entry),
                Err(error) => self.failures.push(error.to_string()),
            }
        }
        self.roots.push(real);
        Ok(())
    }

    fn entry(&mut self, root: &Path, real: &Path, entry: &DirEntry) {
        let target = below(root, entry.path()).to_path_buf();
        let kind = entry.file_type();
        if kind.is_dir() || entry.depth() == 0 {
            self.folders.insert(target);
        } else if kind.is_file() {
            let real = real.join(&target);
            self.jobs.push(Job {
                path: entry.path().to_path_buf(),
                real,
                target,
                has_namesake: false,
                folder: String::new(),
            });
        } else {
            let what = if kind.is_symlink() { "a symbolic link" } else { "not a regular file" };
            self.skipped.push(format!("{}: {what}, left out", entry.path().display()));
        }
    }
}

fn below<'a>(root: &Path, path: &'a Path) -> &'a Path {
    path.strip_prefix(root).unwrap_or(path)
}

/// Drops inputs that are named twice, and refuses two inputs for one place of the output tree.
fn distinct(jobs: Vec<Job>, placed: bool) -> Result<Vec<Job>, String> {
    let mut seen: BTreeMap<PathBuf, PathBuf> = BTreeMap::new();
    let mut kept = Vec::with_capacity(jobs.len());
    for job in jobs {
        let place = if placed { &job.target } else { &job.real };
        match seen.get(place) {
            None => {
                seen.insert(place.clone(), job.real.clone());
                kept.push(job);
            }
            Some(real) if *real == job.real => {}
            Some(_) => return Err(format!("two inputs would be written to {}", job.target.display())),
        }
    }
    Ok(kept)
}

/// Finds sources of C and C++ of one name in several folders: names of their device code have the folders' in theirs.
fn find_shared_names(jobs: &mut [Job]) {
    let stem = |job: &Job| {
        let is_source = matches!(Language::of(&job.path), Some(Language::C | Language::Cpp));
        job.path.file_stem().filter(|_| is_source).map(|stem| stem.to_string_lossy().into_owned())
    };
    let mut folders: BTreeMap<String, BTreeSet<PathBuf>> = BTreeMap::new();
    for job in jobs.iter() {
        let folder = job.real.parent().map(Path::to_path_buf).unwrap_or_default();
        if let Some(stem) = stem(job) {
            folders.entry(stem).or_default().insert(folder);
        }
    }
    for job in jobs {
        let is_shared = stem(job).is_some_and(|stem| folders.get(&stem).is_some_and(|all| all.len() > 1));
        let folder = job.target.parent().map(|folder| folder.to_string_lossy().into_owned());
        let folder = folder.unwrap_or_default();
        let as_name = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        if is_shared {
            job.folder = folder.trim_matches(['/', '.']).chars().map(as_name).collect();
        }
    }
}

/// Finds sources of C and C++ whose files of device code would have one name.
fn find_namesakes(jobs: &mut [Job], placed: bool) {
    let stem = |job: &Job| {
        let place = if placed { &job.target } else { &job.real };
        let is_source = matches!(Language::of(&job.path), Some(Language::C | Language::Cpp));
        is_source.then(|| place.with_extension(""))
    };
    let mut counts: BTreeMap<PathBuf, usize> = BTreeMap::new();
    jobs.iter().filter_map(stem).for_each(|stem| *counts.entry(stem).or_default() += 1);
    for job in jobs {
        job.has_namesake = stem(job).is_some_and(|stem| counts.get(&stem).is_some_and(|count| *count > 1));
    }
}

fn refuse_overwriting(jobs: &[Job], out: &Path) -> Result<(), String> {
    let inputs: BTreeSet<&Path> = jobs.iter().map(|job| job.real.as_path()).collect();
    for job in jobs {
        let place = out.join(&job.target);
        let (Some(folder), Some(name)) = (place.parent(), place.file_name()) else { continue };
        let Ok(folder) = folder.canonicalize() else { continue };
        if inputs.contains(folder.join(name).as_path()) {
            return Err(format!("{} is an input: inputs are replaced only by `--in-place`", place.display()));
        }
    }
    Ok(())
}

/// Writes the header that translations include, unless a file of the user's has its name.
pub fn write_support(place: &Path, like: &Path) -> io::Result<()> {
    let (name, text) = SUPPORT;
    match fs::read(place) {
        Ok(old) if old == text.as_bytes() => Ok(()),
        Ok(old) if !old.starts_with(format!("/*\n * {name}:").as_bytes()) => {
            Err(io::Error::other("a file that is not acc2omp's has this name"))
        }
        _ => write_whole(place, text.as_bytes(), like),
    }
}

/// Whether a file of a kind that is not translated yet, such as a part to be included, holds an OpenACC directive.
pub fn holds_foreign_openacc(path: &Path, bytes: &[u8]) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_ascii_lowercase();
    let sentinels: &[&[u8]] = match ending.as_str() {
        "cc" | "cpp" | "cxx" | "c++" | "hh" | "hpp" | "hxx" | "cu" | "cuh" | "inl" => &[b"#pragma acc "],
        "inc" | "fh" | "fi" | "finc" | "fypp" => &[b"!$acc", b"c$acc", b"*$acc"],
        _ => &[],
    };
    sentinels.iter().any(|word| bytes.windows(word.len()).any(|here| here.eq_ignore_ascii_case(word)))
}

/// Writes `bytes` to `place` whole, with the permissions of `like`.
pub fn write_whole(place: &Path, bytes: &[u8], like: &Path) -> io::Result<()> {
    let mut file = beside(place)?;
    file.write_all(bytes)?;
    file.as_file().set_permissions(fs::metadata(like)?.permissions())?;
    file.persist(place).map(|_| ()).map_err(|error| error.error)
}

/// Copies `from` to `place` whole, permissions included.
pub fn copy_whole(from: &Path, place: &Path) -> io::Result<()> {
    let file = beside(place)?.into_temp_path();
    fs::copy(from, &file)?;
    file.persist(place).map_err(|error| error.error)
}

/// A new file in the folder of `place`.
fn beside(place: &Path) -> io::Result<NamedTempFile> {
    let folder = place.parent().filter(|folder| !folder.as_os_str().is_empty());
    tempfile::Builder::new().prefix(".acc2omp-").tempfile_in(folder.unwrap_or(Path::new(".")))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn other_languages_are_recognised() {
        assert!(holds_foreign_openacc(Path::new("a.INC"), b"  !$ACC loop\n"));
        assert!(holds_foreign_openacc(Path::new("a.cpp"), b"#pragma acc loop\n"));
        assert!(!holds_foreign_openacc(Path::new("a.txt"), b"!$acc loop\n"));
    }

    #[test]
    fn one_file_named_twice_is_one_job() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.c");
        fs::write(&file, "x").unwrap();
        let tree = gather(&[folder.path().to_path_buf(), file.clone(), file], None).unwrap();
        assert_eq!(tree.jobs.len(), 1);
    }
}
