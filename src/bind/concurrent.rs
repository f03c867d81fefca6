//! `do concurrent` under a loop directive: a nest of `do` loops, which OpenMP distributes.
//!
//! Invariant: the tree says `do` only where the text can.

use crate::acc::ast::{Clause, ClauseKind, DirectiveKind, ListItem, Name, ReductionOp};
use crate::host::ir::{
    BaseType, BinaryOp, Concurrent, ConcurrentIndex, ExprId, ExprKind, Nested, StmtId, StmtKind, UnaryOp,
    Unit,
};
use crate::source::{SourceFile, Span};

use super::Bound;

/// Turns the `do concurrent` loops that loop directives govern into loops over one index each, and what they say of their
/// variables into clauses of the directives.
pub fn nest_concurrent(file: &SourceFile, unit: &mut Unit, bound: &mut [Bound]) {
    if unit.concurrent.is_empty() {
        return;
    }
    for one in bound {
        let is_loop = matches!(
            one.directive.kind,
            DirectiveKind::Loop | DirectiveKind::ParallelLoop | DirectiveKind::KernelsLoop
        );
        let clauses = &one.directive.clauses;
        let is_sequential = clauses.iter().any(|clause| clause.kind == ClauseKind::Seq);
        let (Some(first), true, false) = (one.stmt(), is_loop, is_sequential) else { continue };
        let counts = clauses.iter().filter_map(|clause| match &clause.kind {
            ClauseKind::Collapse { count, .. } => count.text.trim().parse().ok(),
            _ => None,
        });
        let mut left = counts.max().unwrap_or(1usize);
        let mut next = Some(first);
        while let Some(stmt) = next.filter(|_| left > 0) {
            let known = unit.concurrent.iter().position(|one| one.stmt == stmt);
            if let Some(at) = known.filter(|at| unit.concurrent[*at].nested.is_none()) {
                let Some(nested) = nested(file, unit, &unit.concurrent[at]) else { break };
                unit.concurrent[at].nested = Some(nested);
                let concurrent = unit.concurrent[at].clone();
                nest(unit, &concurrent);
                one.directive.clauses.extend(localities(&concurrent, one.directive.name_span));
                left = left.saturating_sub(concurrent.indices.len() - 1);
            }
            left = left.saturating_sub(1);
            next = only_loop(unit, stmt);
        }
    }
}

/// The loop that is all there is in a loop.
fn only_loop(unit: &Unit, stmt: StmtId) -> Option<StmtId> {
    let StmtKind::For { body, .. } = unit.stmt(stmt).kind else { return None };
    match &unit.stmt(body).kind {
        StmtKind::For { .. } => Some(body),
        StmtKind::Block(list) => match list.as_slice() {
            [only] if matches!(unit.stmt(*only).kind, StmtKind::For { .. }) => Some(*only),
            _ => None,
        },
        _ => None,
    }
}

/// The loops as text; `None` if they cannot be written in place of the `do concurrent`.
fn nested(file: &SourceFile, unit: &Unit, concurrent: &Concurrent) -> Option<Nested> {
    let whole = unit.stmt(concurrent.stmt).span;
    let first = concurrent.indices.first()?;
    let one_line = |expr: ExprId| {
        let text = file.text(unit.expr(expr).span);
        (!text.contains('\n')).then(|| text.trim().to_owned())
    };
    let name = unit.loop_names.iter().find(|(stmt, _)| *stmt == concurrent.stmt).map(|(_, name)| name);
    let last = concurrent.indices.len() - 1;
    let mut heads = Vec::new();
    for (at, index) in concurrent.indices.iter().enumerate() {
        let label = name.filter(|_| at == last).map(|name| format!("{name}: ")).unwrap_or_default();
        let step = match index.step {
            Some(step) => format!(", {}", one_line(step)?),
            None => String::new(),
        };
        let (from, to) = (one_line(index.first)?, one_line(index.last)?);
        heads.push(format!("{label}do {} = {from}, {to}{step}", file.text(index.span)));
    }
    if let Some(mask) = concurrent.mask {
        heads.push(format!("if ({}) then", one_line(mask)?));
    }
    if concurrent.reduce.iter().any(|(operator, _)| ReductionOp::of(operator).is_none()) {
        return None;
    }
    // The last line ends the loop, and holds nothing else.
    let text = file.text(whole);
    let start = text.rfind('\n')? + 1;
    let line = text.get(start..)?;
    let words = line.trim_start().to_ascii_lowercase();
    let lead = line.len() - line.trim_start().len();
    if !words.starts_with("end do") && !words.starts_with("enddo") || words.contains(';') {
        return None;
    }
    let before = file.text(Span { start: concurrent.header.start, end: first.span.start });
    let kind = before.split_once("::").map(|(kind, _)| kind);
    let declarations = match kind.map(|kind| kind.split_once('(').map(|(_, kind)| kind.trim())) {
        None => Vec::new(),
        Some(None) => return None,
        Some(Some(kind)) => declarations(unit, concurrent, kind)?,
    };
    Some(Nested { heads, declarations, end: whole.start + (start + lead) as u32 })
}

