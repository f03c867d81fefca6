//! The command line of a compiler: which of its words are sources, and what is asked of them.
//!
//! Invariant: words that are not understood are passed on as they came.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::openacc::is_refused;
use crate::Profile;
use crate::cli::build::response;
use crate::source::{Form, Language, Languages};

/// Options whose value is the next word, in one compiler or another: what stands there is no source.
const WITH_VALUE: [&str; 50] = [
    "-A",
    "-B",
    "-D",
    "-G",
    "-I",
    "-J",
    "-L",
    "-MF",
    "-MJ",
    "-MQ",
    "-MT",
    "-T",
    "-U",
    "-V",
    "-Xarch_device",
    "-Xarch_host",
    "-Xassembler",
    "-Xclang",
    "-Xcompiler",
    "-Xflang",
    "-Xlinker",
    "-Xpreprocessor",
    "-Xptxas",
    "-arch",
    "-aux-info",
    "-b",
    "-ccbin",
    "-dumpbase",
    "-dumpdir",
    "-e",
    "-framework",
    "-h",
    "-idirafter",
    "-imacros",
    "-include",
    "-include-pch",
    "-iprefix",
    "-iquote",
    "-isysroot",
    "-isystem",
    "-l",
    "-mllvm",
    "-module",
    "-o",
    "-target",
    "-u",
    "-x",
    "-z",
    "--param",
    "--sysroot",
];

/// Options with which sources are only looked at: the compiler gets them as they are.
const ONLY_LOOKS: [&str; 8] = ["-E", "-M", "-MM", "-###", "--version", "-dM", "-dumpversion", "--help"];

/// How options begin that turn OpenMP on.
const OPENMP: [&str; 9] =
    ["-fopenmp", "-mp", "-qopenmp", "-fiopenmp", "-qsmp", "-homp", "-Kopenmp", "-openmp", "omp"];

/// Programs that run the compiler named after them.
const LAUNCHERS: [&str; 3] = ["ccache", "distcc", "sccache"];

/// A compiler's command line.
#[derive(Clone, Debug)]
pub struct Command {
    /// All words, the program first; files of options are written out.
    pub words: Vec<OsString>,
    /// The words of the command where no source is translated: as they were given, unless the compiler refuses some.
    pub run: Vec<OsString>,
    /// The places of its sources among the words, and their languages.
    pub sources: Vec<(usize, Language)>,
    /// The form of all Fortran sources, if options say it.
    pub form: Option<Form>,
    /// What `-o` names.
    pub output: Option<PathBuf>,
    /// Whether it ends before the link: `-c`, `-S`, `-fsyntax-only`.
    pub ends_early: bool,
    /// Whether a source is read from standard input.
    pub reads_stdin: bool,
    /// Whether sources are only looked at, as by `-E`.
    pub only_looks: bool,
    /// Whether an option turns OpenMP on.
    pub has_openmp: bool,
}

