//! Finds and reads the local headers of a file, and the files of the Fortran modules that it uses.
//!
//! Invariant: a header is read once for a whole run, its text parsed once for each part of it that files are shown with the same
//! options, in whatever files that text lies, and only inside the folders that the user named, here or in a compilation database.

mod otherwise;

use std::cell::LazyCell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::scan::{Defined, Outline, Shown};
use crate::source::{Form, Language, Languages, Predefined, SourceFile, Span};
use crate::{Declarations, Header, Source, To, cuda, scan};

use super::brief::{self, Briefs, Said};
use super::build::{Build, CompilerFlags};
use super::kind;
use super::manifest;
use super::once::{Once, once};

/// A header by its place and the form of the Fortran that includes it: a header may serve two languages.
type Key = (PathBuf, Option<Form>);
/// What a file is shown of a header: the bytes that are hidden, those that options rule out, and what these say of names.
type ShownPart = (Vec<Span>, Vec<Span>, Arc<Predefined>);
/// Where files include another one, by that.
type Inclusions = HashMap<PathBuf, Vec<(PathBuf, u32)>>;
/// A text by its hash, and what a file is shown of it.
type Text = (String, Language, ShownPart);

/// The headers of a run.
#[derive(Debug, Default)]
pub struct Headers {
    roots: Vec<PathBuf>,
    /// The options with which the files are compiled.
    build: Build,
    /// The files that define a Fortran module, by its name in lower case.
    modules: FxHashMap<String, Vec<PathBuf>>,
    /// Where other Fortran files at hand include a Fortran file.
    included: Inclusions,
    /// The files at hand that are Fortran because Fortran alone includes them, in the form of those that do.
    guests: HashMap<PathBuf, Form>,
    /// The headers among the files at hand, by name without folder.
    by_name: HashMap<OsString, Vec<PathBuf>>,
    /// The variables to which headers of C give a place on the device, where files that define them must know.
    declared: HashSet<String>,
    known: Mutex<FxHashMap<Key, Once<Option<Arc<Found>>>>>,
    /// What texts declare.
    texts: Mutex<FxHashMap<Text, Once<Arc<Declarations>>>>,
    /// The files of modules that files at hand use, as those read them.
    used: BTreeSet<(PathBuf, Language)>,
    /// What files say at first sight.
    briefs: Briefs,
}

/// A header that was found.
#[derive(Debug)]
struct Found {
    file: SourceFile,
    /// The hash of its bytes.
    hash: String,
    outline: Outline,
    /// The Fortran modules that it uses.
    used: Vec<String>,
    /// What it declares, by what the file that includes it is shown.
    showing: Mutex<FxHashMap<ShownPart, Once<Arc<Header>>>>,
}

/// The modules that a file of Fortran defines and uses.
struct Named<'a> {
    path: &'a Path,
    language: Language,
    defined: Vec<String>,
    used: Vec<String>,
}

impl<'a> Named<'a> {
    fn of(path: &&'a Path, languages: &Languages) -> Option<Named<'a>> {
        let bytes = fs::read(path).ok()?;
        let language = scan::language_of(path, &bytes, languages).or_else(|| languages.of(path))?;
        let (defined, used) = (scan::defined_modules(&bytes), scan::used_modules(&bytes));
        Some(Named { path, language, defined, used })
    }
}

/// The way through the headers of one file.
struct Walk<'a> {
    headers: &'a Headers,
    language: Language,
    /// What a build defines beside what options say.
    assumed: Vec<(String, Option<String>)>,
    /// What is shown of the headers.
    shown: FxHashMap<PathBuf, Shown>,
    /// The options with which the file is compiled.
    flags: Arc<CompilerFlags>,
    /// Names that headers define in another way than options do.
    changed: Vec<String>,
    /// The files met so far, and whether the inclusion was shown.
    met: FxHashMap<PathBuf, bool>,
    /// A header follows those that it includes itself, as its declarations follow theirs.
    found: Vec<(PathBuf, Arc<Header>)>,
}

