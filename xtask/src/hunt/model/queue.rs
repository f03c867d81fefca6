//! Queues: what `async` leaves for later.
//!
//! Invariant: what is in one queue runs in its order; nothing else is promised.

use std::collections::VecDeque;

use super::Context;
use super::present::{Counter, Range, Transfer};
use super::region::Region;
use super::{Invalid, Machine, Reply, Schedule};
use crate::hunt::program::{Clause, DataKind};

/// Something that is done later.
#[derive(Clone, Debug)]
pub(super) enum Action<'p> {
    /// Copies.
    Copy(Vec<Transfer>),
    /// A compute construct.
    Region(Box<Region<'p>>),
    /// Ends of data lifetimes.
    Exit(Vec<Exit>),
    /// The first so many actions of another queue are done.
    Await { queue: i64, count: usize },
}

/// The end of a data lifetime.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exit {
    pub kind: DataKind,
    pub range: Option<Range>,
    pub counter: Counter,
    pub finalize: bool,
    /// The pointer that is detached.
    pub pointer: Option<super::memory::Ref>,
}

/// A queue.
#[derive(Clone, Debug, Default)]
pub(super) struct Queue<'p> {
    actions: VecDeque<Action<'p>>,
    /// How many have run.
    done: usize,
}

impl Queue<'_> {
    pub fn is_empty(&self) -> bool {
        self.actions.is_empty()
    }

    fn count(&self) -> usize {
        self.done + self.actions.len()
    }
}

/// The queue of `async` without a number.
const UNNUMBERED: i64 = -1;

impl<'p> Machine<'p> {
    /// The queue that clauses name; none if the host waits.
    pub(super) fn queue_of(&mut self, clauses: &[Clause], context: &Context) -> Reply<Option<i64>> {
        for clause in clauses {
            match clause {
                Clause::Async(None) => return Ok(Some(UNNUMBERED)),
                Clause::Async(Some(expr)) => {
                    let number = self.number(expr, context)?;
                    return match number {
                        0.. => Ok(Some(number)),
                        _ => Err(Invalid::new("no queue")),
                    };
                }
                _ => {}
            }
        }
        Ok(None)
    }

    /// Waits as the `wait` clauses say, or lets the queue wait.
    pub(super) fn wait(&mut self, clauses: &[Clause], queue: Option<i64>, context: &Context) -> Reply<()> {
        for clause in clauses {
            let Clause::Wait(numbers) = clause else { continue };
            let mut awaited = Vec::new();
            for one in numbers {
                awaited.push(self.number(one, context)?);
            }
            if awaited.is_empty() {
                awaited = self.queues.keys().copied().collect();
            }
            for one in awaited {
                let count = self.queues.get(&one).map_or(0, Queue::count);
                match queue {
                    Some(queue) if queue != one => {
                        self.enqueue(Some(queue), Action::Await { queue: one, count })?;
                    }
                    Some(_) => {}
                    None => self.force(one, count)?,
                }
            }
        }
        Ok(())
    }

    /// Does something now, or in its queue.
    pub(super) fn enqueue(&mut self, queue: Option<i64>, action: Action<'p>) -> Reply<()> {
        match queue {
            Some(queue) if self.mode.schedule != Schedule::Eager => {
                self.queues.entry(queue).or_default().actions.push_back(action);
                Ok(())
            }
            _ => self.act(action),
        }
    }

    /// Runs a queue until so many of its actions are done.
    fn force(&mut self, queue: i64, count: usize) -> Reply<()> {
        if self.mode.schedule == Schedule::Others {
            let others: Vec<i64> = self.queues.keys().copied().filter(|one| *one != queue).rev().collect();
            for one in others {
                let all = self.queues.get(&one).map_or(0, Queue::count);
                self.drain(one, all)?;
            }
        }
        self.drain(queue, count)
    }

    fn drain(&mut self, queue: i64, count: usize) -> Reply<()> {
        loop {
            let Some(known) = self.queues.get_mut(&queue) else { return Ok(()) };
            if known.done >= count {
                return Ok(());
            }
            let Some(action) = known.actions.pop_front() else { return Ok(()) };
            known.done += 1;
            self.act(action)?;
        }
    }

    fn act(&mut self, action: Action<'p>) -> Reply<()> {
        match action {
            Action::Copy(transfers) => {
                transfers.into_iter().try_for_each(|one| self.present.copy(&mut self.memory, one))
            }
            Action::Region(region) => self.region(*region),
            Action::Exit(exits) => exits.into_iter().try_for_each(|one| self.exit(one)),
            Action::Await { queue, count } => self.drain(queue, count),
        }
    }

    fn exit(&mut self, one: Exit) -> Reply<()> {
        if let Some(pointer) = one.pointer {
            self.present.detach(&mut self.memory, pointer, one.finalize)?;
        }
        match one.range {
            Some(range) => self.present.exit(&mut self.memory, one.kind, range, one.counter, one.finalize),
            None => Ok(()),
        }
    }
}
