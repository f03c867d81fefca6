//! Finds and reads the local headers of a file, and the files of the Fortran modules that it uses.
//!
//! Invariant: a header is read once for a whole run, and only inside the folders that the user named.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rayon::prelude::*;

use crate::source::{Form, Language, SourceFile};
use crate::{Header, Source, scan};

/// A header by its place and the form of the Fortran that includes it: a header may serve two languages.
type Key = (PathBuf, Option<Form>);
type Slot = Arc<OnceLock<Option<Found>>>;

/// The headers of a run.
#[derive(Debug, Default)]
pub struct Headers {
    roots: Vec<PathBuf>,
    /// The files that define a Fortran module, by its name in lower case.
    modules: HashMap<String, Vec<PathBuf>>,
    known: Mutex<HashMap<Key, Slot>>,
}

/// A header that was read.
#[derive(Clone, Debug)]
struct Found {
    header: Arc<Header>,
    /// The headers it includes itself.
    includes: Vec<PathBuf>,
}

impl Headers {
    /// Looks for headers in `roots` (without symbolic links) and below.
    pub fn new(roots: Vec<PathBuf>) -> Headers {
        Headers { roots, modules: HashMap::new(), known: Mutex::default() }
    }

    /// With the modules that the Fortran files among `files` define.
    pub fn with_modules(roots: Vec<PathBuf>, files: &[&Path]) -> Headers {
        let fortran = files.par_iter().filter(|path| Language::of(path).is_some_and(Language::is_fortran));
        let defined: Vec<(Vec<String>, &Path)> =
            fortran.filter_map(|path| Some((scan::defined_modules(&fs::read(path).ok()?), *path))).collect();
        let mut modules: HashMap<String, Vec<PathBuf>> = HashMap::new();
        for (names, path) in defined {
            for name in names {
                modules.entry(name).or_default().push(path.to_path_buf());
            }
        }
        Headers { modules, ..Headers::new(roots) }
    }

    /// Whether a file of that language uses a module of the files at hand.
    pub fn serves(&self, language: Language, bytes: &[u8]) -> bool {
        let is_served = |name: &String| self.modules.contains_key(name);
        language.is_fortran() && !self.modules.is_empty() && scan::used_modules(bytes).iter().any(is_served)
    }

    /// The source of `file`, which lies at `real`, with its headers. A header follows those that it includes itself, as its
    /// declarations follow theirs.
    pub fn source(&self, file: SourceFile, real: &Path) -> Source {
        let mut met = HashSet::from([real.to_path_buf()]);
        let mut headers = Vec::new();
        let mut open = vec![(None, self.includes(&file, real).into_iter())];
        while let Some((header, includes)) = open.last_mut() {
            match includes.next() {
                None => {
                    headers.extend(header.take());
                    open.pop();
                }
                Some(path) if met.insert(path.clone()) => {
                    if let Some(found) = self.read(&path, file.language) {
                        open.push((Some(found.header), found.includes.into_iter()));
                    }
                }
                Some(_) => {}
            }
        }
        Source { file, headers }
    }

    /// The places of the headers that `file` includes.
    fn includes(&self, file: &SourceFile, real: &Path) -> Vec<PathBuf> {
        let folder = real.parent().unwrap_or(Path::new(""));
        let quoted = Source::quoted_includes(file);
        let quoted = quoted.iter().filter_map(|name| self.find(folder, name));
        let used = match file.language.is_fortran() && !self.modules.is_empty() {
            true => scan::used_modules(&file.bytes),
            false => Vec::new(),
        };
        quoted.chain(used.iter().filter_map(|name| self.module(folder, name))).collect()
    }

    /// The file that defines a module: of several, one of the same folder comes first.
    fn module(&self, folder: &Path, name: &str) -> Option<PathBuf> {
        let places = self.modules.get(name)?;
        let near = places.iter().find(|place| place.parent() == Some(folder));
        near.or_else(|| places.first()).cloned()
    }

    fn find(&self, folder: &Path, name: &str) -> Option<PathBuf> {
        let places = std::iter::once(folder).chain(self.roots.iter().map(PathBuf::as_path));
        let found = places.filter_map(|place| place.join(name).canonicalize().ok());
        found.into_iter().find(|path| path.is_file() && self.roots.iter().any(|root| path.starts_with(root)))
    }

    fn read(&self, path: &Path, by: Language) -> Option<Found> {
        let form = if let Language::Fortran(form) = by { Some(form) } else { None };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let slot = Arc::clone(known.entry((path.to_path_buf(), form)).or_default());
        drop(known);
        slot.get_or_init(|| self.load(path, by)).clone()
    }

    fn load(&self, path: &Path, by: Language) -> Option<Found> {
        let bytes = fs::read(path).ok().filter(|bytes| bytes.len() < u32::MAX as usize)?;
        let language = scan::language_included(path, &bytes, by);
        let file = SourceFile::new(path.display().to_string(), bytes, language);
        let includes = self.includes(&file, path);
        Some(Found { header: Arc::new(Header::new(file)), includes })
    }
}
