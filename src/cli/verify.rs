//! `acc2omp verify`: its arguments, and what it asks the user.
//!
//! Invariant: no command of the configuration runs before the user has agreed to it.

use std::cell::LazyCell;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{fs, io};

use super::build::{Build, CompilerFlags};
use super::config::Config;
use super::headers::Headers;
use super::place::shown;
use super::{Verdict, fail, files, notify, print};
use crate::acc::nearest;
use crate::pins::{HEADER, Purpose, Site};
use crate::report::Manner;
use crate::source::{Languages, SourceFile};
use crate::verify::{Construct, Directive, FILE, Pins, Search, Section, Settings, Verification, section};
use crate::{Extent, Options, Source, extents, instrument, scan, translate};

/// What is asked for.
#[derive(Debug, clap::Args)]
pub struct Verify {
    /// The tests to run; all, if none is named
    #[arg(value_name = "TEST")]
    tests: Vec<String>,

    /// Write a section `[verify]` into acc2omp.toml, from the build files of this folder
    #[arg(long)]
    init: bool,

    /// Run the commands of the configuration without asking
    #[arg(short, long)]
    yes: bool,

    /// Name the first construct that leaves other data on the device than in the reference
    #[arg(long)]
    pins: bool,

    /// Record every N-th execution of a directive
    #[arg(long, value_name = "N", default_value_t = 1, requires = "pins", value_parser = clap::value_parser!(u64).range(1..))]
    every: u64,

    /// Record the first N executions of a directive
    #[arg(long, value_name = "N", requires = "pins", value_parser = clap::value_parser!(u64).range(1..))]
    first: Option<u64>,

    /// Record this directive alone
    #[arg(long, value_name = "FILE:LINE", requires = "pins")]
    only: Option<String>,

    /// Name the construct that makes a test wrong when it runs on the device
    #[arg(long)]
    bisect: bool,

    /// Leave directives whose translation does not compile, and go on
    #[arg(long)]
    leave_failing: bool,

    /// Run the reference and the noise build alone, and save what they do in a folder
    #[arg(long, value_name = "DIR", conflicts_with_all = ["golden", "tests", "bisect", "leave_failing", "format"])]
    save: Option<PathBuf>,

    /// Compare with a reference that `--save` has saved, instead of running one
    #[arg(long, value_name = "DIR")]
    golden: Option<PathBuf>,

    /// How the result is written
    #[arg(long, value_name = "FORMAT", default_value = "text", value_parser = ["text", "json"])]
    format: String,
}

/// Runs the command; `config` reads the configuration of a folder.
pub fn run(task: &Verify, config: &dyn Fn(&Path) -> Result<Option<Config>, String>) -> ExitCode {
    let done = if task.init { init() } else { verify(task, config) };
    done.unwrap_or_else(|why| ExitCode::from(fail(&why) as u8))
}

fn init() -> Result<ExitCode, String> {
    let path = PathBuf::from(FILE);
    let before = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(format!("{FILE}: {error}")),
    };
    let table: toml::Table = before.parse().map_err(|error| format!("{FILE}: {error}"))?;
    if table.contains_key("verify") {
        return Err(format!("{FILE} has `verify` already"));
    }
    let gap = if before.is_empty() { "" } else { "\n" };
    let end = if before.is_empty() || before.ends_with('\n') { "" } else { "\n" };
    let Section { text, from, remarks } = section(Path::new("."));
    let mut file = fs::File::options()
        .append(true)
        .create(true)
        .open(&path)
        .map_err(|error| format!("{FILE}: {error}"))?;
    file.write_all(format!("{end}{gap}{text}").as_bytes()).map_err(|error| format!("{FILE}: {error}"))?;
    let remarks: String = remarks.iter().map(|remark| format!("note: {remark}\n")).collect();
    notify(&format!(
        "{FILE}: wrote `[verify]`; found: {from}\n{remarks}Fill in how the program is run, and what begins with `false`.\n"
    ));
    Ok(ExitCode::SUCCESS)
}

