//! What stays the same from the assignment of a start value to the end of a loop, and may be computed anew in each iteration.
//!
//! Invariant: an expression with anything in it but integers that are seen not to change is not steady.

use crate::host::ir::{BinaryOp, ExprId, ExprKind, StmtId, UnaryOp};
use crate::sema::{Class, SymbolId, SymbolKind, header, is_pure_intrinsic, reads_of_expr, uses};
use crate::source;

use super::induction::{Induction, Level, Seeker};
use super::integer::integer;

impl Seeker<'_, '_> {
    /// Whether an expression is made of integers that none of the statements changes.
    pub(super) fn is_steady(&self, symbol: SymbolId, expr: ExprId, statements: &[StmtId]) -> bool {
        let facts = self.facts;
        let unit = facts.unit;
        let text = facts.file.text(unit.expr(expr).span);
        if text.contains(['\n', '!', '&', '?', '"', '\'']) || text.contains("//") || text.contains("/*") {
            return false;
        }
        match &unit.expr(expr).kind {
            ExprKind::Int(_) => true,
            ExprKind::Unary(UnaryOp::Minus | UnaryOp::Plus, operand) => {
                self.is_steady(symbol, *operand, statements)
            }
            ExprKind::Binary(
                BinaryOp::Add
                | BinaryOp::Subtract
                | BinaryOp::Multiply
                | BinaryOp::Divide
                | BinaryOp::Remainder,
                left,
                right,
            ) => self.is_steady(symbol, *left, statements) && self.is_steady(symbol, *right, statements),
            ExprKind::Name(name) => {
                if facts.is_macro(name) {
                    return facts.constant(expr).is_some();
                }
                let Some(named) = facts.symbols.named(unit, expr) else { return false };
                named != symbol && self.is_kept(named, statements)
            }
            _ => false,
        }
    }

    /// Whether an integer variable keeps its value through all the statements.
    fn is_kept(&self, symbol: SymbolId, statements: &[StmtId]) -> bool {
        let facts = self.facts;
        let known = facts.symbols.get(symbol);
        if known.kind == SymbolKind::Constant {
            return known.class == Class::Scalar && !known.is_floating;
        }
        let fortran = &known.fortran;
        let has_names = fortran.target || fortran.pointer || fortran.is_equivalent || fortran.optional;
        let is_shared = self.around.shared.contains(&symbol) || facts.may_change_in_macros(&known.name);
        if integer(facts, symbol).is_none() || has_names || is_shared {
            return false;
        }
        let all = || statements.iter().map(|stmt| uses(facts.unit, facts.symbols, *stmt));
        let is_changed =
            all().any(|used| used.of(symbol).is_some_and(|how| how.written || how.address_taken));
        let is_own = matches!(known.kind, SymbolKind::Local | SymbolKind::Parameter);
        if facts.unit.is_fortran() {
            let is_quiet = || all().all(|used| used.calls.keys().all(|name| is_pure_intrinsic(name)));
            return !is_changed && (is_own && !self.is_named_elsewhere(symbol) || is_quiet());
        }
        let is_plain = is_own && !known.is_reference && !self.around.escaping.contains(&symbol);
        !is_changed && (is_plain || known.kind == SymbolKind::Static && known.is_const)
    }

    /// Whether what the variable is computed from may be regrouped: nothing in it wraps around before it gets as wide as the
    /// variable is.
    pub(super) fn fits(&self, found: &Induction) -> bool {
        let facts = self.facts;
        if integer(facts, found.symbol).is_none_or(|kind| kind.bits == 32) {
            return true;
        }
        let is_signed = |symbol| integer(facts, symbol).is_some_and(|kind| kind.is_signed || kind.bits == 64);
        let counts = |level: &Level| {
            header(facts.unit, facts.symbols, level.stmt).is_ok_and(|head| is_signed(head.var))
        };
        let is_fit = |expr: ExprId| {
            let text = facts.file.text(facts.unit.expr(expr).span);
            let has_suffix = source::words(&text).any(|word| {
                word.starts_with(|c: char| c.is_ascii_digit()) && word.contains(['u', 'U'])
                    || facts.define(word).is_some_and(|define| define.body.contains(['u', 'U']))
            });
            let named = reads_of_expr(facts.unit, facts.symbols, expr);
            let is_constant = |symbol| facts.symbols.get(symbol).kind == SymbolKind::Constant;
            !has_suffix && named.into_iter().all(|symbol| is_constant(symbol) || is_signed(symbol))
        };
        found.loops.iter().all(counts) && found.parts(facts).into_iter().all(is_fit)
    }
}