impl Headers {
    /// Looks for headers in `roots` (without symbolic links) and below.
    pub fn new(roots: Vec<PathBuf>, build: Build) -> Headers {
        Headers { roots, build, ..Headers::default() }
    }

    /// Knows what `files` have for one another: Fortran's modules, headers and, for CUDA, the variables that these place on the
    /// device.
    pub fn among(
        roots: Vec<PathBuf>,
        files: &[&Path],
        to: To,
        languages: &Languages,
        build: Build,
    ) -> Headers {
        let fortran = files.par_iter().filter(|path| languages.of(path).is_some_and(Language::is_fortran));
        let named: Vec<Named> = fortran.filter_map(|path| Named::of(path, languages)).collect();
        let mut modules: FxHashMap<String, Vec<PathBuf>> = FxHashMap::default();
        for one in &named {
            for name in &one.defined {
                modules.entry(name.clone()).or_default().push(one.path.to_path_buf());
            }
        }
        let headers: Vec<&Path> = files.iter().filter(|path| is_header(path)).copied().collect();
        let mut by_name: HashMap<OsString, Vec<PathBuf>> = HashMap::new();
        for path in &headers {
            by_name
                .entry(path.file_name().unwrap_or_default().to_owned())
                .or_default()
                .push(path.to_path_buf());
        }
        let placing = if to == To::Cuda { headers.as_slice() } else { &[] };
        let predefined = &build.of_included().predefined;
        let declared = placing.par_iter().flat_map_iter(|path| declared(path, predefined)).collect();
        let mut all = Headers { modules, by_name, declared, ..Headers::new(roots, build) };
        (all.included, all.guests) = all.inclusions(files, languages);
        for one in &named {
            let folder = one.path.parent().unwrap_or(Path::new(""));
            let used = one.used.iter().filter_map(|name| all.module(folder, name));
            let used: Vec<PathBuf> = used.filter(|path| path != one.path).collect();
            all.used.extend(used.into_iter().map(|path| (path, one.language)));
        }
        all
    }

    /// Reads the modules that files at hand use, in parallel, before anybody waits for one.
    pub fn read_ahead(&self) {
        self.used.par_iter().for_each(|(path, language)| {
            let Some(found) = self.read(path, *language) else { return };
            let flags = Arc::clone(self.flags(path));
            let mut defined = Defined::with(found.file.language, &flags.predefined);
            let mut walk = Walk::new(self, *language, path);
            let shown = walk.file(&found.outline, path, &mut defined);
            found.part(&shown, &flags, self);
        });
    }

    /// Where `files` of Fortran include others of them, and those that are Fortran for this reason alone.
    fn inclusions(&self, files: &[&Path], languages: &Languages) -> (Inclusions, HashMap<PathBuf, Form>) {
        let form = |path: &Path| match languages.of(path) {
            Some(Language::Fortran(form)) => Some(form),
            _ => None,
        };
        let named: HashMap<PathBuf, Form> =
            files.iter().filter_map(|path| Some((path.to_path_buf(), form(path)?))).collect();
        let files: HashSet<&Path> = files.iter().copied().collect();
        let by_c = LazyCell::new(|| included_by_c(&files));
        let is_shared = |path: &Path| path.file_name().is_some_and(|name| by_c.contains(name));
        let mut guests: HashMap<PathBuf, Form> = HashMap::new();
        let mut included = Inclusions::new();
        let mut next: Vec<(PathBuf, Form)> = named.iter().map(|(path, form)| (path.clone(), *form)).collect();
        while !next.is_empty() {
            let places = next.par_iter().flat_map_iter(|(path, form)| {
                let folder = path.parent().unwrap_or(Path::new(""));
                let flags = self.build.listed(path).unwrap_or(self.build.of_all());
                let found = included_by(path, *form).into_iter();
                let found = found.filter_map(|(name, at)| Some((self.find(flags, folder, &name)?, at)));
                found.map(|(target, at)| (target, path.clone(), at, *form)).collect::<Vec<_>>()
            });
            let places: Vec<(PathBuf, PathBuf, u32, Form)> = places.collect();
            next.clear();
            for (target, path, at, form) in places {
                if !named.contains_key(&target) && !guests.contains_key(&target) {
                    if !files.contains(target.as_path()) || is_shared(&target) {
                        continue;
                    }
                    guests.insert(target.clone(), form);
                    next.push((target.clone(), form));
                }
                included.entry(target).or_default().push((path, at));
            }
        }
        (included, guests)
    }

