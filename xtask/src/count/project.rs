//! A folder of sources that belong together: translated, preprocessed before and after, and compared.
//!
//! Invariant: nothing is written but below a folder of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use acc2omp::cli::{Build, CompilerFlags, Headers};
use acc2omp::scan;
use acc2omp::source::{Language, Languages, Predefined, SourceFile};
use acc2omp::{Options as Translator, Outcome, SUPPORT, To, Translation, translate, whole_support};

use super::shown::{self, Define};
use crate::difftest::fixture::Fixture;
use crate::{Result, files, process};

/// No preprocessor may take longer.
const LIMIT: Duration = Duration::from_secs(60);

/// So many headers that are not there are taken for empty.
const STAND_INS: usize = 64;

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

/// A folder of sources, and what compilers get of them.
#[derive(Debug)]
pub struct Project {
    folder: PathBuf,
    options: Vec<String>,
    /// The folders with headers, below the folder.
    headers: Vec<PathBuf>,
    /// The translator gets the options, too.
    is_given: bool,
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
    /// Those that lead to one which was left untranslated.
    left: BTreeSet<String>,
}

impl Project {
    /// A fixture, with the options of its marks.
    pub fn of_fixture(fixture: &Fixture) -> Result<Project> {
        let is_given = fixture.marks.given;
        let project = Project::of_folder(&fixture.folder)?;
        Ok(Project { options: fixture.marks.options.clone(), is_given, ..project })
    }

    /// A folder of which nothing is said.
    pub fn of_folder(folder: &Path) -> Result<Project> {
        let folder = folder.canonicalize().map_err(|error| format!("{}: {error}", folder.display()))?;
        let mut headers: Vec<PathBuf> = Vec::new();
        for path in below(&folder)?.iter().filter(|path| is_header(path)) {
            let parent = path.parent().and_then(|parent| parent.strip_prefix(&folder).ok());
            headers.extend(parent.map(Path::to_path_buf).filter(|parent| !headers.contains(parent)));
        }
        Ok(Project { folder, options: Vec::new(), headers, is_given: false })
    }