fn verify(
    task: &Verify,
    config: &dyn Fn(&Path) -> Result<Option<Config>, String>,
) -> Result<ExitCode, String> {
    let way_out = "`acc2omp verify --init` writes one with `[verify]`";
    let config = config(Path::new("."))?
        .ok_or_else(|| format!("there is no {FILE} in this folder or above it; {way_out}"))?;
    let none = || format!("{}: there is no `[verify]`; {way_out}", shown(&config.path()).display());
    let settings = config.verify().ok_or_else(none)?;
    let known = |name: &String| settings.tests().any(|(known, _)| known == name);
    if let Some(name) = task.tests.iter().find(|name| !known(name)) {
        return Err(format!("{FILE} has no test `{name}`"));
    }
    let path = config.path();
    let root = path.parent().unwrap_or(Path::new("."));
    if let Some(only) = task.only.as_deref() {
        has_directive(root, only)?;
    }
    let verification =
        Verification::of(root, settings, Manner { color: io::stderr().is_terminal(), verbose: false })?;
    if !task.yes && !verification.is_agreed() {
        ask(settings)?;
        verification.agree()?;
    }
    let bar = progress();
    let said = |text: &str| {
        bar.set_message(text.to_owned());
        bar.tick();
    };
    let constructs = LazyCell::new(|| constructs(root));
    let pins = Pins { every: task.every, first: task.first, only: task.only.clone() };
    let search = Search {
        pins: task.pins.then_some(pins),
        bisect: task.bisect,
        instrument: &|copy, purpose| instrumented(copy, purpose, &constructs),
        leave: task.leave_failing.then_some(&directives),
        golden: task.golden.as_deref(),
    };
    if let Some(folder) = &task.save {
        let saved = verification.save(folder, &search, &said);
        bar.finish_and_clear();
        saved?;
        notify(&format!("saved the reference in {}\n", folder.display()));
        return Ok(ExitCode::SUCCESS);
    }
    let report = verification.run(&task.tests, &constructs, &search, &said);
    bar.finish_and_clear();
    let report = report?;
    let verdict = match task.format.as_str() {
        "json" => {
            let text = serde_json::to_string_pretty(&report).map_err(|error| error.to_string())?;
            print((text + "\n").as_bytes())
        }
        _ => print(report.text().as_bytes()),
    };
    Ok(ExitCode::from(if verdict == Verdict::Failed { verdict as u8 } else { report.status as u8 }))
}

/// Refuses a place that has no directive which could be recorded.
fn has_directive(root: &Path, only: &str) -> Result<(), String> {
    let place = only.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse::<usize>().ok()?)));
    let (file, line) = place.ok_or_else(|| format!("`--only {only}`: want FILE:LINE"))?;
    let all = sources(root);
    let named = all.iter().find(|one| one.source.file.name == file);
    let Found { source, .. } = named.ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|one| &*one.source.file.name).collect();
        let near = nearest(file, names.iter().copied()).or(names.first().copied());
        let example = near.map(|name| format!("; {name} is one")).unwrap_or_default();
        format!("`--only {only}`: no source with OpenACC is called {file}{example}")
    })?;
    let (_, sites) = instrument(source, &Options::default(), Purpose::Record);
    if sites.iter().any(|site| site.line == line) {
        return Ok(());
    }
    let near = sites.iter().min_by_key(|site| site.line.abs_diff(line));
    let near = near.map(|site| format!(": `{}` stands in line {}", site.name, site.line)).unwrap_or_default();
    Err(format!("`--only {only}`: there is no directive at this line{near}"))
}

/// Shows the commands and asks whether they may run.
fn ask(settings: &Settings) -> Result<(), String> {
    notify(&format!("{FILE} has these commands:\n{}", settings.commands()));
    if !io::stdin().is_terminal() {
        return Err("nobody has agreed to them: `--yes` runs them without asking".to_owned());
    }
    notify("Run them? [y/N] ");
    let mut answer = String::new();
    io::stdin().read_line(&mut answer).map_err(|error| error.to_string())?;
    match answer.trim() {
        "y" | "yes" => Ok(()),
        _ => Err("nothing was run".to_owned()),
    }
}

fn progress() -> indicatif::ProgressBar {
    match io::stderr().is_terminal() {
        true => indicatif::ProgressBar::new_spinner(),
        false => indicatif::ProgressBar::hidden(),
    }
}

