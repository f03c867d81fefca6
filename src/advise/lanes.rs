//! Loops whose vector lanes stride through memory, where another loop of the nest has the neighbouring elements.
//!
//! Invariant: loops change places only in a rectangular tight nest whose loops are parallel both, and a loop gets the lanes only
//! if it is proven parallel.

use std::collections::BTreeMap;

use crate::acc::ast::{ClauseKind, DataClause, DirectiveKind, ReductionOp};
use crate::bind::ancestors;
use crate::diag;
use crate::host::ir::{Derived, StmtId, StmtKind};
use crate::plan::{self, Division, Strides};
use crate::sema::{self, Around, Finding, Header, Needs, SymbolId};
use crate::source::Span;

use super::{Ground, Piece, edits, size};

/// Fewer iterations than this do not fill the lanes of a warp.
const WARP: i128 = 32;

/// The advice.
pub fn pieces(ground: &Ground) -> Vec<Piece> {
    let mut found = Vec::new();
    for division in ground.plan.divisions.values().filter(|division| division.levels.vector) {
        found.extend(piece(ground, division));
    }
    found
}

fn piece(ground: &Ground, division: &Division) -> Option<Piece> {
    let lane = *division.stmts.last()?;
    let header = sema::header(ground.unit, ground.symbols, lane).ok()?;
    let is_tiled = !division.tile.is_empty();
    let own = strides(ground, ground.unit.stmt(header.body).span, header.var);
    if is_tiled
        || own.far <= own.unit
        || !ground.is_computed(ground.unit.stmt(lane).span) && !is_whole(ground, lane)
    {
        return None;
    }
    swapped(ground, division, lane, &header, own).or_else(|| inner(ground, division, lane, &header, own))
}

/// Whether a loop is all that a compute construct governs.
fn is_whole(ground: &Ground, stmt: StmtId) -> bool {
    ground.bound.iter().any(|one| one.stmt() == Some(stmt) && one.directive.kind.is_compute())
}

/// The lanes' loop changes places with the loop around it.
fn swapped(
    ground: &Ground,
    division: &Division,
    lane: StmtId,
    header: &Header,
    own: Strides,
) -> Option<Piece> {
    let (unit, symbols) = (ground.unit, ground.symbols);
    let outer = outer_of(ground, division, lane)?;
    let around = sema::header(unit, symbols, outer).ok()?;
    let body = unit.stmt(header.body).span;
    let other = strides(ground, body, around.var);
    if !own.are_worse_than(other) || size::trips(ground, outer).is_some_and(|trips| trips < WARP) {
        return None;
    }
    let is_tight =
        sema::only_loop(unit, around.body) == Some(lane) && sema::is_tight(unit, symbols, &[around], header);
    if !is_tight || header.declared != around.declared && !unit.is_fortran() {
        return None;
    }
    let exchange = plan::exchange(ground.file, (unit, symbols), &[(outer, &around), (lane, header)])?;
    let edits = exchange.iter().map(|(span, text)| edits::replace(*span, text)).collect();
    let diag = diag::strided_lanes(
        ground.head(lane),
        &symbols.get(header.var).name,
        own.far,
        own.far + own.unit,
        &symbols.get(around.var).name,
        "let the two loops change places",
    );
    Some(Piece { diag: diag.with(ground.head(outer), "this one goes from neighbour to neighbour"), edits })
}

/// The parallel loop directly around the lanes' loop, which may be one with it.
fn outer_of(ground: &Ground, division: &Division, lane: StmtId) -> Option<StmtId> {
    if let [.., outer, _] = division.stmts.as_slice() {
        return Some(*outer);
    }
    let others = ground.plan.divisions.values().filter(|other| other.levels.any() && other.tile.is_empty());
    let inside = others.filter_map(|other| other.stmts.last().copied()).filter(|stmt| {
        let span = ground.unit.stmt(*stmt).span;
        *stmt != lane && span.contains(ground.unit.stmt(lane).span)
    });
    inside.min_by_key(|stmt| ground.unit.stmt(*stmt).span.len())
}