    /// Counts, and prints what is wrong.
    pub fn count(&self) -> Result<Sum> {
        let work = tempfile::Builder::new().prefix("acc2omp-count-").tempdir();
        let work =
            work.and_then(|work| Ok((work.path().canonicalize()?, work))).map_err(|e| e.to_string())?;
        let (out, stand_ins) = (work.0.join("out"), work.0.join("stand-ins"));
        let files = self.translated(&out)?;
        let mut sum = Sum::default();
        let sources = files.list.iter().filter(|file| !is_header(&file.path));
        for file in sources {
            sum.files += 1;
            let names = shown::asked(&file.text).into_iter().filter(|name| !self.says(name));
            let branches = names.take(BRANCHES).map(|name| Some(format!("-D{name}")));
            for (number, more) in std::iter::once(None).chain(branches).enumerate() {
                let options: Vec<&str> =
                    self.options.iter().map(String::as_str).chain(more.as_deref()).collect();
                let old = self.preprocessed(&self.folder, file, "-fopenacc", &options, &stand_ins)?;
                let new = self.preprocessed(&out, file, "-fopenmp", &options, &stand_ins)?;
                sum.unread += usize::from(number == 0 && !old.1);
                let old = files.of_source(&self.folder, &old.0);
                let new = files.of_translation(&out, &new.0);
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

    /// Whether the options are about a name.
    fn says(&self, name: &str) -> bool {
        let head = |option: &String| option.get(2..).and_then(|rest| rest.split('=').next()) == Some(name);
        self.options.iter().any(head)
    }

    /// Translates the files, and writes what they become below `out`, with all that is beside them.
    fn translated(&self, out: &Path) -> Result<Files> {
        let all = below(&self.folder)?;
        let paths: Vec<&Path> = all.iter().map(PathBuf::as_path).collect();
        let mut predefined = Predefined::default();
        for option in self.options.iter().filter(|_| self.is_given) {
            match option.split_at(2) {
                ("-D", text) => predefined.define(text),
                (_, name) => predefined.undefine(name),
            }
        }
        let flags = CompilerFlags { predefined: Arc::new(predefined), ..CompilerFlags::default() };
        let languages = Languages::default();
        let roots = vec![self.folder.clone()];
        let headers = Headers::among(roots, &paths, To::OpenMp, &languages, Build::from(flags));
        let mut list = Vec::new();
        for real in &all {
            let bytes = fs::read(real).map_err(|error| format!("{}: {error}", real.display()))?;
            let path = real.strip_prefix(&self.folder).unwrap_or(real).to_path_buf();
            let place = out.join(&path);
            let Some(language) = scan::language_of(real, &bytes, &languages) else {
                files::write(&place, &bytes)?;
                continue;
            };
            let text = String::from_utf8_lossy(&bytes).into_owned();
            let source = headers.source(SourceFile::new(path.display().to_string(), bytes, language), real);
            let translation = translate(&source, &Translator::default());
            files::write(&place, &translation.text)?;
            if translation.needs_support {
                files::write(&place.with_file_name(SUPPORT), whole_support().as_bytes())?;
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
        stand_ins: &Path,
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
        for _ in 0..STAND_INS {
            let mut command = Command::new(program);
            command.args(["-E", language]).args(if is_fortran { &["-cpp"][..] } else { &[] });
            command.args(options).arg(&path);
            for below in &self.headers {
                command.arg("-I").arg(folder.join(below));
            }
            let output = process::capture(command.arg("-idirafter").arg(stand_ins), LIMIT)?;
            let read = output.succeeded();
            let stand_in = missing(&output.stderr).filter(|_| !read).map(|name| stand_ins.join(name));
            if stand_in.is_none_or(|file| files::write(&file, b"").is_err()) {
                return Ok((Preprocessed { name, text: output.stdout, is_fortran }, read));
            }
        }
        Err(format!("{name}: more than {STAND_INS} headers are missing"))
    }
}

/// The header that a preprocessor has not found: one that the sources' build makes, or that is not installed.
fn missing(said: &str) -> Option<&str> {
    let (_, rest) = said.split_once("fatal error: ").or_else(|| said.split_once("Fatal Error: "))?;
    let (name, _) = rest.split_once(": No such file")?;
    (!name.starts_with('/') && !name.contains("..")).then_some(name)
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
        let has_part =
            |word: &String| names.iter().any(|name| name.starts_with(word) || name.ends_with(word));
        let leads =
            |one: &&Define| one.words.iter().any(|word| names.contains(word) || one.pastes && has_part(word));
        let all = list.iter().flat_map(|file| &file.defines);
        let more = all.filter(|one| !names.contains(&one.name)).filter(leads);
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
    let given = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(given)? {
        let path = entry.map_err(given)?.path();
        let is_folder = path.is_dir();
        found.extend(if is_folder { below(&path)? } else { vec![path] });
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use acc2omp::Source;

    const TEXT: &str = "\
#define LOOP _Pragma(\"acc parallel loop\")
#define OUTER LOOP
#define OTHER
void f(int n, float a[10]) {
#pragma acc nonsense
    OUTER for (int i = 0; i < 10; i++) a[i] = i;
    OTHER n = 0;
}
";

    /// What is unknown of a preprocessed text, `# LINE` and a directive for each of these lines.
    fn unknown(lines: &[usize]) -> [usize; 2] {
        let source = Source::new("a.c", TEXT.as_bytes().to_vec(), Language::C);
        let translation = translate(&source, &Translator::default());
        let defines = shown::defines(TEXT);
        let text = TEXT.to_owned();
        let file = File { path: "a.c".into(), source: source.file, text, translation, defines };
        let files = Files::new(vec![file]);
        let text = lines.iter().map(|line| format!("# {line} \"/x/a.c\"\n#pragma acc loop\n")).collect();
        let shown = Preprocessed { name: "/x/a.c".to_owned(), text, is_fortran: false };
        let folder = Path::new("/x");
        [files.of_source(folder, &shown), files.of_translation(folder, &shown)].map(|(_, wrong)| wrong.len())
    }

    #[test]
    fn what_was_reported_is_known() {
        assert_eq!(unknown(&[5, 6, 6]), [0, 1]);
        assert_eq!(unknown(&[5]), [0, 0]);
    }

    #[test]
    fn what_was_not_is_found() {
        assert_eq!(unknown(&[5, 5]), [1, 1]);
        assert_eq!(unknown(&[6, 7]), [1, 2]);
    }

    #[test]
    fn headers_that_are_missing_are_named() {
        let said = "a.c:1:10: fatal error: sub/b.h: No such file or directory\n";
        assert_eq!(missing(said), Some("sub/b.h"));
        assert_eq!(missing("a.c:1:10: fatal error: ../b.h: No such file or directory\n"), None);
    }
}
