//! How many threads a gang has, and how they stand (OpenACC 3.3, 2.5.11 and 2.5.12).
//!
//! Invariant: any size computes all iterations; this is about speed, except what the program asks for.

use super::clause::LaunchRequest;
use super::nest::Nest;
use crate::cuda::program::Input;
use crate::cuda::program::levels::{Levels, called_levels};
use crate::host::ir::StmtId;
use crate::plan::TILE;
use crate::sema::{self};

impl Shape {
    /// The levels that threads of one gang differ in.
    pub fn levels(self) -> Levels {
        Levels { gang: false, worker: self.many && self.rows, vector: self.many }
    }
}

/// How the threads of a gang stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// Workers have a dimension of their own.
    pub rows: bool,
    /// There is more than one thread.
    pub many: bool,
}

/// Sizes of a gang.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    pub shape: Shape,
    pub vector: usize,
    pub workers: usize,
}

pub fn shape(input: &Input, nest: &Nest, stmt: StmtId, request: &LaunchRequest) -> Sizes {
    let called = called_levels(input, stmt);
    let threads = nest.values().any(|shared| shared.levels().threads()) || called.threads();
    let rows = nest.values().any(|shared| shared.levels().worker && !shared.levels().vector);
    if !threads {
        return Sizes { shape: Shape { rows: false, many: false }, vector: 1, workers: 1 };
    }
    let shape = Shape { rows, many: true };
    let literal = |text: &Option<String>| text.as_ref().and_then(|text| text.trim().parse::<usize>().ok());
    if !rows {
        let tile = nest.values().filter_map(|shared| elements(&shared.division.tile)).max();
        let asked_for = match (literal(&request.vector), literal(&request.workers)) {
            (None, None) => tile.unwrap_or(THREADS),
            (vector, workers) => vector.unwrap_or(32).saturating_mul(workers.unwrap_or(1)),
        };
        let threads = asked_for.clamp(32, 1024).next_multiple_of(32);
        return Sizes { shape, vector: threads, workers: 1 };
    }
    let inner = nest.values().filter(|shared| shared.levels().vector && !shared.levels().worker);
    let mut lanes: usize = 0;
    for shared in inner {
        let trips = shared.headers.last().and_then(|header| sema::trip_constant(input.unit(), header));
        let wanted = match trips {
            Some(trips) => usize::try_from(trips).unwrap_or(32).next_power_of_two().clamp(2, 32),
            None if shared.division.is_ragged => SHORT_ROW,
            None => 32,
        };
        lanes = lanes.max(wanted);
    }
    if called.threads() || lanes == 0 {
        lanes = 32;
    }
    let vector = literal(&request.vector).map_or(lanes, |wanted| wanted.clamp(1, 32).next_power_of_two());
    let workers = literal(&request.workers).unwrap_or(THREADS / vector.max(1)).clamp(1, 1024 / vector.max(1));
    let workers = if called.threads() { workers.min(CALLERS) } else { workers };
    // A warp is full.
    let workers = if vector * workers < 32 { 32 / vector } else { workers };
    let workers =
        if (vector * workers) % 32 == 0 { workers } else { (vector * workers).next_multiple_of(32) / vector };
    Sizes { shape, vector, workers }
}

/// Threads of a gang whose loops are all distributed over all of them.
pub const THREADS: usize = 256;

/// Workers of a gang that call routines whose loops threads share: so many have arrays of their own there.
pub const CALLERS: usize = 32;

/// Lanes of a worker if rows are read from memory, as those of sparse matrices, and may be short.
pub const SHORT_ROW: usize = 8;

/// How many elements a tile has, if its sizes are numbers.
pub fn elements(tile: &[String]) -> Option<usize> {
    let size = |size: &String| (if size == "*" { TILE } else { size.as_str() }).parse::<usize>().ok();
    let all = tile.iter().try_fold(1_usize, |all, one| all.checked_mul(size(one)?));
    all.filter(|_| !tile.is_empty())
}

/// Whether a tile has more elements than an `int` counts, as far as its sizes are numbers.
pub fn is_beyond_int(tile: &[String]) -> bool {
    let mut numbers = tile.iter().filter(|size| size.bytes().all(|byte| byte.is_ascii_digit()));
    numbers.try_fold(1_i32, |all, one| all.checked_mul(one.parse().ok()?)).is_none()
}

#[cfg(test)]
mod tests;
