//! Data that constructs in a loop of the host bring to the device and back in each iteration.
//!
//! Invariant: a region around the loop is proposed only if the host touches the variable nowhere inside, so that both copies
//! are the same all the time.

use std::collections::{BTreeMap, BTreeSet};

use crate::acc::ast::{ClauseKind, DirectiveKind};
use crate::bind::ancestors;
use crate::diag;
use crate::host::ir::{FunctionId, StmtId};
use crate::plan::Motion;
use crate::sema::{Class, SymbolId};
use crate::source::{self, Span};

use super::host::{HostCode, Touch};
use super::moves::{Move, is_address, is_conditional, on_device};
use super::{Ground, Piece, edits, own, present, size};

/// The moves that advice is about already: the directive, and the variable.
pub type Handled = BTreeSet<(usize, SymbolId)>;

/// What shall hold a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Home {
    /// The `data` directive that is there.
    Region(usize),
    /// A new one around the loop.
    Loop(StmtId),
}

/// One variable that shall stay on the device.
struct Stay {
    symbol: SymbolId,
    item: String,
    /// It must come back.
    is_changed: bool,
    /// A construct that moves it now.
    at: usize,
    brings: bool,
    takes: bool,
}

/// The advice, and which moves it is about.
pub fn pieces(ground: &Ground, moves: &[Move]) -> (Vec<Piece>, Handled) {
    let mut handled = Handled::new();
    let mut homes: BTreeMap<(StmtId, Home), Vec<Stay>> = BTreeMap::new();
    let mut by_variable: BTreeMap<(Option<FunctionId>, SymbolId), Vec<&Move>> = BTreeMap::new();
    for one in moves {
        by_variable.entry((one.function, one.symbol)).or_default().push(one);
    }
    for ((function, symbol), all) in by_variable {
        let Some(function) = function.filter(|known| !present::may_be(ground, Some(*known), symbol)) else {
            continue;
        };
        for stmt in ground.host_loops(function) {
            let span = ground.unit.stmt(stmt).span;
            let inside: Vec<&Move> = all.iter().copied().filter(|one| is_in(ground, one, span)).collect();
            let is_open = inside.iter().any(|one| !handled.contains(&(one.directive, symbol)));
            if !is_open || size::trips(ground, stmt).is_some_and(|trips| trips < 2) {
                continue;
            }
            let Some(stay) = stays(ground, span, symbol, &inside) else { continue };
            let region = region_around(ground, &inside, span, symbol, &all);
            handled.extend(inside.iter().map(|one| (one.directive, symbol)));
            let (home, stay) = match region {
                Some((region, stay)) => (Home::Region(region), stay),
                None => (Home::Loop(stmt), stay),
            };
            homes.entry((stmt, home)).or_default().push(stay);
        }
    }
    let pieces = homes.into_iter().map(|((stmt, home), all)| piece(ground, stmt, home, &all)).collect();
    (pieces, handled)
}

fn is_in(ground: &Ground, one: &Move, span: Span) -> bool {
    span.contains(ground.bound[one.directive].directive.span)
}

/// How a variable can stay on the device while some bytes of a function run.
fn stays(ground: &Ground, span: Span, symbol: SymbolId, moves: &[&Move]) -> Option<Stay> {
    let part = HostCode::new(ground, span);
    let known = ground.symbols.get(symbol);
    let is_outside = !span.contains(known.scope) && known.from <= span.start;
    if !is_outside
        || part.is_left()
        || part.changes_device()
        || !own::is_own(ground, symbol)
        || part.touch(symbol) != Touch::Nothing
    {
        return None;
    }
    let others = own::roots(ground, symbol);
    if others.iter().any(|other| *other != symbol && part.touch(*other) != Touch::Nothing) {
        return None;
    }
    let mut is_changed = false;
    for (index, one) in ground.bound.iter().enumerate() {
        let is_named = ground.naming(symbol).contains(&index);
        let is_inside = span.contains(one.directive.span);
        if !is_inside {
            continue;
        }
        if is_named && !(one.directive.kind.is_compute() || one.directive.kind == DirectiveKind::Data) {
            return None;
        }
        if is_named && (is_conditional(ground, index) || is_address(ground, index, symbol)) {
            return None;
        }
        let Some(stmt) = one.stmt().filter(|_| one.directive.kind.is_compute()) else { continue };
        let (reads, writes) = on_device(ground, stmt, symbol);
        if !reads && !writes {
            continue;
        }
        is_changed |= writes;
        let mover = moves.iter().find(|one| {
            one.directive == index || ancestors(ground.bound, index).any(|above| above == one.directive)
        });
        let is_back = mover.is_some_and(|mover| match mover.motion {
            Motion::Copy => true,
            Motion::Copyin => !writes,
            Motion::Copyout { zero: false } => !reads,
            _ => false,
        });
        if is_conditional(ground, index) || !is_back {
            return None;
        }
    }
    let has = |is: fn(Motion) -> bool| moves.iter().any(|one| is(one.motion));
    Some(Stay {
        symbol,
        item: item(ground, span, symbol, moves)?,
        is_changed,
        at: moves.first()?.directive,
        brings: has(|motion| matches!(motion, Motion::Copy | Motion::Copyin)),
        takes: has(|motion| matches!(motion, Motion::Copy | Motion::Copyout { .. })),
    })
}

