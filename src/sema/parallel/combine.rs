//! Reductions: variables that a loop does nothing with but combine values into them by one operator.
//!
//! Invariant: a statement is an update only if it could be written `x = x op value`, with `x` nowhere in the value.

use crate::host::ir::{BinaryOp, ExprId, ExprKind, StmtId, StmtKind};
use crate::sema::{Symbol, SymbolId, SymbolKind, children};
use crate::source::Span;

use super::facts::Facts;
use super::terms::{may_combine, may_count};
use crate::acc::ast::ReductionOp;

/// A statement that combines a value into a variable.
#[derive(Clone, Debug)]
pub(super) struct Update {
    pub(super) symbol: SymbolId,
    /// How; `None`: the larger or smaller value is kept together with where it was found.
    pub(super) how: Option<ReductionOp>,
    /// The bytes in which the variable is named.
    pub(super) span: Span,
}

/// All updates in a statement.
pub(super) fn updates(facts: &Facts, stmt: StmtId) -> Vec<Update> {
    let mut found = Vec::new();
    let mut pending = vec![stmt];
    while let Some(stmt) = pending.pop() {
        let known = facts.unit.stmt(stmt);
        let update = match &known.kind {
            StmtKind::Expr(expr) => of_expression(facts, *expr),
            StmtKind::If { cond, then, other: None } => of_comparison(facts, *cond, *then),
            _ => None,
        };
        match update {
            Some((symbol, how)) => found.push(Update { symbol, how, span: known.span }),
            None => pending.extend(children(facts.unit, stmt)),
        }
    }
    found
}

/// The operator by which `stmt` combines values into the variable, if it does nothing else with it.
pub fn combined(facts: &Facts, stmt: StmtId, symbol: SymbolId) -> Option<ReductionOp> {
    let own: Vec<Update> =
        updates(facts, stmt).into_iter().filter(|update| update.symbol == symbol).collect();
    let first = own.first()?.how?;
    let all_alike = own.iter().all(|update| update.how == Some(first));
    let mut named = facts.unit.exprs_in(facts.unit.stmt(stmt).span).filter(|expr| {
        matches!(&expr.kind, ExprKind::Name(name) if facts.symbols.lookup(name, expr.span.start) == Some(symbol))
    });
    let nowhere_else = named.all(|expr| own.iter().any(|update| update.span.contains(expr.span)));
    (all_alike && nowhere_else).then_some(first)
}

fn of_expression(facts: &Facts, expr: ExprId) -> Option<(SymbolId, Option<ReductionOp>)> {
    match &facts.unit.expr(expr).kind {
        ExprKind::Step { operand, up, .. } => {
            let symbol = variable(facts, *operand).filter(|symbol| may_count(facts, *symbol, *up))?;
            Some((symbol, Some(ReductionOp::Add)))
        }
        ExprKind::Assign(Some(op), left, right) => {
            let symbol = variable(facts, *left)?;
            let how = match op {
                BinaryOp::Add | BinaryOp::Subtract => ReductionOp::Add,
                BinaryOp::Multiply => ReductionOp::Multiply,
                BinaryOp::BitAnd => ReductionOp::BitAnd,
                BinaryOp::BitOr => ReductionOp::BitOr,
                BinaryOp::BitXor => ReductionOp::BitXor,
                _ => return None,
            };
            let subtracts = *op == BinaryOp::Subtract;
            let is_update = !facts.symbols.has_object(facts.unit, *right)
                && count(facts, *right, symbol) == 0
                && may_combine(facts, symbol, how, *right, subtracts);
            is_update.then_some((symbol, Some(how)))
        }
        ExprKind::Assign(None, left, right) => {
            let symbol = variable(facts, *left)?;
            if count(facts, *right, symbol) == 0 || facts.symbols.has_object(facts.unit, *right) {
                return None;
            }
            let how = of_value(facts, symbol, *right)?;
            are_terms(facts, symbol, how, *right).then_some((symbol, Some(how)))
        }
        _ => None,
    }
}

/// Whether all that `value` combines with the variable, which is named in it, may be combined in any order.
fn are_terms(facts: &Facts, symbol: SymbolId, how: ReductionOp, value: ExprId) -> bool {
    if variable(facts, value) == Some(symbol) {
        return true;
    }
    if count(facts, value, symbol) == 0 {
        return may_combine(facts, symbol, how, value, false);
    }
    match &facts.unit.expr(value).kind {
        ExprKind::Binary(op, left, right) => {
            are_terms(facts, symbol, how, *left)
                && match op {
                    BinaryOp::Subtract => may_combine(facts, symbol, how, *right, true),
                    _ => are_terms(facts, symbol, how, *right),
                }
        }
        ExprKind::Call { args, .. } => args.iter().all(|arg| are_terms(facts, symbol, how, *arg)),
        ExprKind::Conditional(_, first, second) => {
            [first, second].into_iter().all(|one| are_terms(facts, symbol, how, *one))
        }
        _ => false,
    }
}