/// A source of a tree.
struct Found {
    /// Its path.
    path: PathBuf,
    /// What is known of it, with the headers that it includes.
    source: Source,
}

/// The sources of a tree that hold OpenACC, each named by its path below the root.
fn sources(root: &Path) -> Vec<Found> {
    let Ok(tree) = files::gather(&[root.to_path_buf()], None, &Languages::default()) else {
        return Vec::new();
    };
    let headers = Headers::new(vec![root.to_path_buf()], Build::from(CompilerFlags::default()));
    let found = tree.jobs.iter().filter_map(|job| {
        let bytes = fs::read(&job.path).ok()?;
        let language = scan::language_of(&job.path, &bytes, &Languages::default())?;
        let holds = scan::mentions_openacc(&bytes, language);
        let file = SourceFile::new(job.target.display().to_string(), bytes, language);
        holds.then(|| Found { path: job.path.clone(), source: headers.source(file, &job.real) })
    });
    found.collect()
}

/// The compute constructs of a tree's sources.
fn constructs(root: &Path) -> Vec<Construct> {
    let mut found = Vec::new();
    for Found { source, .. } in sources(root) {
        let all = translate(&source, &Options::default()).directives;
        let line = |at: u32| source.file.line_number(at);
        let own: Vec<_> = all.into_iter().filter(|one| one.is_compute()).collect();
        for (at, one) in own.iter().enumerate() {
            let first = line(one.span.start);
            let end = own.get(at + 1).map_or(usize::MAX, |next| line(next.span.start) - 1).max(first);
            let file = source.file.name.clone();
            found.push(Construct { file, lines: (first, end), name: one.name.to_owned() });
        }
    }
    found
}

/// The compute constructs of a file that have no site.
fn not_instrumented(file: &str, constructs: &[Construct], sites: &[Site]) -> Vec<Site> {
    let is_missed = |one: &&Construct| one.file == file && sites.iter().all(|site| site.line != one.lines.0);
    let site = |one: &Construct| Site {
        line: one.lines.0,
        name: one.name.clone(),
        is_compute: true,
        variables: Vec::new(),
        unknown: Vec::new(),
        obstacle: Some("a macro stands for it, or its file is a part of others"),
    };
    constructs.iter().filter(is_missed).map(site).collect()
}

/// The directives of a tree's sources.
fn directives(root: &Path) -> Vec<Directive> {
    let of = |found: Found| {
        let file = found.source.file.name.clone();
        extents(&found.source, &Options::default()).into_iter().map(move |one| {
            let Extent { line, last, end, name } = one;
            Directive { file: file.clone(), line, last, end, name }
        })
    };
    sources(root).into_iter().flat_map(of).collect()
}

/// Instruments the sources of a copy of the tree, and puts the library beside them; the directives with their files. `constructs`
/// are the compute constructs of the tree.
fn instrumented(
    copy: &Path,
    purpose: Purpose,
    constructs: &[Construct],
) -> Result<Vec<(String, Site)>, String> {
    let failed = |path: &Path, error: io::Error| format!("{}: {error}", path.display());
    let mut all = Vec::new();
    let mut written = Vec::new();
    for Found { path, source } in sources(copy) {
        let purpose = match purpose {
            Purpose::Record => Purpose::Record,
            Purpose::Choose(first) => Purpose::Choose(first + all.len()),
        };
        let (text, mut sites) = instrument(&source, &Options::default(), purpose);
        if purpose == Purpose::Record {
            sites.extend(not_instrumented(&source.file.name, constructs, &sites));
        }
        all.extend(sites.into_iter().map(|site| (source.file.name.clone(), site)));
        if text == source.file.bytes {
            continue;
        }
        written.push((path, text, !source.file.language.is_fortran()));
    }
    // All are read before any is changed: one may include another.
    for (path, text, has_header) in written {
        if has_header {
            let (name, library) = HEADER;
            let library_path = path.with_file_name(name);
            fs::write(&library_path, library).map_err(|error| failed(&library_path, error))?;
        }
        fs::write(&path, text).map_err(|error| failed(&path, error))?;
    }
    Ok(all)
}
