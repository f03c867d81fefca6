//! Loops, their iterations and their reductions.
//!
//! Invariant: iterations of a loop that is parallel have an entry each in the list of races.

use super::eval::{binary, identity};
use super::memory::{Access, Race, Ref, Sharing, Value};
use super::{Context, Invalid, Machine, Reply, Within};
use crate::hunt::program::{Alone, Block, Clause, Loop, Op, Place, Stmt, VarId};

/// The counters of a nest, their values in each iteration, and the body.
type Iterations<'p> = (Vec<VarId>, Vec<Vec<i64>>, &'p Block);

impl<'p> Machine<'p> {
    /// The values of a loop's counter.
    fn values(&mut self, one: &Loop, context: &Context) -> Reply<Vec<i64>> {
        let (mut value, end) = (self.number(&one.low, context)?, self.number(&one.end, context)?);
        let mut values = Vec::new();
        while (one.step > 0 && value < end) || (one.step < 0 && value > end) {
            self.step()?;
            values.push(value);
            value += one.step;
        }
        Ok(values)
    }

    /// The combinations of the counters of a loop and of those that are one with it, and the body of the last.
    fn iterations(&mut self, one: &'p Loop, depth: usize, context: &mut Context) -> Reply<Iterations<'p>> {
        let values = self.values(one, context)?;
        if depth < 2 {
            let tuples = values.into_iter().map(|value| vec![value]).collect();
            return Ok((vec![one.counter], tuples, &one.body));
        }
        let [Stmt::Loop(inner)] = one.body.as_slice() else {
            return Err(Invalid::new("loops are not tight"));
        };
        if inner.directive.is_some() {
            return Err(Invalid::new("a loop of a collapsed nest has a directive"));
        }
        // Its bounds may not depend on the counter, which is unset here.
        let known = context.env.0.len();
        let at = self.memory.make(1, context.on_device(), Sharing::Gang);
        context.env.bind(one.counter, at);
        let (mut counters, tuples, body) = self.iterations(inner, depth - 1, context)?;
        context.env.0.truncate(known);
        counters.insert(0, one.counter);
        let both = |value: &i64| {
            let value = *value;
            tuples.iter().map(move |tuple| [&[value], tuple.as_slice()].concat()).collect::<Vec<_>>()
        };
        Ok((counters, values.iter().flat_map(both).collect(), body))
    }

    /// A loop, with its directive if it has one and if that counts here.
    pub(super) fn loop_nest(&mut self, one: &'p Loop, context: &mut Context) -> Reply<()> {
        let counts = context.on_device() && !self.is_serial();
        let clauses: &'p [Clause] = one.directive.as_deref().filter(|_| counts).unwrap_or_default();
        let depth = clauses.iter().find_map(|clause| match clause {
            Clause::Collapse(depth) => Some(*depth),
            Clause::Tile(sizes) => Some(sizes.len()),
            _ => None,
        });
        let level = Level::of(clauses, context.within, one.directive.is_some() && counts);
        if level.is_gang_in_gangs {
            return Err(Invalid::new("gangs in gangs"));
        }
        let (counters, mut tuples, body) = self.iterations(one, depth.unwrap_or(1), context)?;
        let known = context.env.0.len();
        let (accumulators, results) = self.reductions(clauses, context)?;
        if level.is_parallel {
            if self.mode.backward {
                tuples.reverse();
            }
            let outer = self.memory.races.last().filter(|race| race.is_construct);
            let mut all = accumulators;
            // What the construct reduces belongs to the gang: a loop of gangs alone may add to it.
            if let Some(outer) = outer.filter(|_| level.is_gang && !level.has_lanes) {
                all.extend(&outer.accumulators);
            }
            let race = Race { is_gang: level.is_gang, accumulators: all, ..Race::default() };
            self.memory.races.push(race);
        }
        let within = context.within;
        if level.is_gang && matches!(within, Within::Parallel { .. }) {
            context.within = Within::Parallel { in_gangs: true };
        }
        for tuple in tuples {
            self.iteration(&counters, &tuple, &level, clauses, body, context)?;
        }
        context.within = within;
        if level.is_parallel {
            self.memory.end_race()?;
        }
        // The gangs combine what each of them has.
        if level.is_parallel {
            self.tokens += 1;
            self.set_token(level.is_gang, self.tokens);
        }
        self.combine(results, context)?;
        if level.is_parallel {
            self.set_token(level.is_gang, 0);
        }
        context.env.0.truncate(known);
        for counter in counters {
            if let Some(at) = context.env.find(counter)
                && self.memory.peek(at).is_ok()
                && self.memory.objects[at.object].on_device == self.device(context)
            {
                self.memory.poke(at, Value::Undefined)?;
            }
        }
        Ok(())
    }

    fn device(&self, context: &Context) -> bool {
        context.on_device() && self.is_separate()
    }

    /// Says which iteration runs, to the loop and to the region if it is one of its gangs.
    fn set_token(&mut self, is_gang: bool, token: u32) {
        if is_gang && let Some(region) = self.memory.races.iter_mut().rev().find(|race| race.is_region) {
            region.token = token;
        }
    }

    fn iteration(
        &mut self,
        counters: &[VarId],
        tuple: &[i64],
        level: &Level,
        clauses: &'p [Clause],
        body: &'p Block,
        context: &mut Context,
    ) -> Reply<()> {
        self.step()?;
        let (known, first) = (context.env.0.len(), self.memory.objects.len());
        if level.is_parallel {
            self.tokens += 1;
            let token = self.tokens;
            if let Some(race) = self.memory.races.last_mut() {
                race.token = token;
            }
            self.set_token(level.is_gang, token);
        }
        for (counter, value) in counters.iter().zip(tuple) {
            let at = self.memory.make(1, context.on_device(), Sharing::Gang);
            self.memory.poke(at, Value::Num(*value))?;
            context.env.bind(*counter, at);
        }
        for clause in clauses {
            let Clause::Private(vars) = clause else { continue };
            for var in vars {
                self.make_local(*var, context)?;
            }
        }
        self.block(body, context)?;
        let inner = context.env.0.split_off(known);
        self.leave(&inner, first)
    }

    /// Makes the copies of what is reduced, and says what they are to be combined with.
    pub(super) fn reductions(
        &mut self,
        clauses: &[Clause],
        context: &mut Context,
    ) -> Reply<(Vec<usize>, Vec<Combined>)> {
        let (mut objects, mut results, mut bound) = (Vec::new(), Vec::new(), Vec::new());
        for clause in clauses {
            let Clause::Reduction(op, places) = clause else { continue };
            for place in places {
                let Place::Var(var) = place else { return Err(Invalid::new("a reduction of a part")) };
                let original = self.variable(*var, context)?;
                let cells = self.program.cells(&self.program.vars[*var].ty);
                let copy = self.memory.make(cells, context.on_device(), Sharing::Gang);
                for cell in 0..cells {
                    self.memory.poke(copy.plus(cell as i64), Value::Num(identity(*op)?))?;
                }
                objects.push(copy.object);
                results.push(Combined { op: *op, copy, original, cells });
                bound.push((*var, copy));
            }
        }
        context.env.0.extend(bound);
        Ok((objects, results))
    }

    /// Combines the copies with the originals.
    pub(super) fn combine(&mut self, results: Vec<Combined>, context: &Context) -> Reply<()> {
        for Combined { op, copy, original, cells } in results {
            for cell in 0..cells as i64 {
                let (to, from) = (original.plus(cell), copy.plus(cell));
                let (Value::Num(left), Value::Num(right)) = (self.memory.peek(to)?, self.memory.peek(from)?)
                else {
                    return Err(Invalid::new("a reduction of what was never set"));
                };
                let value = Value::Num(binary(op, left, right)?);
                self.memory.write(to, value, context.on_device(), Access::Accumulate(op))?;
            }
        }
        Ok(())
    }
}

/// A copy that is combined with its original.
#[derive(Clone, Debug)]
pub(super) struct Combined {
    op: Op,
    copy: Ref,
    original: Ref,
    cells: usize,
}

/// How a loop runs.
struct Level {
    is_parallel: bool,
    is_gang: bool,
    /// Workers or vector lanes may distribute it, too.
    has_lanes: bool,
    is_gang_in_gangs: bool,
}

impl Level {
    fn of(clauses: &[Clause], within: Within, has_directive: bool) -> Level {
        let has = |clause: &Clause| clauses.contains(clause);
        let is_named = [Clause::Gang, Clause::Worker, Clause::Vector].iter().any(has);
        let in_gangs = within == Within::Parallel { in_gangs: true };
        let is_parallel = has_directive
            && !has(&Clause::Seq)
            && match within {
                Within::Host | Within::Serial => false,
                Within::Parallel { .. } => !has(&Clause::Auto),
                Within::Kernels => has(&Clause::Independent),
            };
        let is_gang = is_parallel && (has(&Clause::Gang) || (!is_named && !in_gangs));
        Level {
            is_parallel,
            is_gang,
            has_lanes: !is_named || has(&Clause::Worker) || has(&Clause::Vector),
            is_gang_in_gangs: has(&Clause::Gang) && in_gangs,
        }
    }
}

impl Machine<'_> {
    /// Whether a directive without code is one that only the device knows.
    pub(super) fn counts(&self, kind: Alone) -> bool {
        !self.is_serial() && (kind == Alone::Wait || self.is_separate())
    }
}