    /// The language of a file at hand, which lies at `real`: that of its name, or Fortran if Fortran alone includes it. `None` if we
    /// do not translate such files.
    pub fn language_of(
        &self,
        path: &Path,
        real: &Path,
        bytes: &[u8],
        languages: &Languages,
    ) -> Option<Language> {
        match self.guests.get(real) {
            Some(form) => Some(scan::language_included(path, bytes, Language::Fortran(*form))),
            None => scan::language_of(path, bytes, languages),
        }
    }

    /// Whether a file of that language may have to change for what others say: it uses a module of the files at hand, or names
    /// a variable that a header places on the device.
    pub fn serves(&self, language: Language, bytes: &[u8]) -> bool {
        let is_served = |name: &String| self.modules.contains_key(name);
        match language.is_fortran() {
            true => !self.modules.is_empty() && scan::used_modules(bytes).iter().any(is_served),
            false => self.declared.iter().any(|name| memchr::memmem::find(bytes, name.as_bytes()).is_some()),
        }
    }

    /// Whether a file that says nothing of OpenACC may write its directives by macros of headers.
    pub fn may_write(&self, language: Language, bytes: &[u8], real: &Path) -> bool {
        let flags = self.flags(real);
        let find = |folder: &Path, name: &str, is_quoted| match is_quoted {
            true => self.find(flags, folder, name),
            false => self.find_in_folders(flags, folder, name),
        };
        let by_files = self.briefs.said((real, bytes, language), flags, &find);
        let by_options = flags.predefined.names().filter_map(|(_, line)| line);
        let said = by_options.fold(by_files, |said, line| said.and(Said::by(line.as_bytes(), language)));
        // In Fortran, a macro needs no operator.
        said.mentions_openacc && (said.has_operator || language.is_fortran())
    }

    /// The source of `file`, which lies at `real`, with its headers, each as the preprocessor shows it to the file.
    pub fn source(&self, mut file: SourceFile, real: &Path) -> Source {
        file.predefined = Arc::clone(&self.flags(real).predefined);
        let outline = Outline::of(&file);
        let mut walk = Walk::new(self, file.language, real);
        walk.all((&file, &outline), real);
        if !walk.changed.is_empty() {
            Arc::make_mut(&mut file.predefined).forget(&walk.changed);
        }
        let source = Source::among(file, walk.headers());
        Source { builds: self.other_builds((&source, &outline), real, &walk), ..source }
    }

