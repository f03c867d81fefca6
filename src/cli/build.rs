//! What compilers know of files: by options here, and by a compilation database.
//!
//! Invariant: options of the command line are said after those of the database, and of its entries for one file only what all
//! of them say of a name counts.

use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;

use super::place::read;
use crate::source::Predefined;

/// The name of a compilation database in its folder.
const DATABASE: &str = "compile_commands.json";

/// So many files of options are read for one word: they may name one another, and themselves. gcc reads as many.
const MOST: usize = 2000;

/// The options of a compiler that decide what it reads of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct CompilerFlags {
    /// The names that `-D` defines and `-U` does not.
    pub predefined: Arc<Predefined>,
    /// The folders of `-I`, in their order.
    pub folders: Vec<PathBuf>,
    /// Those of `-isystem` and the like, which come after: only what lies among the sources is read there.
    pub system: Vec<PathBuf>,
    /// The files of `-include`.
    pub first: Vec<PathBuf>,
}

/// How the files of a run are built.
#[derive(Debug, Default)]
pub struct Build {
    /// What the command line says of all files.
    all: Arc<CompilerFlags>,
    /// What the compilation database says of its files, with what the command line says.
    listed: HashMap<PathBuf, Arc<CompilerFlags>>,
    /// What all files of the database have in common.
    common: Arc<CompilerFlags>,
    /// Whether there is a database.
    pub has_database: bool,
}

/// An entry of a compilation database.
#[derive(Deserialize)]
struct Entry {
    directory: PathBuf,
    file: PathBuf,
    #[serde(default)]
    arguments: Vec<String>,
    command: Option<String>,
}

/// What an option asks for.
#[derive(Clone, Copy)]
enum Asks {
    Define,
    Undefine,
    Folder,
    System,
    First,
}

/// The options that say something of names and of headers, and whether their words may be one.
const OPTIONS: [(&str, Asks, bool); 18] = [
    ("-D", Asks::Define, true),
    ("-U", Asks::Undefine, true),
    ("-isystem", Asks::System, true),
    ("-idirafter", Asks::System, true),
    ("-iquote", Asks::Folder, true),
    ("-I", Asks::Folder, true),
    ("-include", Asks::First, true),
    ("-imacros", Asks::First, true),
    ("--include-directory=", Asks::Folder, true),
    ("--include-directory", Asks::Folder, false),
    ("--include-directory-after=", Asks::System, true),
    ("--include-directory-after", Asks::System, false),
    ("--include=", Asks::First, true),
    ("--include", Asks::First, false),
    ("--imacros=", Asks::First, true),
    ("--imacros", Asks::First, false),
    ("--define-macro=", Asks::Define, true),
    ("--undefine-macro=", Asks::Undefine, true),
];

/// The file of a compilation database that `-p` names.
pub fn database_file(path: &Path) -> PathBuf {
    if path.is_dir() { path.join(DATABASE) } else { path.to_path_buf() }
}

impl Build {
    /// How files are built that the command line says this of, and a compilation database, perhaps.
    pub fn new(all: CompilerFlags, database: Option<&Path>) -> Result<Build, String> {
        let Some(path) = database else { return Ok(Build::from(all)) };
        let path = database_file(path);
        let bytes = read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let entries: Vec<Entry> =
            serde_json::from_slice(&bytes).map_err(|error| format!("{}: {error}", path.display()))?;
        let place = path.parent().and_then(|folder| folder.canonicalize().ok()).unwrap_or_default();
        let mut files: HashMap<PathBuf, CompilerFlags> = HashMap::new();
        for entry in entries {
            let directory = place.join(&entry.directory);
            // What is not there any more is not a file of the run.
            let Ok(file) = directory.join(&entry.file).canonicalize() else { continue };
            let words = entry.words();
            if words.is_empty() {
                // Nothing is said of the file, which counts as one that the database lacks.
                continue;
            }
            let flags = CompilerFlags::read(words, &directory);
            files.entry(file).and_modify(|known| known.join(&flags)).or_insert(flags);
        }
        let each = files.values();
        let common = each.cloned().reduce(|mut all, one| {
            all.join(&one);
            all
        });
        let with_all = |flags: CompilerFlags| Arc::new(flags.and(&all));
        let common = with_all(common.unwrap_or_default());
        let listed = files.into_iter().map(|(file, flags)| (file, with_all(flags))).collect();
        Ok(Build { listed, common, has_database: true, ..Build::from(all) })
    }

