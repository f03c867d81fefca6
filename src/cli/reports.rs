//! Reports of a run: in which form, and where they go.
//!
//! Invariant: a report is written once, after all files, and a baseline is read before the first.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::place::{Folder, Like, about, read};
use super::{Verdict, fail, notify, print};
use crate::report::{Baseline, Report, baseline};
use crate::source::Language;

/// The form of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Messages for people.
    Human,
    /// JSON by `schemas/report-1.json`.
    Json,
    /// SARIF 2.1.0.
    Sarif,
    /// Annotations of a GitHub workflow.
    Github,
    /// One page for a browser.
    Html,
}

/// What is asked of reports.
#[derive(Debug, clap::Args)]
pub struct Reports {
    /// The form of the messages: text, JSON (docs/report.md), SARIF 2.1.0, annotations of a GitHub workflow, or a page to review
    /// the translation in a browser
    #[arg(long, value_name = "FORMAT", default_value = "human", value_parser = format())]
    #[arg(help_heading = HEADING)]
    pub format: Format,

    /// Write the report to FILE [default: standard output, as `-`; messages for people go to standard error]
    #[arg(long, value_name = "FILE", help_heading = HEADING)]
    pub output: Option<PathBuf>,

    /// Hide the reviewed diagnostics in FILE; they do not affect the exit status
    #[arg(long, value_name = "FILE", help_heading = HEADING)]
    pub baseline: Option<PathBuf>,

    /// Write a baseline with all diagnostics of this run to FILE
    #[arg(long, value_name = "FILE", help_heading = HEADING)]
    pub write_baseline: Option<PathBuf>,
}

const HEADING: &str = "Report";

fn format() -> impl TypedValueParser<Value = Format> {
    PossibleValuesParser::new(["human", "json", "sarif", "github", "html"]).map(|text| match text.as_str() {
        "json" => Format::Json,
        "sarif" => Format::Sarif,
        "github" => Format::Github,
        "html" => Format::Html,
        _ => Format::Human,
    })
}

impl Reports {
    /// Whether the run must keep records of what it finds.
    pub fn keeps_records(&self) -> bool {
        self.format != Format::Human || self.baseline.is_some() || self.write_baseline.is_some()
    }

    /// Whether the report shows the texts of the files.
    pub fn shows_texts(&self) -> bool {
        self.format == Format::Html
    }

    /// Whether the report goes to standard output.
    pub fn is_on_stdout(&self) -> bool {
        self.format != Format::Human && self.output.as_deref().is_none_or(|path| path == STDOUT)
    }

    /// The baseline, if one counts.
    pub fn read_baseline(&self) -> Result<Option<Baseline>, String> {
        let Some(path) = &self.baseline else { return Ok(None) };
        let text = read(path).and_then(|bytes| String::from_utf8(bytes).map_err(io::Error::other));
        let text = text.map_err(|error| {
            let is_missing = error.kind() == io::ErrorKind::NotFound;
            let way_out = format!("; `--write-baseline {}` writes one", path.display());
            format!("{}{}", about(path, &error), if is_missing { &way_out } else { "" })
        })?;
        Baseline::read(&text).map(Some).map_err(|why| format!("{}: {why}", path.display()))
    }

    /// Why these reports are not written: one would replace the other, or a source, as where an option's FILE was forgotten
    /// before a list of sources. `inputs` are those of the run.
    pub fn refused(&self, inputs: &[&Path]) -> Option<String> {
        if let (Some(output), Some(baseline)) = (&self.output, &self.write_baseline)
            && is_same_file(output, baseline)
        {
            let (output, baseline) = (output.display(), baseline.display());
            return Some(format!(
                "`--output {output} --write-baseline {baseline}`: one would replace the other"
            ));
        }
        let named = [("--output", &self.output), ("--write-baseline", &self.write_baseline)];
        named.into_iter().find_map(|(option, path)| {
            let path = path.as_deref()?;
            let is_input = || path.canonicalize().is_ok_and(|path| inputs.contains(&path.as_path()));
            let is_source = Language::of(path).is_some() || is_input();
            is_source.then(|| format!("`{option} {}`: a report does not replace a source", path.display()))
        })
    }

    /// Writes the report; `said` is what there is for people, and `made` makes the rest.
    pub fn write(&self, said: &str, made: impl FnOnce() -> Report) -> Verdict {
        let report = if self.keeps_records() { made() } else { Report::default() };
        let mut verdict = match &self.write_baseline {
            Some(path) => to_file(path, &baseline(&report)),
            None => Verdict::Done,
        };
        let text = match self.format {
            Format::Human => said.to_owned(),
            Format::Json => report.json(),
            Format::Sarif => report.sarif(),
            Format::Html => report.html(),
            Format::Github => {
                let (annotations, summary) = report.github();
                verdict = verdict.max(step(&summary));
                annotations
            }
        };
        verdict.max(match (&self.output, self.format) {
            (Some(path), _) => to_file(path, &text),
            (None, Format::Human) => {
                notify(&text);
                Verdict::Done
            }
            (None, _) => print(text.as_bytes()),
        })
    }
}

/// Whether both name one file, which need not be there yet.
fn is_same_file(one: &Path, other: &Path) -> bool {
    let to_be = |path: &Path| {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        Some(folder.unwrap_or(Path::new(".")).canonicalize().ok()?.join(path.file_name()?))
    };
    let place = |path: &Path| path.canonicalize().ok().or_else(|| to_be(path));
    one == other || place(one).is_some_and(|found| place(other) == Some(found))
}

/// The name that means standard output, as it means standard input where sources are named.
const STDOUT: &str = "-";

fn to_file(path: &Path, text: &str) -> Verdict {
    if path == STDOUT {
        return print(text.as_bytes());
    }
    let write = || match path.file_name() {
        // A pipe or a terminal takes the text as it comes.
        Some(name) if !path.exists() || path.is_file() => {
            let folder = Folder::open(path.parent().unwrap_or(Path::new("")))?;
            folder.write(name, text.as_bytes(), Like::New).map(drop)
        }
        _ => std::fs::write(path, text).map_err(|error| about(path, &error)),
    };
    write().map_or_else(|error| fail(&error.to_string()), |()| Verdict::Done)
}

/// Adds to the summary of a workflow's step, if this is one.
fn step(summary: &str) -> Verdict {
    let Some(path) = std::env::var_os("GITHUB_STEP_SUMMARY").filter(|path| !path.is_empty()) else {
        return Verdict::Done;
    };
    let path = PathBuf::from(path);
    let add = || -> io::Result<()> {
        OpenOptions::new().create(true).append(true).open(&path)?.write_all(summary.as_bytes())
    };
    add().map_or_else(|error| fail(&about(&path, &error).to_string()), |()| Verdict::Done)
}