    /// The files with directives, or with conditions on OpenACC, that were read for others, beside `inputs`, in their order.
    pub fn beside(&self, inputs: &HashSet<&Path>) -> Vec<PathBuf> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let all = known.iter().filter_map(|((path, _), once)| Some((path, once.get()?.as_ref()?)));
        let is_about = |file: &SourceFile| scan::has_directives(file) || kind::asks_for_openacc(&file.bytes);
        let others = all.filter(|(path, found)| !inputs.contains(path.as_path()) && is_about(&found.file));
        let others: BTreeSet<&PathBuf> = others.map(|(path, _)| path).collect();
        others.into_iter().cloned().collect()
    }

    /// The options with which a file is compiled: those of the file that includes it if there is only one, else those that all files
    /// have.
    fn flags(&self, real: &Path) -> &Arc<CompilerFlags> {
        let included = self.included.get(real).map(Vec::as_slice);
        let by =
            included.and_then(|places| self.build.listed(&places.first().filter(|_| places.len() == 1)?.0));
        let is_part = included.is_some() || is_header(real);
        let other = if is_part { self.build.of_included() } else { self.build.of_all() };
        self.build.listed(real).or(by).unwrap_or(other)
    }

    /// Whether the compilation database lacks a file that is compiled by itself.
    pub fn lacks(&self, real: &Path) -> bool {
        self.build.listed(real).is_none() && !self.included.contains_key(real) && !is_header(real)
    }

    /// The modules that a file uses.
    fn used(&self, file: &SourceFile) -> Vec<String> {
        match file.language.is_fortran() && !self.modules.is_empty() {
            true => scan::used_modules(&file.bytes),
            false => Vec::new(),
        }
    }

    /// The file that defines a module: of several, one of the same folder comes first.
    fn module(&self, folder: &Path, name: &str) -> Option<PathBuf> {
        let places = self.modules.get(name)?;
        let near = places.iter().find(|place| place.parent() == Some(folder));
        near.or_else(|| places.first()).cloned()
    }

    /// The file that an inclusion means: in the folder of the file that includes it, in a folder of `-I` or of the command line, or,
    /// since compilers may be given other folders, the nearest one of the files at hand.
    fn find(&self, flags: &CompilerFlags, folder: &Path, name: &str) -> Option<PathBuf> {
        self.first(flags, Some(folder), name).or_else(|| self.nearest(folder, Path::new(name)))
    }

    /// The file that an inclusion between angle brackets means, if it is none of the compiler's or the system's.
    fn find_in_folders(&self, flags: &CompilerFlags, folder: &Path, name: &str) -> Option<PathBuf> {
        if cuda::is_of_system(name) {
            return None;
        }
        self.first(flags, None, name).or_else(|| self.nearest(folder, Path::new(name)))
    }

    /// The first file of this name in the folders that compilers search, inside those that the user named.
    fn first(&self, flags: &CompilerFlags, beside: Option<&Path>, name: &str) -> Option<PathBuf> {
        let folders = flags.folders.iter().chain(&flags.system).chain(&self.roots).map(PathBuf::as_path);
        beside.into_iter().chain(folders).find_map(|place| {
            let path = place.join(name).canonicalize().ok()?;
            let is_ours =
                path.is_file() && self.roots.iter().chain(&flags.folders).any(|root| path.starts_with(root));
            is_ours.then_some(path)
        })
    }

    /// The header of this name that has most folders in common with `folder`, if that is one.
    fn nearest(&self, folder: &Path, name: &Path) -> Option<PathBuf> {
        let all = self.by_name.get(name.file_name()?)?.iter().filter(|path| path.ends_with(name));
        let common =
            |path: &Path| path.components().zip(folder.components()).take_while(|(a, b)| a == b).count();
        let most = all.clone().map(|path| common(path)).max()?;
        let mut best = all.filter(|path| common(path) == most);
        best.next().filter(|_| best.next().is_none()).cloned()
    }

    fn read(&self, path: &Path, by: Language) -> Option<Arc<Found>> {
        let form = if let Language::Fortran(form) = by { Some(form) } else { None };
        let once = once(&self.known, (path.to_path_buf(), form));
        once.get_or_init(|| self.load(path, by)).clone()
    }

    fn load(&self, path: &Path, by: Language) -> Option<Arc<Found>> {
        let bytes = fs::read(path).ok().filter(|bytes| bytes.len() < u32::MAX as usize)?;
        let language = scan::language_included(path, &bytes, by);
        let file = SourceFile::new(path.display().to_string(), bytes, language);
        let (outline, used, hash) = (Outline::of(&file), self.used(&file), manifest::hash(&file.bytes));
        Some(Arc::new(Found { file, hash, outline, used, showing: Mutex::default() }))
    }
}

