//! The command line's words.
//!
//! Invariant: what comes out is consistent: exactly one destination, and inputs that fit it.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command, CommandFactory, FromArgMatches, Parser, Subcommand};
use clap_complete::Shell;

use crate::acc;
use crate::budget::Budget;
use crate::host;
use crate::report::Builder;
use crate::rules;
use crate::source::{Form, Language, Languages, Predefined};
use crate::{Existing, Guards, Nest, Options, Profile, Queues, To, Version};

use super::build::CompilerFlags;
use super::cc;
use super::config::{self, Config, Overrides};
use super::pages;
use super::reports::Reports;
use super::verify::Verify;

/// What the user asks for.
pub enum Request {
    /// The pages of diagnostics, or the list of all.
    Explain(Vec<String>),
    /// The page of a rule, or the list of all.
    Rules(Option<String>),
    /// A check of the rule pages in a folder.
    CheckRules(PathBuf),
    /// What counts for sources, and where it is said.
    Config(Vec<PathBuf>),
    /// A comparison of an output tree with its sources.
    Drift(PathBuf),
    /// The completions for a shell.
    Completions(Shell),
    /// The manual page, or that of a subcommand.
    Man(Option<String>),
    /// A proof of translations by running them.
    Verify(Box<Verify>),
    /// A compilation of translations.
    Compile(Box<cc::Task>),
    /// A translation.
    Translate(Box<Task>),
}

/// A translation to make.
pub struct Task {
    /// Files and folders; empty for standard input.
    pub inputs: Vec<PathBuf>,
    /// Where the result goes.
    pub destination: Destination,
    /// What to translate to.
    pub options: Options,
    /// The options of sources that differ from these.
    pub overrides: Overrides,
    /// The file `acc2omp.toml` that counts.
    pub config: Option<PathBuf>,
    /// The languages of the sources, by their names.
    pub languages: Languages,
    /// What compilers know of all sources.
    pub flags: CompilerFlags,
    /// The compilation database, or its folder.
    pub database: Option<PathBuf>,
    /// The program that shall build the device code; it gets a file of its own in the output tree.
    pub builder: Option<Builder>,
    /// Number of threads; 0 is one for each core.
    pub threads: usize,
    /// Only failures are said.
    pub quiet: bool,
    /// Every note is said in full.
    pub verbose: bool,
    /// Files that may not be written are replaced, too.
    pub force: bool,
    /// The reports.
    pub reports: Reports,
    /// Nothing is translated: the sources are reviewed, and `Diff` shows what the review proposes.
    pub advise: bool,
    /// What is remarkable about the options themselves.
    pub notes: Vec<String>,
}

/// Where the result goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// Into a tree under this folder.
    Tree(PathBuf),
    /// As a unified diff to standard output.
    Diff,
    /// Nowhere: only messages and the table.
    Check,
    /// Over the inputs.
    InPlace,
    /// As text to standard output.
    Text,
}

/// Translates OpenACC in C, C++ and Fortran to OpenMP target directives, or to CUDA.
#[derive(Debug, Parser)]
#[command(name = "acc2omp", version, args_conflicts_with_subcommands = true, after_help = AFTER)]
struct Args {
    #[command(subcommand)]
    topic: Option<Topic>,

    /// Files and folders to translate; `-` reads C, or Fortran with `--form`, from standard input and writes to standard output
    #[arg(value_name = "FILE|DIR")]
    inputs: Vec<PathBuf>,

    /// Write the translation into a tree under OUT; files without OpenACC are copied
    #[arg(short, long = "out", value_name = "OUT", help_heading = "Destination (exactly one)")]
    out: Option<PathBuf>,

    /// Write a unified diff to standard output, and no file
    #[arg(long, help_heading = "Destination (exactly one)")]
    diff: bool,

    /// Write no file; print messages and the table only
    #[arg(long, help_heading = "Destination (exactly one)")]
    check: bool,

    /// Replace the inputs by their translation
    #[arg(long, help_heading = "Destination (exactly one)")]
    in_place: bool,

    /// Translate nothing, and report what would make the OpenACC sources faster; with `--diff`, print the changes that are proven to keep
    /// the results as a unified diff
    #[arg(long, conflicts_with_all = ["out", "check", "in_place", "guard", "emit_build"])]
    advise: bool,

