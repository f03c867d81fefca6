//! What types the parts of a program have.
//!
//! Invariant: an expression whose operands do not fit has no kind.

use super::{Expr, Num, Op, Place, Program, Type};

impl Program {
    /// How many cells of memory a type has; a number or a pointer is one.
    pub fn cells(&self, ty: &Type) -> usize {
        match ty {
            Type::Num(_) | Type::Pointer(_) => 1,
            Type::Array(extents, inner) => extents.iter().product::<usize>() * self.cells(inner),
            Type::Struct(number) => self.structs[*number].fields.iter().map(|one| self.cells(&one.ty)).sum(),
        }
    }

    /// The type of each cell of a type, in order.
    pub fn leaves(&self, ty: &Type, into: &mut Vec<Type>) {
        match ty {
            Type::Num(_) | Type::Pointer(_) => into.push(ty.clone()),
            Type::Array(extents, inner) => {
                for _ in 0..extents.iter().product::<usize>() {
                    self.leaves(inner, into);
                }
            }
            Type::Struct(number) => {
                for field in &self.structs[*number].fields {
                    self.leaves(&field.ty, into);
                }
            }
        }
    }

    /// The type of a place.
    pub fn type_of(&self, place: &Place) -> Type {
        match place {
            Place::Var(var) => self.vars[*var].ty.clone(),
            Place::Index(inner, _) | Place::Target(inner) => match self.type_of(inner) {
                Type::Array(_, element) | Type::Pointer(element) => *element,
                other => other,
            },
            Place::Member(inner, field) => match self.type_of(inner) {
                Type::Struct(number) => self.structs[number].fields[*field].ty.clone(),
                other => other,
            },
        }
    }

    /// The kind of number that an expression is; `None` for an address, or if its operands do not fit.
    pub fn kind(&self, expr: &Expr) -> Option<Num> {
        match expr {
            Expr::Const(_) | Expr::Named(_) => Some(Num::Int),
            Expr::Read(place) => match self.type_of(place) {
                Type::Num(num) => Some(num),
                _ => None,
            },
            Expr::Binary(op, left, right) => self.kind_of_binary(*op, self.kind(left)?, self.kind(right)?),
            Expr::Choice(condition, left, right) => {
                let (left, right) = (self.kind(left)?, self.kind(right)?);
                let fits = self.kind(condition)? == Num::Truth && left != Num::Truth && right != Num::Truth;
                fits.then(|| left.max(right))
            }
            Expr::Call(function, _) => self.functions[*function].value,
            Expr::Address(_) => None,
        }
    }

    fn kind_of_binary(&self, op: Op, left: Num, right: Num) -> Option<Num> {
        let truths = [left, right].iter().filter(|one| **one == Num::Truth).count();
        match op {
            Op::And | Op::Or => (truths == 2).then_some(Num::Truth),
            _ if truths > 0 => None,
            _ if op.is_truth() => Some(Num::Truth),
            _ if op.is_of_integers() && (left.is_real() || right.is_real()) => None,
            _ => Some(left.max(right)),
        }
    }
}
