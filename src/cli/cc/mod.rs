//! `acc2omp cc`: translates the sources on a compiler's command line, and compiles the translations in their place.
//!
//! Invariant: the compiler gets its command line with other paths for translated sources, and nothing else; its status is ours.

mod command;
mod depend;
mod lines;
mod mirror;
mod modules;
mod record;

use std::collections::HashMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{self, ExitCode, ExitStatus};

use super::batch::manner;
use super::build::{Build, Told};
use super::headers::Headers;
use super::{fail, tell};
use crate::source::{Language, SourceFile};
use crate::{Options, Profile, Translation, report, scan, translate};

use command::Command;
use mirror::{Files, Mirror};

/// What the user asks for.
pub struct Task {
    /// The compiler's command line.
    pub words: Vec<OsString>,
    /// What to translate to.
    pub options: Options,
    /// Whether the user names a profile.
    pub has_profile: bool,
    /// The compilation database to write to.
    pub record: Option<PathBuf>,
    /// Nothing is said of the translation.
    pub quiet: bool,
    /// Every note is said in full.
    pub verbose: bool,
}

/// A source of the command line, and what came of it.
struct Unit {
    /// The place of its word.
    at: usize,
    /// Its path without links.
    real: PathBuf,
    files: Files,
    /// The files that change.
    translations: HashMap<PathBuf, Translation>,
}

/// Compiles, and returns the compiler's status.
pub fn run(task: &Task) -> ExitCode {
    match attempt(task) {
        Ok(status) => status,
        Err(error) => ExitCode::from(fail(&error.to_string()) as u8),
    }
}

fn attempt(task: &Task) -> io::Result<ExitCode> {
    let here = std::env::current_dir()?;
    let command = Command::read(&task.words, &here);
    if command.sources.is_empty() || command.only_looks {
        return Ok(exit_code(execute(&task.words)?));
    }
    if let Some(database) = &task.record {
        record::add(database, &command, &here)?;
    }
    let told = Told::read(command.texts(), &here);
    let mut units = Vec::new();
    for (at, language) in &command.sources {
        units.push(unit(task, &command, (*at, *language), &told, &here)?);
    }
    if units.iter().all(|unit| unit.translations.is_empty()) {
        return Ok(exit_code(execute(&task.words)?));
    }
    if !command.has_openmp && !task.quiet {
        let compiler = command.compiler();
        tell(&format!(
            "warning: no option of the command turns OpenMP on: {compiler} will not see the directives of the translation\n"
        ));
    }
    let mirror = Mirror::new()?;
    let words = write(&command, &units, &told, &mirror)?;
    let status =
        process::Command::new(&words[0]).args(&words[1..]).status().map_err(|error| about(&words, &error))?;
    depend::mend(
        &command,
        &units.iter().map(|unit| (unit.at, unit.real.as_path())).collect::<Vec<_>>(),
        &mirror,
        &here,
    )?;
    Ok(exit_code(status))
}