    /// Replace read-only files, too (`--in-place`), or files of OUT that were edited since they were written
    #[arg(long)]
    force: bool,

    /// Write a file for `make` or CMake into the output tree that builds its device code (`--to cuda`)
    #[arg(long, value_name = "BUILDER", value_parser = builder())]
    emit_build: Option<Builder>,

    #[command(flatten)]
    how: How,

    #[command(flatten)]
    reports: Reports,

    /// Keep the OpenACC lines under `#ifdef _OPENACC`, with the translation under `#elif defined(_OPENMP)`; or under
    /// other names than these
    #[arg(long, value_name = "ACC,OMP", num_args = 0..=1, require_equals = true, default_missing_value = "_OPENACC,_OPENMP")]
    #[arg(value_parser = guards)]
    guard: Option<Guards>,

    /// Write `#line` into device code, with the line of the source that it comes from (`--to cuda`)
    #[arg(long)]
    line_directives: bool,

    /// The form of Fortran sources; `auto` follows the file's name, unless the lines contradict it
    #[arg(long, value_name = "FORM", default_value = "auto", value_parser = form())]
    form: FormChoice,

    /// Language of sources whose names end in `.EXT`, for example `--language pf=fortran`; may be given several times
    #[arg(long = "language", value_name = "EXT=LANGUAGE", value_parser = named_language)]
    languages: Vec<(String, Language)>,

    /// Define NAME for all sources; conditions on it choose their branch, and other branches stay as they are
    #[arg(short = 'D', value_name = "NAME[=V]", help_heading = PREPROCESSOR, value_parser = define)]
    defines: Vec<String>,

    /// Undefine NAME for all sources
    #[arg(short = 'U', value_name = "NAME", help_heading = PREPROCESSOR, value_parser = undefine)]
    undefines: Vec<String>,

    /// Search DIR for headers, too
    #[arg(short = 'I', value_name = "DIR", help_heading = PREPROCESSOR)]
    folders: Vec<PathBuf>,

    /// Take `-D`, `-U`, `-I` and the like for each source from a compilation database: `compile_commands.json`, or its folder
    #[arg(short = 'p', value_name = "DIR|FILE", help_heading = PREPROCESSOR)]
    database: Option<PathBuf>,

    /// Use the rule pages in DIR instead of those with the same names; `acc2omp rules --check DIR` checks them
    #[arg(long, value_name = "DIR")]
    rules: Option<PathBuf>,

    /// Number of threads [default: one for each core]
    #[arg(short, long = "jobs", value_name = "N", default_value = "0", hide_default_value = true)]
    #[arg(value_parser = whole::<usize>, allow_negative_numbers = true)]
    jobs: usize,

    /// Print nothing unless something fails
    #[arg(short, long, conflicts_with = "verbose")]
    quiet: bool,

    /// Show every note in full
    #[arg(short, long)]
    verbose: bool,
}

/// How translations are made.
#[derive(Debug, clap::Args)]
struct How {
    /// What to translate to: OpenMP directives, or CUDA C in files beside the sources
    #[arg(long, value_name = "TARGET", default_value = "openmp", value_parser = to())]
    to: To,

    /// The newest OpenMP version that the output may use
    #[arg(long, value_name = "VERSION", value_parser = Versions)]
    #[arg(help = "The newest OpenMP version that the output may use [default: 4.5]")]
    omp: Option<Version>,

    /// The compiler that the output is tuned for, or a file with a profile [default: generic]
    #[arg(long, value_name = "COMPILER|FILE")]
    profile: Option<String>,

    /// How parallel loops are written, from OpenMP 5.0 on: with `loop` where it is permitted, which leaves the distribution to the
    /// compiler, or with `distribute` and `parallel for` [default: what is best for the profile]
    #[arg(long, value_name = "HOW", value_parser = nest())]
    nest: Option<Nest>,

    /// What async queues become: dependences between tasks, or nothing, so that the host waits for each construct
    #[arg(long = "async", value_name = "HOW", default_value = "queues", value_parser = queues())]
    queues: Queues,

    /// What to do with OpenMP for the same code as an OpenACC directive: leave both and report it, keep it and remove
    /// the OpenACC, or replace it by the translation [default: ask]
    #[arg(long, value_name = "HOW", value_parser = existing())]
    existing_omp: Option<Existing>,

