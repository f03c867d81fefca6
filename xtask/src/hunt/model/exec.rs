//! Statements and loops.
//!
//! Invariant: iterations of a loop that is parallel have an entry each in the list of races.

use super::eval::{binary, identity};
use super::memory::{Access, Race, Ref, Restricted, Sharing, Value};
use super::{Context, Env, Invalid, Machine, Reply, Snapshot, Within};
use crate::hunt::program::{
    Alone, Block, Clause, Expr, Flavour, Loop, Op, Place, Stmt, Storage, Type, VarId,
};
use crate::hunt::walk;

impl<'p> Machine<'p> {
    /// Calls a function; a value for each parameter.
    pub(super) fn function(
        &mut self,
        number: usize,
        arguments: Vec<Value>,
        caller: &Context,
    ) -> Reply<Option<Value>> {
        let function = &self.program.functions[number];
        self.depth += 1;
        if self.depth > 8 {
            return Err(Invalid::new("too deep"));
        }
        let is_routine = function.routine.is_some();
        if caller.on_device() && !is_routine && !self.is_serial() {
            return Err(Invalid::new("no routine of the device"));
        }
        let mut context = Context { env: Env::default(), within: caller.within, visible: Vec::new() };
        let first = self.memory.objects.len();
        let scopes = self.memory.restricted.len();
        for (parameter, value) in function.parameters.iter().zip(arguments) {
            self.bind_parameter(*parameter, value, &mut context)?;
        }
        for var in walk::vars(&function.body) {
            let known = &self.program.vars[var];
            if known.storage == Storage::Local && known.flavour != Flavour::Reference {
                self.make_local(var, &mut context)?;
            }
        }
        self.block_with_declares(&function.declares, &function.body, &mut context)?;
        let result = match &function.result {
            Some(expr) => Some(self.value(expr, &context)?),
            None => None,
        };
        while self.memory.restricted.len() > scopes {
            self.memory.end_restricted()?;
        }
        self.leave(&context.env.0, first)?;
        self.depth -= 1;
        Ok(result)
    }

    fn bind_parameter(&mut self, parameter: VarId, value: Value, context: &mut Context) -> Reply<()> {
        let var = &self.program.vars[parameter];
        if var.flavour == Flavour::Reference {
            let Value::Pointer(Some(at)) = value else { return Err(Invalid::new("a reference to nothing")) };
            context.env.bind(parameter, at);
            return Ok(());
        }
        let at = self.memory.make(1, context.on_device(), Sharing::Gang);
        let value = self.restricted(parameter, value);
        self.memory.poke(at, value)?;
        context.env.bind(parameter, at);
        Ok(())
    }

    /// What a variable gets: if it is a `restrict` pointer, what is reached by it is known from now on.
    fn restricted(&mut self, var: VarId, value: Value) -> Value {
        match value {
            Value::Pointer(Some(target)) if self.program.vars[var].restrict => {
                self.vias += 1;
                self.memory.restricted.push(Restricted { via: self.vias, ..Restricted::default() });
                Value::Pointer(Some(Ref { via: self.vias, ..target }))
            }
            other => other,
        }
    }

    /// The objects of a call are gone: no data of the device may still stand for them.
    fn leave(&mut self, names: &[(VarId, Ref)], first: usize) -> Reply<()> {
        for (var, at) in names {
            if at.object >= first && self.program.vars[*var].flavour != Flavour::Reference {
                if self.present.holds(at.object) {
                    return Err(Invalid::new("a variable goes while it is on the device"));
                }
                self.memory.objects[at.object].is_live = false;
            }
        }
        Ok(())
    }

    /// A local variable of the code that runs.
    fn make_local(&mut self, var: VarId, context: &mut Context) -> Reply<()> {
        let cells = self.program.cells(&self.program.vars[var].ty);
        let sharing = if context.on_device() { Sharing::Gang } else { Sharing::Shared };
        let at = self.memory.make(cells, context.on_device(), sharing);
        context.env.bind(var, at);
        Ok(())
    }

    /// Statements, one after the other.
    pub(super) fn block(&mut self, block: &'p Block, context: &mut Context) -> Reply<()> {
        for one in block {
            self.statement(one, context)?;
        }
        Ok(())
    }