    /// How a file is built that is reported `all`, beside others of which something else is known.
    pub fn beside(all: CompilerFlags, others: HashMap<PathBuf, CompilerFlags>) -> Build {
        let all = Arc::new(all);
        let listed = others.into_iter().map(|(file, flags)| (file, Arc::new(flags))).collect();
        Build { listed, common: Arc::clone(&all), all, has_database: false }
    }

    /// What is said of a file that is compiled by itself; `None` if the database does not know it.
    pub fn listed(&self, file: &Path) -> Option<&Arc<CompilerFlags>> {
        let known = self.listed.get(file);
        if self.has_database { known } else { known.or(Some(&self.all)) }
    }

    /// What is said of a file that others include.
    pub fn of_included(&self) -> &Arc<CompilerFlags> {
        if self.has_database { &self.common } else { &self.all }
    }

    /// What is said of any file.
    pub fn of_all(&self) -> &Arc<CompilerFlags> {
        &self.all
    }
}

impl From<CompilerFlags> for Build {
    fn from(all: CompilerFlags) -> Build {
        Build { all: Arc::new(all), ..Build::default() }
    }
}

impl Entry {
    fn words(&self) -> Vec<String> {
        match &self.command {
            Some(command) if self.arguments.is_empty() => shlex::split(command).unwrap_or_default(),
            _ => self.arguments.clone(),
        }
    }
}

impl CompilerFlags {
    /// Reads the words of a compiler's command, which runs in `directory`.
    pub fn read(words: Vec<String>, directory: &Path) -> CompilerFlags {
        let words: Vec<String> = words.into_iter().flat_map(|word| response(word, directory)).collect();
        let mut flags = CompilerFlags::without_first(&words, directory);
        flags.find_first(&words, directory, &|_| None);
        flags
    }

    /// Reads these words; the files of `-include` are still to find.
    pub fn without_first(words: &[String], directory: &Path) -> CompilerFlags {
        let parts = parts(words);
        let mut flags = CompilerFlags::default();
        for (asks, value) in said(&parts) {
            flags.add(asks, value.text, directory);
        }
        for (part, next) in parts.iter().zip(parts.iter().skip(1).map(Some).chain([None])) {
            if let Some(column) = last_column(part.text, next.map(|next| next.text)) {
                Arc::make_mut(&mut flags.predefined).end_lines_at(column);
            }
        }
        flags
    }

    /// Finds the files of `-include`: what this does not say is asked for.
    pub fn find_first(&mut self, words: &[String], directory: &Path, ask: &dyn Fn(&str) -> Option<PathBuf>) {
        let names = first_names(words);
        let found = names.iter().filter_map(|name| self.included_first(name.text, directory, ask));
        self.first = found.collect();
    }

    /// The file that `-include` means.
    pub fn included_first(
        &self,
        name: &str,
        directory: &Path,
        ask: &dyn Fn(&str) -> Option<PathBuf>,
    ) -> Option<PathBuf> {
        self.included(Some(directory), name).or_else(|| ask(name))
    }

    fn add(&mut self, asks: Asks, value: &str, directory: &Path) {
        let predefined = Arc::make_mut(&mut self.predefined);
        let folder = || directory.join(value).canonicalize().ok().filter(|folder| folder.is_dir());
        match asks {
            Asks::Define => predefined.define(value),
            Asks::Undefine => predefined.undefine(value),
            Asks::Folder => self.folders.extend(folder()),
            Asks::System => self.system.extend(folder()),
            Asks::First => {}
        }
    }

    /// The file that an inclusion means where a compiler gets this: the first of its name beside the file that includes it
    /// (unless the name stands between angle brackets) and in the folders of the options.
    pub fn included(&self, beside: Option<&Path>, name: &str) -> Option<PathBuf> {
        let folders = self.folders.iter().chain(&self.system).map(PathBuf::as_path);
        let mut places = beside.into_iter().chain(folders).map(|folder| folder.join(name));
        places.find(|path| path.is_file()).and_then(|path| in_real_folder(&path))
    }

    /// Adds the folders that the environment names (`CPATH` and the like), which come after those of options.
    pub fn add_environment(&mut self, names: &[&str]) {
        let paths = names.iter().filter_map(std::env::var_os);
        let folders = paths.flat_map(|paths| std::env::split_paths(&paths).collect::<Vec<_>>());
        self.system.extend(folders.filter_map(|folder| folder.canonicalize().ok()));
    }

    /// Keeps of names what another command for the file says, too, and adds its folders.
    fn join(&mut self, other: &CompilerFlags) {
        Arc::make_mut(&mut self.predefined).keep_common(&other.predefined);
        self.add_places(other);
    }

