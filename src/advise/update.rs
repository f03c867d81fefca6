//! `update` of data that nobody reads, or that nobody has changed, or of more than is read.
//!
//! Invariant: an update goes only if what it brings is nowhere read before the end of the region copies it again, or is there
//! already.

use crate::acc::ast::{ClauseKind, DirectiveKind, ListItem};
use crate::bind::ancestors;
use crate::diag;
use crate::edit::Edit;
use crate::host::ir::ExprKind;
use crate::plan::Motion;
use crate::sema::{Class, SymbolId};
use crate::source::{Form, Language, Span};

use super::host::{HostCode, Touch};
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
            let known: Vec<(&ListItem, Verdict)> =
                list.iter().filter_map(|item| Some((item, verdict(ground, index, item, to_host)?))).collect();
            let idle: Vec<&ListItem> = known
                .iter()
                .filter(|(_, verdict)| *verdict == Verdict::Idle)
                .map(|(item, _)| *item)
                .collect();
            if !idle.is_empty() {
                found.push(piece(ground, index, at, &idle, to_host));
            }
            for (item, verdict) in known {
                if let Verdict::Part(slices) = verdict {
                    found.push(smaller(ground, index, item, &slices));
                }
            }
        }
    }
    found
}

/// What an item of an `update` should be.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Verdict {
    /// What it brings is there already, or is read by nobody.
    Idle,
    /// The host reads no more than these sections.
    Part(Vec<String>),
}

fn verdict(ground: &Ground, index: usize, item: &ListItem, to_host: bool) -> Option<Verdict> {
    let symbol = ground.symbol_of(index, item).filter(|_| item.depth() == 0)?;
    let function = ground.bound[index].function?;
    if present::may_be(ground, Some(function), symbol) || !own::is_own(ground, symbol) {
        return None;
    }
    // The outermost region that brings the variable.
    let regions = ancestors(ground.bound, index).filter(|above| {
        ground.bound[*above].directive.kind == DirectiveKind::Data && ground.naming(symbol).contains(above)
    });
    let region = regions.last()?;
    let span = ground.code(region)?;
    let has_condition = ground.clauses(region).any(|kind| !matches!(kind, ClauseKind::Data(..)));
    let motion = motion(ground, region, symbol).filter(|_| !has_condition)?;
    let roots = own::roots(ground, symbol);
    if roots.iter().any(|root| *root != symbol && HostCode::new(ground, span).touch(*root) != Touch::Nothing)
    {
        return None;
    }
    let others = ground.naming(symbol).iter().any(|at| {
        let other = &ground.bound[*at].directive;
        let is_inside = span.contains(other.span) && *at != region && !other.kind.is_compute();
        let is_alike = || directions(ground, *at, symbol) == (to_host, !to_host);
        is_inside && !(other.kind == DirectiveKind::Update && is_alike())
    });
    let is_queued = ground.constructs_in(span).any(|(at, _)| super::moves::is_conditional(ground, at));
    if others || is_queued || HostCode::new(ground, span).is_left() {
        return None;
    }
    let host = HostCode::new(ground, span).touch(symbol);
    let is_back = matches!(motion, Motion::Copy | Motion::Copyout { .. });
    if !to_host {
        let is_changed = ground.constructs_in(span).any(|(_, stmt)| on_device(ground, stmt, symbol).1);
        let is_there = matches!(motion, Motion::Copy | Motion::Copyin);
        return (host != Touch::Changes && !is_changed && is_there).then_some(Verdict::Idle);
    }
    match host {
        Touch::Nothing if is_back => Some(Verdict::Idle),
        Touch::Reads if is_back => section(ground, span, symbol, item).map(Verdict::Part),
        _ => None,
    }
}

