//! The binary: hands its arguments to the `cli` room and returns its exit status.
//!
//! Invariant: decides nothing.

use std::process::ExitCode;

/// Of the program, not of the library. The grammar allocates every node by itself: with `override` in `Cargo.toml`, it takes this, too.
#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    acc2omp::cli::run(std::env::args_os())
}
