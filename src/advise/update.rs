//! `update` of data that nobody reads, or that nobody has changed.
//!
//! Invariant: an update goes only if what it brings is nowhere read before the end of the region copies it again, or is there
//! already.

use crate::acc::ast::{ClauseKind, DirectiveKind, ListItem};
use crate::bind::ancestors;
use crate::diag;
use crate::edit::Edit;
use crate::plan::Motion;
use crate::sema::SymbolId;
use crate::source::Span;

use super::host::{Part, Touch};
use super::moves::on_device;
use super::{Ground, Piece, edits, own, present, size};

/// The advice.
pub fn pieces(ground: &Ground) -> Vec<Piece> {
    let mut found = Vec::new();
    for (index, one) in ground.bound.iter().enumerate() {
        if one.directive.kind != DirectiveKind::Update {
            continue;
        }
        for (at, clause) in one.directive.clauses.iter().enumerate() {
            let (list, to_host) = match &clause.kind {
                ClauseKind::UpdateSelf(list) => (list, true),
                ClauseKind::UpdateDevice(list) => (list, false),
                _ => continue,
            };
            let idle: Vec<&ListItem> =
                list.iter().filter(|item| is_idle(ground, index, item, to_host)).collect();
            if !idle.is_empty() {
                found.push(piece(ground, index, at, &idle, to_host));
            }
        }
    }
    found
}

/// Whether what an item of an `update` brings is there already, or is read by nobody.
fn is_idle(ground: &Ground, index: usize, item: &ListItem, to_host: bool) -> bool {
    let Some(symbol) = ground.symbol_of(index, item).filter(|_| item.depth() == 0) else { return false };
    let function = ground.bound[index].function;
    if function.is_none() || present::may_be(ground, function, symbol) || !own::is_own(ground, symbol) {
        return false;
    }
    // The outermost region that brings the variable.
    let regions = ancestors(ground.bound, index).filter(|above| {
        ground.bound[*above].directive.kind == DirectiveKind::Data && ground.naming(symbol).contains(above)
    });
    let Some(region) = regions.last() else { return false };
    let Some(span) = ground.code(region) else { return false };
    let has_condition = ground.clauses(region).any(|kind| !matches!(kind, ClauseKind::Data(..)));
    let Some(motion) = motion(ground, region, symbol).filter(|_| !has_condition) else { return false };
    if own::roots(ground, symbol)
        .iter()
        .any(|root| *root != symbol && Part::new(ground, span).touch(*root) != Touch::Nothing)
    {
        return false;
    }
    let host = Part::new(ground, span).touch(symbol);
    let others = ground.naming(symbol).iter().any(|at| {
        let other = &ground.bound[*at].directive;
        let is_inside = span.contains(other.span) && *at != region && !other.kind.is_compute();
        is_inside
            && !(other.kind == DirectiveKind::Update
                && directions(ground, *at, symbol) == (to_host, !to_host))
    });
    let is_queued = ground.constructs_in(span).any(|(at, _)| super::moves::is_conditional(ground, at));
    if others || is_queued || Part::new(ground, span).is_left() {
        return false;
    }
    match to_host {
        true => host == Touch::Nothing && matches!(motion, Motion::Copy | Motion::Copyout { .. }),
        false => {
            let is_changed = ground.constructs_in(span).any(|(_, stmt)| on_device(ground, stmt, symbol).1);
            host != Touch::Changes && !is_changed && matches!(motion, Motion::Copy | Motion::Copyin)
        }
    }
}

/// Whether an `update` brings the variable to the host, and to the device.
fn directions(ground: &Ground, index: usize, symbol: SymbolId) -> (bool, bool) {
    let names = |list: &[ListItem]| list.iter().any(|item| ground.symbol_of(index, item) == Some(symbol));
    let mut found = (false, false);
    for kind in ground.clauses(index) {
        match kind {
            ClauseKind::UpdateSelf(list) => found.0 |= names(list),
            ClauseKind::UpdateDevice(list) => found.1 |= names(list),
            _ => {}
        }
    }
    found
}

/// Which way a region moves a variable.
fn motion(ground: &Ground, region: usize, symbol: SymbolId) -> Option<Motion> {
    ground.clauses(region).find_map(|kind| match kind {
        ClauseKind::Data(clause, list) => {
            let is_named = list.iter().any(|item| ground.symbol_of(region, item) == Some(symbol));
            Motion::of(*clause).filter(|_| is_named)
        }
        _ => None,
    })
}

fn piece(ground: &Ground, index: usize, at: usize, idle: &[&ListItem], to_host: bool) -> Piece {
    let directive = &ground.bound[index].directive;
    let names: Vec<String> = idle.iter().map(|item| format!("`{}`", item.text)).collect();
    let symbols: Vec<SymbolId> = idle.iter().filter_map(|item| ground.symbol_of(index, item)).collect();
    let bytes = size::sum_in_words(ground, &symbols);
    let diag = diag::idle_update(directive.span, &edits::listed(&names), to_host, &bytes);
    Piece { diag, edits: without(ground, index, at, idle).into_iter().collect() }
}

/// The directive without some of its items, or nothing in its place.
fn without(ground: &Ground, index: usize, at: usize, idle: &[&ListItem]) -> Option<Edit> {
    let directive = &ground.bound[index].directive;
    let clause = &directive.clauses[at];
    let (ClauseKind::UpdateSelf(list) | ClauseKind::UpdateDevice(list)) = &clause.kind else { return None };
    let kept: Vec<String> = list
        .iter()
        .filter(|item| !idle.iter().any(|one| one.span == item.span))
        .map(|item| item.text.clone())
        .collect();
    let moves = |kind: &ClauseKind| matches!(kind, ClauseKind::UpdateSelf(_) | ClauseKind::UpdateDevice(_));
    let others = directive.clauses.iter().filter(|clause| moves(&clause.kind)).count() > 1;
    if !kept.is_empty() {
        let is_short = !ground.file.slice(clause.span).contains(&b'\n');
        let text = edits::clause(&clause.name.text, &kept);
        return is_short.then(|| edits::replace(clause.span, &text));
    }
    if others {
        return Some(edits::replace(clause.span, ""));
    }
    // One that waits, or that waits for something, does more than move data.
    let is_plain = directive.clauses.len() == 1;
    let line = ground.file.lines.span(ground.file.lines.line(directive.span.start));
    let end = ground.file.lines.line(directive.span.end.saturating_sub(1)) + 1;
    let whole = Span { start: line.start, end: ground.file.lines.span(end).start };
    let rest = ground.file.text(whole).into_owned();
    let is_alone = rest.trim() == ground.file.text(directive.span).trim();
    (is_plain && is_alone && whole.end > whole.start).then(|| edits::replace(whole, ""))
}
