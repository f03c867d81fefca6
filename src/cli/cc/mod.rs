//! `acc2omp cc`: translates the sources on a compiler's command line, and compiles the translations instead.
//!
//! Invariant: the compiler gets its command line with other paths for translated sources, and nothing else; its status is ours.

mod command;
mod depend;
mod device;
mod folders;
mod interfaces;
mod lines;
mod mirror;
mod modules;
mod objects;
mod openacc;
mod record;
mod run;
mod traces;
mod unseen;

use std::collections::HashMap;
use std::ffi::OsString;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::process::{self, ExitCode, ExitStatus};

use super::batch::manner;
use super::build::{Build, CompilerFlags, first_names, in_real_folder};
use super::config::Overrides;
use super::files::as_name;
use super::headers::Headers;
use super::{fail, notify};
use crate::source::{Form, Language, SourceFile};
use crate::{Options, Profile, Source, To, Translation, report, scan, translate};

use command::Command;
use device::Nvcc;
use folders::Folders;
use mirror::{Files, Mirror};

/// Variables of the environment that name folders of headers, for compilers of C and C++.
const ENVIRONMENT: [&str; 3] = ["CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH"];

/// What the user asks for.
pub struct Task {
    /// The compiler's command line.
    pub words: Vec<OsString>,
    /// What to translate to.
    pub options: Options,
    /// The options of sources that differ from these.
    pub overrides: Overrides,
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
    /// The places of the other sources.
    others: Vec<usize>,
    /// Its path, in a folder without links.
    real: PathBuf,
    files: Files,
    mirror: Mirror,
    /// The files that change.
    translations: HashMap<PathBuf, Translation>,
}

/// How the sources of a command are read.
struct Reading<'a> {
    task: &'a Task,
    command: &'a Command,
    /// What the compiler gets.
    flags: CompilerFlags,
    /// Where it searches by itself.
    searched: Folders,
    /// Where it runs.
    here: &'a Path,
}

impl Reading<'_> {
    fn of<'a>(task: &'a Task, command: &'a Command, here: &'a Path) -> Reading<'a> {
        let words = command.texts();
        let mut flags = CompilerFlags::without_first(&words, here);
        flags.add_environment(&ENVIRONMENT);
        let language = command.sources.first().map_or(Language::C, |(_, language)| *language);
        let others: Vec<usize> = command.sources.iter().map(|(at, _)| *at).collect();
        let searched = Folders::of(&unseen::asking(&command.words, &others), language, here);
        flags.find_first(&words, here, &|name| searched.find(name).ok().flatten());
        Reading { task, command, flags, searched, here }
    }

    /// The file that `-include` means.
    fn first(&self, name: &str) -> Option<PathBuf> {
        self.flags.included_first(name, self.here, &|name| self.searched.find(name).ok().flatten())
    }
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
    let is_cuda = task.options.to == To::Cuda;
    let links = is_cuda && !command.ends_early;
    if !task.quiet && !command.only_looks {
        unseen::preprocessed(&command.words, &here).iter().for_each(|line| notify(line));
    }
    if command.reads_stdin && !command.only_looks {
        return standard_input(&command.run);
    }
    if command.only_looks || (command.sources.is_empty() && !links) {
        return Ok(exit_code(execute(&command.run)?));
    }
    if let Some(database) = task.record.as_ref().filter(|_| !command.sources.is_empty()) {
        record::add(database, &command, &here)?;
    }
    let read = Reading::of(task, &command, &here);
    let mut units = Vec::new();
    for (at, language) in &command.sources {
        units.push(unit(&read, (*at, *language))?);
    }
    if !task.quiet {
        units
            .iter()
            .flat_map(|unit| unseen::unseen_names(&command.words, unit, &here))
            .for_each(|line| notify(&line));
    }
    // The compiler would not see that it overwrites a source.
    let output = command.output.as_ref().and_then(|output| here.join(output).canonicalize().ok());
    let is_output = |unit: &&Unit| output.is_some() && unit.real.canonicalize().ok() == output;
    if let Some(unit) = units.iter().find(is_output) {
        let name = command.words[unit.at].display();
        return Err(io::Error::other(format!("{name} is both source and output")));
    }
    let is_untouched = units.iter().all(|unit| unit.translations.is_empty());
    if is_untouched && !links {
        return Ok(exit_code(execute(&command.run)?));
    }
    let scratch = tempfile::Builder::new().prefix("acc2omp-").tempdir()?;
    for unit in &mut units {
        let is_strict = command.is_strict(&unit.real);
        unit.mirror = Mirror::new(scratch.path().join(format!("mirror{}", unit.at)), is_strict)?;
    }
    let status = if is_untouched {
        device::link(&Nvcc::of_environment(), &command.run, scratch.path(), &here)?
    } else {
        let words = write(&read, &units)?;
        match is_cuda {
            true => objects::build(&command, &units, words, scratch.path(), &here)?,
            false => with_openmp(task, &command, &words)?,
        }
    };
    depend::mend(&command, &units, &here)?;
    traces::mend(&command, &units, &here)?;
    Ok(exit_code(status))
}

