//! `acc2omp.toml`: options of a project, for all of its sources, for some, and directives that are left untranslated.
//!
//! Invariant: an option means the same there as on the command line, where what is said counts more.

use std::collections::{BTreeMap, HashMap};
use std::error::Error;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use clap::error::{ContextKind, ContextValue};
use clap::{Arg, ArgAction, Command};
use globset::{GlobBuilder, GlobMatcher};
use serde::Deserialize;
use serde::de::IntoDeserializer;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::place;
use crate::rules;
use crate::source::LineIndex;
use crate::verify::FILE;
use crate::{Options, Source, Wish, lines_of, verify};

/// Options whose values are paths: they are seen from the folder of the file.
const PATHS: [&str; 8] =
    ["out", "folders", "database", "record", "rules", "output", "baseline", "write_baseline"];

/// What is not an option of a project.
const NO_OPTIONS: [&str; 4] = ["help", "version", "inputs", "command"];

/// The configuration of a project.
#[derive(Debug, Default)]
pub struct Config {
    /// The file, as messages call it.
    path: PathBuf,
    /// Its folder, without links.
    folder: PathBuf,
    settings: Settings,
    sections: Vec<Section>,
    places: Vec<Place>,
    verify: Option<verify::Settings>,
}

/// Options by their names in clap, and what is said of them.
pub type Settings = BTreeMap<String, Setting>;

/// What is said of an option.
#[derive(Clone, Debug)]
pub struct Setting {
    /// As it would stand on the command line.
    words: Vec<OsString>,
    /// The line of the file.
    pub line: usize,
}

/// Options for the sources that a pattern matches.
#[derive(Debug)]
struct Section {
    pattern: GlobMatcher,
    /// The line of the file.
    line: usize,
    settings: Settings,
}

impl Section {
    /// The path before the first part of the pattern that stands for several names.
    fn fixed(&self) -> PathBuf {
        let parts = self.pattern.glob().glob().split('/');
        parts.take_while(|part| !part.contains(['*', '?', '[', '{', '\\'])).collect()
    }
}

/// Directives of which something is asked for.
#[derive(Debug)]
struct Place {
    file: PathBuf,
    label: Label,
    wish: Wish,
}

/// How directives are named.
#[derive(Debug)]
enum Label {
    /// By their line.
    Line(usize),
    /// By their routine; one of them, by its number.
    Routine(String, Option<usize>),
}

impl Label {
    /// Reads `ROUTINE` or `ROUTINE:NUMBER`.
    fn read(text: &str) -> Label {
        let numbered = text.rsplit_once(':').and_then(|(name, number)| Some((name, number.parse().ok()?)));
        match numbered {
            Some((name, number)) => Label::Routine(name.to_owned(), Some(number)),
            None => Label::Routine(text.to_owned(), None),
        }
    }

    /// The lines of the directives in a source.
    fn lines(&self, source: &Source) -> Vec<usize> {
        match self {
            Label::Line(line) => vec![*line],
            Label::Routine(name, number) => lines_of(source, name, *number),
        }
    }
}

impl Config {
    /// The configuration for sources in a folder: the first one upward from there. `all` has the options of the command line,
    /// `some` those that sources may have of their own.
    /// `profile` says what is wrong with the name of a profile.
    pub fn of(
        folder: &Path,
        (all, some): (&Command, &Command),
        profile: &dyn Fn(&str) -> Result<(), String>,
    ) -> Result<Option<Config>, String> {
        let Ok(real) = folder.canonicalize() else { return Ok(None) };
        let Some(own) = real.ancestors().find(|above| above.join(FILE).symlink_metadata().is_ok()) else {
            return Ok(None);
        };
        let path = own.join(FILE);
        let shown = place::shown(&path);
        let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", shown.display());
        let text = String::from_utf8(place::read(&path).map_err(|error| failed(&error))?);
        let text = text.map_err(|error| failed(&error))?;
        let lines = LineIndex::new(text.as_bytes());
        let reader = Reader { shown: &shown, folder: own, lines: &lines, all, some, profile_of: profile };
        reader.config(&text).map(Some)
    }

    /// The options for all sources as they would stand on the command line, except those that `is_given` there.
    pub fn words(&self, is_given: impl Fn(&str) -> bool) -> Vec<OsString> {
        words(self.settings.iter().filter(|(id, _)| !is_given(id)))
    }

    /// What is to be verified.
    pub fn verify(&self) -> Option<&verify::Settings> {
        self.verify.as_ref()
    }

    /// The file.
    pub fn path(&self) -> PathBuf {
        self.folder.join(FILE)
    }

