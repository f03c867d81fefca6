//! Starts other programs.
//!
//! Invariant: none outlives its time limit, what it printed is never lost, and what the user has set for programs of their own
//! does not change what these do.

use std::env;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::process::{Command, ExitStatus};
use std::time::Duration;

use acc2omp::verify::run::{End, Limits, to_end};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::{TimeVal, TimeValLike};

use crate::Result;

/// What a program may write to each of its outputs.
const BYTES: u64 = 4_000_000_000;

/// How the variables begin that change how offloading programs run, or how compilers build them.
const NOT_INHERITED: &[&str] =
    &["ACC_", "CUDA_", "FLANG_", "GOMP_", "KMP_", "LIBOMP", "NVCC_", "OFFLOAD_", "OMP_", "ORACLE_"];

/// What a program left.
#[derive(Debug)]
pub struct Output {
    /// How it ended; `None` if it was stopped at a limit.
    pub status: Option<ExitStatus>,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
}

impl Output {
    /// Whether it ended by itself, and well.
    pub fn succeeded(&self) -> bool {
        self.status.is_some_and(|status| status.success())
    }

    /// How it ended, for a message.
    pub fn end(&self) -> String {
        self.status.map_or_else(|| "stopped at its limit".to_owned(), |status| status.to_string())
    }
}

/// Runs a program and shows what it prints; failing is an error.
pub fn show(command: &mut Command) -> Result<()> {
    match on_its_own(command).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{}: {status}", name(command))),
        Err(error) => Err(format!("{}: {error}", name(command))),
    }
}

/// Runs a program silently, for as long as `limit`; only a program that cannot be started is an error, and the user who stops
/// all.
pub fn capture(command: &mut Command, limit: Duration) -> Result<Output> {
    let failed = |command: &Command, error: io::Error| format!("{}: {error}", name(command));
    let file = |command: &Command| tempfile::tempfile().map_err(|error| failed(command, error));
    let (mut stdout, mut stderr) = (file(command)?, file(command)?);
    let end = to_end(on_its_own(command), [&stdout, &stderr], Limits { time: limit, bytes: BYTES });
    let status = match end.map_err(|error| failed(command, error))? {
        End::Status(status) => Some(status),
        End::TimedOut | End::TooMuch => None,
        End::Stopped => return Err(format!("{}: was stopped", name(command))),
    };
    let text = |file: &mut File| text(file).map_err(|error| failed(command, error));
    Ok(Output { status, stdout: text(&mut stdout)?, stderr: text(&mut stderr)? })
}

/// What a program prints within `limit`; it must not fail.
pub fn answer(command: &mut Command, limit: Duration) -> Result<String> {
    let done = capture(command, limit)?;
    match done.succeeded() {
        true => Ok(done.stdout),
        false => Err(format!("{}: {}\n{}", name(command), done.end(), done.stderr)),
    }
}

/// The time on processors of this program, of all that it has waited for, and of those that they waited for.
pub fn spent() -> Result<Duration> {
    let mut all = TimeVal::zero();
    for who in [UsageWho::RUSAGE_SELF, UsageWho::RUSAGE_CHILDREN] {
        let usage = getrusage(who).map_err(|error| error.to_string())?;
        all = all + usage.user_time() + usage.system_time();
    }
    Ok(Duration::from_micros(u64::try_from(all.num_microseconds()).unwrap_or(0)))
}

/// The command without the variables that the user may have set for other programs, and with messages that we can read.
fn on_its_own(command: &mut Command) -> &mut Command {
    let given: Vec<_> = command.get_envs().map(|(name, _)| name.to_owned()).collect();
    for (name, _) in env::vars_os().filter(|(name, _)| !given.contains(name)) {
        let text = name.to_string_lossy();
        if NOT_INHERITED.iter().any(|prefix| text.starts_with(prefix)) {
            command.env_remove(&name);
        }
    }
    command.env("LC_ALL", "C")
}

/// What a program wrote to a file.
fn text(file: &mut File) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn name(command: &Command) -> String {
    command.get_program().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::process::Command;
    use std::time::Duration;

    use super::capture;

    #[test]
    fn output_is_caught() {
        let output =
            capture(Command::new("sh").args(["-c", "echo out; echo err >&2; exit 3"]), LIMIT).unwrap();
        assert_eq!((output.stdout.as_str(), output.stderr.as_str()), ("out\n", "err\n"));
        assert!(!output.succeeded());
        assert_eq!(output.status.and_then(|status| status.code()), Some(3));
    }

    #[test]
    fn what_others_set_is_not_inherited() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo $OMP_NUM_THREADS $LC_ALL"]).env("OMP_NUM_THREADS", "4");
        assert_eq!(capture(&mut command, LIMIT).unwrap().stdout, "4 C\n");
    }

    #[test]
    fn the_limit_is_kept() {
        let output = capture(Command::new("sleep").arg("60"), Duration::from_millis(50)).unwrap();
        assert_eq!(output.end(), "stopped at its limit");
    }

    #[test]
    fn a_missing_program_is_an_error() {
        assert!(capture(&mut Command::new("acc2omp-no-such-program"), LIMIT).is_err());
    }

    const LIMIT: Duration = Duration::from_secs(20);
}