    /// Add `if(target: CONDITION)`: where it is false at run time, the host runs the construct
    #[arg(long, value_name = "CONDITION")]
    host_fallback: Option<String>,

    /// The device whose `device_type` clauses apply
    #[arg(long, value_name = "NAME", default_value = "nvidia", value_parser = device_type)]
    device_type: String,

    /// Assume that no two pointers alias when loops of `kernels`, and those with `auto`, are proven
    /// parallel
    #[arg(long)]
    assume_no_alias: bool,

    /// Run loops without a directive in order inside loops that have one; by default they are divided, too, where they are
    /// proven parallel and that is faster
    #[arg(long)]
    as_written: bool,

    /// Allow this many times the default work and memory before a file stays untranslated; 0: no limit
    #[arg(long, value_name = "TIMES", default_value = "1")]
    #[arg(value_parser = whole::<u32>, allow_negative_numbers = true)]
    budget: u32,
}

/// The heading of the options that compilers have, too.
const PREPROCESSOR: &str = "Preprocessor (the options of the compilers)";

/// The end of the help text.
const AFTER: &str =
    "Exit status: 0 all translated, 1 some OpenACC is untranslated, 2 wrong usage or a file failed.";

#[derive(Debug, Subcommand)]
enum Topic {
    /// List the files of an output tree that are older than their sources; exit status 1 if there are any
    Drift {
        /// The output tree
        #[arg(value_name = "OUT")]
        out: PathBuf,
    },
    /// Build and run a program and its translations as acc2omp.toml says, and compare what they do; exit status 0 same, 1 different,
    /// 2 unknown
    Verify(Verify),
    /// Print the options that apply to sources, and where each is set
    Config {
        /// The sources
        #[arg(value_name = "FILE|DIR")]
        inputs: Vec<PathBuf>,
    },
    /// Compile translations: `acc2omp cc -- clang -fopenmp -c a.c` runs that command with `a.c` translated; so do `c++` and `fc`
    #[command(visible_aliases = ["c++", "fc"])]
    Cc {
        #[command(flatten)]
        how: How,

        /// Use the rule pages in DIR instead of those with the same names
        #[arg(long, value_name = "DIR")]
        rules: Option<PathBuf>,

        /// Write what is compiled into a compilation database
        #[arg(long, value_name = "FILE")]
        record: Option<PathBuf>,

        /// Print nothing about the translation
        #[arg(short, long, conflicts_with = "verbose")]
        quiet: bool,

        /// Show every note in full
        #[arg(short, long)]
        verbose: bool,

        /// The compiler's command line
        #[arg(last = true, required = true, value_name = "COMMAND")]
        command: Vec<OsString>,
    },
    /// Explain diagnostics, as in `acc2omp explain A0205`; without a code, list all
    Explain {
        /// The codes
        #[arg(value_name = "CODE")]
        codes: Vec<String>,
    },
    /// Print the rule of an OpenACC word, as in `acc2omp rules present`; without a name, list all
    Rules {
        /// The rule's name
        name: Option<String>,

        /// Check the rule pages of DIR, and print nothing else
        #[arg(long, value_name = "DIR", conflicts_with = "name")]
        check: Option<PathBuf>,
    },
    /// Print completions for a shell, as in `acc2omp completions bash > ~/.local/share/bash-completion/completions/acc2omp`
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page, or that of a subcommand, as in `acc2omp man | man -l -`
    Man {
        /// The subcommand
        #[arg(value_name = "COMMAND")]
        topic: Option<String>,
    },
}

/// The command line.
pub fn command() -> Command {
    Args::command()
}

fn to() -> impl TypedValueParser<Value = To> {
    PossibleValuesParser::new(["openmp", "cuda"]).map(|text| match text.as_str() {
        "cuda" => To::Cuda,
        _ => To::OpenMp,
    })
}

fn builder() -> impl TypedValueParser<Value = Builder> {
    PossibleValuesParser::new(["cmake", "make"]).map(|text| match text.as_str() {
        "cmake" => Builder::Cmake,
        _ => Builder::Make,
    })
}

/// Reads a version: of a wrong one, the likeness of its digits says nothing.
#[derive(Clone, Copy)]
struct Versions;

