//! Places and expressions.
//!
//! Invariant: every value that the program uses is read here.

use super::memory::{Ref, Value};
use super::{Context, Invalid, Machine, Reply, Store};
use crate::hunt::program::{Expr, Flavour, Op, Place, Storage, Type, VarId};

impl Machine<'_> {
    /// Where a variable is, for the code that names it.
    pub(super) fn variable(&self, var: VarId, context: &Context) -> Reply<Ref> {
        if let Some(at) = context.env.find(var) {
            return Ok(at);
        }
        let is_global = self.program.vars[var].storage == Storage::Global;
        let found = match context.on_device() && self.is_separate() {
            true => self.device_globals.find(var),
            false => self.globals.find(var),
        };
        found.filter(|_| is_global).ok_or_else(|| Invalid::new("a variable that is not there"))
    }

    /// Where a place is, and its type.
    pub(super) fn locate(&mut self, place: &Place, context: &Context) -> Reply<(Ref, Type)> {
        match place {
            Place::Var(var) => Ok((self.variable(*var, context)?, self.program.vars[*var].ty.clone())),
            Place::Index(inner, subscripts) => {
                let (at, ty) = self.locate(inner, context)?;
                let mut numbers = Vec::new();
                for one in subscripts {
                    numbers.push(self.number(one, context)?);
                }
                match ty {
                    Type::Array(extents, element) => {
                        let mut offset = 0;
                        if extents.len() != numbers.len() {
                            return Err(Invalid::new("subscripts do not fit"));
                        }
                        for (extent, number) in extents.iter().zip(numbers) {
                            if !(0..*extent as i64).contains(&number) {
                                return Err(Invalid::new("a subscript is out of bounds"));
                            }
                            offset = offset * *extent as i64 + number;
                        }
                        Ok((at.plus(offset * self.program.cells(&element) as i64), *element))
                    }
                    Type::Pointer(element) => {
                        let [number] = numbers[..] else {
                            return Err(Invalid::new("subscripts do not fit"));
                        };
                        let start = self.target(at, context)?;
                        Ok((start.plus(number * self.program.cells(&element) as i64), *element))
                    }
                    _ => Err(Invalid::new("a subscript of a number")),
                }
            }
            Place::Member(inner, field) => {
                let (at, ty) = self.locate(inner, context)?;
                let Type::Struct(number) = ty else { return Err(Invalid::new("a member of a number")) };
                let fields = &self.program.structs[number].fields;
                let before: usize = fields[..*field].iter().map(|one| self.program.cells(&one.ty)).sum();
                Ok((at.plus(before as i64), fields[*field].ty.clone()))
            }
            Place::Target(inner) => {
                let (at, ty) = self.locate(inner, context)?;
                let Type::Pointer(element) = ty else { return Err(Invalid::new("the target of a number")) };
                Ok((self.target(at, context)?, *element))
            }
        }
    }

    /// Where the pointer at `at` leads.
    fn target(&mut self, at: Ref, context: &Context) -> Reply<Ref> {
        match self.memory.read(at, context.on_device())? {
            Value::Pointer(Some(target)) => Ok(target),
            _ => Err(Invalid::new("no pointer")),
        }
    }

    /// The value of an expression.
    pub(super) fn value(&mut self, expr: &Expr, context: &Context) -> Reply<Value> {
        self.step()?;
        match expr {
            Expr::Const(number) | Expr::Named(number) => Ok(Value::Num(*number)),
            Expr::Read(place) => {
                let (at, ty) = self.locate(place, context)?;
                if !matches!(ty, Type::Num(_) | Type::Pointer(_)) {
                    return Err(Invalid::new("an aggregate is read"));
                }
                self.memory.read(at, context.on_device())
            }
            Expr::Binary(op, left, right) => {
                let left = self.number(left, context)?;
                // As languages do, the right side of these may not be needed; Fortran may look at it all the same.
                let right = self.number(right, context)?;
                Ok(Value::Num(binary(*op, left, right)?))
            }
            Expr::Choice(condition, left, right) => {
                let is_true = self.number(condition, context)? != 0;
                // Fortran's `merge` takes both.
                let (left, right) = (self.number(left, context)?, self.number(right, context)?);
                Ok(Value::Num(if is_true { left } else { right }))
            }
            Expr::Call(function, arguments) => {
                let values = self.arguments(*function, arguments, context)?;
                let result = self.function(*function, values, context)?;
                result.ok_or_else(|| Invalid::new("a procedure has no value"))
            }
            Expr::Address(place) => {
                let (at, _) = self.locate(place, context)?;
                Ok(Value::Pointer(Some(at)))
            }
        }
    }

    /// A number.
    pub(super) fn number(&mut self, expr: &Expr, context: &Context) -> Reply<i64> {
        match self.value(expr, context)? {
            Value::Num(number) => Ok(number),
            _ => Err(Invalid::new("an address is not a number")),
        }
    }

    /// The values of a call's arguments: what a reference stands for goes by its address.
    pub(super) fn arguments(
        &mut self,
        function: usize,
        arguments: &[Expr],
        context: &Context,
    ) -> Reply<Vec<Value>> {
        let parameters = &self.program.functions[function].parameters;
        if parameters.len() != arguments.len() {
            return Err(Invalid::new("arguments do not fit"));
        }
        let mut values = Vec::new();
        for (parameter, argument) in parameters.iter().zip(arguments) {
            let var = &self.program.vars[*parameter];
            let value = self.value(argument, context)?;
            let is_pointer = matches!(value, Value::Pointer(_));
            let wants = var.flavour == Flavour::Reference || matches!(var.ty, Type::Pointer(_));
            if is_pointer != wants {
                return Err(Invalid::new("an argument does not fit"));
            }
            values.push(value);
        }
        Ok(values)
    }

    pub(super) fn is_serial(&self) -> bool {
        self.mode.store == Store::Serial
    }
}

/// Two numbers and an operator.
pub fn binary(op: Op, left: i64, right: i64) -> Reply<i64> {
    let value = match op {
        Op::Add => left + right,
        Op::Sub => left - right,
        Op::Mul => left.checked_mul(right).ok_or_else(|| Invalid::new("a number is too large"))?,
        Op::Mod if right > 0 && left >= 0 => left % right,
        Op::Mod => return Err(Invalid::new("a remainder of negative numbers")),
        Op::Min => left.min(right),
        Op::Max => left.max(right),
        Op::BitAnd => left & right,
        Op::BitOr => left | right,
        Op::BitXor => left ^ right,
        Op::Lt => i64::from(left < right),
        Op::Le => i64::from(left <= right),
        Op::Eq => i64::from(left == right),
        Op::Ne => i64::from(left != right),
        Op::And => i64::from(left != 0 && right != 0),
        Op::Or => i64::from(left != 0 || right != 0),
    };
    Machine::fits(value)
}

/// What a reduction begins with.
pub fn identity(op: Op) -> Reply<i64> {
    Ok(match op {
        Op::Add | Op::BitOr | Op::BitXor | Op::Or => 0,
        Op::Mul | Op::And => 1,
        Op::BitAnd => -1,
        // Larger than all that may appear.
        Op::Min => i64::from(i32::MAX),
        Op::Max => -i64::from(i32::MAX),
        _ => return Err(Invalid::new("no reduction")),
    })
}