/// A loop inside that runs in order gets the lanes.
fn inner(ground: &Ground, division: &Division, lane: StmtId, header: &Header, own: Strides) -> Option<Piece> {
    let (unit, symbols) = (ground.unit, ground.symbols);
    let index = *division.directives.last()?;
    let written =
        ground.bound.iter().position(|one| one.directive.span == ground.settled[index].directive.span)?;
    let is_free = !ground.clauses(written).any(|kind| {
        matches!(kind, ClauseKind::Vector(_) | ClauseKind::Worker(_) | ClauseKind::Gang(_) | ClauseKind::Seq)
            || matches!(kind, ClauseKind::Collapse { .. } | ClauseKind::Tile(_))
    });
    let is_plain = matches!(
        ground.bound[written].directive.kind,
        DirectiveKind::ParallelLoop | DirectiveKind::Loop | DirectiveKind::KernelsLoop
    );
    if !is_free
        || !is_plain
        || division.stmts.len() > 1
        || !division.levels.gang
        || !is_straight(ground, header)
    {
        return None;
    }
    let rows = rows(ground, header, own);
    // All loops that have the neighbours must be parallel: else most of the work is done by one lane.
    let all: Vec<(StmtId, String)> = rows
        .iter()
        .filter(|(stmt, ..)| {
            let is_around =
                |other: &StmtId| other != stmt && unit.stmt(*other).span.contains(unit.stmt(*stmt).span);
            !rows.iter().any(|(other, ..)| is_around(other))
        })
        .map(|(stmt, ..)| Some((*stmt, clauses(ground, index, *stmt)?)))
        .collect::<Option<_>>()?;
    let (first, inside, _) = rows.first()?;
    let is_taken = |stmt: &StmtId| all.iter().any(|(taken, _)| taken == stmt);
    let covered: usize =
        rows.iter().filter(|(stmt, ..)| is_taken(stmt)).map(|(.., strides)| strides.unit).sum();
    (covered * 2 > own.far).then_some(())?;
    let mut changes = Vec::new();
    plan::head(ground.file, unit, lane, header)?;
    for (stmt, text) in &all {
        plan::head(ground.file, unit, *stmt, &sema::header(unit, symbols, *stmt).ok()?)?;
        let directive = format!("loop vector{text}");
        changes.push(edits::before(ground, unit.stmt(*stmt).span, &directive, &[])?);
    }
    let mut more = vec!["gang".to_owned()];
    let innermost: Vec<StmtId> = all.iter().map(|(stmt, _)| *stmt).collect();
    let shared = shared_counters(ground, written, header, &innermost)?;
    if !shared.is_empty() {
        let names: Vec<String> = shared.iter().map(|symbol| ground.spelled(*symbol)).collect();
        more.push(edits::clause("private", &names));
    }
    changes.push(edits::clauses(ground, written, &more)?);
    let help = "give the gangs to the outer loop, and the vector lanes to the inner one";
    let diag = diag::strided_lanes(
        ground.head(lane),
        &symbols.get(header.var).name,
        own.far,
        own.far + own.unit,
        &symbols.get(inside.var).name,
        help,
    );
    Some(Piece {
        diag: diag.with(ground.head(*first), "this one goes from neighbour to neighbour"),
        edits: changes,
    })
}

/// The loops without a directive in a loop that go from neighbour to neighbour as often as it does or more, the best first.
fn rows(ground: &Ground, header: &Header, own: Strides) -> Vec<(StmtId, Header, Strides)> {
    let (unit, symbols) = (ground.unit, ground.symbols);
    let loops = unit.stmt_ids_in(unit.stmt(header.body).span).filter(|stmt| {
        let is_governed =
            ground.settled.iter().any(|one| one.stmt() == Some(*stmt) && one.directive.kind.is_loop());
        !is_governed && matches!(unit.stmt(*stmt).kind, StmtKind::For { .. })
    });
    let mut rows: Vec<(StmtId, Header, Strides)> = loops
        .filter_map(|stmt| {
            let inside = sema::header(unit, symbols, stmt).ok()?;
            let all = strides(ground, unit.stmt(inside.body).span, inside.var);
            let is_short = size::trips(ground, stmt).is_some_and(|trips| trips < WARP);
            (all.unit > all.far && all.unit >= own.unit && !is_short).then_some((stmt, inside, all))
        })
        .collect();
    rows.sort_by_key(|(stmt, _, all)| (std::cmp::Reverse(all.unit), unit.stmt(*stmt).span.start));
    rows
}

/// Whether the body of a loop has no jumps, and no arrays of its own, which the lanes would have to share.
fn is_straight(ground: &Ground, header: &Header) -> bool {
    let unit = ground.unit;
    unit.stmts_in(unit.stmt(header.body).span).all(|stmt| match &stmt.kind {
        StmtKind::Goto(_) | StmtKind::Labeled { .. } | StmtKind::Switch { .. } | StmtKind::Opaque(_) => false,
        StmtKind::Decl(decls) => decls
            .iter()
            .all(|decl| !unit.decl(*decl).derived.iter().any(|part| matches!(part, Derived::Array(_)))),
        _ => true,
    })
}