    /// The sections that match a source, in their order.
    fn sections_of(&self, source: &Path) -> impl Iterator<Item = usize> {
        let below = source.strip_prefix(&self.folder).ok();
        let matching = move |section: &Section| below.is_some_and(|below| section.pattern.is_match(below));
        self.sections.iter().enumerate().filter(move |(_, section)| matching(section)).map(|(at, _)| at)
    }

    /// Whether options or places differ among the sources.
    pub fn is_of_files(&self) -> bool {
        !self.sections.is_empty() || !self.places.is_empty()
    }
}

fn words<'a>(settings: impl Iterator<Item = (&'a String, &'a Setting)>) -> Vec<OsString> {
    settings.flat_map(|(_, setting)| setting.words.iter().cloned()).collect()
}

/// Reads a configuration.
struct Reader<'a> {
    shown: &'a Path,
    folder: &'a Path,
    lines: &'a LineIndex,
    all: &'a Command,
    some: &'a Command,
    profile_of: &'a dyn Fn(&str) -> Result<(), String>,
}

impl Reader<'_> {
    fn config(&self, text: &str) -> Result<Config, String> {
        let table = DeTable::parse(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            self.wrong(at, error.message())
        })?;
        let mut config =
            Config { path: self.shown.to_path_buf(), folder: self.folder.to_path_buf(), ..Config::default() };
        for (key, value) in table.get_ref() {
            match (key.get_ref().as_ref(), value.get_ref()) {
                ("path", DeValue::Array(sections)) => {
                    for section in sections.iter() {
                        config.sections.push(self.section(section)?);
                    }
                }
                ("profile", DeValue::Table(profiles)) => {
                    for (name, value) in profiles {
                        if name.get_ref() == "use" {
                            let name = Spanned::new(key.span(), key.get_ref().clone());
                            let (id, setting) = self.setting(&name, value, self.all)?;
                            config.settings.insert(id, setting);
                        } else {
                            self.profile(name, value)?;
                        }
                    }
                }
                ("verify", _) => config.verify = Some(self.verify(value)?),
                ("at", DeValue::Array(places)) => {
                    for place in places.iter() {
                        config.places.push(self.place(place)?);
                    }
                }
                _ => {
                    let (id, setting) = self.setting(key, value, self.all)?;
                    config.settings.insert(id, setting);
                }
            }
        }
        self.profile_used(&config, self.profile_of)?;
        Ok(config)
    }

    fn wrong(&self, at: usize, why: &str) -> String {
        format!("{}:{}: {why}", self.shown.display(), self.lines.line(at as u32) + 1)
    }

    fn setting(
        &self,
        key: &Spanned<std::borrow::Cow<'_, str>>,
        value: &Spanned<DeValue<'_>>,
        command: &Command,
    ) -> Result<(String, Setting), String> {
        let (name, at) = (key.get_ref().as_ref(), key.span().start);
        let is_called = |arg: &&Arg| {
            let short = arg.get_short().is_some_and(|short| name.len() == 1 && name.starts_with(short));
            arg.get_long() == Some(name) || short
        };
        let arg = command.get_arguments().find(is_called);
        let arg = arg.filter(|arg| !NO_OPTIONS.contains(&arg.get_id().as_str()));
        let arg =
            arg.ok_or_else(|| self.wrong(at, &format!("`{name}` is not an option that can stand here")))?;
        let option = match (arg.get_long(), arg.get_short()) {
            (Some(long), _) => format!("--{long}="),
            (None, short) => format!("-{}", short.unwrap_or_default()),
        };
        let word = |value: &Spanned<DeValue<'_>>| -> Result<OsString, String> {
            let text = match value.get_ref() {
                DeValue::String(text) => text.to_string(),
                DeValue::Integer(number) => number.to_string(),
                DeValue::Float(number) => number.to_string(),
                _ => return Err(self.wrong(value.span().start, &format!("`{name}` is a text or a number"))),
            };
            let mut word = OsString::from(&option);
            // Of a short option's value, a sign that it begins with would be dropped.
            if text.starts_with('=') && !option.ends_with('=') {
                word.push("=");
            }
            let is_path = PATHS.contains(&arg.get_id().as_str());
            match is_path || arg.get_id() == "profile" && text.ends_with(".toml") {
                true => word.push(self.seen_from_here(Path::new(&text))),
                false => word.push(text),
            }
            Ok(word)
        };
        let takes_none = matches!(arg.get_action(), ArgAction::SetTrue);
        let may_take_none = takes_none || arg.get_num_args().is_some_and(|count| count.min_values() == 0);
        let words = match value.get_ref() {
            DeValue::Boolean(true) if may_take_none => vec![OsString::from(option.trim_end_matches('='))],
            DeValue::Boolean(false) if may_take_none => Vec::new(),
            _ if takes_none => {
                return Err(self.wrong(value.span().start, &format!("`{name}` is `true` or `false`")));
            }
            DeValue::Array(all) if matches!(arg.get_action(), ArgAction::Append) => {
                all.iter().map(word).collect::<Result<_, _>>()?
            }
            _ => vec![word(value)?],
        };
        self.refuse(command, name, value.span().start, &words)?;
        let line = self.lines.line(at as u32) + 1;
        Ok((arg.get_id().to_string(), Setting { words, line }))
    }

    /// Refuses a value that the command line refuses.
    fn refuse(&self, command: &Command, name: &str, at: usize, words: &[OsString]) -> Result<(), String> {
        let program = (!command.is_no_binary_name_set()).then(|| OsString::from("acc2omp"));
        let read = command.clone().try_get_matches_from(program.into_iter().chain(words.iter().cloned()));
        let Err(error) = read else { return Ok(()) };
        let text = |kind| match error.get(kind) {
            Some(ContextValue::String(text)) => vec![text.clone()],
            Some(ContextValue::Strings(all)) => all.clone(),
            _ => Vec::new(),
        };
        let shown = error.to_string();
        let first = shown.lines().next().unwrap_or_default().trim_start_matches("error: ");
        let Some(value) = text(ContextKind::InvalidValue).pop() else { return Err(self.wrong(at, first)) };
        let known: Vec<String> =
            text(ContextKind::ValidValue).iter().map(|value| format!("`{value}`")).collect();
        let why = match error.source() {
            Some(why) => why.to_string(),
            None if known.is_empty() => first.to_owned(),
            None => format!("want one of {}", known.join(", ")),
        };
        Err(self.wrong(at, &format!("`{name}` is `{value}`: {why}")))
    }

    /// A path of the file, as it is called from the folder where acc2omp runs.
    fn seen_from_here(&self, path: &Path) -> PathBuf {
        self.shown.parent().unwrap_or(Path::new("")).join(path)
    }

    fn section(&self, section: &Spanned<DeValue<'_>>) -> Result<Section, String> {
        let at = section.span().start;
        let table = section.get_ref().as_table();
        let table = table.ok_or_else(|| self.wrong(at, "`path` is written `[[path]]`"))?;
        let (mut pattern, mut settings) = (None, Settings::new());
        for (key, value) in table {
            if key.get_ref() == "match" {
                let text = value.get_ref().as_str().unwrap_or_default();
                let glob = GlobBuilder::new(text).literal_separator(true).build();
                let glob = glob.map_err(|error| self.wrong(value.span().start, &error.to_string()))?;
                pattern = Some(glob.compile_matcher());
            } else {
                let (id, setting) = self.setting(key, value, self.some)?;
                settings.insert(id, setting);
            }
        }
        let pattern = pattern.ok_or_else(|| self.wrong(at, "`[[path]]` has no `match = \"PATTERN\"`"))?;
        Ok(Section { pattern, line: self.lines.line(at as u32) + 1, settings })
    }

    fn profile(
        &self,
        name: &Spanned<std::borrow::Cow<'_, str>>,
        value: &Spanned<DeValue<'_>>,
    ) -> Result<(), String> {
        let table = toml::Table::deserialize(value.clone().into_deserializer());
        let table = table.map_err(|_| self.wrong(value.span().start, "a profile is a table"))?;
        // A reason names its key first; one that is missing has no line of its own.
        let place = |why: &str| {
            let key = why.split('`').nth(1)?;
            let table = value.get_ref().as_table()?;
            table.iter().find(|(known, _)| known.get_ref() == key).map(|(known, _)| known.span().start)
        };
        rules::add_profile(name.get_ref(), table)
            .map(drop)
            .map_err(|why| self.wrong(place(&why).unwrap_or(name.span().start), &why))
    }

    fn verify(&self, value: &Spanned<DeValue<'_>>) -> Result<verify::Settings, String> {
        let start = value.span().start;
        let settings = verify::Settings::deserialize(value.clone().into_deserializer());
        let settings = settings
            .map_err(|error| self.wrong(error.span().map_or(start, |span| span.start), error.message()))?;
        match settings.wrong() {
            Some(why) => Err(self.wrong(start, &format!("`[verify]`: {why}"))),
            None => Ok(settings),
        }
    }

    fn place(&self, place: &Spanned<DeValue<'_>>) -> Result<Place, String> {
        let at = place.span().start;
        let table = place.get_ref().as_table();
        let table = table.ok_or_else(|| self.wrong(at, "`at` is written `[[at]]`"))?;
        let (mut file, mut label, mut wish) = (None, None, None);
        for (key, value) in table {
            let name = key.get_ref().as_ref();
            let text = value.get_ref().as_str();
            let wrong = |why: &str| self.wrong(value.span().start, &format!("`{name}` {why}"));
            match name {
                "file" => {
                    let text = text.ok_or_else(|| wrong("is the path of a source"))?;
                    let found = self.folder.join(text).canonicalize();
                    file = Some(found.map_err(|error| wrong(&format!("is `{text}`: {error}")))?);
                }
                "line" | "label" if label.is_some() => {
                    return Err(wrong("stands beside another one: want `line` or `label`"));
                }
                "line" => {
                    let line = value.get_ref().as_integer().and_then(|line| line.as_str().parse().ok());
                    label = Some(Label::Line(line.ok_or_else(|| wrong("is the number of a line"))?));
                }
                "label" => {
                    let text = text.ok_or_else(|| wrong("is `\"ROUTINE\"` or `\"ROUTINE:NUMBER\"`"))?;
                    label = Some(Label::read(text));
                }
                "do" => {
                    let known = text.and_then(Wish::named);
                    wish = Some(known.ok_or_else(|| wrong("is `\"leave\"` or `\"seq\"`"))?);
                }
                _ => return Err(self.wrong(key.span().start, &format!("`[[at]]` has no `{name}`"))),
            }
        }
        match (file, label, wish) {
            (Some(file), Some(label), Some(wish)) => Ok(Place { file, label, wish }),
            _ => Err(self.wrong(
                at,
                "`[[at]]` wants `file = \"FILE\"`, `line = NUMBER` or `label = \"ROUTINE:NUMBER\"`, and `do = \"leave\"` or `do = \"seq\"`",
            )),
        }
    }

    /// Refuses a profile that is not there; those of the file are known by now.
    fn profile_used(&self, config: &Config, read: &dyn Fn(&str) -> Result<(), String>) -> Result<(), String> {
        let all =
            [&config.settings].into_iter().chain(config.sections.iter().map(|section| &section.settings));
        for setting in all.filter_map(|settings| settings.get("profile")) {
            let word = setting.words.first().map(|word| word.to_string_lossy()).unwrap_or_default();
            let name = word.trim_start_matches("--profile=");
            read(name).map_err(|why| format!("{}:{}: {why}", self.shown.display(), setting.line))?;
        }
        Ok(())
    }
}

