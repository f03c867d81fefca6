//! Objects as a whole: what takes them is code of the program.
//!
//! Invariant: in C++ only classes count that are seen, and only where operators are.

use rustc_hash::FxHashSet;

use crate::host::ir::{BinaryOp, DeclKind, ExprId, ExprKind, Unit};

use super::holds::Type;
use super::operators::Operators;
use super::symbol::SymbolKind;
use super::symbols::Symbols;

impl Symbols {
    /// The operators that the program defines.
    pub fn operators(&self) -> &Operators {
        &self.operators
    }

    /// Whether a type is an enumeration of C++.
    pub fn is_enumeration(&self, base: &str) -> bool {
        self.operators().enumerations.contains(base)
    }

    /// Whether an expression is an object of a class or of a derived type as a whole: an operator that takes it is one that the
    /// program defines.
    pub fn is_object(&self, unit: &Unit, expr: ExprId) -> bool {
        if unit.is_fortran() {
            return self.is_derived(unit, expr);
        }
        let classes = &self.operators().classes;
        !classes.is_empty() && self.levels_of(unit, expr, classes) == Some(0)
    }

    /// Whether `<<`, `>>`, `,` or the `&` of an address with this operand is one that the program defines.
    pub(super) fn is_taken(&self, unit: &Unit, operand: ExprId) -> bool {
        let classes = &self.operators().taken;
        !classes.is_empty() && self.levels_of(unit, operand, classes) == Some(0)
    }

    /// Whether an expression by itself, without its operands, runs an operator, a conversion or an assignment of the program of
    /// which it is not known what it does.
    pub fn runs_operator(&self, unit: &Unit, expr: ExprId) -> bool {
        let is_object = |expr: ExprId| self.is_object(unit, expr);
        let assigns = self.operators().assigns();
        if unit.is_fortran() {
            return match &unit.expr(expr).kind {
                ExprKind::Binary(_, left, right) => is_object(*left) || is_object(*right),
                ExprKind::Unary(_, operand) => is_object(*operand),
                ExprKind::Assign(_, left, right) => {
                    is_object(*left) != is_object(*right) || is_object(*left) && assigns
                }
                _ => false,
            };
        }
        let is_enumeration = |expr: ExprId| self.operators().has_enumerations() && is_object(expr);
        match &unit.expr(expr).kind {
            ExprKind::Assign(op, left, _) => (op.is_some() || assigns) && is_object(*left),
            ExprKind::Step { operand, .. } => is_object(*operand),
            ExprKind::Binary(BinaryOp::ShiftLeft | BinaryOp::ShiftRight, left, right)
            | ExprKind::Comma(left, right)
                if self.is_taken(unit, *left) || self.is_taken(unit, *right) =>
            {
                true
            }
            ExprKind::AddressOf(operand) if self.is_taken(unit, *operand) => true,
            ExprKind::Binary(_, left, right) => is_enumeration(*left) || is_enumeration(*right),
            ExprKind::Unary(_, operand) => is_enumeration(*operand),
            _ => self.operators().are_unclear() && is_object(expr),
        }
    }

    /// Whether some part of an expression is such an object, other than to name a part of it.
    pub fn has_object(&self, unit: &Unit, expr: ExprId) -> bool {
        if !unit.is_fortran() && self.operators().classes.is_empty() {
            return false;
        }
        let mut pending = vec![expr];
        while let Some(at) = pending.pop() {
            if self.is_object(unit, at) {
                return true;
            }
            match &unit.expr(at).kind {
                ExprKind::Unary(_, inner) | ExprKind::Cast { operand: inner, .. } => pending.push(*inner),
                ExprKind::Binary(_, left, right) | ExprKind::Comma(left, right) => {
                    pending.extend([*left, *right])
                }
                ExprKind::Conditional(cond, first, second) => pending.extend([*cond, *first, *second]),
                ExprKind::Call { args, .. } => pending.extend(args),
                _ => {}
            }
        }
        false
    }

    /// In C++, how many dimensions and pointers there are still between an expression and an object of a class; none for what leads
    /// to no such object.
    pub fn levels_of(&self, unit: &Unit, expr: ExprId, classes: &FxHashSet<String>) -> Option<usize> {
        let of_type = |known: &Type| classes.contains(&known.base).then_some(known.shape.len());
        match &unit.expr(expr).kind {
            ExprKind::Name(_) => {
                let symbol = self.named(unit, expr)?;
                let known = self.get(symbol);
                let is_enumerator = known.kind == SymbolKind::Constant
                    && known.decl.is_some_and(|decl| unit.decl(decl).kind == DeclKind::Enumerator);
                if is_enumerator {
                    return self.operators().has_enumerations().then_some(0);
                }
                of_type(self.type_of(symbol)?)
            }
            ExprKind::Index(base, _) | ExprKind::Deref(base) => {
                self.levels_of(unit, *base, classes)?.checked_sub(1)
            }
            ExprKind::Member { name, .. } => of_type(self.member(name)?),
            ExprKind::Cast { to, .. } => of_type(&self.cast_type(to)?),
            ExprKind::Conditional(_, first, _) => self.levels_of(unit, *first, classes),
            ExprKind::Call { callee, .. } => {
                let ExprKind::Name(name) = &unit.expr(*callee).kind else { return None };
                let returns = unit.function_places(name).map(|at| unit.functions[at].returns.as_str());
                let mut all = returns.chain([name.as_str()]);
                all.find_map(|words| of_type(&self.cast_type(words)?))
            }
            _ => None,
        }
    }

    /// In Fortran, whether an expression is of a derived type.
    fn is_derived(&self, unit: &Unit, expr: ExprId) -> bool {
        match &unit.expr(expr).kind {
            ExprKind::Name(_) => {
                self.named(unit, expr).is_some_and(|symbol| self.get(symbol).record.is_some())
            }
            ExprKind::Index(base, _) => self.is_derived(unit, *base),
            ExprKind::Call { callee, .. } => self.is_derived(unit, *callee),
            ExprKind::Member { name, .. } => {
                let mut all =
                    self.derived_types.types.values().filter_map(|known| known.components.get(name));
                all.any(|component| component.record.is_some())
            }
            _ => false,
        }
    }
}