/// How `value`, in which the variable is named, combines something with it.
fn of_value(facts: &Facts, symbol: SymbolId, value: ExprId) -> Option<ReductionOp> {
    let unit = facts.unit;
    let is_own = |expr: ExprId| variable(facts, expr) == Some(symbol);
    let is_free = |expr: ExprId| count(facts, expr, symbol) == 0;
    match &unit.expr(value).kind {
        ExprKind::Binary(op, left, right) => {
            let how = operator(facts, symbol, *op)?;
            let [only] = places(facts, value, symbol)[..] else { return None };
            let only = unit.expr(only).span;
            let is_free = |expr: ExprId| !unit.expr(expr).span.contains(only);
            let mut rest = (*left, *right);
            // (x + a) + b, a + (x + b): the same operator all the way; only what is added to can be subtracted from.
            loop {
                let is_difference = *op == BinaryOp::Subtract;
                let own = match (is_free(rest.0), is_free(rest.1)) {
                    (false, true) => rest.0,
                    (true, false) if !is_difference => rest.1,
                    _ => return None,
                };
                if is_own(own) {
                    return Some(how);
                }
                match &unit.expr(own).kind {
                    ExprKind::Binary(inner, left, right)
                        if inner == op
                            || how == ReductionOp::Add && operator(facts, symbol, *inner) == Some(how) =>
                    {
                        if *inner == BinaryOp::Subtract && !is_free(*right) {
                            return None;
                        }
                        rest = (*left, *right);
                    }
                    _ => return None,
                }
            }
        }
        ExprKind::Call { callee, args } => {
            let ExprKind::Name(name) = &unit.expr(*callee).kind else { return None };
            let how = function(facts, name)?;
            let own = args.iter().filter(|arg| is_own(**arg)).count();
            let free = args.iter().filter(|arg| is_free(**arg)).count();
            (own == 1 && own + free == args.len() && args.len() > 1).then_some(how)
        }
        ExprKind::Conditional(cond, first, second) => {
            let (kept, other, when) = match (is_own(*first), is_own(*second)) {
                (true, false) => (*first, *second, false),
                (false, true) => (*second, *first, true),
                _ => return None,
            };
            debug_assert!(is_own(kept));
            is_free(other).then(|| compared(facts, *cond, symbol, other, when)).flatten()
        }
        _ => None,
    }
}

/// `if (value > x) x = value;`, perhaps with more statements.
fn of_comparison(facts: &Facts, cond: ExprId, then: StmtId) -> Option<(SymbolId, Option<ReductionOp>)> {
    let list = match &facts.unit.stmt(then).kind {
        StmtKind::Block(list) => list.clone(),
        _ => vec![then],
    };
    let assigned = list.iter().find_map(|stmt| {
        let StmtKind::Expr(expr) = facts.unit.stmt(*stmt).kind else { return None };
        let ExprKind::Assign(None, left, right) = facts.unit.expr(expr).kind else { return None };
        let symbol = variable(facts, left).filter(|symbol| count(facts, right, *symbol) == 0)?;
        let how = compared(facts, cond, symbol, right, true)?;
        may_combine(facts, symbol, how, right, false).then_some((symbol, how))
    });
    let (symbol, how) = assigned?;
    Some((symbol, (list.len() == 1).then_some(how)))
}

/// Whether the condition asks for `other` to be larger or smaller than the variable, where it is taken if the condition is
/// `when`.
fn compared(facts: &Facts, cond: ExprId, symbol: SymbolId, other: ExprId, when: bool) -> Option<ReductionOp> {
    let ExprKind::Binary(op, left, right) = &facts.unit.expr(cond).kind else { return None };
    if facts.symbols.has_object(facts.unit, cond) {
        return None;
    }
    let (left_is_larger, is_comparison) = match op {
        BinaryOp::Greater | BinaryOp::GreaterEqual => (true, true),
        BinaryOp::Less | BinaryOp::LessEqual => (false, true),
        _ => (false, false),
    };
    let text = |expr: ExprId| -> String {
        facts.file.text(facts.unit.expr(expr).span).chars().filter(|c| !c.is_whitespace()).collect()
    };
    let is_own = |expr: ExprId| variable(facts, expr) == Some(symbol);
    let other_is_left = match (is_own(*left), is_own(*right)) {
        (false, true) if text(*left) == text(other) => true,
        (true, false) if text(*right) == text(other) => false,
        _ => return None,
    };
    let takes_larger = (left_is_larger == other_is_left) == when;
    is_comparison.then_some(if takes_larger { ReductionOp::Max } else { ReductionOp::Min })
}

