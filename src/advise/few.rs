//! Constructs in loops of the host with so little to do that their launch and their copies cost more.
//!
//! Invariant: only what moves data for itself is mentioned: data that live on the device may well be worth a small launch. There
//! is not an edit.

use crate::bind::{descendants, function_at};
use crate::diag;
use crate::host::ir::{ExprId, ExprKind, FunctionId, StmtId, StmtKind};
use crate::sema::Class;
use crate::source::Span;

use super::moves::Move;
use super::repeated::Handled;
use super::{Ground, Piece, present, size};

/// With fewer iterations than this, all loops together, the host is done before the device begins.
const FEW: i128 = 5_000;

/// A loop of the host with so many iterations makes a small cost count.
const OFTEN: i128 = 10;

/// The advice.
pub fn pieces(ground: &Ground, moves: &[Move], handled: &Handled) -> Vec<Piece> {
    let mut found = Vec::new();
    for (index, one) in ground.bound.iter().enumerate() {
        let Some(stmt) = one.stmt().filter(|_| one.directive.kind.is_compute()) else { continue };
        let inside = descendants(ground.bound, index);
        let calls = !ground.uses(stmt).calls.is_empty();
        let moved: Vec<&Move> = moves
            .iter()
            .filter(|one| one.directive == index && !present::may_be(ground, one.function, one.symbol))
            .collect();
        let is_kept = moved.iter().any(|one| handled.contains(&(index, one.symbol)));
        if moved.is_empty() || is_kept || calls || inside.count() > 16 || !is_repeated(ground, index) {
            continue;
        }
        let Some(work) = work(ground, stmt, 0).filter(|work| *work < FEW) else { continue };
        let diag = diag::few_iterations(one.directive.span, work);
        found.push(Piece { diag, edits: Vec::new() });
    }
    found
}

/// Whether a construct runs often: what runs once costs nothing that counts.
fn is_repeated(ground: &Ground, index: usize) -> bool {
    let one = &ground.bound[index];
    let Some(function) = one.function else { return false };
    let loops_around = |function: FunctionId, span: Span| {
        let loops = ground.host_loops(function);
        loops.iter().any(|stmt| {
            let is_around = ground.unit.stmt(*stmt).span.contains(span);
            is_around && size::trips(ground, *stmt).is_none_or(|trips| trips >= OFTEN)
        })
    };
    let calls = ground.tables.calls.get(&ground.unit.function(function).name);
    loops_around(function, one.directive.span)
        || calls.into_iter().flatten().any(|call| {
            let span = ground.unit.expr(*call).span;
            function_at(ground.unit, span.start).is_some_and(|caller| loops_around(caller, span))
        })
}

/// How often the innermost statements of some code run, all together.
fn work(ground: &Ground, stmt: StmtId, depth: usize) -> Option<i128> {
    if depth > 32 {
        return None;
    }
    let inner = |stmt: StmtId| work(ground, stmt, depth + 1);
    match &ground.unit.stmt(stmt).kind {
        StmtKind::Block(list) => list.iter().try_fold(0i128, |all, stmt| all.checked_add(inner(*stmt)?)),
        StmtKind::For { body, .. } => size::trips(ground, stmt)?.checked_mul(inner(*body)?.max(1)),
        StmtKind::If { then, other, .. } => {
            let other = other.map_or(Some(0), inner)?;
            Some(inner(*then)?.max(other))
        }
        StmtKind::Expr(expr) => (!is_of_array(ground, *expr)).then_some(1),
        StmtKind::Decl(_) | StmtKind::Empty => Some(1),
        _ => None,
    }
}

/// Whether an expression is about whole arrays or sections of them, as Fortran has it.
fn is_of_array(ground: &Ground, expr: ExprId) -> bool {
    let span = ground.unit.expr(expr).span;
    ground.unit.is_fortran()
        && ground.unit.expr_ids_in(span).any(|id| match &ground.unit.expr(id).kind {
            ExprKind::Triplet(_) => true,
            ExprKind::Name(_) => {
                let symbol =
                    ground.symbols.named(ground.unit, id).map(|symbol| ground.symbols.get(symbol).class);
                let parent =
                    ground.tables.parents[id.0 as usize].map(|parent| &ground.unit.expr(parent).kind);
                let is_element = matches!(parent, Some(ExprKind::Index(base, _)) if *base == id);
                symbol == Some(Class::Array) && !is_element
            }
            _ => false,
        })
}
