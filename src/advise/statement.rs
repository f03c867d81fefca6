//! Loops that one statement keeps in order.
//!
//! Invariant: `atomic` is proposed only if the loop is proven parallel with it; what depends on the user's knowledge is a question
//! without an edit.

use std::collections::BTreeSet;

use crate::bind::ancestors;
use crate::diag;
use crate::host::ir::{FunctionId, StmtId, StmtKind};
use crate::sema::{self, Around, Facts, Finding, Kind, Obstacle};
use crate::source::Span;

use super::{Ground, Piece, adds, edits};

/// The advice.
pub fn pieces(ground: &Ground) -> Vec<Piece> {
    let mut found = Vec::new();
    let mut outer: Vec<Span> = Vec::new();
    for verdict in ground.verdicts {
        let Finding::Sequential(obstacle) = &verdict.finding else { continue };
        let span = ground.unit.stmt(verdict.stmt).span;
        let Some(function) = crate::bind::function_at(ground.unit, span.start) else { continue };
        if outer.iter().any(|outer| outer.contains(span)) || is_divided_around(ground, span) {
            continue;
        }
        let piece = match &obstacle.kind {
            Kind::Meets { .. } | Kind::Subscripts(_) => atomic(ground, function, verdict.stmt, obstacle),
            Kind::Alias(one, other) => apart(ground, function, verdict.stmt, one, other, obstacle),
            _ => None,
        };
        if let Some(piece) = piece {
            outer.push(span);
            found.push(piece);
        }
    }
    found
}

/// Whether a loop around is parallel: then there is enough to do.
fn is_divided_around(ground: &Ground, span: Span) -> bool {
    ground.plan.divisions.values().any(|division| {
        division.levels.any()
            && division.stmts.iter().any(|stmt| {
                let around = ground.unit.stmt(*stmt).span;
                around != span && around.contains(span)
            })
    })
}

fn around(ground: &Ground, function: FunctionId, atomic: &BTreeSet<StmtId>) -> Around {
    let body = ground.unit.function(function).body;
    let escaping = sema::escaping(ground.unit, ground.symbols, body);
    Around { body: Some(body), escaping, atomic: sema::commuting(ground.facts, atomic), ..Around::default() }
}

fn is_parallel(facts: &Facts, around: &Around, stmt: StmtId) -> bool {
    let verdicts = sema::judge(facts, around, stmt).verdicts;
    verdicts.iter().any(|one| one.stmt == stmt && matches!(one.finding, Finding::Parallel(_)))
}

/// The statement may be `atomic`.
fn atomic(ground: &Ground, function: FunctionId, stmt: StmtId, obstacle: &Obstacle) -> Option<Piece> {
    let unit = ground.unit;
    let loop_span = unit.stmt(stmt).span;
    let update = unit.stmt_ids_in(loop_span).find(|inner| {
        let inner = unit.stmt(*inner);
        matches!(inner.kind, StmtKind::Expr(_)) && inner.span.contains(obstacle.at)
    })?;
    let StmtKind::Expr(expr) = unit.stmt(update).kind else { return None };
    let is_governed = ground.bound.iter().any(|one| one.stmt() == Some(update));
    let with = around(ground, function, &BTreeSet::from([update]));
    if !adds::adds(ground, expr) || is_governed || !is_parallel(ground.facts, &with, stmt) {
        return None;
    }
    let edit = edits::before(ground, unit.stmt(update).span, "atomic", &["update".to_owned()])?;
    let diag =
        diag::one_statement(ground.head(stmt), "put `atomic update` before it, and the loop is parallel");
    Some(Piece {
        diag: diag.with(unit.stmt(update).span, "iterations add to the same element"),
        edits: vec![edit],
    })
}

/// Two pointers may alias, and nothing else is in the way.
fn apart(
    ground: &Ground,
    function: FunctionId,
    stmt: StmtId,
    one: &str,
    other: &str,
    obstacle: &Obstacle,
) -> Option<Piece> {
    let facts = ground.facts.without_aliases();
    if !is_parallel(&facts, &around(ground, function, &BTreeSet::new()), stmt) {
        return None;
    }
    // Where the user has said so of a loop around, the question is settled.
    let is_said = ground.bound.iter().enumerate().any(|(at, known)| {
        known.stmt() == Some(stmt)
            && std::iter::once(at)
                .chain(ancestors(ground.bound, at))
                .any(|at| ground.clauses(at).any(|kind| *kind == crate::acc::ast::ClauseKind::Independent))
    });
    if is_said {
        return None;
    }
    let question = match one == other {
        true => {
            format!("do the pointers in `{one}` all lead to different memory? then say `loop independent`")
        }
        false if ground.unit.is_fortran() => {
            format!("are `{one}` and `{other}` never the same memory? then say `loop independent`")
        }
        false => format!(
            "are `{one}` and `{other}` never the same memory? then declare them `restrict`, or say `loop independent`"
        ),
    };
    let diag = diag::one_statement(ground.head(stmt), &question);
    Some(Piece { diag: diag.with(obstacle.at, "this access may meet another one"), edits: Vec::new() })
}
