//! `atomic` as calls of the run-time library (OpenACC 3.3, 2.12).
//!
//! Invariant: the operand expression is evaluated once, and not atomically, as in OpenACC.

use std::collections::HashMap;

use crate::acc::ast::ClauseKind;
use crate::bind::Bound;
use crate::host::ir::{BinaryOp, ExprId, ExprKind, StmtId, StmtKind};

use crate::sema::SymbolId;

use super::table;
use crate::cuda::code::text::{Edits, operand};
use crate::cuda::program::{Input, Refused, refused};

/// An update of a place: the operator's class, and the operand.
struct Update {
    place: ExprId,
    operator: &'static str,
    operand: String,
}

/// The statement of an `atomic` directive, with the edits made of it so far.
struct Statement<'a, 'b> {
    input: &'b Input<'a>,
    stmt: StmtId,
    edits: &'b Edits,
}

/// Rewrites the statement of an `atomic` directive.
///
/// `tables`: the names of the tables of arrays that have one.
pub fn atomic(
    input: &Input,
    bound: &Bound,
    stmt: StmtId,
    tables: &HashMap<SymbolId, String>,
    edits: &mut Edits,
) -> Result<(), Refused> {
    let line = Statement { input, stmt, edits }.line(bound, tables)?;
    edits.replace_all(input.stmt_span(stmt), line);
    Ok(())
}

impl Statement<'_, '_> {
    fn text(&self, expr: ExprId) -> Result<String, Refused> {
        Ok(self.edits.render(self.input.file(), self.input.unit().expr(expr).span, 0)?)
    }

    fn kind(&self, expr: ExprId) -> &ExprKind {
        &self.input.unit().expr(expr).kind
    }

    fn unclear(&self) -> Refused {
        refused(self.input.stmt_span(self.stmt), "an atomic statement of this form")
    }

    /// The statement as a call.
    fn line(&self, bound: &Bound, tables: &HashMap<SymbolId, String>) -> Result<String, Refused> {
        let has = |wanted: &ClauseKind| bound.directive.clauses.iter().any(|clause| clause.kind == *wanted);
        if has(&ClauseKind::AtomicCapture) {
            return self.capture();
        }
        let expr = self.only().ok_or_else(|| self.unclear())?;
        Ok(match self.kind(expr) {
            ExprKind::Assign(None, left, right) if has(&ClauseKind::AtomicRead) => {
                format!("{} = acc2omp::atomic_read(&{});", self.text(*left)?, self.text(*right)?)
            }
            ExprKind::Assign(None, left, right) if has(&ClauseKind::AtomicWrite) => {
                format!("acc2omp::atomic_write(&{}, {});", self.text(*left)?, self.text(*right)?)
            }
            _ => {
                let update = self.update(expr)?.ok_or_else(|| self.unclear())?;
                let call = match table::of_place(self.input, tables, update.place) {
                    Some(table) => format!("{table}.update"),
                    None => "acc2omp::atomic_update".to_owned(),
                };
                format!("{call}<{}>(&{}, {});", update.operator, self.text(update.place)?, update.operand)
            }
        })
    }

    /// The one expression that the statement evaluates.
    fn only(&self) -> Option<ExprId> {
        let kind = |stmt: StmtId| &self.input.unit().stmt(stmt).kind;
        let inner = match kind(self.stmt) {
            StmtKind::Block(list) => match list.as_slice() {
                [only] => kind(*only),
                _ => return None,
            },
            own => own,
        };
        if let StmtKind::Expr(expr) = inner { Some(*expr) } else { None }
    }