/// Hands standard input to a compiler that reads its source there, unless it holds OpenACC.
fn standard_input(words: &[OsString]) -> io::Result<ExitCode> {
    let mut bytes = Vec::new();
    io::stdin().lock().read_to_end(&mut bytes)?;
    let is_openacc = [Language::C, Language::Fortran(Form::Free)]
        .iter()
        .any(|language| scan::has_directives(&SourceFile::new("<stdin>", bytes.clone(), *language)));
    if is_openacc {
        return Err(io::Error::other("standard input holds OpenACC, and is not translated: name a file"));
    }
    let mut file = tempfile::tempfile()?;
    file.write_all(&bytes)?;
    file.rewind()?;
    let status = run::to_end(process::Command::new(&words[0]).args(&words[1..]).stdin(file))?;
    Ok(exit_code(status))
}

/// Compiles translations to OpenMP.
fn with_openmp(task: &Task, command: &Command, words: &[OsString]) -> io::Result<ExitStatus> {
    if !command.has_openmp && !task.quiet {
        let compiler = command.compiler();
        notify(&format!(
            "warning: no option of the command turns OpenMP on: {compiler} will not see the directives of the translation\n"
        ));
    }
    run::words(words)
}

/// Reads a source with what it includes and uses, and translates what holds OpenACC of it.
fn unit(read: &Reading, (at, language): (usize, Language)) -> io::Result<Unit> {
    let Reading { task, command, flags, searched, here } = read;
    let path = here.join(&command.words[at]);
    let about = |error: io::Error| super::place::about(&path, &error);
    let real = in_real_folder(&path).unwrap_or_else(|| path.clone());
    let bytes = std::fs::read(&real).map_err(about)?;
    if bytes.len() >= u32::MAX as usize {
        return Err(about(io::Error::other("larger than 4 GiB")));
    }
    let language = match language {
        Language::Fortran(_) => scan::language_of(&path, &bytes, &command.languages()).unwrap_or(language),
        language => language,
    };
    let name = command.words[at].to_string_lossy().into_owned();
    let (modules, unknown) = match language.is_fortran() {
        true => modules::known(command, &bytes, flags, here),
        false => (HashMap::new(), Vec::new()),
    };
    for module in unknown.iter().filter(|_| !task.quiet) {
        notify(&format!(
            "warning: {name}: the source of module `{module}` is not known: compile it by `acc2omp cc`, too, or anew, as what it declares for the device counts here\n"
        ));
    }
    if language.is_fortran() {
        modules::remember(command, &bytes, &real, here);
    }
    let files = mirror::read(SourceFile::new(name, bytes, language), &real, flags, searched, here);
    let others = command.sources.iter().map(|(other, _)| *other).filter(|other| *other != at).collect();
    let mut unit = Unit { at, others, real, files, mirror: Mirror::default(), translations: HashMap::new() };
    let mentions = |file: &SourceFile| scan::mentions_openacc(&file.bytes, file.language);
    let by_options = flags.predefined.names().filter_map(|(_, line)| line);
    let some = unit.files.values().any(|read| mentions(&read.file))
        || by_options.into_iter().any(|line| scan::mentions_openacc(line.as_bytes(), language));
    if !some && modules.is_empty() {
        return Ok(unit);
    }
    let roots = unit.files.keys().filter_map(|path| path.parent()).map(Path::to_path_buf).collect();
    let known: Vec<PathBuf> = unit.files.keys().chain(modules.keys()).cloned().collect();
    let known: Vec<&Path> = known.iter().map(PathBuf::as_path).collect();
    let build = Build::beside(flags.clone(), modules);
    let headers = Headers::among(roots, &known, task.options.to, &command.languages(), build);
    for (path, read) in &unit.files {
        let (language, bytes) = (read.file.language, &read.file.bytes);
        if !mentions(&read.file)
            && !headers.serves(language, bytes)
            && !headers.may_write(language, bytes, path)
        {
            continue;
        }
        let source = headers.source(read.file.clone(), path);
        let translation = translate(&source, &options(task, command, &unit.real, (&source, path)));
        if !task.quiet {
            notify(&report::diagnostics(&source.file, &translation.diagnostics, manner(task.verbose)));
        }
        if translation.text != read.file.bytes && read.file.name.contains(['\n', '\r']) {
            let name = read.file.name.escape_debug();
            let why = "its name has a line end, which no line of a translation can say: OpenACC in it stays as it is";
            notify(&format!("left: {name}: {why}\n"));
        } else if translation.text != read.file.bytes {
            unit.translations.insert(path.clone(), translation);
        }
    }
    Ok(unit)
}