/// The versions of OpenMP that translations are made for.
const VERSIONS: [(&str, Version); 4] =
    [("4.5", Version(45)), ("5.0", Version(50)), ("5.1", Version(51)), ("5.2", Version(52))];

impl TypedValueParser for Versions {
    type Value = Version;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<Version, clap::Error> {
        let read = |text: &str| {
            let known = VERSIONS.iter().find(|(name, _)| *name == text);
            known.map(|(_, version)| *version).ok_or("want 4.5, which is the oldest, 5.0, 5.1 or 5.2")
        };
        TypedValueParser::parse_ref(&read, command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(VERSIONS.iter().map(|(name, _)| PossibleValue::new(*name))))
    }
}

/// Reads a number.
fn whole<N: FromStr>(text: &str) -> Result<N, &'static str> {
    text.parse().map_err(|_| "want a whole number, 0 or more")
}

/// Reads the name of a device.
fn device_type(text: &str) -> Result<String, &'static str> {
    let name = text.trim();
    if name.is_empty() { Err("want the name of a device") } else { Ok(name.to_owned()) }
}

/// The profile that a name or a file means; files are read once.
fn profile(name: &str) -> Result<Profile, clap::Error> {
    if let Some(profile) = Profile::named(name) {
        return Ok(profile);
    }
    let refused = |why: &str| wrong(ErrorKind::InvalidValue, &format!("`--profile {name}`: {why}"));
    if !name.ends_with(".toml") {
        let all: Vec<String> = Profile::all().map(|profile| format!("`{}`", profile.name())).collect();
        return Err(refused(&format!(
            "there is no such profile: there are {}, files that end in .toml, and what acc2omp.toml has as [profile.NAME]",
            all.join(", ")
        )));
    }
    let text = std::fs::read_to_string(name).map_err(|error| refused(&error.to_string()))?;
    let table = toml::from_str(&text).map_err(|error| refused(&error.to_string()))?;
    rules::add_profile(name, table).map(Profile::own).map_err(|why| refused(&why))
}

/// Lets the pages of a folder count in place of those of their names.
fn overlay(folder: Option<&Path>) -> Result<(), clap::Error> {
    let Some(folder) = folder else { return Ok(()) };
    let refused = |why: String| wrong(ErrorKind::InvalidValue, &why);
    if let Err(error) = fs::read_dir(folder) {
        return Err(refused(format!("`--rules {}`: {error}", folder.display())));
    }
    let rules = pages::read(folder).map_err(refused)?;
    rules::install(rules);
    Ok(())
}

/// The form that the user asks for.
#[derive(Clone, Copy, Debug)]
struct FormChoice(Option<Form>);

fn form() -> impl TypedValueParser<Value = FormChoice> {
    PossibleValuesParser::new(["free", "fixed", "auto"]).map(|text| match text.as_str() {
        "free" => FormChoice(Some(Form::Free)),
        "fixed" => FormChoice(Some(Form::Fixed)),
        _ => FormChoice(None),
    })
}

/// Reads `EXT=LANGUAGE`.
fn named_language(text: &str) -> Result<(String, Language), String> {
    let wanted = "want EXT=c, EXT=c++ or EXT=fortran";
    let (ending, language) = text.split_once('=').ok_or(wanted)?;
    let ending = ending.trim_start_matches('.');
    let language = match language.to_ascii_lowercase().as_str() {
        "c" => Language::C,
        "c++" | "cpp" | "cxx" => Language::Cpp,
        "fortran" => Language::Fortran(Form::Free),
        _ => return Err(wanted.to_owned()),
    };
    match ending {
        "" => Err(wanted.to_owned()),
        _ => Ok((ending.to_owned(), language)),
    }
}

/// The types of devices that OpenACC compilers know.
const DEVICE_TYPES: [&str; 10] =
    ["nvidia", "radeon", "amd", "host", "multicore", "default", "current", "xeonphi", "intel", "not_host"];

/// What is remarkable about the options.
fn notes(device_type: &str) -> Vec<String> {
    let device_type = device_type.to_ascii_lowercase();
    let known = DEVICE_TYPES.contains(&&*device_type);
    let said = || {
        let all = DEVICE_TYPES.map(|name| format!("`{name}`")).join(", ");
        format!("no OpenACC compiler is known to call a device `{device_type}`; known are {all}")
    };
    (!known).then(said).into_iter().collect()
}

