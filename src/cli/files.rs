//! Finds the inputs.
//!
//! Invariant: no input lies where an output goes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use walkdir::{DirEntry, WalkDir};

use super::{manifest, place};
use crate::cuda;
use crate::source::{Language, Languages};

/// A file to translate or copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// The path to read, as the user would write it.
    pub path: PathBuf,
    /// The same without symbolic links.
    pub real: PathBuf,
    /// Its place under the output folder.
    pub target: PathBuf,
    /// The files of its device code have its ending in their names, as others would have these names.
    pub has_namesake: bool,
    /// Another input that has these names all the same.
    pub rival: Option<String>,
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

/// Walks the inputs. A tree under `out` mirrors them: it is not walked itself, and no input may lie in it.
pub fn gather(inputs: &[PathBuf], out: Option<&Path>, languages: &Languages) -> Result<Tree, String> {
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
    find_shared_names(&mut tree.jobs);
    while find_namesakes(&mut tree.jobs, out.is_some(), languages) {}
    match real_out {
        Some(real) => refuse_overwriting(&tree.jobs, &real, out.unwrap_or(&real)).map(|()| tree),
        None => Ok(tree),
    }
}

/// Whether a folder inside an input was written by a run with another output folder.
fn is_output(entry: &DirEntry) -> bool {
    let mark = || entry.path().join(manifest::FOLDER).join(manifest::MANIFEST);
    entry.depth() > 0 && entry.file_type().is_dir() && mark().is_file()
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
            rival: None,
            folder: String::new(),
        });
    }

    fn walk(&mut self, root: &Path, real: PathBuf, out: Option<&Path>) -> Result<(), String> {
        let out = out.and_then(|out| out.strip_prefix(&real).ok());
        if out == Some(Path::new("")) {
            return Err(format!("{} is both input and output: use `--in-place`", root.display()));
        }
        if let Some(below) = out {
            refuse_unmarked(&root.join(below))?;
        }
        let wanted = |entry: &DirEntry| {
            let is_own = entry.file_name() == manifest::FOLDER || entry.file_name() == ".git";
            entry.depth() == 0 || !is_own && Some(below(root, entry.path())) != out
        };
        let mut all = WalkDir::new(root).sort_by_file_name().into_iter().filter_entry(wanted);
        while let Some(entry) = all.next() {
            match entry {
                Ok(entry) if is_output(&entry) => {
                    let what = "an output of acc2omp, skipped; name it to translate it";
                    self.skipped.push(format!("{}: {what}", entry.path().display()));
                    all.skip_current_dir();
                }
                Ok(entry) => self.entry(root, &real, &entry),
                Err(error) => self.failures.push(place::walked(error)),
            }
        }
        self.roots.push(real);
        Ok(())
    }

    fn entry(&mut self, root: &Path, real: &Path, entry: &DirEntry) {
        let target = below(root, entry.path()).to_path_buf();
        let kind = entry.file_type();
        if kind.is_file() && place::is_unfinished(entry.file_name()) {
            let what = "a run that was killed has left it half written, skipped";
            return self.skipped.push(format!("{}: {what}", entry.path().display()));
        }
        if kind.is_dir() || entry.depth() == 0 {
            self.folders.insert(target);
        } else if kind.is_file() {
            let real = real.join(&target);
            self.jobs.push(Job {
                path: entry.path().to_path_buf(),
                real,
                target,
                has_namesake: false,
                rival: None,
                folder: String::new(),
            });
        } else {
            let what = if kind.is_symlink() { "a symbolic link" } else { "not a regular file" };
            self.skipped.push(format!("{}: {what}, skipped", entry.path().display()));
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

/// Finds sources of one name in several folders: names of their device code have the folders' in theirs.
fn find_shared_names(jobs: &mut [Job]) {
    let stem = |job: &Job| {
        let known = Language::of(&job.path);
        let is_source = known.is_some_and(|known| known != Language::Header);
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
        if is_shared {
            job.folder = as_name(folder.trim_matches(['/', '.']));
        }
    }
}

/// A path as a part of names in C.
pub fn as_name(path: &str) -> String {
    path.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

/// Finds sources whose files of device code would have the names of others, and whether their names with the ending are to try.
fn find_namesakes(jobs: &mut [Job], placed: bool, languages: &Languages) -> bool {
    let mut makers: BTreeMap<PathBuf, BTreeSet<usize>> = BTreeMap::new();
    for (at, job) in jobs.iter().enumerate() {
        // Beside its source, a file of that name may come of an earlier run.
        let own = placed.then(|| job.target.clone());
        for place in beside(job, placed, languages).into_iter().chain(own) {
            makers.entry(place).or_default().insert(at);
        }
    }
    let mut is_new = false;
    for all in makers.values().filter(|all| all.len() > 1) {
        for at in all {
            let other = all.iter().find(|other| *other != at).map(|other| jobs[*other].name());
            let job = &mut jobs[*at];
            if languages.of(&job.path).is_some() {
                is_new |= !std::mem::replace(&mut job.has_namesake, true);
                job.rival = other;
            }
        }
    }
    if is_new {
        jobs.iter_mut().for_each(|job| job.rival = None);
    }
    is_new
}

/// The files of device code that a source may have.
fn beside(job: &Job, placed: bool, languages: &Languages) -> Vec<PathBuf> {
    let place = if placed { &job.target } else { &job.real };
    let Some(language) = languages.of(&job.path) else { return Vec::new() };
    let name = job.path.file_name().unwrap_or_default().to_string_lossy();
    let stem = cuda::beside_stem(&name, job.has_namesake);
    let module = language.is_fortran().then(|| cuda::unit_name(&name, job.has_namesake).to_lowercase());
    let module = module.map(|unit| format!("{unit}_acc_module.f90"));
    let names = [format!("{stem}_acc.h"), format!("{stem}_acc.cu")].into_iter().chain(module);
    names.map(|name| place.with_file_name(name)).collect()
}

/// Refuses an output folder in an input folder if it holds files that acc2omp has not written.
fn refuse_unmarked(out: &Path) -> Result<(), String> {
    let is_empty = fs::read_dir(out).is_ok_and(|mut entries| entries.next().is_none());
    match is_empty || out.join(manifest::FOLDER).join(manifest::MANIFEST).is_file() {
        true => Ok(()),
        false => Err(format!(
            "{} holds files that are inputs themselves, and are not overwritten: name a folder that is new or empty",
            out.display()
        )),
    }
}

/// Refuses an output folder, which is called `name`, that holds an input.
fn refuse_overwriting(jobs: &[Job], out: &Path, name: &Path) -> Result<(), String> {
    match jobs.iter().find(|job| job.real.starts_with(out)) {
        Some(job) => Err(format!(
            "{} holds the input {}: name another output folder; inputs are replaced only by `--in-place`",
            name.display(),
            job.name()
        )),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
