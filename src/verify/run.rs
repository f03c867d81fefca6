//! Runs the user's commands.
//!
//! Invariant: a command has a process group of its own, of which nothing lives longer than the command or its time limit.

use std::fs::File;
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
const PERIOD: Duration = Duration::from_millis(10);

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

/// Runs a command to its end.
pub fn run(job: &Job<'_>) -> Result<End, String> {
    static HANDLER: Once = Once::new();
    HANDLER.call_once(|| drop(ctrlc::set_handler(|| STOPPED.store(true, Ordering::Relaxed))));
    let open = |path: &Path| File::create(path).map_err(|error| format!("{}: {error}", path.display()));
    let out = open(&job.stdout)?;
    let again = || out.try_clone().map_err(|error| format!("{}: {error}", job.stdout.display()));
    let err = job.stderr.as_deref().map_or_else(again, open)?;
    let sizes = [again()?, err.try_clone().map_err(|error| error.to_string())?];
    let mut command = Command::new("sh");
    command.arg("-c").arg(job.command).current_dir(job.folder).process_group(0);
    command.envs(job.environment.iter().map(|(name, value)| (name, value)));
    let command = command.stdin(Stdio::null()).stdout(out).stderr(err);
    let mut child = command.spawn().map_err(|error| format!("sh: {error}"))?;
    let end = wait(&mut child, job, &sizes);
    let status = child.wait().map_err(|error| error.to_string())?;
    Ok(end.unwrap_or(End::Status(status)))
}

/// Waits for the end of a command and ends its group; `None` if it ended by itself.
fn wait(child: &mut Child, job: &Job<'_>, sizes: &[File; 2]) -> Option<End> {
    let group = Pid::from_raw(child.id().cast_signed());
    let start = Instant::now();
    let end = loop {
        // The process is not waited for yet, so that its number is nobody else's.
        if has_ended(group) {
            break None;
        }
        let written = sizes.iter().filter_map(|file| Some(file.metadata().ok()?.len())).max();
        if STOPPED.load(Ordering::Relaxed) {
            break Some(End::Stopped);
        } else if start.elapsed() > job.limit {
            break Some(End::TimedOut);
        } else if written.is_some_and(|written| written > job.bytes) {
            break Some(End::TooMuch);
        }
        sleep(PERIOD);
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