    fn statement(&mut self, one: &'p Stmt, context: &mut Context) -> Reply<()> {
        self.step()?;
        match one {
            Stmt::Assign { place, op, value, atomic } => self.assign(place, *op, value, *atomic, context),
            Stmt::If { condition, then, other } => {
                let chosen = if self.number(condition, context)? != 0 { then } else { other };
                self.block(chosen, context)
            }
            Stmt::Loop(one) => self.loop_nest(one, context),
            Stmt::Compute(compute) => self.compute(compute, context),
            Stmt::Data { clauses, body } => self.data(clauses, body, context),
            Stmt::HostData { clauses, body } => self.host_data(clauses, body, context),
            Stmt::Alone { kind, clauses } => self.alone(*kind, clauses, context),
            Stmt::Call(function, arguments) => {
                let values = self.arguments(*function, arguments, context)?;
                self.function(*function, values, context).map(|_| ())
            }
            Stmt::Point { place, target } => {
                let value = self.value(target, context)?;
                let value = match place {
                    Place::Var(var) => self.restricted(*var, value),
                    _ => value,
                };
                let (at, _) = self.locate(place, context)?;
                self.memory.write(at, value, context.on_device(), Access::Write)
            }
            Stmt::Allocate { place, count } => self.allocate(place, *count, context),
            Stmt::Free { place } => self.free(place, context),
            Stmt::Fill { place, count, factor, add, modulus } => {
                self.fill(place, *count, (*factor, *add, *modulus), context)
            }
            Stmt::Show { id, place, count } => self.show(*id, place, *count, context),
            Stmt::Scope { vars, body } => {
                let (known, first) = (context.env.0.len(), self.memory.objects.len());
                for var in vars {
                    self.make_local(*var, context)?;
                }
                self.block(body, context)?;
                let inner = context.env.0.split_off(known);
                self.leave(&inner, first)
            }
            Stmt::Alias { var, target, body } => {
                let (at, _) = self.locate(target, context)?;
                let known = context.env.0.len();
                context.env.bind(*var, at);
                self.block(body, context)?;
                context.env.0.truncate(known);
                Ok(())
            }
            Stmt::Elements { place, counter, low, count, value } => {
                self.elements(place, *counter, *low, *count, value, context)
            }
            Stmt::Cursor => {
                self.snapshot = Some(Snapshot {
                    memory: self.memory.clone(),
                    present: self.present.clone(),
                    env: context.env.clone(),
                });
                Ok(())
            }
        }
    }

    fn assign(
        &mut self,
        place: &Place,
        op: Option<Op>,
        value: &Expr,
        atomic: bool,
        context: &Context,
    ) -> Reply<()> {
        let right = self.number(value, context)?;
        let (at, ty) = self.locate(place, context)?;
        if !matches!(ty, Type::Num(_)) {
            return Err(Invalid::new("an aggregate is assigned"));
        }
        let (access, result) = match op {
            None if atomic => return Err(Invalid::new("no atomic update")),
            None => (Access::Write, right),
            Some(op) => {
                let access = if atomic { Access::Atomic(op) } else { Access::Accumulate(op) };
                let Value::Num(left) = self.memory.peek(at)? else {
                    return Err(Invalid::new("a value is used that was never set"));
                };
                (access, binary(op, left, right)?)
            }
        };
        if atomic && !context.on_device() && !self.is_serial() {
            return Err(Invalid::new("atomic on the host"));
        }
        let result = Value::Num(Self::fits(result)?);
        self.memory.write(at, result, context.on_device(), access)
    }

    fn allocate(&mut self, place: &Place, count: usize, context: &Context) -> Reply<()> {
        let (at, ty) = self.locate(place, context)?;
        let Type::Pointer(element) = ty else { return Err(Invalid::new("no pointer")) };
        let made = self.memory.make(count * self.program.cells(&element), context.on_device(), Sharing::Shared);
        self.memory.write(at, Value::Pointer(Some(made)), context.on_device(), Access::Write)
    }

    fn free(&mut self, place: &Place, context: &Context) -> Reply<()> {
        let (at, _) = self.locate(place, context)?;
        let Value::Pointer(Some(target)) = self.memory.read(at, context.on_device())? else {
            return Err(Invalid::new("no pointer"));
        };
        let object = &mut self.memory.objects[target.object];
        if target.cell != 0 || !object.is_live {
            return Err(Invalid::new("memory is used that was given back"));
        }
        object.is_live = false;
        if self.present.holds(target.object) {
            return Err(Invalid::new("memory goes while it is on the device"));
        }
        self.memory.write(at, Value::Undefined, context.on_device(), Access::Write)
    }

