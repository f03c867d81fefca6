//! How much work and memory one file may cost.
//!
//! Invariant: work is counted, never timed, so that a file ends in the same way on every machine and with any number of threads.

mod threads;

use std::cell::Cell;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

pub use threads::Threads;

/// What may be spent on one file. `docs/robustness.md` says how the numbers were chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Steps for a file, whatever its size. A step is about as much work as a look at one expression of the source.
    pub steps: u64,
    /// Steps for each byte of a file, in addition.
    pub steps_per_byte: u64,
    /// Steps for the proofs about one nest of loops.
    pub steps_of_proof: u64,
    /// Bytes of memory for a file, as they are estimated.
    pub bytes: u64,
    /// Levels of nested statements and expressions.
    pub depth: u64,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget {
            steps: 400_000_000,
            steps_per_byte: 400,
            steps_of_proof: 40_000_000,
            bytes: 8 << 30,
            depth: 50_000,
        }
    }
}

/// Bytes of memory for each byte of a source: its text, the tree of the grammar, and what is made of them.
const BYTES_PER_BYTE: usize = 120;

impl Budget {
    /// So many times as much of everything; without limits if it is 0.
    pub fn times(self, times: u32) -> Budget {
        let scaled = |value: u64| if times == 0 { u64::MAX } else { value.saturating_mul(u64::from(times)) };
        Budget {
            steps: scaled(self.steps),
            steps_per_byte: scaled(self.steps_per_byte),
            steps_of_proof: scaled(self.steps_of_proof),
            bytes: scaled(self.bytes),
            depth: scaled(self.depth),
        }
    }

    /// What a file of so many bytes may cost.
    pub fn of_file(self, length: usize) -> Limits {
        let by_length = self.steps_per_byte.saturating_mul(length as u64);
        Limits { steps: self.steps.saturating_add(by_length), bytes: self.bytes, depth: self.depth }
    }

    /// What the proofs about one nest of loops may cost.
    pub fn of_proof(self) -> Limits {
        Limits { steps: self.steps_of_proof, bytes: self.bytes, depth: self.depth }
    }
}

/// What a piece of work may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Steps.
    pub steps: u64,
    /// Bytes of memory, as they are estimated.
    pub bytes: u64,
    /// Levels of nested statements and expressions.
    pub depth: u64,
}

/// No limits at all.
const NONE: Limits = Limits { steps: u64::MAX, bytes: u64::MAX, depth: u64::MAX };

/// What has run out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exceeded {
    /// Steps: so many were allowed.
    Steps(u64),
    /// Memory: so many bytes were allowed.
    Bytes(u64),
    /// Depth: so many levels were allowed.
    Depth(u64),
}

impl fmt::Display for Exceeded {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Exceeded::Steps(limit) => write!(out, "more than {} million steps", limit / 1_000_000),
            Exceeded::Bytes(limit) => write!(out, "more than {} MB of memory", limit >> 20),
            Exceeded::Depth(limit) => write!(out, "more than {limit} levels"),
        }
    }
}

thread_local! {
    static STEPS_LEFT: Cell<u64> = const { Cell::new(u64::MAX) };
    static BYTES_LEFT: Cell<u64> = const { Cell::new(u64::MAX) };
    /// The limits of the innermost piece of work.
    static LIMITS: Cell<Limits> = const { Cell::new(NONE) };
}