pub(super) fn operator(facts: &Facts, symbol: SymbolId, op: BinaryOp) -> Option<ReductionOp> {
    let is_logical =
        || facts.symbols.get(symbol).intrinsic.as_deref().is_some_and(|word| word.starts_with("logical"));
    Some(match op {
        BinaryOp::Add | BinaryOp::Subtract => ReductionOp::Add,
        BinaryOp::Multiply => ReductionOp::Multiply,
        BinaryOp::BitAnd => ReductionOp::BitAnd,
        BinaryOp::BitOr => ReductionOp::BitOr,
        BinaryOp::BitXor => ReductionOp::BitXor,
        BinaryOp::And => ReductionOp::And,
        BinaryOp::Or => ReductionOp::Or,
        BinaryOp::Equal if is_logical() => ReductionOp::Eqv,
        BinaryOp::NotEqual if is_logical() => ReductionOp::Neqv,
        _ => return None,
    })
}

/// Functions that combine their arguments, and macros that stand for such.
pub(super) fn function(facts: &Facts, name: &str) -> Option<ReductionOp> {
    let mut all = facts.called(name).into_iter().map(|name| function_named(facts, name));
    let first = all.next().flatten()?;
    all.all(|other| other == Some(first)).then_some(first)
}

fn function_named(facts: &Facts, name: &str) -> Option<ReductionOp> {
    let plain = name.strip_prefix("std::").unwrap_or(name).to_ascii_lowercase();
    let how = match plain.as_str() {
        "max" | "fmax" | "fmaxf" | "fmaxl" => ReductionOp::Max,
        "min" | "fmin" | "fminf" | "fminl" => ReductionOp::Min,
        "amax1" | "dmax1" | "max0" | "amax0" | "max1" if facts.unit.is_fortran() => ReductionOp::Max,
        "amin1" | "dmin1" | "min0" | "amin0" | "min1" if facts.unit.is_fortran() => ReductionOp::Min,
        "iand" if facts.unit.is_fortran() => ReductionOp::BitAnd,
        "ior" if facts.unit.is_fortran() => ReductionOp::BitOr,
        "ieor" if facts.unit.is_fortran() => ReductionOp::BitXor,
        _ => return None,
    };
    // An interface of that name has more procedures than the intrinsic one.
    let is_declared = |known: &Symbol| known.kind == SymbolKind::Function && known.name == plain;
    if facts.unit.is_fortran() && facts.symbols.ids().any(|id| is_declared(facts.symbols.get(id))) {
        return None;
    }
    match facts.function_like(name) {
        // A macro of that name must be what its name says.
        Some((define, params)) => is_comparison(&define.body, params, how).then_some(how),
        None => facts.functions(name).is_empty().then_some(how),
    }
}

/// Whether a macro's body is `a > b ? a : b`, or the opposite for the smaller one.
fn is_comparison(body: &str, params: &[String], how: ReductionOp) -> bool {
    let [a, b] = params else { return false };
    let plain: String = body.chars().filter(|c| !c.is_whitespace() && !matches!(c, '(' | ')')).collect();
    let (larger, smaller) = match how {
        ReductionOp::Max => ('>', '<'),
        _ => ('<', '>'),
    };
    ["", "="].iter().any(|equal| {
        let forms = [
            format!("{a}{larger}{equal}{b}?{a}:{b}"),
            format!("{b}{larger}{equal}{a}?{b}:{a}"),
            format!("{a}{smaller}{equal}{b}?{b}:{a}"),
            format!("{b}{smaller}{equal}{a}?{a}:{b}"),
        ];
        forms.contains(&plain)
    })
}

fn variable(facts: &Facts, expr: ExprId) -> Option<SymbolId> {
    facts.symbols.named(facts.unit, expr)
}

/// How often an expression names the variable.
fn count(facts: &Facts, expr: ExprId, symbol: SymbolId) -> usize {
    places(facts, expr, symbol).len()
}

/// Where an expression names the variable.
fn places(facts: &Facts, expr: ExprId, symbol: SymbolId) -> Vec<ExprId> {
    let mut pending = vec![expr];
    let mut found = Vec::new();
    while let Some(expr) = pending.pop() {
        if variable(facts, expr) == Some(symbol) {
            found.push(expr);
        }
        pending.extend(facts.unit.expr(expr).kind.children());
    }
    found
}
