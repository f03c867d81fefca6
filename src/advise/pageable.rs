//! Large transfers in loops of the host, from memory that the system may page out: the driver copies it once more.
//!
//! Invariant: only memory that is surely pageable, and of a known size, is mentioned. There is no edit.

use std::collections::BTreeSet;

use crate::acc::ast::{ClauseKind, DirectiveKind};
use crate::diag;
use crate::host::ir::FunctionId;
use crate::sema::{Class, SymbolId};

use super::moves::Move;
use super::repeated::Handled;
use super::{Ground, Piece, edits, own, size};

/// With fewer bytes than this, a transfer costs its latency, whatever memory it comes from.
const LARGE: i128 = 1_000_000;

/// The advice: one piece for a directive.
pub fn pieces(ground: &Ground, moves: &[Move], handled: &Handled) -> Vec<Piece> {
    let mut found = Vec::new();
    for (index, one) in ground.bound.iter().enumerate() {
        if !one.function.is_some_and(|function| is_repeated(ground, index, function)) {
            continue;
        }
        let mut moved: BTreeSet<SymbolId> = updated(ground, index).collect();
        let own =
            moves.iter().filter(|one| one.directive == index && !handled.contains(&(index, one.symbol)));
        moved.extend(
            own.filter(|one| one.item.as_ref().is_none_or(|(text, _)| is_whole(text))).map(|one| one.symbol),
        );
        moved.retain(|symbol| is_pageable(ground, *symbol));
        let bytes: i128 = moved.iter().filter_map(|symbol| size::bytes(ground, *symbol)).sum();
        if bytes < LARGE {
            continue;
        }
        let names: Vec<String> =
            moved.iter().map(|symbol| format!("`{}`", ground.spelled(*symbol))).collect();
        let diag = diag::pageable(one.directive.span, &edits::listed(&names), &size::in_words(bytes));
        found.push(Piece { diag, edits: Vec::new() });
    }
    found
}

/// Whether a loop of the host runs a directive again and again.
fn is_repeated(ground: &Ground, index: usize, function: FunctionId) -> bool {
    let span = ground.bound[index].directive.span;
    !ground.is_computed(span)
        && ground.host_loops(function).iter().any(|stmt| {
            let is_around = ground.unit.stmt(*stmt).span.contains(span);
            is_around && size::trips(ground, *stmt).is_none_or(|trips| trips > 1)
        })
}

/// The arrays that an `update` moves as a whole.
fn updated<'g>(ground: &'g Ground, index: usize) -> impl Iterator<Item = SymbolId> + use<'g> {
    let is_update = ground.bound[index].directive.kind == DirectiveKind::Update;
    let lists = ground.clauses(index).filter(move |_| is_update).filter_map(|kind| match kind {
        ClauseKind::UpdateSelf(list) | ClauseKind::UpdateDevice(list) => Some(list),
        _ => None,
    });
    let items = lists.flatten().filter(|item| item.parts.is_empty());
    items.filter_map(move |item| ground.symbol_of(index, item))
}

/// Whether an item of a clause is a variable without a section.
fn is_whole(item: &str) -> bool {
    !item.contains(['[', '('])
}

/// Whether a variable is an array that the program declares: nothing makes its memory pinned but a call with its address.
fn is_pageable(ground: &Ground, symbol: SymbolId) -> bool {
    let known = ground.symbols.get(symbol);
    known.class == Class::Array && !own::is_parameter(ground, symbol) && own::is_own(ground, symbol)
}
