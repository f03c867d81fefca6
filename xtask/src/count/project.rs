//! A folder of sources that belong together: translated, preprocessed before and after, and compared.
//!
//! Invariant: nothing is written but below a folder of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use acc2omp::cli::{Build, Headers, Told};
use acc2omp::scan;
use acc2omp::source::{Language, Languages, Predefined, SourceFile};
use acc2omp::{Options as Translator, Outcome, SUPPORT, To, Translation, translate};

use super::shown::{self, Define};
use crate::difftest::fixture::Fixture;
use crate::{Result, process};

/// No preprocessor may take longer.
const LIMIT: Duration = Duration::from_secs(60);

/// So many of the names that conditions of a file ask for are defined, one at a time.
const BRANCHES: usize = 8;

/// What was counted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sum {
    /// Sources.
    pub files: usize,
    /// Sources of which the preprocessor could not read all.
    pub unread: usize,
    /// Directives that it shows.
    pub shown: usize,
    /// Those that it shows of translations.
    pub left: usize,
    /// Those that the translator does not know.
    pub wrong: usize,
}

impl Sum {
    /// The sum of two.
    pub fn and(self, more: Sum) -> Sum {
        Sum {
            files: self.files + more.files,
            unread: self.unread + more.unread,
            shown: self.shown + more.shown,
            left: self.left + more.left,
            wrong: self.wrong + more.wrong,
        }
    }
}

/// A folder of sources, and what compilers are told of them.
#[derive(Debug)]
pub struct Project {
    folder: PathBuf,
    options: Vec<String>,
    /// The translator is told of the options, too.
    is_told: bool,
}

/// A file of the folder.
struct File {
    /// Its path below the folder.
    path: PathBuf,
    source: SourceFile,
    text: String,
    translation: Translation,
    defines: Vec<Define>,
}

/// The files of a folder, and the macros that stand for directives.
struct Files {
    list: Vec<File>,
    /// Where each file is in the list.
    by_path: BTreeMap<PathBuf, usize>,
    /// The macros that lead to a directive which was reported.
    reported: BTreeSet<String>,
    /// Those that lead to one which was left.
    left: BTreeSet<String>,
}

impl Project {
    /// A fixture, with the options of its marks.
    pub fn of_fixture(fixture: &Fixture) -> Result<Project> {
        let is_told = fixture.marks.told;
        let project = Project::of_folder(&fixture.folder)?;
        Ok(Project { options: fixture.marks.options.clone(), is_told, ..project })
    }

    /// A folder of which nothing is said.
    pub fn of_folder(folder: &Path) -> Result<Project> {
        let folder = folder.canonicalize().map_err(|error| format!("{}: {error}", folder.display()))?;
        Ok(Project { folder, options: Vec::new(), is_told: false })
    }

    /// Counts, and prints what is wrong.
    pub fn count(&self) -> Result<Sum> {
        let work = tempfile::Builder::new().prefix("acc2omp-count-").tempdir();
        let work = work.and_then(|work| Ok((work.path().canonicalize()?, work))).map_err(|e| e.to_string())?;
        let files = self.translated(&work.0)?;
        let mut sum = Sum::default();
        let sources = files.list.iter().filter(|file| !is_header(&file.path));
        for file in sources {
            sum.files += 1;
            let names = shown::asked(&file.text).into_iter().filter(|name| !self.says(name));
            let branches = names.take(BRANCHES).map(|name| Some(format!("-D{name}")));
            for (number, more) in std::iter::once(None).chain(branches).enumerate() {
                let options: Vec<&str> =
                    self.options.iter().map(String::as_str).chain(more.as_deref()).collect();
                let old = self.preprocessed(&self.folder, file, "-fopenacc", &options)?;
                let new = self.preprocessed(&work.0, file, "-fopenmp", &options)?;
                sum.unread += usize::from(number == 0 && !old.1);
                let old = files.of_source(&self.folder, &old.0);
                let new = files.of_translation(&work.0, &new.0);
                sum.shown += old.0;
                sum.left += new.0;
                sum.wrong += old.1.len() + new.1.len();
                for line in old.1.iter().chain(&new.1) {
                    println!("{}/{line} ({})", self.folder.display(), options.join(" "));
                }
            }
        }
        Ok(sum)
    }

