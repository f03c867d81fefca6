//! Runs compilers.
//!
//! Invariant: a signal that ends acc2omp ends the compiler, too, and what is in the scratch folder goes.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::cli::place::about;

/// Set by a signal.
static STOPPED: AtomicBool = AtomicBool::new(false);

/// How often a compiler is looked after: it runs for tenths of seconds.
const PERIOD: Duration = Duration::from_millis(2);

/// Runs a command to its end, or to a signal's.
pub fn to_end(command: &mut Command) -> io::Result<ExitStatus> {
    static HANDLER: Once = Once::new();
    // Without a handler, a signal ends acc2omp alone.
    HANDLER.call_once(|| drop(ctrlc::set_handler(|| STOPPED.store(true, Ordering::Relaxed))));
    let program = command.get_program().to_os_string();
    let mut child = command.spawn().map_err(|error| about(Path::new(&program), &error))?;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if STOPPED.load(Ordering::Relaxed) {
            child.kill()?;
            return child.wait();
        }
        std::thread::sleep(PERIOD);
    }
}

/// Runs the words of a command to its end.
pub fn words(words: &[OsString]) -> io::Result<ExitStatus> {
    let (program, rest) = words.split_first().ok_or_else(|| io::Error::other("there is no compiler"))?;
    to_end(Command::new(program).args(rest))
}