impl<'a> Walk<'a> {
    /// Nothing has been read yet for the file that lies at `real`.
    fn new(headers: &'a Headers, language: Language, real: &Path) -> Walk<'a> {
        Walk {
            headers,
            language,
            assumed: Vec::new(),
            shown: FxHashMap::default(),
            flags: Arc::clone(headers.flags(real)),
            changed: Vec::new(),
            met: FxHashMap::from_iter([(real.to_path_buf(), true)]),
            found: Vec::new(),
        }
    }

    /// All headers and modules of a file, which lies at `real`.
    fn all(&mut self, (file, outline): (&SourceFile, &Outline), real: &Path) {
        let mut defined = Defined::before(file);
        defined.assume(&self.assumed);
        self.first(&mut defined);
        let shown = self.file(outline, real, &mut defined);
        self.shown.insert(real.to_path_buf(), shown);
        self.modules(&self.headers.used(file), real);
        if let Some([(path, at)]) = self.headers.included.get(real).map(Vec::as_slice) {
            self.includer(path, *at);
        }
    }

    /// The headers that were found.
    fn headers(&self) -> Vec<Arc<Header>> {
        self.found.iter().map(|(_, header)| Arc::clone(header)).collect()
    }

    /// The headers that a file at `real` includes; in hidden branches, too, but what those define is theirs.
    fn file(&mut self, outline: &Outline, real: &Path, defined: &mut Defined) -> Shown {
        let folder = real.parent().unwrap_or(Path::new(""));
        outline.follow(defined, &mut |name, is_quoted, active, defined| {
            let found = match is_quoted {
                true => self.headers.find(&self.flags, folder, name),
                false => self.headers.find_in_folders(&self.flags, folder, name),
            };
            let Some(path) = found else { return };
            match active {
                true => self.header(path, true, defined),
                false => self.header(path, false, &mut defined.clone()),
            }
        })
    }

    fn header(&mut self, path: PathBuf, active: bool, defined: &mut Defined) {
        match self.met.insert(path.clone(), active) {
            None => {}
            // A file that was met where nobody sees it is met again.
            Some(false) if active => self.found.retain(|(known, _)| *known != path),
            Some(before) => {
                self.met.insert(path, before);
                return;
            }
        }
        let Some(found) = self.headers.read(&path, self.language) else { return };
        let flags = Arc::clone(&self.flags);
        let meanings = |defined: &Defined| -> Vec<(Option<String>, bool)> {
            let names = flags.predefined.names().map(|(name, _)| name);
            names.map(|name| (defined.get(name).cloned(), defined.is_decided(name))).collect()
        };
        let before = meanings(defined);
        let shown = stacker::maybe_grow(1 << 16, 1 << 20, || self.file(&found.outline, &path, defined));
        let names = flags.predefined.names().map(|(name, _)| name);
        let all = names.zip(before.iter().zip(meanings(defined)));
        let changed = all.filter(|(_, (old, new))| **old != *new).map(|(name, _)| name.to_owned());
        self.changed.extend(changed.filter(|_| active));
        self.modules(&found.used, &path);
        let header = found.part(&shown, &self.flags, self.headers);
        // Who tells headers apart by their declarations must not take two for one.
        let has_equal = self.found.iter().any(|(_, other)| other.is_same_text(&header));
        let own = || Arc::new(Header::showing(header.file.clone(), &shown));
        let header = if has_equal { own() } else { header };
        self.shown.insert(path.clone(), shown);
        self.found.push((path, header));
    }

    /// The files that options have compilers read before the file.
    fn first(&mut self, defined: &mut Defined) {
        for path in self.flags.first.clone() {
            self.header(path, true, defined);
        }
    }

    /// The one file that includes the file to translate, and does so at `at`, with what it includes and uses itself.
    fn includer(&mut self, path: &Path, at: u32) {
        if self.met.insert(path.to_path_buf(), true).is_some() {
            return;
        }
        let Some(found) = self.headers.read(path, self.language) else { return };
        let file = found.flags(&self.flags);
        let shown = self.file(&found.outline, path, &mut Defined::before(&file));
        self.modules(&found.used, path);
        let header = Header::including(file, &shown, at);
        self.found.push((path.to_path_buf(), Arc::new(header)));
    }

    /// The files that define these modules, which are compiled by themselves.
    fn modules(&mut self, used: &[String], real: &Path) {
        let folder = real.parent().unwrap_or(Path::new(""));
        for path in used.iter().filter_map(|name| self.headers.module(folder, name)) {
            let Some(found) = self.headers.read(&path, self.language) else { continue };
            let flags = Arc::clone(self.headers.flags(&path));
            let around = std::mem::replace(&mut self.flags, flags);
            let changed = self.changed.len();
            let mut defined = Defined::with(found.file.language, &self.flags.predefined);
            defined.assume(&self.assumed);
            self.header(path, true, &mut defined);
            self.changed.truncate(changed);
            self.flags = around;
        }
    }
}

impl Found {
    /// Its file as these options define its names.
    fn flags(&self, flags: &CompilerFlags) -> SourceFile {
        SourceFile { predefined: Arc::clone(&flags.predefined), ..self.file.clone() }
    }