/// The options for a file of the unit whose source is `main`, with the profile of the compiler unless the user names one. Names of device code have the folder and
/// the source in them, as other sources of the program may have its name, or include the header.
fn options(task: &Task, command: &Command, main: &Path, (source, file): (&Source, &Path)) -> Options {
    let profile =
        if task.has_profile { task.options.profile } else { Profile::of_compiler(&command.compiler()) };
    let folder = main.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned();
    let own = if file == main {
        String::new()
    } else {
        main.file_stem().unwrap_or_default().to_string_lossy().into_owned()
    };
    let folder = if own.is_empty() { folder } else { format!("{folder}_{own}") };
    Options { profile, folder: as_name(&folder), ..task.overrides.options(source, file, &task.options) }
}

/// Writes all translations, and returns the words of the command that compiles them.
fn write(read: &Reading, units: &[Unit]) -> io::Result<Vec<OsString>> {
    let Reading { task, command, flags, searched, .. } = read;
    let mut words = command.words.clone();
    for unit in units {
        let needed = mirror::needed(&unit.files, unit.translations.keys().cloned());
        for path in &needed {
            let read = &unit.files[path];
            let translation = unit.translations.get(path);
            let text = translation.map_or(&read.file.bytes, |translation| &translation.text);
            unit.mirror.file(path, read, text, &read.file.name, &needed)?;
            if let Some(translation) = translation {
                unit.mirror.beside(path, translation)?;
            }
        }
        if needed.contains(&unit.real) {
            unit.mirror.link(&unit.files)?;
            words[unit.at] = unit.mirror.place(&unit.real).into_os_string();
        }
        replace_first(&mut words, &|name| {
            let first = read.first(name).filter(|first| needed.contains(first))?;
            Some(unit.mirror.place(&first))
        });
    }
    let mut options: Vec<OsString> = Vec::new();
    if command.sources.iter().any(|(_, language)| language.is_fortran()) {
        // Before a folder itself, that of a mirror is searched.
        let folders = flags.folders.iter().chain(searched.known());
        let places = folders.flat_map(|folder| units.iter().map(|unit| unit.mirror.place(folder)));
        options.extend(
            places.filter(|place| place.is_dir()).map(|place| format!("-I{}", place.display()).into()),
        );
    }
    if has_prefix_maps(command) {
        // What debuggers know of files begins where the mirror does.
        options.extend(
            units.iter().map(|unit| format!("-ffile-prefix-map={}=", unit.mirror.root().display()).into()),
        );
    }
    match task.options.to {
        To::OpenMp => drop(words.splice(1..1, options)),
        // The places of the sources are still asked for.
        To::Cuda => words.extend(options),
    }
    Ok(words)
}

/// Whether a compiler knows `-ffile-prefix-map`: gcc's and clang's do.
fn has_prefix_maps(command: &Command) -> bool {
    let compiler = command.compiler();
    let family = Profile::of_compiler(&compiler);
    ["gcc", "clang", "amdclang"].contains(&family.name()) && !compiler.contains("flang")
}

/// Lets `-include` and the like name other files.
fn replace_first(words: &mut [OsString], other: &dyn Fn(&str) -> Option<PathBuf>) {
    let texts: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let mut new = texts.clone();
    // From the last to the first: what stands before keeps its place.
    for name in first_names(&texts).into_iter().rev() {
        let Some(place) = other(name.text) else { continue };
        new[name.at].replace_range(name.bytes, &place.display().to_string());
        words[name.at] = OsString::from(&new[name.at]);
    }
}

impl Unit {
    /// Whether CUDA's compiler must build the host file, as it holds device code itself.
    fn holds_device_code(&self) -> bool {
        self.translations.values().any(|translation| translation.holds_device_code())
    }

    /// The files of device code of its translations: those of the source come first.
    fn device_files(&self) -> Vec<PathBuf> {
        self.files_beside(".cu")
    }

    /// The modules of its translations with the interfaces of their functions, if they are in Fortran.
    fn interfaces(&self) -> Vec<PathBuf> {
        self.files_beside(".f90")
    }

    /// Whether it is in Fortran, and calls the library for CUDA by its module.
    fn needs_module(&self) -> bool {
        let is_fortran = |path: &PathBuf| self.files[path].file.language.is_fortran();
        self.translations.keys().any(is_fortran)
    }

    /// The files beside its translations whose names end so.
    fn files_beside(&self, ending: &str) -> Vec<PathBuf> {
        let mut all: Vec<(bool, PathBuf)> = Vec::new();
        for (path, translation) in &self.translations {
            let names = translation.beside.iter().map(|file| &file.name);
            let names = names.filter(|name| name.ends_with(ending));
            let places = names.map(|name| self.mirror.place(&path.with_file_name(name)));
            all.extend(places.map(|place| (*path != self.real, place)));
        }
        all.sort();
        all.into_iter().map(|(_, place)| place).collect()
    }
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