    /// With what `all` says after it; its folders come first.
    fn and(self, all: &CompilerFlags) -> CompilerFlags {
        let mut flags = CompilerFlags { predefined: self.predefined.clone(), ..all.clone() };
        Arc::make_mut(&mut flags.predefined).extend(&all.predefined);
        flags.add_places(&self);
        flags
    }

    fn add_places(&mut self, other: &CompilerFlags) {
        let add = |own: &mut Vec<PathBuf>, other: &[PathBuf]| {
            for path in other {
                if !own.contains(path) {
                    own.push(path.clone());
                }
            }
        };
        add(&mut self.folders, &other.folders);
        add(&mut self.system, &other.system);
        add(&mut self.first, &other.first);
    }
}

/// The last column of Fortran's fixed form that a word of a command asks for, 0 for all columns, in one compiler or another.
fn last_column(word: &str, next: Option<&str>) -> Option<usize> {
    /// What Intel's and NVIDIA's compilers read of long lines.
    const LONG: usize = 132;
    let long = || next.and_then(|next| next.parse().ok()).unwrap_or(LONG);
    match word {
        "-extend-source" | "-extend_source" => Some(long()),
        "-Mextend" | "-132" => Some(LONG),
        "-80" => Some(80),
        _ => {
            let value =
                word.strip_prefix("-ffixed-line-length").and_then(|rest| rest.strip_prefix(['-', '=']));
            match value.or_else(|| word.strip_prefix("-extend-source:"))? {
                "none" | "unlimited" => Some(0),
                number => number.parse().ok(),
            }
        }
    }
}

/// A word of a command, or those in the file that it names: `@FILE`.
pub fn response(word: String, directory: &Path) -> Vec<String> {
    let mut all = Vec::new();
    expand(word, directory, &mut { MOST }, &mut all);
    all
}

/// `most`: so many files may still be read.
fn expand(word: String, directory: &Path, most: &mut usize, all: &mut Vec<String>) {
    let file = word.strip_prefix('@').filter(|_| *most > 0);
    match file.and_then(|name| read(&directory.join(name)).ok()) {
        Some(text) => {
            *most -= 1;
            let words = shlex::split(&String::from_utf8_lossy(&text)).unwrap_or_default();
            words.into_iter().for_each(|word| expand(word, directory, most, all));
        }
        None => all.push(word),
    }
}

/// A path whose folder has no links: compilers look for a file's inclusions beside the name that it has, link or not.
pub fn in_real_folder(path: &Path) -> Option<PathBuf> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Some(folder.canonicalize().ok()?.join(path.file_name()?))
}

/// A word as the preprocessor gets it: one of a command's, or a part of one.
#[derive(Clone, Debug)]
pub struct WordPart<'a> {
    /// The place of the word of the command.
    pub at: usize,
    /// The bytes of that word.
    pub bytes: Range<usize>,
    /// What they say.
    pub text: &'a str,
}

/// The words for the preprocessor: those after `-Wp,` are several, and those that are handed on stand after an option.
fn parts(words: &[String]) -> Vec<WordPart<'_>> {
    const HANDS_ON: [&str; 3] = ["-Xpreprocessor", "-Xclang", "-Xflang"];
    let mut all = Vec::new();
    for (at, word) in words.iter().enumerate().filter(|(_, word)| !HANDS_ON.contains(&word.as_str())) {
        let after = word.strip_prefix("-Wp,").or_else(|| word.strip_prefix("-WF,"));
        let mut start = word.len() - after.map_or(word.len(), str::len);
        for text in after.map_or(vec![word.as_str()], |words| words.split(',').collect()) {
            all.push(WordPart { at, bytes: start..start + text.len(), text });
            start += text.len() + 1;
        }
    }
    all
}

/// What the words for the preprocessor ask for.
fn said<'a>(parts: &[WordPart<'a>]) -> Vec<(Asks, WordPart<'a>)> {
    let mut all = Vec::new();
    let mut rest = parts.iter();
    while let Some(part) = rest.next() {
        let option =
            OPTIONS.iter().find_map(|(name, asks, may_be_one)| match part.text.strip_prefix(name)? {
                "" => Some((*asks, rest.next()?.clone())),
                // Others begin so: `-include-pch`.
                value if matches!(asks, Asks::First) && value.starts_with('-') => None,
                text => may_be_one.then(|| {
                    let start = part.bytes.end - text.len();
                    (*asks, WordPart { at: part.at, bytes: start..part.bytes.end, text })
                }),
            });
        all.extend(option);
    }
    all
}

/// Where the words of a command name the files of `-include`.
pub fn first_names(words: &[String]) -> Vec<WordPart<'_>> {
    let all = said(&parts(words)).into_iter().filter(|(asks, _)| matches!(asks, Asks::First));
    all.map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests;