impl Command {
    /// Reads it; `directory` is where it runs.
    pub fn read(words: &[OsString], directory: &Path) -> Command {
        let given = words;
        let mut words: Vec<OsString> = words.iter().flat_map(|word| written_out(word, directory)).collect();
        let name = compiler(&words);
        let count = words.len();
        let family = Profile::of_compiler(&name);
        words.retain(|word| !is_refused(family.name(), word));
        let run = if words.len() < count { words.clone() } else { given.to_vec() };
        let mut command = Command {
            words: Vec::new(),
            run,
            sources: Vec::new(),
            form: None,
            output: None,
            ends_early: false,
            reads_stdin: false,
            only_looks: false,
            has_openmp: false,
        };
        let is_cpp = name.split('-').any(|part| part.ends_with("++"))
            || ["CC", "mpicxx", "icpx", "icpc", "mpiCC"].contains(&&*name);
        let mut asked: Option<Option<Language>> = None;
        let mut at = 1;
        while let Some(word) = words.get(at) {
            let text = word.to_string_lossy();
            let value = || words.get(at + 1).map(|word| word.to_string_lossy().into_owned());
            match &*text {
                "-c" | "-S" | "-fsyntax-only" => command.ends_early = true,
                "-o" => command.output = words.get(at + 1).map(PathBuf::from),
                "-x" => asked = value().map(|name| language_called(&name)),
                "-ffixed-form" | "-Mfixed" | "-fixed" => command.form = Some(Form::Fixed),
                "-ffree-form" | "-Mfree" | "-Mfreeform" | "-free" => command.form = Some(Form::Free),
                text if ONLY_LOOKS.contains(&text) => command.only_looks = true,
                text if text.starts_with("-x") && !text.starts_with("-xc++-") && !text.contains('=') => {
                    asked = language_called(&text[2..]).map(Some);
                }
                text if text.starts_with("-o") && text.len() > 2 && !text.starts_with("-openmp") => {
                    command.output = Some(PathBuf::from(&text[2..]));
                }
                _ => {}
            }
            command.reads_stdin |= text == "-";
            command.has_openmp |= OPENMP.iter().any(|begin| text.starts_with(begin));
            if WITH_VALUE.contains(&&*text) || text.starts_with("-Xopenmp-target") {
                at += 2;
                continue;
            }
            if !text.starts_with('-') {
                let known = Language::of(Path::new(word)).filter(|language| *language != Language::Header);
                let language = match asked {
                    Some(Some(language)) => Some(language),
                    Some(None) => None,
                    None => {
                        known.map(|known| if is_cpp && known == Language::C { Language::Cpp } else { known })
                    }
                };
                let is_file = || directory.join(word).is_file();
                if let Some(language) = language.filter(|_| is_file()) {
                    command.sources.push((at, language));
                }
            }
            at += 1;
        }
        command.words = words;
        command
    }

    /// The words, as text.
    pub fn texts(&self) -> Vec<String> {
        self.words.iter().map(|word| word.to_string_lossy().into_owned()).collect()
    }

    /// The languages of sources, as options say them.
    pub fn languages(&self) -> Languages {
        Languages { form: self.form, named: Vec::new() }
    }

    /// The name of the compiler, without folder.
    pub fn compiler(&self) -> String {
        compiler(&self.words)
    }

    /// Whether a preprocessor reads a source of Fortran whose language has no conditions.
    pub fn is_strict(&self, source: &Path) -> bool {
        let has = |begin: &str| self.words.iter().any(|word| word.to_string_lossy().starts_with(begin));
        let ending = source.extension().unwrap_or_default().to_string_lossy();
        has("-pedantic") && (has("-cpp") || ending.starts_with('F'))
    }

    /// The value after an option that is a word of its own.
    pub fn value(&self, option: &str) -> Option<&OsStr> {
        let at = self.words.iter().rposition(|word| word == option)?;
        self.words.get(at + 1).map(OsString::as_os_str)
    }
}

/// A word, or those in the file of options that it names.
fn written_out(word: &OsString, directory: &Path) -> Vec<OsString> {
    match word.to_str().filter(|text| text.starts_with('@')) {
        Some(text) => response(text.to_owned(), directory).into_iter().map(OsString::from).collect(),
        None => vec![word.clone()],
    }
}

/// The name of the compiler, without folder, after programs that only run it.
fn compiler(words: &[OsString]) -> String {
    let names = words.iter().map(|word| {
        let name = Path::new(word).file_name().unwrap_or(word);
        name.to_string_lossy().into_owned()
    });
    names.into_iter().find(|name| !LAUNCHERS.contains(&name.as_str())).unwrap_or_default()
}

/// The language that `-x` names; `None` for one that is not translated.
fn language_called(name: &str) -> Option<Language> {
    match name {
        "c" => Some(Language::C),
        "c++" => Some(Language::Cpp),
        "f77" | "f77-cpp-input" => Some(Language::Fortran(Form::Fixed)),
        "f95" | "f95-cpp-input" => Some(Language::Fortran(Form::Free)),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
