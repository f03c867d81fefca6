//! The changes of a variable in a loop's body: each adds something, once in each iteration.
//!
//! Invariant: a body with a change that may happen or not, or that is of another kind, has no list of changes.

use crate::host::ir::{BinaryOp, ExprId, ExprKind, StmtId, StmtKind};
use crate::sema::{SymbolId, children, header, uses};

use super::facts::Facts;
use super::induction::{Seeker, fixed_step};

/// One change of a variable: what it adds, and the loops around it, outermost first.
pub(super) struct Change {
    pub(super) times: i64,
    pub(super) factor: Option<ExprId>,
    pub(super) loops: Vec<StmtId>,
}

impl Seeker<'_, '_> {
    /// Collects the changes of the variable in a statement; `None` if one of them may happen or not, or is another one.
    pub(super) fn changes_in(
        &self,
        symbol: SymbolId,
        stmt: StmtId,
        loops: &mut Vec<StmtId>,
        found: &mut Vec<Change>,
    ) -> Option<()> {
        let facts = self.facts;
        let unit = facts.unit;
        let is_changed = || {
            let used = uses(unit, facts.symbols, stmt);
            used.of(symbol).is_some_and(|how| how.written || how.address_taken)
        };
        match &unit.stmt(stmt).kind {
            StmtKind::Block(list) => {
                list.iter().try_for_each(|stmt| self.changes_in(symbol, *stmt, loops, found))
            }
            StmtKind::Expr(expr) => self.changes_of(symbol, *expr, loops, found),
            StmtKind::Decl(_) if !is_changed() => Some(()),
            StmtKind::Decl(decls) => decls.iter().try_for_each(|decl| {
                let decl = unit.decl(*decl);
                decl.derived.is_empty().then_some(())?;
                decl.init.map_or(Some(()), |init| self.changes_of(symbol, init, loops, found))
            }),
            StmtKind::For { .. } if is_changed() => {
                let head = header(unit, facts.symbols, stmt).ok()?;
                fixed_step(facts, &head)?;
                loops.push(stmt);
                self.changes_in(symbol, head.body, loops, found)?;
                loops.pop();
                Some(())
            }
            _ if is_changed() || jumps(facts, stmt, true) => None,
            _ => Some(()),
        }
    }

    /// The changes in an expression that is surely evaluated once.
    fn changes_of(
        &self,
        symbol: SymbolId,
        expr: ExprId,
        loops: &[StmtId],
        found: &mut Vec<Change>,
    ) -> Option<()> {
        let facts = self.facts;
        let unit = facts.unit;
        let is_it = |expr: ExprId| facts.symbols.named(unit, expr) == Some(symbol);
        let change = |times: i64, factor: Option<ExprId>| Change { times, factor, loops: loops.to_vec() };
        match &unit.expr(expr).kind {
            ExprKind::Step { up, operand, .. } if is_it(*operand) => {
                found.push(change(if *up { 1 } else { -1 }, None));
                Some(())
            }
            ExprKind::Assign(op, left, right) if is_it(*left) => {
                let (times, factor) = match (op, &unit.expr(*right).kind) {
                    (Some(BinaryOp::Add), _) => (1, *right),
                    (Some(BinaryOp::Subtract), _) => (-1, *right),
                    (None, ExprKind::Binary(BinaryOp::Add, a, b)) if is_it(*a) => (1, *b),
                    (None, ExprKind::Binary(BinaryOp::Add, a, b)) if is_it(*b) => (1, *a),
                    (None, ExprKind::Binary(BinaryOp::Subtract, a, b)) if is_it(*a) => (-1, *b),
                    _ => return None,
                };
                found.push(change(times, Some(factor)));
                Some(())
            }
            ExprKind::Assign(_, left, right)
            | ExprKind::Index(left, right)
            | ExprKind::Comma(left, right) => {
                self.changes_of(symbol, *left, loops, found)?;
                self.changes_of(symbol, *right, loops, found)
            }
            ExprKind::Binary(op, left, right) if !matches!(op, BinaryOp::And | BinaryOp::Or) => {
                self.changes_of(symbol, *left, loops, found)?;
                self.changes_of(symbol, *right, loops, found)
            }
            ExprKind::Step { operand, .. }
            | ExprKind::Unary(_, operand)
            | ExprKind::Cast { operand, .. }
            | ExprKind::Deref(operand)
            | ExprKind::Member { base: operand, .. } => self.changes_of(symbol, *operand, loops, found),
            _ => (!self.is_changed_by(symbol, expr)).then_some(()),
        }
    }

    /// Whether an expression that is not looked into may change the variable.
    fn is_changed_by(&self, symbol: SymbolId, expr: ExprId) -> bool {
        let facts = self.facts;
        let unit = facts.unit;
        let mut pending = vec![expr];
        while let Some(at) = pending.pop() {
            let kind = &unit.expr(at).kind;
            let targets: Vec<ExprId> = match kind {
                ExprKind::Assign(_, target, _)
                | ExprKind::Step { operand: target, .. }
                | ExprKind::AddressOf(target) => vec![*target],
                ExprKind::Call { callee, args } => match &unit.expr(*callee).kind {
                    ExprKind::Name(name) => {
                        let at = unit.expr(at).span.start;
                        let is_macro =
                            facts.is_called_macro(name) && !facts.is_harmless(name, at, &|one| one == symbol);
                        let takes = |place: &usize| is_macro || facts.symbols.takes_reference(name, *place);
                        (0..args.len()).filter(takes).map(|at| args[at]).collect()
                    }
                    _ => args.clone(),
                },
                ExprKind::Opaque(parts) => parts.clone(),
                _ => Vec::new(),
            };
            if targets.iter().any(|target| facts.symbols.named(unit, *target) == Some(symbol)) {
                return true;
            }
            pending.extend(kind.children());
        }
        false
    }
}

/// Whether a jump in the statement leads out of it, or to somewhere else in it.
fn jumps(facts: &Facts, stmt: StmtId, breaks: bool) -> bool {
    let unit = facts.unit;
    match &unit.stmt(stmt).kind {
        StmtKind::Break | StmtKind::Continue => breaks,
        StmtKind::Goto(_) | StmtKind::Return(_) | StmtKind::Opaque(_) => true,
        StmtKind::Labeled { label: Some(_), .. } => true,
        StmtKind::For { body, .. } | StmtKind::While { body, .. } | StmtKind::DoWhile { body, .. } => {
            jumps(facts, *body, false)
        }
        _ => children(unit, stmt).any(|child| jumps(facts, child, breaks)),
    }
}