fn nest() -> impl TypedValueParser<Value = Nest> {
    PossibleValuesParser::new(["loop", "distribute"]).map(|text| match text.as_str() {
        "loop" => Nest::Loop,
        _ => Nest::Distribute,
    })
}

fn queues() -> impl TypedValueParser<Value = Queues> {
    PossibleValuesParser::new(["queues", "sync"]).map(|text| match text.as_str() {
        "sync" => Queues::Dropped,
        _ => Queues::Kept,
    })
}

/// Reads `ACC,OMP`.
fn guards(text: &str) -> Result<Guards, String> {
    match text.split_once(',').map(|(openacc, openmp)| (openacc.trim(), openmp.trim())) {
        Some((openacc, openmp)) if is_name(openacc) && is_name(openmp) && openacc != openmp => {
            Ok(Guards { openacc: openacc.to_owned(), openmp: openmp.to_owned() })
        }
        _ => Err("want the names of two macros, as in `--guard=USE_ACC,USE_OMP`".to_owned()),
    }
}

/// Reads the definition of a macro.
fn define(text: &str) -> Result<String, &'static str> {
    let head = text.split('=').next().unwrap_or_default();
    let (name, parameters) = head.split_once('(').map_or((head, ")"), |(name, rest)| (name, rest));
    let is_macro = is_name(name) && parameters.ends_with(')');
    if is_macro { Ok(text.to_owned()) } else { Err("want NAME or NAME=V") }
}

/// Reads the name of a macro.
fn undefine(text: &str) -> Result<String, &'static str> {
    if is_name(text) { Ok(text.to_owned()) } else { Err("want NAME") }
}