    /// Whether the options speak of a name.
    fn says(&self, name: &str) -> bool {
        let head = |option: &String| option.get(2..).and_then(|rest| rest.split('=').next()) == Some(name);
        self.options.iter().any(head)
    }

    /// Translates the files, and writes what they become below `out`, with all that is beside them.
    fn translated(&self, out: &Path) -> Result<Files> {
        let all = below(&self.folder)?;
        let paths: Vec<&Path> = all.iter().map(PathBuf::as_path).collect();
        let mut predefined = Predefined::default();
        for option in self.options.iter().filter(|_| self.is_told) {
            match option.split_at(2) {
                ("-D", text) => predefined.define(text),
                (_, name) => predefined.undefine(name),
            }
        }
        let told = Told { predefined: Arc::new(predefined), ..Told::default() };
        let languages = Languages::default();
        let roots = vec![self.folder.clone()];
        let headers = Headers::among(roots, &paths, To::OpenMp, &languages, Build::from(told));
        let mut list = Vec::new();
        for real in &all {
            let bytes = fs::read(real).map_err(|error| format!("{}: {error}", real.display()))?;
            let path = real.strip_prefix(&self.folder).unwrap_or(real).to_path_buf();
            let place = out.join(&path);
            let parent = place.parent().unwrap_or(out);
            fs::create_dir_all(parent).map_err(|error| error.to_string())?;
            let Some(language) = scan::language_of(real, &bytes, &languages) else {
                fs::write(&place, &bytes).map_err(|error| error.to_string())?;
                continue;
            };
            let text = String::from_utf8_lossy(&bytes).into_owned();
            let source = headers.source(SourceFile::new(path.display().to_string(), bytes, language), real);
            let translation = translate(&source, &Translator::default());
            fs::write(&place, &translation.text).map_err(|error| error.to_string())?;
            if translation.needs_support {
                fs::write(parent.join(SUPPORT.0), SUPPORT.1).map_err(|error| error.to_string())?;
            }
            let defines = shown::defines(&text);
            list.push(File { path, source: source.file, text, translation, defines });
        }
        Ok(Files::new(list))
    }

    /// What the preprocessor makes of a file below `folder`, and whether it could read all of it.
    fn preprocessed(
        &self,
        folder: &Path,
        file: &File,
        language: &str,
        options: &[&str],
    ) -> Result<(Preprocessed, bool)> {
        let path = folder.join(&file.path);
        let is_fortran = file.source.language.is_fortran();
        let name = path.display().to_string();
        let ending = path.extension().unwrap_or_default().to_string_lossy();
        if is_fortran && !ending.starts_with('F') && !file.text.lines().any(|line| line.starts_with('#')) {
            let bytes = fs::read(&path).map_err(|error| format!("{name}: {error}"))?;
            let text = String::from_utf8_lossy(&bytes).into_owned();
            return Ok((Preprocessed { name, text, is_fortran }, true));
        }
        let program = match file.source.language {
            Language::Fortran(_) => "gfortran",
            Language::C => "gcc",
            _ => "g++",
        };
        let mut command = Command::new(program);
        command.args(["-E", language]).args(if is_fortran { &["-cpp"][..] } else { &[] });
        command.args(options).arg(format!("-I{}", folder.display())).arg(&path);
        let output = process::capture(&mut command, LIMIT)?;
        let read = output.succeeded();
        Ok((Preprocessed { name, text: output.stdout, is_fortran }, read))
    }
}

/// What a preprocessor has written of a file.
struct Preprocessed {
    name: String,
    text: String,
    is_fortran: bool,
}

/// How many directives were shown, and a line for each place where the translator does not know of them.
type Counted = (usize, Vec<String>);

impl Files {
    fn new(list: Vec<File>) -> Files {
        let by_path = list.iter().enumerate().map(|(at, file)| (file.path.clone(), at)).collect();
        let reported = leading(&list, |_| true);
        let left = leading(&list, |outcome| outcome == Outcome::Left);
        Files { list, by_path, reported, left }
    }

    fn file(&self, folder: &Path, name: &str) -> Option<&File> {
        let path = Path::new(name).strip_prefix(folder).ok()?;
        self.by_path.get(path).map(|at| &self.list[*at])
    }