    /// What an expression updates; `None` if that is not an update.
    fn update(&self, expr: ExprId) -> Result<Option<Update>, Refused> {
        let made = |place: ExprId, operator: Option<&'static str>, operand: String| {
            operator.map(|operator| Update { place, operator, operand })
        };
        match self.kind(expr) {
            ExprKind::Step { up, operand, .. } => {
                let operator = if *up { "acc2omp::Plus" } else { "acc2omp::Minus" };
                Ok(made(*operand, Some(operator), "1".to_owned()))
            }
            ExprKind::Assign(Some(op), left, right) => Ok(made(*left, class(*op), self.text(*right)?)),
            ExprKind::Assign(None, left, right) => {
                if let ExprKind::Conditional(cond, then, other) = self.kind(*right) {
                    return self.extreme(*left, *cond, [*then, *other]);
                }
                let ExprKind::Binary(op, a, b) = self.kind(*right) else { return Ok(None) };
                let place = self.text(*left)?;
                if self.text(*a)? == place {
                    return Ok(made(*left, class(*op), self.text(*b)?));
                }
                if self.text(*b)? == place {
                    return Ok(made(*left, reversed(*op), self.text(*a)?));
                }
                let rest = self.rest(*op, (*a, *b), &place)?;
                Ok(rest.and_then(|rest| made(*left, class(*op), rest)))
            }
            _ => Ok(None),
        }
    }

    /// `x = x < e ? e : x`, the greater of both, or `x = x > e ? e : x`.
    fn extreme(
        &self,
        place: ExprId,
        cond: ExprId,
        [then, other]: [ExprId; 2],
    ) -> Result<Option<Update>, Refused> {
        let ExprKind::Binary(op, first, second) = self.kind(cond) else { return Ok(None) };
        let operator = match op {
            BinaryOp::Less => "acc2omp::Max",
            BinaryOp::Greater => "acc2omp::Min",
            _ => return Ok(None),
        };
        let (name, operand) = (self.text(place)?, self.text(then)?);
        let is_it = self.text(*first)? == name && self.text(other)? == name && self.text(*second)? == operand;
        Ok(is_it.then_some(Update { place, operator, operand }))
    }

    /// What is added to a place, or multiplied with it: `x = x + a + b` is `x = (x + a) + b` to the grammar.
    fn rest(
        &self,
        op: BinaryOp,
        (mut first, last): (ExprId, ExprId),
        place: &str,
    ) -> Result<Option<String>, Refused> {
        let mut rest = vec![operand(&self.text(last)?)];
        while let ExprKind::Binary(inner, before, second) = self.kind(first) {
            if *inner != op || !matches!(op, BinaryOp::Add | BinaryOp::Multiply) {
                return Ok(None);
            }
            rest.push(operand(&self.text(*second)?));
            first = *before;
        }
        rest.reverse();
        let sign = if op == BinaryOp::Add { " + " } else { " * " };
        Ok((self.text(first)? == place).then(|| rest.join(sign)))
    }

    /// The line for a capture, in all its forms.
    fn capture(&self) -> Result<String, Refused> {
        let unit = self.input.unit();
        match &unit.stmt(self.stmt).kind {
            StmtKind::Expr(expr) => {
                let ExprKind::Assign(None, value, right) = self.kind(*expr) else {
                    return Err(self.unclear());
                };
                let before = matches!(self.kind(*right), ExprKind::Step { postfix: true, .. });
                let function = if before { "atomic_update" } else { "atomic_result" };
                let value = self.text(*value)?;
                self.captured(&value, function, *right)
            }
            StmtKind::Block(list) => match list.as_slice() {
                [first, second] => match (&unit.stmt(*first).kind, &unit.stmt(*second).kind) {
                    (StmtKind::Expr(first), StmtKind::Expr(second)) => self.capture_of_two(*first, *second),
                    _ => Err(self.unclear()),
                },
                _ => Err(self.unclear()),
            },
            _ => Err(self.unclear()),
        }
    }

    /// The line for `{ v = x; x = …; }` or `{ x = …; v = x; }`.
    fn capture_of_two(&self, first: ExprId, second: ExprId) -> Result<String, Refused> {
        if let Some((value, place)) = self.read(first)?
            && self.changed(second)?.as_deref() == Some(place.as_str())
        {
            if self.update(second)?.is_some() {
                return self.captured(&value, "atomic_update", second);
            }
            let ExprKind::Assign(None, _, right) = self.kind(second) else { return Err(self.unclear()) };
            return Ok(format!("{value} = acc2omp::atomic_exchange(&{place}, {});", self.text(*right)?));
        }
        match self.read(second)? {
            Some((value, place)) if self.changed(first)?.as_deref() == Some(place.as_str()) => {
                self.captured(&value, "atomic_result", first)
            }
            _ => Err(self.unclear()),
        }
    }

    /// What an assignment of a place assigns, and the place.
    fn read(&self, expr: ExprId) -> Result<Option<(String, String)>, Refused> {
        match self.kind(expr) {
            ExprKind::Assign(None, value, place) => Ok(Some((self.text(*value)?, self.text(*place)?))),
            _ => Ok(None),
        }
    }

    /// The place that an expression changes.
    fn changed(&self, expr: ExprId) -> Result<Option<String>, Refused> {
        match self.kind(expr) {
            ExprKind::Assign(_, left, _) => self.text(*left).map(Some),
            ExprKind::Step { operand, .. } => self.text(*operand).map(Some),
            _ => Ok(None),
        }
    }

    /// The line that assigns what an update finds or makes.
    fn captured(&self, value: &str, function: &str, update: ExprId) -> Result<String, Refused> {
        let update = self.update(update)?.ok_or_else(|| self.unclear())?;
        let place = self.text(update.place)?;
        Ok(format!("{value} = acc2omp::{function}<{}>(&{place}, {});", update.operator, update.operand))
    }
}

fn class(op: BinaryOp) -> Option<&'static str> {
    Some(match op {
        BinaryOp::Add => "acc2omp::Plus",
        BinaryOp::Subtract => "acc2omp::Minus",
        BinaryOp::Multiply => "acc2omp::Times",
        BinaryOp::Divide => "acc2omp::Divide",
        BinaryOp::BitAnd => "acc2omp::BitAnd",
        BinaryOp::BitOr => "acc2omp::BitOr",
        BinaryOp::BitXor => "acc2omp::BitXor",
        BinaryOp::ShiftLeft => "acc2omp::ShiftLeft",
        BinaryOp::ShiftRight => "acc2omp::ShiftRight",
        BinaryOp::And => "acc2omp::And",
        BinaryOp::Or => "acc2omp::Or",
        _ => return None,
    })
}

/// The class for `x = e op x`.
fn reversed(op: BinaryOp) -> Option<&'static str> {
    Some(match op {
        BinaryOp::Subtract => "acc2omp::ReverseMinus",
        BinaryOp::Divide => "acc2omp::ReverseDivide",
        BinaryOp::ShiftLeft => "acc2omp::ReverseShiftLeft",
        BinaryOp::ShiftRight => "acc2omp::ReverseShiftRight",
        _ => return class(op),
    })
}