    /// The cells of a place, or of so many elements behind a pointer, and what is in each.
    fn cells(&mut self, place: &Place, count: usize, context: &Context) -> Reply<(Ref, Vec<Type>)> {
        let (at, ty) = self.locate(place, context)?;
        let mut leaves = Vec::new();
        if let Type::Pointer(element) = &ty {
            let Value::Pointer(Some(target)) = self.memory.read(at, context.on_device())? else {
                return Err(Invalid::new("no pointer"));
            };
            (0..count).for_each(|_| self.program.leaves(element, &mut leaves));
            return Ok((target, leaves));
        }
        self.program.leaves(&ty, &mut leaves);
        Ok((at, leaves))
    }

    fn fill(
        &mut self,
        place: &Place,
        count: usize,
        (factor, add, modulus): (i64, i64, i64),
        context: &Context,
    ) -> Reply<()> {
        let (at, leaves) = self.cells(place, count, context)?;
        let numbers = leaves.iter().filter(|leaf| matches!(leaf, Type::Num(_))).count();
        let is_one_kind = numbers == leaves.len();
        if !is_one_kind {
            return Err(Invalid::new("only numbers are filled"));
        }
        for cell in 0..leaves.len() as i64 {
            let value = (cell * factor + add) % modulus;
            self.memory.write(at.plus(cell), Value::Num(value), context.on_device(), Access::Write)?;
        }
        Ok(())
    }

    fn show(&mut self, id: usize, place: &Place, count: usize, context: &Context) -> Reply<()> {
        if context.on_device() {
            return Err(Invalid::new("the device prints nothing"));
        }
        let (at, leaves) = self.cells(place, count, context)?;
        let mut values = Vec::new();
        for (cell, leaf) in leaves.iter().enumerate() {
            if matches!(leaf, Type::Num(_)) {
                match self.memory.read(at.plus(cell as i64), false)? {
                    Value::Num(number) => values.push(Self::fits(number)?),
                    _ => return Err(Invalid::new("an address is printed")),
                }
            }
        }
        self.lines.push((id, values));
        Ok(())
    }

    fn elements(
        &mut self,
        place: &Place,
        counter: VarId,
        low: i64,
        count: i64,
        value: &Expr,
        context: &mut Context,
    ) -> Reply<()> {
        let known = context.env.0.len();
        let at = self.memory.make(1, context.on_device(), Sharing::Gang);
        context.env.bind(counter, at);
        let mut values = Vec::new();
        for element in low..low + count {
            self.memory.poke(at, Value::Num(element))?;
            values.push(self.number(value, context)?);
        }
        for (element, number) in (low..).zip(values) {
            let one = place.clone().at(vec![Expr::Const(element)]);
            let (target, _) = self.locate(&one, context)?;
            let number = Value::Num(Self::fits(number)?);
            self.memory.write(target, number, context.on_device(), Access::Write)?;
        }
        context.env.0.truncate(known);
        Ok(())
    }

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
    fn iterations(
        &mut self,
        one: &'p Loop,
        depth: usize,
        context: &mut Context,
    ) -> Reply<(Vec<VarId>, Vec<Vec<i64>>, &'p Block)> {
        let values = self.values(one, context)?;
        if depth < 2 {
            let tuples = values.into_iter().map(|value| vec![value]).collect();
            return Ok((vec![one.counter], tuples, &one.body));
        }
        let [Stmt::Loop(inner)] = one.body.as_slice() else { return Err(Invalid::new("loops are not tight")) };
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
            if let Some(at) = context.env.find(counter) {
                if self.memory.peek(at).is_ok() && self.memory.objects[at.object].on_device == self.device(context) {
                    self.memory.poke(at, Value::Undefined)?;
                }
            }
        }
        Ok(())
    }

    fn device(&self, context: &Context) -> bool {
        context.on_device() && self.is_separate()
    }

    /// Says which iteration runs, to the loop and to the region if it is one of its gangs.
    fn set_token(&mut self, is_gang: bool, token: u32) {
        if is_gang {
            if let Some(region) = self.memory.races.iter_mut().rev().find(|race| race.is_region) {
                region.token = token;
            }
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
    /// Workers or vector lanes may share it out, too.
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