/// How a clause before some bytes names the variable.
fn item(ground: &Ground, span: Span, symbol: SymbolId, moves: &[&Move]) -> Option<String> {
    let known = ground.symbols.get(symbol);
    let texts: BTreeSet<String> = moves
        .iter()
        .map(|one| match &one.item {
            Some((text, _)) => text.split_whitespace().collect::<String>(),
            None => known.name.clone(),
        })
        .collect();
    let first = moves.iter().find_map(|one| one.item.as_ref()).map(|(text, _)| text.clone());
    if known.class == Class::Array && (texts.len() > 1 || first.is_none()) {
        return has_whole(ground, symbol).then(|| ground.spelled(symbol));
    }
    let text = first.filter(|_| texts.len() == 1)?;
    let is_fixed = |word: &str| {
        let Some(at) = ground.symbols.lookup(word, span.start) else {
            return ground.symbols.number(word).is_some();
        };
        let known = ground.symbols.get(at);
        at == symbol
            || known.kind == crate::sema::SymbolKind::Constant
            || !span.contains(known.scope) && is_unchanged(ground, span, at)
    };
    let is_known = source::names(&text).all(is_fixed);
    is_known.then_some(text)
}

/// Whether a clause may name the array without a section.
fn has_whole(ground: &Ground, symbol: SymbolId) -> bool {
    let known = ground.symbols.get(symbol);
    !own::is_parameter(ground, symbol) || ground.unit.is_fortran() && !known.fortran.assumed_size
}

/// Whether nothing in some bytes changes a scalar.
fn is_unchanged(ground: &Ground, span: Span, symbol: SymbolId) -> bool {
    let mut inside = ground.mentions(symbol).iter().filter(|id| span.contains(ground.unit.expr(**id).span));
    let is_shared = ground.symbols.get(symbol).kind == crate::sema::SymbolKind::Static;
    let is_part = is_shared
        && ground.unit.exprs_in(span).any(|expr| {
            matches!(expr.kind, crate::host::ir::ExprKind::Call { .. }) && !ground.is_computed(expr.span)
        });
    !is_part
        && inside.all(|id| {
            let parent = ground.tables.parents[id.0 as usize].map(|parent| &ground.unit.expr(parent).kind);
            !matches!(
                parent,
                Some(
                    crate::host::ir::ExprKind::Step { .. }
                        | crate::host::ir::ExprKind::AddressOf(_)
                        | crate::host::ir::ExprKind::Opaque(_)
                )
            ) && !matches!(parent, Some(crate::host::ir::ExprKind::Assign(_, left, _)) if left == id)
        })
}

/// The innermost `data` construct around some bytes in which the variable can stay, too.
fn region_around(
    ground: &Ground,
    inside: &[&Move],
    span: Span,
    symbol: SymbolId,
    all: &[&Move],
) -> Option<(usize, Stay)> {
    let first = inside.first()?;
    let mut above = ancestors(ground.bound, first.directive);
    let region = above.find(|above| {
        let one = &ground.bound[*above];
        let is_region = one.directive.kind == DirectiveKind::Data;
        is_region && ground.code(*above).is_some_and(|code| code.contains(span))
    })?;
    let is_queued = ground.clauses(region).any(|kind| !matches!(kind, ClauseKind::Data(..)));
    let code = ground.code(region)?;
    let moved: Vec<&Move> = all.iter().copied().filter(|one| is_in(ground, one, code)).collect();
    let stay = stays(ground, code, symbol, &moved).filter(|_| !is_queued)?;
    // The clause stands before the code: its names must mean the same there.
    let at = ground.bound[region].directive.span.start;
    let known = ground.symbols.get(symbol);
    (known.from <= at && ground.symbols.lookup(&known.name, at) == Some(symbol)).then_some((region, stay))
}

fn piece(ground: &Ground, stmt: StmtId, home: Home, all: &[Stay]) -> Piece {
    let items = |changed: bool| -> Vec<String> {
        all.iter().filter(|stay| stay.is_changed == changed).map(|stay| stay.item.clone()).collect()
    };
    let lists = [("copyin", items(false)), ("copy", items(true))];
    let clauses: Vec<String> = lists
        .iter()
        .filter(|(_, items)| !items.is_empty())
        .map(|(word, items)| edits::clause(word, items))
        .collect();
    let span = ground.unit.stmt(stmt).span;
    let text = clauses.join(" ");
    let (edits, help) = match home {
        Home::Region(region) => {
            let line = ground.file.line_number(ground.bound[region].directive.span.start);
            let edits = edits::clauses(ground, region, &clauses).map(|edit| vec![edit]);
            (edits, format!("add `{text}` to the `data` directive of line {line}"))
        }
        Home::Loop(_) => {
            let edits = edits::around(ground, span, "data", &clauses);
            (edits, format!("put `data {text}` around the loop"))
        }
    };
    let names: Vec<String> = all.iter().map(|stay| format!("`{}`", ground.spelled(stay.symbol))).collect();
    let sum = |is: fn(&Stay) -> bool| -> Option<i128> {
        all.iter()
            .filter(|stay| is(stay))
            .try_fold(0, |sum, stay| Some(sum + size::bytes(ground, stay.symbol)?))
    };
    let bytes = match (sum(|stay| stay.brings), sum(|stay| stay.takes)) {
        (Some(there), Some(back)) => {
            format!(": {} to the device and {} back", size::in_words(there), size::in_words(back))
        }
        _ => String::new(),
    };
    let mut made =
        diag::copied_each_iteration(ground.head(stmt), &crate::advise::edits::listed(&names), &bytes, &help);
    let mut places: Vec<usize> = all.iter().map(|stay| stay.at).collect();
    places.dedup();
    if let Some(first) = places.first() {
        made = made.with(ground.bound[*first].directive.span, "copied here");
    }
    Piece { diag: made, edits: edits.unwrap_or_default() }
}
