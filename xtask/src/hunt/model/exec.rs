//! Statements and loops.
//!
//! Invariant: iterations of a loop that is parallel have an entry each in the list of races.

use super::eval::binary;
use super::memory::{Access, Ref, Restricted, Sharing, Value};
use super::{Context, Env, Invalid, Machine, Reply};
use crate::hunt::program::{Block, Expr, Flavour, Op, Path, Place, Stmt, Storage, Type, VarId};
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
    pub(super) fn leave(&mut self, names: &[(VarId, Ref)], first: usize) -> Reply<()> {
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
    pub(super) fn make_local(&mut self, var: VarId, context: &mut Context) -> Reply<()> {
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
            match one {
                _ if self.jump.is_none() => {}
                Stmt::If { .. } | Stmt::Path(_) | Stmt::Leave { .. } => break,
                _ => return Err(Invalid::new("a jump leaves a construct")),
            }
        }
        Ok(())
    }

    /// Turns, until a jump leaves them.
    fn path(&mut self, one: &'p Path, context: &mut Context) -> Reply<()> {
        for turn in 0..one.turns {
            self.assign(&Place::Var(one.counter), None, &Expr::Const(turn), false, context)?;
            self.block(&one.body, context)?;
            match self.jump {
                Some((number, again)) if number == one.number => {
                    self.jump = None;
                    if !again {
                        break;
                    }
                }
                Some(_) => break,
                None => {}
            }
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
            Stmt::Path(one) => self.path(one, context),
            Stmt::Leave { number, again, condition, .. } => {
                if self.number(condition, context)? != 0 {
                    self.jump = Some((*number, *again));
                }
                Ok(())
            }
            Stmt::Elements { place, counter, low, count, value } => {
                self.elements(place, *counter, *low, *count, value, context)
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
        let made =
            self.memory.make(count * self.program.cells(&element), context.on_device(), Sharing::Shared);
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

    /// The cells of a place, or of so many elements that a pointer leads to, and what is in each.
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
}