/// The declarations of indices that have none around the loop; `None` if they have another one there.
fn declarations(unit: &Unit, concurrent: &Concurrent, kind: &str) -> Option<Vec<String>> {
    let mut declarations = Vec::new();
    for ConcurrentIndex { name, span, .. } in &concurrent.indices {
        let scopes = std::iter::successors(unit.scope_at(span.start), |at| unit.scope(*at).parent);
        let mut decls = scopes.flat_map(|at| &unit.scope(at).decls).map(|id| unit.decl(*id));
        match decls.find(|decl| decl.name == *name) {
            None => declarations.push(format!("{kind} :: {name}")),
            Some(known) => {
                let is_integer = known.base == BaseType::Builtin("integer".to_owned());
                if !is_integer || !known.derived.is_empty() || !kind.eq_ignore_ascii_case("integer") {
                    return None;
                }
            }
        }
    }
    Some(declarations)
}

/// Puts a loop for each index, and an `if` for the mask, in place of the loop's statement.
fn nest(unit: &mut Unit, concurrent: &Concurrent) {
    let StmtKind::For { body, .. } = unit.stmt(concurrent.stmt).kind else { return };
    let whole = unit.stmt(concurrent.stmt).span;
    let mut inner = body;
    if let Some(cond) = concurrent.mask {
        let span = Span { start: unit.expr(cond).span.start, end: unit.stmt(body).span.end };
        inner = unit.push_stmt(span, StmtKind::If { cond, then: body, other: None });
    }
    for (place, index) in concurrent.indices.iter().enumerate().rev() {
        let kind = counted(unit, index, inner);
        if place == 0 {
            unit.stmts[concurrent.stmt.0 as usize].kind = kind;
        } else {
            inner = unit.push_stmt(Span { start: index.span.start, end: whole.end }, kind);
        }
    }
}

/// `name = first, last, step` as the loop that it is.
fn counted(unit: &mut Unit, index: &ConcurrentIndex, body: StmtId) -> StmtKind {
    let name = |unit: &mut Unit| unit.push_expr(index.span, ExprKind::Name(index.name.clone()));
    let start = Span { start: index.span.start, end: unit.expr(index.first).span.end };
    let variable = name(unit);
    let assign = unit.push_expr(start, ExprKind::Assign(None, variable, index.first));
    let init = unit.push_stmt(start, StmtKind::Expr(assign));
    let down = index.step.and_then(|step| match unit.expr(step).kind {
        ExprKind::Unary(UnaryOp::Minus, size) => Some(size),
        _ => None,
    });
    let compare = if down.is_some() { BinaryOp::GreaterEqual } else { BinaryOp::LessEqual };
    let (variable, last) = (name(unit), unit.expr(index.last).span);
    let cond = unit.push_expr(last, ExprKind::Binary(compare, variable, index.last));
    let variable = name(unit);
    let (span, kind) = match (down, index.step) {
        (Some(size), Some(step)) => {
            (unit.expr(step).span, ExprKind::Assign(Some(BinaryOp::Subtract), variable, size))
        }
        (_, Some(step)) => (unit.expr(step).span, ExprKind::Assign(Some(BinaryOp::Add), variable, step)),
        (_, None) => (index.span, ExprKind::Step { up: true, operand: variable, postfix: true }),
    };
    let step = unit.push_expr(span, kind);
    StmtKind::For { init: Some(init), cond: Some(cond), step: Some(step), body }
}

/// What a `do concurrent` says of its variables, as clauses.
fn localities(concurrent: &Concurrent, at: Span) -> Vec<Clause> {
    let item = |text: &String| ListItem {
        base: Name { text: text.clone(), span: at },
        parts: Vec::new(),
        text: text.clone(),
        span: at,
        common: false,
    };
    let clause = |word: &str, kind: ClauseKind| Clause {
        kind,
        name: Name { text: word.to_owned(), span: at },
        span: at,
        modifier: None,
        device_type: None,
    };
    let list = |names: &[String]| names.iter().map(item).collect::<Vec<_>>();
    let mut clauses = Vec::new();
    if !concurrent.local.is_empty() {
        clauses.push(clause("private", ClauseKind::Private(list(&concurrent.local))));
    }
    if !concurrent.local_init.is_empty() {
        clauses.push(clause("firstprivate", ClauseKind::Firstprivate(list(&concurrent.local_init))));
    }
    for (operator, name) in &concurrent.reduce {
        if let Some(operator) = ReductionOp::of(operator) {
            clauses.push(clause("reduction", ClauseKind::Reduction(operator, vec![item(name)])));
        }
    }
    clauses
}