/// Whether a text is the name of a macro (C11, 6.10.8.4).
fn is_name(text: &str) -> bool {
    text != "defined"
        && text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn existing() -> impl TypedValueParser<Value = Existing> {
    PossibleValuesParser::new(["ask", "keep", "replace"]).map(|text| match text.as_str() {
        "keep" => Existing::Keep,
        "replace" => Existing::Replace,
        _ => Existing::Ask,
    })
}

/// Reads the command line and the configuration; the error is clap's, with its exit status.
pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Request, clap::Error> {
    let mut words: Vec<OsString> = arguments.into_iter().collect();
    if let Some(why) = words.get(1).and_then(|word| misspelt(word)) {
        return Err(wrong(ErrorKind::InvalidSubcommand, &why));
    }
    let matches = Args::command().try_get_matches_from(&words)?;
    let args = read(&matches)?;
    let Some(folder) = args.folder() else { return args.request(&matches, Overrides::default(), None) };
    let config = configuration(&folder);
    let refused = |why: String| clap::Error::raw(ErrorKind::InvalidValue, format!("{why}\n"));
    let Some(config) = config.map_err(refused)? else {
        return args.request(&matches, Overrides::default(), None);
    };
    let (at, command, own) = match matches.subcommand() {
        Some((name, own)) => (2, Args::command().find_subcommand(name).cloned().unwrap_or_default(), own),
        None => (1, Args::command(), &matches),
    };
    let is_given = |id: &str| {
        // Of several destinations, and of silence and many words, what the command line says counts.
        let group = GROUPS.iter().find(|group| group.contains(&id)).copied().unwrap_or_default();
        let is_known = |id: &&str| command.get_arguments().any(|arg| arg.get_id() == *id);
        let said = |id: &str| own.value_source(id) == Some(ValueSource::CommandLine);
        let is_list = LISTS.contains(&id);
        let is_cuda = said("to") && own.get_one::<To>("to") == Some(&To::Cuda);
        !is_known(&id)
            || is_cuda && OF_OPENMP.contains(&id)
            || !is_list && (said(id) || group.iter().copied().filter(is_known).any(said))
    };
    words.splice(at..at, config.words(is_given));
    let alone = Alone::command();
    let of_sources = alone.get_arguments().map(|arg| arg.get_id().to_string());
    let of_sources = of_sources.filter(|id| own.value_source(id) != Some(ValueSource::CommandLine)).collect();
    let matches = Args::command().try_get_matches_from(&words)?;
    let path = config.path();
    let overrides = if config.is_of_files() {
        Overrides::new(config, of_sources, options)?
    } else {
        Overrides::default()
    };
    read(&matches)?.request(&matches, overrides, Some(path))
}

/// What there is to say of a first word that is like the name of a command, and not a file.
fn misspelt(word: &OsStr) -> Option<String> {
    let word = word.to_str().filter(|word| !word.starts_with('-') && !Path::new(word).exists())?;
    let command = Args::command();
    let names = command.get_subcommands().map(Command::get_name).chain(["help", "c++", "fc"]);
    let near = acc::nearest(word, names).filter(|name| *name != word)?;
    Some(format!("there is no file and no command `{word}`: did you mean `{near}`?"))
}

fn read(matches: &ArgMatches) -> Result<Args, clap::Error> {
    Args::from_arg_matches(matches).map_err(|error| error.format(&mut Args::command()))
}

/// Options of which one counts.
const GROUPS: [&[&str]; 2] = [&["out", "diff", "check", "in_place"], &["quiet", "verbose"]];

/// Options about OpenMP, which say nothing of other targets.
const OF_OPENMP: [&str; 7] = ["omp", "profile", "nest", "queues", "existing_omp", "host_fallback", "guard"];

/// Options that may be said several times.
const LISTS: [&str; 4] = ["languages", "defines", "undefines", "folders"];

/// The options that sources may have of their own.
#[derive(Debug, Parser)]
#[command(no_binary_name = true)]
struct Alone {
    #[command(flatten)]
    how: How,
}

/// The options of sources, from words as on the command line.
fn options(words: Vec<OsString>) -> Result<Options, clap::Error> {
    let alone = Alone::try_parse_from(words)?;
    alone.how.agree()?;
    Ok(alone.how.options())
}

/// What the options say of names, in their order.
fn predefined(args: &Args, matches: &ArgMatches) -> Predefined {
    let places = |id: &str| matches.indices_of(id).into_iter().flatten().collect::<Vec<usize>>();
    let defines = places("defines").into_iter().zip(args.defines.iter().map(|text| (text, true)));
    let undefines = places("undefines").into_iter().zip(args.undefines.iter().map(|name| (name, false)));
    let mut all: Vec<(usize, (&String, bool))> = defines.chain(undefines).collect();
    all.sort();
    let mut said = Predefined::default();
    for (_, (text, is_defined)) in all {
        if is_defined { said.define(text) } else { said.undefine(text) }
    }
    said
}

impl How {
    /// Refuses what cannot be.
    fn agree(&self) -> Result<(), clap::Error> {
        let of_openmp = [
            ("--host-fallback", self.host_fallback.is_some()),
            ("--async sync", self.queues == Queues::Dropped),
            ("--omp", self.omp.is_some()),
            ("--profile", self.profile.is_some()),
            ("--nest", self.nest.is_some()),
            ("--existing-omp", self.existing_omp.is_some()),
        ];
        if let Some((name, _)) = of_openmp.iter().find(|(_, is_set)| self.to == To::Cuda && *is_set) {
            return Err(about_openmp(name));
        }
        self.profile.as_deref().map(profile).transpose()?;
        if self.nest == Some(Nest::Loop) && self.omp.unwrap_or(Version(45)) < Version(50) {
            return Err(wrong(
                ErrorKind::ArgumentConflict,
                "`--nest loop` is of OpenMP 5.0: say `--omp 5.0`, or a newer version",
            ));
        }
        match self.host_fallback.as_deref().filter(|text| !host::is_condition(text)) {
            Some(condition) => {
                let why = format!("`--host-fallback` wants a condition: `{condition}` is not one");
                Err(wrong(ErrorKind::InvalidValue, &why))
            }
            None => Ok(()),
        }
    }

    fn options(self) -> Options {
        Options {
            to: self.to,
            omp: self.omp.unwrap_or(Version(45)),
            // `agree` has read it.
            profile: self.profile.and_then(|name| profile(&name).ok()).unwrap_or_default(),
            nest: self.nest,
            queues: self.queues,
            existing: self.existing_omp.unwrap_or(Existing::Ask),
            host_fallback: self.host_fallback,
            device_type: self.device_type.to_ascii_lowercase(),
            assume_no_alias: self.assume_no_alias,
            as_written: self.as_written,
            budget: Budget::default().times(self.budget),
            ..Options::default()
        }
    }
}

impl Args {
    /// The folder from which a configuration is looked for.
    fn folder(&self) -> Option<PathBuf> {
        let first = match &self.topic {
            None => self.inputs.first().filter(|input| *input != Path::new("-")),
            Some(Topic::Cc { .. }) => None,
            Some(_) => return None,
        };
        let folder = first.map(|first| if first.is_dir() { first.clone() } else { first.with_file_name("") });
        Some(folder.filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| PathBuf::from(".")))
    }

    fn request(
        self,
        matches: &ArgMatches,
        overrides: Overrides,
        config: Option<PathBuf>,
    ) -> Result<Request, clap::Error> {
        let predefined = predefined(&self, matches);
        match self.topic {
            Some(Topic::Explain { codes }) => Ok(Request::Explain(codes)),
            Some(Topic::Rules { check: Some(folder), .. }) => Ok(Request::CheckRules(folder)),
            Some(Topic::Rules { name, check: None }) => Ok(Request::Rules(name)),
            Some(Topic::Drift { out }) => Ok(Request::Drift(out)),
            Some(Topic::Completions { shell }) => Ok(Request::Completions(shell)),
            Some(Topic::Man { topic }) => Ok(Request::Man(topic)),
            Some(Topic::Verify(task)) => Ok(Request::Verify(Box::new(task))),
            Some(Topic::Config { inputs }) => Ok(Request::Config(inputs)),
            Some(Topic::Cc { how, rules, record, quiet, verbose, command }) => {
                overlay(rules.as_deref())?;
                how.agree()?;
                let has_profile = how.profile.is_some();
                let options = how.options();
                Ok(Request::Compile(Box::new(cc::Task {
                    words: command,
                    options,
                    overrides,
                    has_profile,
                    record,
                    quiet,
                    verbose,
                })))
            }
            None => overlay(self.rules.as_deref())
                .and_then(|()| self.task(predefined, overrides))
                .map(|task| Task { config, ..task })
                .map(|task| Request::Translate(Box::new(task))),
        }
    }

    fn task(self, predefined: Predefined, overrides: Overrides) -> Result<Task, clap::Error> {
        let from_stdin = self.inputs.iter().any(|input| input == Path::new("-"));
        if self.inputs.is_empty() {
            return Err(wrong(
                ErrorKind::MissingRequiredArgument,
                "name a file or folder to translate, or `-`",
            ));
        }
        if from_stdin && self.inputs.len() > 1 {
            return Err(wrong(ErrorKind::ArgumentConflict, "`-` stands alone"));
        }
        let gone = self.inputs.iter().find(|input| !from_stdin && fs::symlink_metadata(input).is_err());
        let destination = self.destination(from_stdin).map_err(|error| match gone {
            Some(gone) => {
                let why = format!("there is no file and no command `{}`", gone.display());
                wrong(ErrorKind::InvalidSubcommand, &why)
            }
            None => error,
        })?;
        self.agree(&destination, from_stdin)?;
        let inputs = if from_stdin { Vec::new() } else { self.inputs };
        let mut notes = notes(&self.how.device_type);
        let mut flags = CompilerFlags { predefined: Arc::new(predefined), ..CompilerFlags::default() };
        for folder in &self.folders {
            match folder.canonicalize() {
                Ok(real) if real.is_dir() => flags.folders.push(real),
                _ => notes.push(format!("`-I {}`: there is no such folder", folder.display())),
            }
        }
        let options = Options {
            guard: self.guard.clone(),
            line_directives: self.line_directives,
            ..self.how.options()
        };
        let (threads, quiet, verbose, force) = (self.jobs, self.quiet, self.verbose, self.force);
        let languages = Languages { form: self.form.0, named: self.languages };
        let builder = self.emit_build;
        let advise = self.advise;
        let reports = self.reports;
        let database = self.database;
        Ok(Task {
            inputs,
            destination,
            options,
            overrides,
            config: None,
            languages,
            flags,
            database,
            builder,
            threads,
            quiet,
            verbose,
            force,
            reports,
            advise,
            notes,
        })
    }

    /// Refuses what would be without effect.
    fn agree(&self, destination: &Destination, from_stdin: bool) -> Result<(), clap::Error> {
        let is_cuda = self.how.to == To::Cuda;
        if is_cuda && from_stdin {
            return Err(wrong(
                ErrorKind::ArgumentConflict,
                "`--to cuda` writes several files: name the input",
            ));
        }
        if is_cuda && self.guard.is_some() {
            return Err(about_openmp("--guard"));
        }
        if self.database.is_some() && from_stdin {
            let why = "`-p` is about files, not about standard input: use `-D`, `-U` and `-I`";
            return Err(wrong(ErrorKind::ArgumentConflict, why));
        }
        if self.line_directives && !is_cuda {
            return Err(wrong(ErrorKind::ArgumentConflict, "`--line-directives` goes with `--to cuda`"));
        }
        if self.force && !matches!(destination, Destination::InPlace | Destination::Tree(_)) {
            return Err(wrong(ErrorKind::ArgumentConflict, "`--force` goes with `--in-place` or `-o OUT`"));
        }
        let takes_stdout = match destination {
            Destination::Diff => Some("--diff"),
            Destination::Text => Some("-"),
            Destination::Check | Destination::InPlace | Destination::Tree(_) => None,
        };
        if let Some(name) = takes_stdout.filter(|_| self.reports.is_on_stdout()) {
            let why = format!("`{name}` takes standard output: say `--output FILE` where the report goes");
            return Err(wrong(ErrorKind::ArgumentConflict, &why));
        }
        self.how.agree()?;
        let is_tree = matches!(destination, Destination::Tree(_));
        if self.emit_build.is_some() && !(is_cuda && is_tree) {
            return Err(wrong(
                ErrorKind::ArgumentConflict,
                "`--emit-build` goes with `--to cuda` and `-o OUT`",
            ));
        }
        Ok(())
    }

    fn destination(&self, from_stdin: bool) -> Result<Destination, clap::Error> {
        let flags = [
            (self.diff, Destination::Diff),
            (self.check || self.advise && !self.diff, Destination::Check),
            (self.in_place, Destination::InPlace),
            (from_stdin && !self.diff && !self.check && !self.advise, Destination::Text),
        ];
        let tree = self.out.clone().map(Destination::Tree);
        let chosen = flags.into_iter().filter(|(set, _)| *set).map(|(_, place)| place).chain(tree);
        match chosen.collect::<Vec<_>>().as_slice() {
            [one] => Ok(one.clone()),
            [] => Err(wrong(ErrorKind::MissingRequiredArgument, ONE_PLACE)),
            _ if from_stdin => Err(wrong(ErrorKind::ArgumentConflict, STDIN_PLACE)),
            _ => Err(wrong(ErrorKind::ArgumentConflict, ONE_PLACE)),
        }
    }
}