/// Does a piece of work, or stops in its middle if it costs too much. Whatever it changed by then must be thrown away by the
/// caller. If it is a part of another piece of work whose budget has run out, that one ends, too.
pub fn within<T>(limits: Limits, work: impl FnOnce() -> T) -> Result<T, Exceeded> {
    let (steps, bytes, around) = (STEPS_LEFT.get(), BYTES_LEFT.get(), LIMITS.get());
    let own = limits.steps.min(steps);
    STEPS_LEFT.set(own);
    BYTES_LEFT.set(limits.bytes.min(bytes));
    LIMITS.set(limits);
    let done = catch_unwind(AssertUnwindSafe(work));
    let why = match &done {
        Ok(_) => None,
        Err(payload) => payload.downcast_ref::<Exceeded>().copied(),
    };
    let spent = match why {
        Some(Exceeded::Steps(_)) => own,
        _ => own - STEPS_LEFT.get().min(own),
    };
    // Where there is no limit, there stays none.
    STEPS_LEFT.set(if steps == u64::MAX { steps } else { steps.saturating_sub(spent) });
    BYTES_LEFT.set(bytes);
    LIMITS.set(around);
    match (done, why) {
        (Ok(value), _) => Ok(value),
        (Err(_), Some(Exceeded::Steps(_))) if steps == spent && limits.steps > steps => {
            stop(Exceeded::Steps(around.steps))
        }
        (Err(_), Some(Exceeded::Bytes(_))) if limits.bytes > bytes => stop(Exceeded::Bytes(around.bytes)),
        (Err(_), Some(why)) => Err(why),
        (Err(payload), None) => resume_unwind(payload),
    }
}

/// What the piece of work may still cost.
fn left() -> Limits {
    Limits { steps: STEPS_LEFT.get(), bytes: BYTES_LEFT.get(), depth: LIMITS.get().depth }
}

/// Does a part of a piece of work, in whatever thread, and returns what it has cost, which is not counted yet.
fn within_part<T>(limits: Limits, work: impl FnOnce() -> T) -> threads::Part<T> {
    let around = (STEPS_LEFT.replace(NONE.steps), BYTES_LEFT.replace(NONE.bytes), LIMITS.replace(NONE));
    let mut cost = (0, 0);
    let done = within(limits, || {
        let value = work();
        cost = (limits.steps - STEPS_LEFT.get(), limits.bytes - BYTES_LEFT.get());
        value
    });
    STEPS_LEFT.set(around.0);
    BYTES_LEFT.set(around.1);
    LIMITS.set(around.2);
    (done, cost.0, cost.1)
}

/// Counts what parts have cost.
fn spend_part(steps: u64, bytes: u64) {
    STEPS_LEFT.set(STEPS_LEFT.get() - steps);
    BYTES_LEFT.set(BYTES_LEFT.get() - bytes);
}

/// So many steps are done.
#[inline(always)]
pub fn spend(steps: u64) {
    if !try_spend(steps) {
        out_of_steps();
    }
}

#[cold]
#[inline(never)]
fn out_of_steps() -> ! {
    stop(Exceeded::Steps(LIMITS.get().steps))
}

/// So many steps are done; false if they are too many, which the caller must see to.
#[inline(always)]
pub fn try_spend(steps: u64) -> bool {
    STEPS_LEFT.with(|left| {
        let (rest, is_over) = left.get().overflowing_sub(steps);
        left.set(if is_over { 0 } else { rest });
        !is_over
    })
}

/// So many bytes are kept.
#[inline]
pub fn keep(bytes: usize) {
    let (left, bytes) = (BYTES_LEFT.get(), bytes as u64);
    if bytes > left {
        stop(Exceeded::Bytes(LIMITS.get().bytes));
    }
    BYTES_LEFT.set(left - bytes);
}

/// A source of so many bytes is read.
pub fn keep_source(length: usize) {
    keep(length.saturating_mul(BYTES_PER_BYTE));
}

/// Something is nested so many levels deep.
pub fn reach(depth: usize) {
    let limit = LIMITS.get().depth;
    if depth as u64 > limit {
        stop(Exceeded::Depth(limit));
    }
}

/// The bytes that remain untranslated; for tests.
pub fn bytes_left() -> u64 {
    BYTES_LEFT.get()
}

/// The steps that remain untranslated; for tests of how work grows.
pub fn steps_left() -> u64 {
    STEPS_LEFT.get()
}

/// Leaves the piece of work. No hook for panics is called: this is not a mistake of ours.
#[cold]
fn stop(why: Exceeded) -> ! {
    // What is dropped on the way out may cost what it likes.
    STEPS_LEFT.set(u64::MAX);
    BYTES_LEFT.set(u64::MAX);
    resume_unwind(Box::new(why))
}

#[cfg(test)]
mod tests;
