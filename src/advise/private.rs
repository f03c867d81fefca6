//! Arrays of which each thread has its own, by the kilobyte.
//!
//! Invariant: sizes are those that the source says; there is no edit.

use std::collections::BTreeSet;

use crate::diag;
use crate::host::ir::StmtKind;
use crate::plan::Division;
use crate::sema::{Class, SymbolId};
use crate::source::Span;

use super::{Ground, Piece, edits, size};

/// So many bytes of each thread are worth a word: more than registers hold.
const LARGE: i128 = 1024;

/// So many threads a device runs at once, where the source does not say how many iterations there are.
const THREADS: i128 = 100_000;

/// The advice.
pub fn pieces(ground: &Ground) -> Vec<Piece> {
    let mut seen = BTreeSet::new();
    let divisions = ground.plan.divisions.values().filter(|one| one.levels.vector);
    divisions.filter_map(|division| piece(ground, division, &mut seen)).collect()
}

fn piece(ground: &Ground, division: &Division, seen: &mut BTreeSet<SymbolId>) -> Option<Piece> {
    let mut all = arrays(ground, division);
    all.retain(|(symbol, ..)| seen.insert(*symbol));
    let (_, at, _) = *all.first()?;
    let trips =
        division.stmts.iter().try_fold(1i128, |all, stmt| all.checked_mul(size::trips(ground, *stmt)?));
    let threads = trips.unwrap_or(THREADS).min(THREADS);
    let how_many = match trips {
        Some(trips) => format!("{trips} iterations"),
        None => format!("{THREADS} threads, as many as a device runs at once,"),
    };
    let bytes: i128 = all.iter().map(|(.., bytes)| bytes).sum();
    let names: Vec<String> =
        all.iter().map(|(symbol, ..)| format!("`{}`", ground.spelled(*symbol))).collect();
    let at = if at.is_empty() { ground.head(*division.stmts.last()?) } else { at };
    let diag = diag::large_private(
        at,
        &edits::listed(&names),
        &size::in_words(bytes),
        &how_many,
        &size::in_words(bytes * threads),
    );
    Some(Piece { diag, edits: Vec::new() })
}

/// The large arrays that each thread has, their places, and their bytes.
fn arrays(ground: &Ground, division: &Division) -> Vec<(SymbolId, Span, i128)> {
    let place = division.directives.first().map_or(0, |index| ground.settled[*index].directive.span.start);
    let listed = division
        .private
        .iter()
        .filter_map(|item| Some((ground.symbols.lookup(item.variable(), place)?, item.span)));
    let body = division.stmts.last().and_then(|last| match ground.unit.stmt(*last).kind {
        StmtKind::For { body, .. } => Some(ground.unit.stmt(body).span),
        _ => None,
    });
    let decls = body.into_iter().flat_map(|body| ground.unit.decls_with_names_in(body));
    let declared = decls.filter_map(|decl| {
        let symbol = ground.symbols.lookup(&decl.name, decl.name_span.end)?;
        (!decl.is_static).then_some((symbol, decl.name_span))
    });
    let sized = listed.chain(declared).filter_map(|(symbol, at)| {
        let is_array = ground.symbols.get(symbol).class == Class::Array;
        let bytes = size::bytes(ground, symbol).filter(|bytes| is_array && *bytes >= LARGE)?;
        Some((symbol, at, bytes))
    });
    sized.collect()
}