    /// What a file is shown of it.
    fn part(&self, shown: &Shown, flags: &CompilerFlags, headers: &Headers) -> Arc<Header> {
        let part = (shown.hidden.clone(), shown.ruled_out.clone(), Arc::clone(&flags.predefined));
        let make = || {
            let file = self.flags(flags);
            let text = once(&headers.texts, (self.hash.clone(), file.language, part.clone()));
            let declarations = text.get_or_init(|| Arc::new(Declarations::of(&file, shown)));
            Arc::new(Header::with(file, Arc::clone(declarations)))
        };
        Arc::clone(once(&self.showing, part.clone()).get_or_init(make))
    }
}

/// Whether a file is a header of C or C++, by its name.
fn is_header(path: &Path) -> bool {
    path.to_str().and_then(cuda::header_ending).is_some()
}

/// The files that a Fortran file includes by their names between quotes, and where.
fn included_by(path: &Path, form: Form) -> Vec<(String, u32)> {
    let bytes = fs::read(path).unwrap_or_default();
    let language = scan::language_included(path, &bytes, Language::Fortran(form));
    let file = SourceFile::new(path.display().to_string(), bytes, language);
    let all = scan::fortran_includes(&file).into_iter().filter(|include| include.quoted);
    all.map(|include| (include.path, include.span.start)).collect()
}

/// The names, without folders, of what files in C and C++ include between quotes.
fn included_by_c(files: &HashSet<&Path>) -> HashSet<OsString> {
    let is_c = |path: &&&Path| Language::of(path).is_some_and(|language| !language.is_fortran());
    let names = files.par_iter().filter(is_c).flat_map_iter(|path| {
        let quoted = brief::included(&fs::read(path).unwrap_or_default())
            .into_iter()
            .filter(|(_, is_quoted)| *is_quoted);
        quoted.filter_map(|(name, _)| Path::new(&name).file_name().map(OsString::from)).collect::<Vec<_>>()
    });
    names.collect()
}

/// The variables that a header of C places on the device, as it is by itself.
fn declared(path: &Path, predefined: &Arc<Predefined>) -> Vec<String> {
    let bytes = fs::read(path).unwrap_or_default();
    let language = Language::of(path).unwrap_or(Language::Header);
    let has = |word: &[u8]| memchr::memmem::find(&bytes, word).is_some();
    let is_likely = (has(b"declare") || has(b"routine")) && scan::mentions_openacc(&bytes, language);
    match is_likely {
        true => {
            let file = SourceFile::new(path.display().to_string(), bytes, language);
            Header::placed(SourceFile { predefined: Arc::clone(predefined), ..file })
        }
        false => Vec::new(),
    }
}
