//! What code does with the variables that it names, in macros as well.
//!
//! Invariant: what is not understood counts as a use that reads and writes.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashSet;

use super::{Input, defines};
use crate::cuda::code::text::{self, words};
use crate::host::ir::{ExprId, ExprKind, StmtId};
use crate::sema::{self, Class, SymbolId, SymbolKind, Use};
use crate::source::Span;

/// The variables that a statement names and that are declared outside it, those of macros included, in order of first use.
pub fn outer(input: &Input, stmt: StmtId) -> Vec<(SymbolId, Use)> {
    let (unit, symbols) = (input.unit(), input.symbols);
    let span = unit.stmt(stmt).span;
    let uses = sema::uses(unit, symbols, stmt);
    let mut found: BTreeMap<SymbolId, Use> = uses.iter().map(|(symbol, used)| (symbol, *used)).collect();
    let shadow = input.source.code(span);
    let mut pending: Vec<String> = words(&shadow).into_iter().map(str::to_owned).collect();
    let mut known: BTreeSet<String> = BTreeSet::new();
    let mut places = written_macros(input, span);
    while let Some(word) = pending.pop() {
        if !known.insert(word.clone()) {
            continue;
        }
        let Some(define) = defines::define(input, &word) else { continue };
        let assigns = assigns(&define.body);
        let is_place = places.contains(&word);
        let leads = define.body.contains(['[', '*', '>']);
        for inner in words(&define.body) {
            pending.push(inner.to_owned());
            if is_place {
                places.insert(inner.to_owned());
            }
            if let Some(symbol) = symbols.lookup(inner, span.start) {
                let used = found.entry(symbol).or_default();
                used.read = true;
                used.part_read = true;
                used.exposed = true;
                let is_alone = define.params.is_none() && assigns;
                used.written |= is_alone || symbols.assigned_by(&word).iter().any(|name| name == inner);
                let is_scalar = symbols.get(symbol).class == Class::Scalar;
                used.written |= is_place && is_scalar && !leads;
                used.part_written |= assigns || is_place && !is_scalar;
            }
        }
    }
    for (symbol, used) in members(input, stmt) {
        found.entry(symbol).and_modify(|known| add(known, used)).or_insert(used);
    }
    for symbol in super::operators::changed(input, stmt) {
        let used = found.entry(symbol).or_default();
        used.part_read = true;
        used.part_written = true;
    }
    let is_outside = |symbol: &SymbolId| {
        let known = symbols.get(*symbol);
        matches!(
            known.kind,
            SymbolKind::Local | SymbolKind::Parameter | SymbolKind::Static | SymbolKind::Member
        ) && !span.contains(known.scope)
            && !super::qualified::is_elsewhere(input, span, *symbol)
    };
    let mut outer: Vec<(SymbolId, Use)> =
        found.into_iter().filter(|(symbol, _)| is_outside(symbol)).collect();
    outer.sort_by_key(|(_, used)| used.first.map_or(u32::MAX, |span| span.start));
    outer
}

/// The macros with whose uses code assigns something, or takes an address: `AT(i) = 0`.
pub fn written_macros(input: &Input, span: Span) -> BTreeSet<String> {
    let unit = input.unit();
    let mut found = BTreeSet::new();
    for expr in unit.exprs_in(span) {
        let (ExprKind::Assign(_, mut at, _)
        | ExprKind::Step { operand: mut at, .. }
        | ExprKind::AddressOf(mut at)) = expr.kind
        else {
            continue;
        };
        while let ExprKind::Index(base, _) | ExprKind::Deref(base) | ExprKind::Member { base, .. } =
            unit.expr(at).kind
        {
            at = base;
        }
        if let ExprKind::Call { callee, .. } = unit.expr(at).kind {
            at = callee;
        }
        if let ExprKind::Name(name) = &unit.expr(at).kind {
            found.insert(name.clone());
        }
    }
    found
}

/// Whether a macro's body assigns something.
pub fn assigns(body: &str) -> bool {
    let bytes = body.as_bytes();
    let is_assignment = |at: usize| {
        let before = at.checked_sub(1).map(|at| bytes[at]);
        let shifts = bytes[..at].ends_with(b"<<") || bytes[..at].ends_with(b">>");
        let compares = before.is_some_and(|byte| b"=!<>".contains(&byte)) && !shifts;
        bytes[at] == b'=' && bytes.get(at + 1) != Some(&b'=') && !compares
    };
    (0..bytes.len()).any(is_assignment) || body.contains("++") || body.contains("--")
}

/// The expressions in a statement.
pub fn inside(input: &Input, stmt: StmtId) -> impl Iterator<Item = ExprId> {
    let unit = input.unit();
    unit.expr_ids_in(unit.stmt(stmt).span)
}

