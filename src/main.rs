//! The binary: hands its arguments to the `cli` room and returns its exit status.
//!
//! Invariant: decides nothing.

use std::process::ExitCode;

fn main() -> ExitCode {
    acc2omp::cli::run(std::env::args_os())
}