/// The sections of an array that the host reads in some bytes, if they are one or two slices of its slowest dimension.
fn section(ground: &Ground, span: Span, symbol: SymbolId, item: &ListItem) -> Option<Vec<String>> {
    let unit = ground.unit;
    let known = ground.symbols.get(symbol);
    let dimensions = known.shape.len();
    let is_whole = item.parts.is_empty() && known.class == Class::Array;
    (is_whole && (1..=2).contains(&dimensions)).then_some(())?;
    let mut slices: Vec<String> = Vec::new();
    for id in ground.mentions(symbol) {
        let at = unit.expr(*id).span;
        if !span.contains(at) || ground.is_computed(at) {
            continue;
        }
        let mut subscripts = Vec::new();
        let mut inner = *id;
        while let Some(around) = ground.tables.parents[inner.0 as usize] {
            let ExprKind::Index(base, index) = unit.expr(around).kind else { break };
            if base != inner {
                break;
            }
            subscripts.push(index);
            inner = around;
        }
        (subscripts.len() == dimensions).then_some(())?;
        let slowest = if unit.is_fortran() { *subscripts.last()? } else { *subscripts.first()? };
        // Its value is the same everywhere in the region.
        size::value(ground, slowest)?;
        let text = ground.file.text(unit.expr(slowest).span).into_owned();
        if !slices.contains(&text) {
            slices.push(text);
        }
    }
    let name = ground.spelled(symbol);
    let items: Vec<String> = slices
        .iter()
        .map(|slice| match (unit.is_fortran(), dimensions) {
            (true, 1) => format!("{name}({slice}:{slice})"),
            (true, _) => format!("{name}(:, {slice}:{slice})"),
            (false, _) => format!("{name}[{slice}:1]"),
        })
        .collect();
    // A slice of a matrix of C has all of its columns.
    let columns = known.bounds.get(1).and_then(|bounds| bounds.upper.clone());
    let items = match (unit.is_fortran(), dimensions) {
        (false, 2) => {
            let columns = columns?;
            items.iter().map(|item| format!("{item}[0:{columns}]")).collect()
        }
        _ => items,
    };
    ((1..=2).contains(&items.len())).then_some(items)
}

fn smaller(ground: &Ground, index: usize, item: &ListItem, slices: &[String]) -> Piece {
    let directive = &ground.bound[index].directive;
    let symbols: Vec<SymbolId> = ground.symbol_of(index, item).into_iter().collect();
    let bytes = size::sum_in_words(ground, &symbols);
    // Compilers refuse a variable that a directive names twice.
    let text = slices.join("` and, in a directive of its own, `");
    let diag = diag::large_update(directive.span, &item.text, &bytes, &text);
    Piece { diag, edits: sliced(ground, index, item, slices).unwrap_or_default() }
}

/// A directive for each slice of an item, where the lines have room for it. A directive that does more stays one.
fn sliced(ground: &Ground, index: usize, item: &ListItem, slices: &[String]) -> Option<Vec<Edit>> {
    let directive = &ground.bound[index].directive;
    let whole = lines(ground, index)?;
    let text = |start: u32, end: u32| ground.file.text(Span { start, end }).into_owned();
    let (before, after) = (text(whole.start, item.span.start), text(item.span.end, whole.end));
    let last = match ground.file.language {
        Language::Fortran(Form::Fixed) => 72,
        Language::Fortran(_) => 132,
        _ => usize::MAX,
    };
    let all: Vec<String> = slices.iter().map(|slice| format!("{before}{slice}{after}")).collect();
    let fits = all.iter().flat_map(|text| text.lines()).all(|line| line.chars().count() <= last);
    let is_only = directive.clauses.len() == 1
        && directive.clauses.iter().all(|clause| match &clause.kind {
            ClauseKind::UpdateSelf(list) => list.len() == 1,
            _ => false,
        });
    (fits && (is_only || all.len() == 1)).then_some(())?;
    let mut edits = vec![edits::replace(item.span, slices.first()?)];
    let next = Span { start: whole.end, end: whole.end };
    edits.extend(all.get(1).map(|text| edits::replace(next, text)));
    Some(edits)
}

/// The lines of a directive, if nothing else stands there.
fn lines(ground: &Ground, index: usize) -> Option<Span> {
    let directive = &ground.bound[index].directive;
    let line = ground.file.lines.span(ground.file.lines.line(directive.span.start));
    let end = ground.file.lines.line(directive.span.end.saturating_sub(1)) + 1;
    let whole = Span { start: line.start, end: ground.file.lines.span(end).start };
    let rest = ground.file.text(whole).into_owned();
    let is_alone = rest.trim() == ground.file.text(directive.span).trim();
    (is_alone && whole.end > whole.start).then_some(whole)
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

/// The directive without some of its items, or nothing instead.
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
    lines(ground, index).filter(|_| is_plain).map(|whole| edits::replace(whole, ""))
}