/// Reads a source with what it includes and uses, and translates what holds OpenACC of it.
fn unit(
    task: &Task,
    command: &Command,
    (at, language): (usize, Language),
    told: &Told,
    here: &Path,
) -> io::Result<Unit> {
    let path = here.join(&command.words[at]);
    let about = |error: io::Error| super::place::about(&path, &error);
    let real = path.canonicalize().map_err(about)?;
    let bytes = std::fs::read(&real).map_err(about)?;
    if bytes.len() >= u32::MAX as usize {
        return Err(about(io::Error::other("larger than 4 GiB")));
    }
    let language = match language {
        Language::Fortran(_) => scan::language_of(&path, &bytes, &command.languages()).unwrap_or(language),
        language => language,
    };
    let name = command.words[at].to_string_lossy().into_owned();
    let modules =
        if language.is_fortran() { modules::known(command, &bytes, told, here) } else { HashMap::new() };
    if language.is_fortran() {
        modules::remember(command, &bytes, &real, here);
    }
    let files = mirror::read(SourceFile::new(name, bytes, language), &real, told);
    let mut unit = Unit { at, real, files, translations: HashMap::new() };
    let mentions = |file: &SourceFile| scan::mentions_openacc(&file.bytes, file.language);
    let some = unit.files.values().any(|read| mentions(&read.file));
    if !some && modules.is_empty() {
        return Ok(unit);
    }
    let roots = unit.files.keys().filter_map(|path| path.parent()).map(Path::to_path_buf).collect();
    let known: Vec<PathBuf> = unit.files.keys().chain(modules.keys()).cloned().collect();
    let known: Vec<&Path> = known.iter().map(PathBuf::as_path).collect();
    let build = Build::beside(told.clone(), modules);
    let headers = Headers::among(roots, &known, task.options.to, &command.languages(), build);
    let options = options(task, command);
    for (path, read) in &unit.files {
        if !mentions(&read.file) && !headers.serves(read.file.language, &read.file.bytes) {
            continue;
        }
        let source = headers.source(read.file.clone(), path);
        let translation = translate(&source, &options);
        if !task.quiet {
            tell(&report::diagnostics(&source.file, &translation.diagnostics, manner(task.verbose)));
        }
        if translation.text != read.file.bytes {
            unit.translations.insert(path.clone(), translation);
        }
    }
    Ok(unit)
}

/// The options, with the profile of the compiler unless the user names one.
fn options(task: &Task, command: &Command) -> Options {
    let profile =
        if task.has_profile { task.options.profile } else { Profile::of_compiler(&command.compiler()) };
    Options { profile, ..task.options.clone() }
}

/// Writes all translations, and returns the words of the command that compiles them.
fn write(command: &Command, units: &[Unit], told: &Told, mirror: &Mirror) -> io::Result<Vec<OsString>> {
    let mut words = command.words.clone();
    for unit in units {
        let needed = mirror::needed(&unit.files, unit.translations.keys().cloned());
        for path in &needed {
            let read = &unit.files[path];
            let translation = unit.translations.get(path);
            let text = translation.map_or(&read.file.bytes, |translation| &translation.text);
            mirror.file(path, read, text, &read.file.name, &needed)?;
            if translation.is_some_and(|translation| translation.needs_support) {
                mirror.support(path)?;
            }
        }
        if needed.contains(&unit.real) {
            mirror.link(&unit.files)?;
            words[unit.at] = mirror.place(&unit.real).into_os_string();
        }
    }
    let has_fortran = command.sources.iter().any(|(_, language)| language.is_fortran());
    if has_fortran {
        // Before the folder itself, the mirror's is searched.
        let folders = told.folders.iter().map(|folder| mirror.place(folder)).filter(|place| place.is_dir());
        let options = folders.map(|place| OsString::from(format!("-I{}", place.display())));
        let at = 1 + words.iter().position(|word| *word == command.words[0]).unwrap_or_default();
        words.splice(at..at, options);
    }
    Ok(words)
}

/// Runs a command whose sources are not translated.
fn execute(words: &[OsString]) -> io::Result<ExitStatus> {
    let (program, rest) = words.split_first().ok_or_else(|| io::Error::other("there is no compiler"))?;
    let mut command = process::Command::new(program);
    command.args(rest);
    become_it(&mut command).map_err(|error| about(words, &error))
}

/// Gives the process to the command, where that can be.
#[cfg(unix)]
fn become_it(command: &mut process::Command) -> io::Result<ExitStatus> {
    Err(std::os::unix::process::CommandExt::exec(command))
}

#[cfg(not(unix))]
fn become_it(command: &mut process::Command) -> io::Result<ExitStatus> {
    command.status()
}

fn about(words: &[OsString], error: &io::Error) -> io::Error {
    super::place::about(Path::new(&words[0]), error)
}

/// The status of a compiler, as a shell says it: one that a signal ended has 128 and the signal's number.
fn exit_code(status: ExitStatus) -> ExitCode {
    #[cfg(unix)]
    let signal = std::os::unix::process::ExitStatusExt::signal(&status).map(|signal| 128 + signal);
    #[cfg(not(unix))]
    let signal = None;
    let code = status.code().or(signal).unwrap_or(1);
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}