const ONE_PLACE: &str =
    "say where the translation goes: exactly one of `-o OUT`, `--diff`, `--check` or `--in-place`";
const STDIN_PLACE: &str =
    "the translation of standard input goes to standard output: `-` goes with `--diff` or `--check` only";

fn about_openmp(option: &str) -> clap::Error {
    let why = format!("`{option}` is about OpenMP: it does not go with `--to cuda`");
    wrong(ErrorKind::ArgumentConflict, &why)
}

fn wrong(kind: ErrorKind, why: &str) -> clap::Error {
    Args::command().error(kind, why)
}

/// The configuration of a folder.
pub fn configuration(folder: &Path) -> Result<Option<Config>, String> {
    Config::of(folder, (&Args::command(), &Alone::command()), &|name| {
        profile(name).map(drop).map_err(|why| {
            why.to_string().lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned()
        })
    })
}

/// The options that count for a source or a folder of them, each with the place where it is said.
pub fn effective(source: &Path) -> Result<String, String> {
    let command = Args::command();
    let folder = if source.is_dir() { source } else { source.parent().unwrap_or(source) };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let real = source.canonicalize().map_err(|error| format!("{}: {error}", source.display()))?;
    let config = configuration(folder)?;
    let mut lines = Vec::new();
    for arg in command.get_arguments() {
        let Some(name) = arg.get_long().map(str::to_owned).or_else(|| arg.get_short().map(String::from))
        else {
            continue;
        };
        if ["help", "version"].contains(&arg.get_id().as_str()) {
            continue;
        }
        lines.push(config::line(config.as_ref(), &real, arg, &name));
    }
    Ok(lines.concat())
}
