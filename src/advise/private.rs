//! Arrays of which each thread has its own, by the kilobyte.
//!
//! Invariant: sizes are those that the source says; there is no edit.

use crate::diag;
use crate::host::ir::StmtKind;
use crate::sema::{Class, SymbolId};
use crate::source::Span;

use super::{Ground, Piece, size};

/// So many bytes of each thread are worth a word: more than registers hold.
const LARGE: i128 = 1024;

/// So many threads a device runs at once, where the source does not say how many iterations there are.
const THREADS: i128 = 100_000;

/// The advice.
pub fn pieces(ground: &Ground) -> Vec<Piece> {
    let mut found: Vec<(SymbolId, Piece)> = Vec::new();
    for division in ground.plan.divisions.values().filter(|one| one.levels.vector || one.levels.worker) {
        let Some(index) = division.directives.first() else { continue };
        let place = ground.settled[*index].directive.span.start;
        let listed = division
            .private
            .iter()
            .filter_map(|item| Some((ground.symbols.lookup(item.variable(), place)?, item.span)));
        let Some(last) = division.stmts.last() else { continue };
        let body = match ground.unit.stmt(*last).kind {
            StmtKind::For { body, .. } => ground.unit.stmt(body).span,
            _ => continue,
        };
        let declared = ground.unit.decls_with_names_in(body).filter_map(|decl| {
            let symbol = ground.symbols.lookup(&decl.name, decl.name_span.end)?;
            (!decl.is_static).then_some((symbol, decl.name_span))
        });
        let trips =
            division.stmts.iter().try_fold(1i128, |all, stmt| all.checked_mul(size::trips(ground, *stmt)?));
        let all: Vec<(SymbolId, Span)> = listed.chain(declared).collect();
        for (symbol, at) in all {
            let is_array = ground.symbols.get(symbol).class == Class::Array;
            let Some(bytes) = size::bytes(ground, symbol).filter(|bytes| is_array && *bytes >= LARGE) else {
                continue;
            };
            if found.iter().any(|(known, _)| *known == symbol) {
                continue;
            }
            let threads = trips.unwrap_or(THREADS).min(THREADS);
            let how_many = match trips {
                Some(trips) => format!("{trips} iterations"),
                None => "a full device of 100000 threads".to_owned(),
            };
            let at = if at.is_empty() { ground.head(*last) } else { at };
            let diag = diag::large_private(
                at,
                &ground.spelled(symbol),
                &size::in_words(bytes),
                &how_many,
                &size::in_words(bytes * threads),
            );
            found.push((symbol, Piece { diag, edits: Vec::new() }));
        }
    }
    found.into_iter().map(|(_, piece)| piece).collect()
}
