//! Runs commands: those of the user, and those of the chores.
//!
//! Invariant: a command has a process group of its own, of which nothing lives longer than the command or its time limit.

use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::Pid;

/// Set by a signal that ends acc2omp.
static STOPPED: AtomicBool = AtomicBool::new(false);

/// How often a command is looked after.
const PERIOD: Duration = Duration::from_millis(5);

/// As long as a program has only just begun, it is asked more often.
const SHORTEST: Duration = Duration::from_micros(100);

/// How long processes may take to end when they are asked to.
const GRACE: Duration = Duration::from_secs(2);

/// How a command ended.
#[derive(Debug)]
pub enum End {
    /// By itself.
    Status(ExitStatus),
    /// At its time limit.
    TimedOut,
    /// As it wrote more than it may.
    TooMuch,
    /// The user stopped all.
    Stopped,
}

/// A command to run.
#[derive(Debug)]
pub struct Job<'a> {
    /// What `sh` reads.
    pub command: &'a str,
    /// Where it runs.
    pub folder: &'a Path,
    /// What is set in its environment.
    pub environment: &'a [(&'a str, String)],
    /// Where its standard output goes.
    pub stdout: PathBuf,
    /// Where its standard error goes; with the standard output if none is said.
    pub stderr: Option<PathBuf>,
    /// How long it may take.
    pub limit: Duration,
    /// How much it may write to both.
    pub bytes: u64,
}

/// What a command may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How long it may run.
    pub time: Duration,
    /// How much it may write to each of its outputs.
    pub bytes: u64,
}

/// Runs a command of a user to its end.
pub fn run(job: &Job<'_>) -> Result<End, String> {
    let open = |path: &Path| File::create(path).map_err(|error| format!("{}: {error}", path.display()));
    let out = open(&job.stdout)?;
    let again = || out.try_clone().map_err(|error| format!("{}: {error}", job.stdout.display()));
    let err = job.stderr.as_deref().map_or_else(again, open)?;
    let mut command = Command::new("sh");
    command.arg("-c").arg(job.command).current_dir(job.folder);
    command.envs(job.environment.iter().map(|(name, value)| (name, value)));
    let limits = Limits { time: job.limit, bytes: job.bytes };
    to_end(&mut command, [&out, &err], limits).map_err(|error| format!("sh: {error}"))
}

/// Runs a command to its end, in a group of its own; it reads nothing, and writes its output and its errors to these files.
pub fn to_end(command: &mut Command, files: [&File; 2], limits: Limits) -> io::Result<End> {
    static HANDLER: Once = Once::new();
    HANDLER.call_once(|| drop(ctrlc::set_handler(|| STOPPED.store(true, Ordering::Relaxed))));
    command.process_group(0).stdin(Stdio::null()).stdout(files[0].try_clone()?).stderr(files[1].try_clone()?);
    let mut child = command.spawn()?;
    let end = wait(&mut child, limits, files);
    let status = child.wait()?;
    Ok(end.unwrap_or(End::Status(status)))
}

/// Waits for the end of a command and ends its group; `None` if it ended by itself.
fn wait(child: &mut Child, limits: Limits, files: [&File; 2]) -> Option<End> {
    let group = Pid::from_raw(child.id().cast_signed());
    let start = Instant::now();
    let end = loop {
        // The process is not waited for yet, so that its number is nobody else's.
        if has_ended(group) {
            break None;
        }
        let written = files.iter().filter_map(|file| Some(file.metadata().ok()?.len())).max();
        if STOPPED.load(Ordering::Relaxed) {
            break Some(End::Stopped);
        } else if start.elapsed() > limits.time {
            break Some(End::TimedOut);
        } else if written.is_some_and(|written| written > limits.bytes) {
            break Some(End::TooMuch);
        }
        sleep((start.elapsed() / 8).clamp(SHORTEST, PERIOD));
    };
    if end.is_some() {
        let _ = killpg(group, Signal::SIGTERM);
        let start = Instant::now();
        while !has_ended(group) && start.elapsed() < GRACE {
            sleep(PERIOD);
        }
    }
    let _ = killpg(group, Signal::SIGKILL);
    end
}

fn has_ended(leader: Pid) -> bool {
    let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
    !matches!(waitid(Id::Pid(leader), flags), Ok(WaitStatus::StillAlive))
}
