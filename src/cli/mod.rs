//! The command line: reads and writes files, and speaks with the user.
//!
//! Invariant: no other room but `verify` touches the disk; an output file appears whole or not at all, and an input is never
//! overwritten unless `--in-place` says so.

mod args;
mod batch;
mod brief;
mod build;
mod cc;
mod config;
mod conflict;
mod drift;
mod explain;
mod files;
mod headers;
mod kind;
mod manifest;
mod name;
mod once;
mod output;
mod pages;
mod patch;
mod place;
mod progress;
mod reasons;
mod record;
mod reports;
mod shell;
mod verify;

use std::ffi::OsString;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use args::Request;
pub use args::command;
pub use build::{Build, CompilerFlags};
pub use headers::Headers;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Verdict {
    /// Everything is translated.
    Done = 0,
    /// Some OpenACC is left untranslated.
    Left = 1,
    /// The command is wrong, or a file could not be read or written.
    Failed = 2,
}

/// Runs acc2omp with its arguments (the first is the program's name) and says how it ended.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let verdict = match args::parse(arguments) {
        Ok(Request::Explain(codes)) => explain::codes(&codes),
        Ok(Request::Rules(name)) => explain::rule(name.as_deref()),
        Ok(Request::Compile(task)) => return cc::run(&task),
        Ok(Request::CheckRules(folder)) => pages::check(&folder),
        Ok(Request::Config(inputs)) => configuration(&inputs),
        Ok(Request::Verify(task)) => return verify::run(&task, &args::configuration),
        Ok(Request::Drift(out)) => drift::run(&out),
        Ok(Request::Completions(shell)) => shell::completions(args::command(), shell),
        Ok(Request::Man(topic)) => shell::man(args::command(), topic.as_deref()),
        Ok(Request::Translate(task)) => batch::run(&task),
        Err(refusal) => refuse(&refusal),
    };
    ExitCode::from(verdict as u8)
}

/// Prints the options that count for sources.
fn configuration(inputs: &[PathBuf]) -> Verdict {
    match args::effective(inputs.first().map_or(Path::new("."), PathBuf::as_path)) {
        Ok(text) => print(text.as_bytes()),
        Err(why) => fail(&why),
    }
}

/// Prints what clap has to say: help and version are not failure, nor is a reader that has read enough of them.
fn refuse(refusal: &clap::Error) -> Verdict {
    match (refusal.print(), refusal.exit_code()) {
        (Err(error), 0) if error.kind() != ErrorKind::BrokenPipe => {
            fail(&format!("standard output: {error}"))
        }
        (_, 0) => Verdict::Done,
        _ => Verdict::Failed,
    }
}

/// Writes a text for people to standard output; a reader that has gone away is not a failure.
fn print(bytes: &[u8]) -> Verdict {
    written(bytes, |error| error.kind() != ErrorKind::BrokenPipe)
}

/// Writes a translation to standard output: what nobody reads is lost.
fn show(bytes: &[u8]) -> Verdict {
    written(bytes, |_| true)
}

fn written(bytes: &[u8], is_failure: impl Fn(&std::io::Error) -> bool) -> Verdict {
    let mut out = std::io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if is_failure(&error) => fail(&format!("standard output: {error}")),
        _ => Verdict::Done,
    }
}

/// Writes to standard error; there is nowhere to complain if that fails.
fn notify(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// Says why the run fails.
fn fail(why: &str) -> Verdict {
    notify(&format!("error: {why}\n"));
    Verdict::Failed
}