/// The variables of loops between the gangs' loop and those of the lanes that lie on the device, as data clauses around name
/// them: each gang must have its own. Nothing if one of them may be wanted afterwards.
fn shared_counters(
    ground: &Ground,
    index: usize,
    header: &Header,
    innermost: &[StmtId],
) -> Option<Vec<SymbolId>> {
    let (unit, symbols) = (ground.unit, ground.symbols);
    let private: Vec<SymbolId> = ground
        .clauses(index)
        .filter_map(|kind| match kind {
            ClauseKind::Private(list) => Some(list),
            _ => None,
        })
        .flat_map(|list| list.iter().filter_map(|item| ground.symbol_of(index, item)))
        .collect();
    let body = unit.stmt(header.body).span;
    let mut found = Vec::new();
    for stmt in unit.stmt_ids_in(body) {
        let span = unit.stmt(stmt).span;
        let is_between =
            innermost.iter().any(|inner| *inner != stmt && span.contains(unit.stmt(*inner).span));
        let Ok(between) = sema::header(unit, symbols, stmt) else { continue };
        let named = ground.naming(between.var);
        if !is_between || named.is_empty() || private.contains(&between.var) || found.contains(&between.var) {
            continue;
        }
        let is_left = named.iter().all(|at| {
            let creates = ground.clauses(*at).any(|kind| match kind {
                ClauseKind::Data(DataClause::Create { .. } | DataClause::Copyin { .. }, list) => {
                    list.iter().any(|item| ground.symbol_of(*at, item) == Some(between.var))
                }
                _ => false,
            });
            creates && ground.bound[*at].directive.kind == DirectiveKind::Data
        });
        is_left.then_some(())?;
        found.push(between.var);
    }
    Some(found)
}

/// The clauses that a loop needs to be parallel; nothing if it is not proven to be.
fn clauses(ground: &Ground, index: usize, stmt: StmtId) -> Option<String> {
    let function = ground.settled[index].function?;
    let body = ground.unit.function(function).body;
    let escaping = sema::escaping(ground.unit, ground.symbols, body);
    let around = Around { body: Some(body), escaping, ..Around::default() };
    let verdicts = sema::judge(ground.facts, &around, stmt).verdicts;
    let own = verdicts.iter().find(|verdict| verdict.stmt == stmt)?;
    let Finding::Parallel(needs) = &own.finding else { return None };
    let is_combined = |(_, symbol): &(ReductionOp, SymbolId)| is_own_or_reduced(ground, index, *symbol);
    needs.reductions.iter().all(is_combined).then(|| words(ground, needs))
}

/// Whether a variable that an inner loop reduces is one of each iteration of the loop of directive `index` of the plan, or is
/// reduced there, too, as the program says.
fn is_own_or_reduced(ground: &Ground, index: usize, symbol: SymbolId) -> bool {
    let one = &ground.settled[index];
    let body = one.stmt().map(|stmt| ground.unit.stmt(stmt).span);
    let is_inside = body.is_some_and(|body| body.contains(ground.symbols.get(symbol).scope));
    let written = ground.bound.iter().position(|known| known.directive.span == one.directive.span);
    let mut around =
        written.into_iter().flat_map(|at| std::iter::once(at).chain(ancestors(ground.bound, at)));
    let is_listed = around.any(|at| {
        ground.clauses(at).any(|kind| match kind {
            ClauseKind::Reduction(_, list) | ClauseKind::Private(list) => {
                list.iter().any(|item| ground.symbol_of(at, item) == Some(symbol))
            }
            _ => false,
        })
    });
    is_inside || is_listed
}

/// What a loop needs, as clauses with a blank before each.
fn words(ground: &Ground, needs: &Needs) -> String {
    let names =
        |all: &[SymbolId]| -> Vec<String> { all.iter().map(|symbol| ground.spelled(*symbol)).collect() };
    let mut text = String::new();
    let private: Vec<SymbolId> = needs.private.iter().chain(&needs.unread).copied().collect();
    if !private.is_empty() {
        text += &format!(" {}", edits::clause("private", &names(&private)));
    }
    let is_fortran = ground.unit.is_fortran();
    let mut by_operator: BTreeMap<&str, Vec<SymbolId>> = BTreeMap::new();
    for (how, symbol) in &needs.reductions {
        by_operator.entry(how.spelled(is_fortran)).or_default().push(*symbol);
    }
    for (operator, all) in by_operator {
        text += &format!(" reduction({operator}:{})", names(&all).join(", "));
    }
    text
}

fn strides(ground: &Ground, span: Span, variable: SymbolId) -> Strides {
    plan::strides(ground.unit, ground.symbols, span, variable)
}