    /// What is shown of a source.
    fn of_source(&self, folder: &Path, of: &Preprocessed) -> Counted {
        let mut wrong = Vec::new();
        let mut count = 0;
        for ((name, line), shown) in shown::directives(&of.name, &of.text, of.is_fortran) {
            let Some(file) = self.file(folder, &name) else { continue };
            count += shown;
            let known = file.reports(line, |_| true);
            if known < shown && !file.names(line, &self.reported) {
                let place = file.path.display();
                wrong.push(format!("{place}:{line}: {shown} shown, {known} reported"));
            }
        }
        (count, wrong)
    }

    /// What is still shown of a translation.
    fn of_translation(&self, folder: &Path, of: &Preprocessed) -> Counted {
        let mut wrong = Vec::new();
        let mut count = 0;
        for ((name, line), shown) in shown::directives(&of.name, &of.text, of.is_fortran) {
            let Some(file) = self.file(folder, &name) else { continue };
            count += shown;
            let origin = file.origin(line);
            let is_left = |outcome: Outcome| outcome == Outcome::Left;
            let known = origin.map_or(0, |line| file.reports(line, is_left));
            let is_named = origin.is_some_and(|line| file.names(line, &self.left));
            if known < shown && !is_named {
                let place = file.path.display();
                let line = origin.map_or_else(|| format!("translation:{line}"), |line| line.to_string());
                wrong.push(format!("{place}:{line}: {shown} in the translation, {known} reported as left"));
            }
        }
        (count, wrong)
    }
}

impl File {
    /// How many directives were reported that have a part on a line.
    fn reports(&self, line: usize, is_meant: impl Fn(Outcome) -> bool) -> usize {
        let lines = &self.source.lines;
        let covers = |first: u32, last: u32| (lines.line(first)..=lines.line(last)).contains(&(line - 1));
        let all = self.translation.directives.iter().filter(|one| is_meant(one.outcome));
        all.filter(|one| covers(one.span.start, one.span.end.max(one.span.start + 1) - 1)).count()
    }

    /// Whether a line with its continuations has one of these words.
    fn names(&self, line: usize, names: &BTreeSet<String>) -> bool {
        let lines: Vec<&str> = self.text.lines().collect();
        let (whole, _) = shown::logical(&lines, line - 1);
        shown::words(&whole).iter().any(|word| names.contains(word))
    }

    /// The line of the source that a line of the translation is; `None` for one that the translation has put in.
    fn origin(&self, line: usize) -> Option<usize> {
        let lines = acc2omp::source::LineIndex::new(&self.translation.text);
        let start = lines.span(line - 1).start;
        let (mut old, mut new) = (0, 0);
        for edit in &self.translation.edits {
            if start < new + (edit.span.start - old) {
                break;
            }
            new += edit.span.start - old + edit.text.len() as u32;
            old = edit.span.end;
            if start < new {
                return None;
            }
        }
        Some(self.source.lines.line(old + (start - new)) + 1)
    }
}

/// The macros with reports of an outcome on their lines, and those whose bodies name one of them.
fn leading(list: &[File], is_meant: impl Fn(Outcome) -> bool) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for file in list {
        let has = |one: &&Define| (one.lines.0..=one.lines.1).any(|line| file.reports(line, &is_meant) > 0);
        names.extend(file.defines.iter().filter(has).map(|one| one.name.clone()));
    }
    loop {
        let all = list.iter().flat_map(|file| &file.defines);
        let more = all.filter(|one| !names.contains(&one.name) && one.words.iter().any(|w| names.contains(w)));
        let more: Vec<String> = more.map(|one| one.name.clone()).collect();
        if more.is_empty() {
            return names;
        }
        names.extend(more);
    }
}

fn is_header(path: &Path) -> bool {
    let ending = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    ending.starts_with('h') || ["inc", "fh", "cuh"].contains(&ending.as_str())
}

/// All files of a folder and its folders, sorted.
fn below(folder: &Path) -> Result<Vec<PathBuf>> {
    let told = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(told)? {
        let path = entry.map_err(told)?.path();
        let is_folder = path.is_dir();
        found.extend(if is_folder { below(&path)? } else { vec![path] });
    }
    found.sort();
    Ok(found)
}
