//! The data that constructs bring to the device and back each time that they run.
//!
//! Invariant: what a construct around has brought already is not a move.

use crate::acc::ast::{ClauseKind, DataClause, DirectiveKind};
use crate::bind::descendants;
use crate::host::ir::{DeclKind, Derived, FunctionId, StmtId};
use crate::plan::Motion;
use crate::sema::{Class, SymbolId, SymbolKind};
use crate::source::Span;

use super::{Ground, present};

/// One variable that one construct moves.
#[derive(Clone, Debug)]
pub struct Move {
    /// The construct.
    pub directive: usize,
    /// Its code.
    pub stmt: StmtId,
    /// The function that it stands in.
    pub function: Option<FunctionId>,
    /// The variable.
    pub symbol: SymbolId,
    /// Which way.
    pub motion: Motion,
    /// The item of the clause that says so, and its place; none if it is implied.
    pub item: Option<(String, Span)>,
}

/// All moves of a file.
pub fn moves(ground: &Ground) -> Vec<Move> {
    let mut all = Vec::new();
    for (index, one) in ground.bound.iter().enumerate() {
        let is_data = one.directive.kind == DirectiveKind::Data;
        let is_outer = !ground.is_computed(one.directive.span);
        let Some(stmt) = one.stmt().filter(|_| is_outer && (is_data || one.directive.kind.is_compute()))
        else {
            continue;
        };
        let new = |symbol, motion, item| Move {
            directive: index,
            stmt,
            function: one.function,
            symbol,
            motion,
            item,
        };
        for clause in ground.clauses(index) {
            let ClauseKind::Data(kind, list) = clause else { continue };
            let Some(motion) = Motion::of(*kind).filter(|motion| is_move(*motion)) else { continue };
            for item in list.iter().filter(|item| item.depth() == 0 && !item.common) {
                let Some(symbol) = ground.symbol_of(index, item) else { continue };
                let is_array = matches!(ground.symbols.get(symbol).class, Class::Array | Class::Pointer);
                if is_array && !present::is_around(ground, index, symbol) {
                    all.push(new(symbol, motion, Some((item.text.clone(), item.span))));
                }
            }
        }
        if one.directive.kind.is_compute() {
            all.extend(
                implied(ground, index, stmt).into_iter().map(|symbol| new(symbol, Motion::Copy, None)),
            );
        }
    }
    all
}

fn is_move(motion: Motion) -> bool {
    match motion {
        Motion::Copy | Motion::Copyin | Motion::Copyout { .. } | Motion::Create { .. } => true,
        Motion::Present | Motion::NoCreate | Motion::Find => false,
    }
}

/// The arrays that a compute construct uses and no clause names: they are copied both ways.
fn implied(ground: &Ground, index: usize, stmt: StmtId) -> Vec<SymbolId> {
    let mut around = std::iter::once(index).chain(crate::bind::ancestors(ground.bound, index));
    let has_default = |at: usize| ground.clauses(at).any(|kind| matches!(kind, ClauseKind::Default { .. }));
    if around.any(has_default) {
        return Vec::new();
    }
    let inside = std::iter::once(index).chain(descendants(ground.bound, index));
    let mut named: Vec<SymbolId> = Vec::new();
    for at in inside {
        for clause in ground.clauses(at) {
            let list = match clause {
                ClauseKind::Data(_, list)
                | ClauseKind::Private(list)
                | ClauseKind::Firstprivate(list)
                | ClauseKind::Reduction(_, list) => list,
                _ => continue,
            };
            named.extend(list.iter().filter_map(|item| ground.symbol_of(at, item)));
        }
    }
    let span = ground.unit.stmt(stmt).span;
    let used = ground.uses(stmt);
    let wanted = used.iter().filter(|(symbol, used)| {
        let known = ground.symbols.get(*symbol);
        let is_variable = !matches!(
            known.kind,
            SymbolKind::Constant | SymbolKind::Function | SymbolKind::Type | SymbolKind::Member
        );
        let is_inside = span.contains(known.scope)
            || known.decl.is_some_and(|decl| span.contains(ground.unit.decl(decl).name_span));
        let is_touched = used.part_read || used.part_written;
        known.class == Class::Array
            && is_variable
            && is_touched
            && !is_inside
            && !(known.is_const && ground.unit.is_fortran())
            && !named.contains(symbol)
            && has_extents(ground, *symbol)
            && !present::is_around(ground, index, *symbol)
    });
    wanted.map(|(symbol, _)| symbol).collect()
}

/// Whether it is known how much an array holds: a parameter of C is an address alone.
fn has_extents(ground: &Ground, symbol: SymbolId) -> bool {
    let Some(decl) = ground.symbols.get(symbol).decl.map(|decl| ground.unit.decl(decl)) else { return false };
    ground.unit.is_fortran() && !decl.fortran.assumed_size
        || decl.kind != DeclKind::Parameter
            && decl.derived.iter().all(|part| matches!(part, Derived::Array(Some(_))))
}

/// What the device does with a variable in some code: whether it reads it, and whether it changes it.
pub fn on_device(ground: &Ground, stmt: StmtId, symbol: SymbolId) -> (bool, bool) {
    let used = ground.uses(stmt);
    let own = used.of(symbol).copied().unwrap_or_default();
    let is_called = super::host::is_reached(ground, ground.unit.stmt(stmt).span, symbol);
    let writes = own.written || own.part_written || own.address_taken || is_called;
    (own.part_read || own.address_taken || is_called, writes)
}

/// Whether a construct is queued, or may run on the host.
pub fn is_conditional(ground: &Ground, index: usize) -> bool {
    ground.clauses(index).any(|kind| {
        matches!(
            kind,
            ClauseKind::Async(_) | ClauseKind::If(_) | ClauseKind::SelfRun(_) | ClauseKind::Wait(_)
        )
    })
}

/// Whether a directive names a variable as an address of the device.
pub fn is_address(ground: &Ground, index: usize, symbol: SymbolId) -> bool {
    ground.clauses(index).any(|kind| match kind {
        ClauseKind::Data(DataClause::Deviceptr | DataClause::Attach | DataClause::Detach, list)
        | ClauseKind::UseDevice(list) => {
            list.iter().any(|item| ground.symbol_of(index, item) == Some(symbol))
        }
        _ => false,
    })
}