/// Reads options from words as on the command line.
pub type Parse = fn(Vec<OsString>) -> Result<Options, clap::Error>;

/// The options of sources that differ from those of all.
#[derive(Default)]
pub struct Overrides {
    config: Config,
    /// The options that sources may have of their own, except those that the command line has: these count more.
    own: Vec<String>,
    parse: Option<Parse>,
    known: Mutex<HashMap<Vec<usize>, Options>>,
}

impl Overrides {
    /// Reads the options of files by `parse`; `own` are the names in clap of those that a file may have, unless they stand on the
    /// command line.
    pub fn new(config: Config, own: Vec<String>, parse: Parse) -> Result<Overrides, clap::Error> {
        for section in &config.sections {
            parse(words(section.settings.iter()))?;
        }
        Ok(Overrides { config, own, parse: Some(parse), known: Mutex::default() })
    }

    /// The options of a source, which lies at a path: those that all have, and its own.
    pub fn options(&self, source: &Source, path: &Path, all: &Options) -> Options {
        let sections: Vec<usize> = self.config.sections_of(path).collect();
        let places = self.config.places.iter().filter(|place| place.file == path);
        let lines = |place: &Place| {
            let wish = place.wish;
            place.label.lines(source).into_iter().map(move |line| (line, wish)).collect::<Vec<_>>()
        };
        let wishes = places.flat_map(lines).collect();
        if sections.is_empty() {
            return Options { wishes, ..all.clone() };
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let own = known.entry(sections).or_insert_with_key(|sections| self.read(sections, all));
        Options { wishes, ..own.clone() }
    }

    /// What there is to say of the directives in a source that `[[at]]` names: those that are not there, or that have nothing to
    /// change, as the translation `grants` no line of them.
    pub fn stale(&self, source: &Source, path: &Path, grants: impl Fn(usize) -> bool) -> Vec<String> {
        let name = &source.file.name;
        let places = self.config.places.iter().filter(|place| place.file == path);
        let stale = places.filter(|place| !place.label.lines(source).into_iter().any(&grants));
        let what = stale.map(|place| match &place.label {
            Label::Line(line) => format!("{name}:{line}"),
            Label::Routine(routine, None) => format!("{name}: `{routine}`"),
            Label::Routine(routine, Some(number)) => format!("{name}: `{routine}:{number}`"),
        });
        what.map(|what| format!("note: {what}: `[[at]]` names no directive that it could change\n")).collect()
    }

    /// What there is to say of the sections that match none of a run's files, though these are all that the inputs hold.
    pub fn unmatched(&self, inputs: &[PathBuf], files: &[&Path]) -> Vec<String> {
        let Config { folder, path, sections, .. } = &self.config;
        let inputs: Vec<PathBuf> = inputs.iter().filter_map(|input| input.canonicalize().ok()).collect();
        let is_vain = |section: &&Section| {
            let place = folder.join(section.fixed());
            let is_met = inputs.iter().any(|input| place.starts_with(input)) || !place.exists();
            let matches =
                |file: &&Path| file.strip_prefix(folder).is_ok_and(|below| section.pattern.is_match(below));
            is_met && !files.iter().any(matches)
        };
        let what = sections.iter().filter(is_vain).map(|section| {
            let pattern = section.pattern.glob().glob();
            format!("note: {}:{}: `[[path]]` matches no source: `{pattern}`\n", path.display(), section.line)
        });
        what.collect()
    }

    fn read(&self, sections: &[usize], all: &Options) -> Options {
        let mut settings: BTreeMap<&String, &Setting> = self.config.settings.iter().collect();
        for at in sections {
            settings.extend(&self.config.sections[*at].settings);
        }
        settings.retain(|id, _| self.own.contains(id));
        let words = words(settings.into_iter());
        let own = self.parse.and_then(|parse| parse(words).ok()).unwrap_or_else(|| all.clone());
        Options { guard: all.guard.clone(), line_directives: all.line_directives, ..own }
    }
}

/// The values of options that are not said, where clap does not know them.
const DEFAULTS: [(&str, &str); 3] =
    [("omp", "\"4.5\""), ("profile", "\"generic\""), ("existing_omp", "\"ask\"")];

/// A line of `acc2omp config`: an option, what counts for a file or folder, and where it is said.
pub fn line(config: Option<&Config>, source: &Path, arg: &Arg, name: &str) -> String {
    let said = config.and_then(|config| {
        let id = arg.get_id().as_str();
        let sections: Vec<usize> = config.sections_of(source).collect();
        let own = sections.iter().rev().find_map(|at| config.sections[*at].settings.get(id));
        Some((config, own.or_else(|| config.settings.get(id))?))
    });
    let value = |word: &OsString| {
        let text = word.to_string_lossy();
        let value =
            text.strip_prefix(&format!("--{name}=")).or_else(|| text.strip_prefix(&format!("-{name}")));
        as_toml(value.unwrap_or("true"))
    };
    let flag = matches!(arg.get_action(), ArgAction::SetTrue);
    match said {
        Some((config, setting)) => {
            let values: Vec<String> = setting.words.iter().map(value).collect();
            let values = match (flag, arg.get_action()) {
                (true, _) => (!values.is_empty()).to_string(),
                (_, ArgAction::Append) => format!("[{}]", values.join(", ")),
                _ => values.concat(),
            };
            format!("{name} = {values}  # {}:{}\n", config.path.display(), setting.line)
        }
        None => match default(arg) {
            Some(default) => format!("{name} = {default}  # default\n"),
            None => format!("# {name} is not set\n"),
        },
    }
}

/// What counts for an option that is not said; `None` if that is nothing.
fn default(arg: &Arg) -> Option<String> {
    match (arg.get_id().as_str(), arg.get_action()) {
        ("threads" | "jobs", _) => {
            Some(std::thread::available_parallelism().map_or(1, usize::from).to_string())
        }
        (_, ArgAction::SetTrue) => Some("false".to_owned()),
        (_, ArgAction::Append) => Some("[]".to_owned()),
        (id, _) => {
            let known = DEFAULTS.iter().find(|(known, _)| *known == id).map(|(_, value)| (*value).to_owned());
            known.or_else(|| arg.get_default_values().first().map(|value| as_toml(&value.to_string_lossy())))
        }
    }
}

/// A value as the file has it: numbers are not between quotes.
fn as_toml(value: &str) -> String {
    if value.parse::<u64>().is_ok() { value.to_owned() } else { format!("{value:?}") }
}