/// Whether a statement puts an index after a variable, or a star before it.
pub fn is_indexed(input: &Input, stmt: StmtId, symbol: SymbolId) -> bool {
    let unit = input.unit();
    inside(input, stmt).any(|id| match unit.expr(id).kind {
        ExprKind::Index(base, _) | ExprKind::Deref(base) => input.symbols.named(unit, base) == Some(symbol),
        _ => false,
    })
}

/// The data members of the object that a statement names with `this->`: each place, the member if nothing hides it.
pub fn named_members(input: &Input, stmt: StmtId) -> Vec<(ExprId, Option<SymbolId>)> {
    let unit = input.unit();
    let mut found = Vec::new();
    if !unit.is_cpp() {
        return found;
    }
    for id in inside(input, stmt) {
        let expr = unit.expr(id);
        let ExprKind::Member { base, name, arrow: true } = &expr.kind else { continue };
        if matches!(&unit.expr(*base).kind, ExprKind::Name(this) if this == "this") {
            let symbol = input.symbols.lookup(name, expr.span.start);
            let member = symbol.filter(|symbol| input.symbols.is_data_member(*symbol));
            found.push((id, member));
        }
    }
    found
}

/// What a statement does with the members that it names with `this->`.
pub fn members(input: &Input, stmt: StmtId) -> Vec<(SymbolId, Use)> {
    let unit = input.unit();
    let places: BTreeMap<ExprId, SymbolId> =
        named_members(input, stmt).into_iter().filter_map(|(id, symbol)| Some((id, symbol?))).collect();
    let mut found: Vec<(SymbolId, Use)> = Vec::new();
    if places.is_empty() {
        return found;
    }
    for (id, symbol) in &places {
        let first = Some(unit.expr(*id).span);
        found.push((*symbol, Use { read: true, exposed: true, part_read: true, first, ..Use::default() }));
    }
    for id in inside(input, stmt) {
        let (targets, is_address) = match &unit.expr(id).kind {
            ExprKind::Assign(_, left, _) => (vec![*left], false),
            ExprKind::Step { operand, .. } => (vec![*operand], false),
            ExprKind::AddressOf(operand) => (vec![*operand], true),
            ExprKind::Call { callee, args } => (std::iter::once(*callee).chain(args.clone()).collect(), true),
            _ => continue,
        };
        for mut at in targets {
            let mut is_part = is_address;
            loop {
                if let Some(symbol) = places.get(&at) {
                    let used = Use { written: !is_part, part_written: true, ..Use::default() };
                    found.push((*symbol, used));
                    break;
                }
                match unit.expr(at).kind {
                    ExprKind::Index(base, _) | ExprKind::Deref(base) | ExprKind::Member { base, .. } => {
                        at = base
                    }
                    _ => break,
                }
                is_part = true;
            }
        }
    }
    found
}

/// Both uses.
pub fn add(known: &mut Use, more: Use) {
    known.read |= more.read;
    known.written |= more.written;
    known.exposed |= more.exposed;
    known.address_taken |= more.address_taken;
    known.part_read |= more.part_read;
    known.part_written |= more.part_written;
    known.first = known.first.or(more.first);
}

/// Whether a region uses a pointer or an array only to index it.
pub fn only_indexed(input: &Input, stmt: StmtId, symbol: SymbolId) -> bool {
    !beyond_indices(input, stmt).contains(&symbol)
}

/// What a region names and does more with than to index it.
pub fn beyond_indices(input: &Input, stmt: StmtId) -> FxHashSet<SymbolId> {
    let unit = input.unit();
    let span = input.stmt_span(stmt);
    let mut bases: FxHashSet<Span> = FxHashSet::default();
    for expr in unit.exprs_in(span) {
        match expr.kind {
            ExprKind::Index(base, _) | ExprKind::Deref(base) => {
                bases.insert(unit.expr(base).span);
            }
            _ => {}
        }
    }
    let named = unit.exprs_in(span).filter_map(|expr| match &expr.kind {
        ExprKind::Name(name) if !bases.contains(&expr.span) => input.symbols.lookup(name, expr.span.start),
        _ => None,
    });
    named.collect()
}

/// Whether a region does nothing with an array but to index it, so that a pointer can take its place.
pub fn may_be_pointer(input: &Input, stmt: StmtId, symbol: SymbolId) -> bool {
    let text = input.file().text(input.stmt_span(stmt));
    only_indexed(input, stmt, symbol)
        && !text::words(&text).contains(&"sizeof")
        && !super::type_uses::uses_type(input, stmt, &input.symbols.get(symbol).name)
}
