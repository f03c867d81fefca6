//! Pointers of Fortran that get other targets while the device has their old ones. OpenMP attaches the device's copy of a
//! pointer when it is mapped, and not again (4.5, 2.15.5.1); OpenACC looks at each directive where the pointer points to.
//!
//! Invariant: what stands here is named by `associate` at each directive, or the program's author is reported.

use std::collections::{BTreeMap, BTreeSet};

use crate::acc::ast::{ClauseKind, DataClause, DirectiveKind, ListItem, PathStep};
use crate::bind::{Bound, descendants};
use crate::diag::{self, Diag};
use crate::host::ir::{FunctionId, StmtKind, Unit};
use crate::sema::{self, Class, Place, SymbolId, SymbolKind, Symbols};
use crate::source::Span;

/// The pointers that directives must name anew.
pub(super) struct Moving {
    /// The pointers, and where each gets another target; `None` where a caller may do that.
    pub(super) places: BTreeMap<Place, Option<Span>>,
    /// Where pointers get other targets.
    pub(super) moves: Vec<(Span, Place)>,
    /// What cannot be named by an alias.
    pub(super) diags: Vec<Diag>,
}

/// The pointers that get another target while a data region or an `enter data` has their old one on the device.
pub(super) fn moving(unit: &Unit, symbols: &Symbols, bound: &[Bound]) -> Moving {
    let moves = sema::retargets(unit, symbols);
    let (mut places, mut diags) = (dummies(symbols, bound), Vec::new());
    let declared = declared(symbols, bound);
    let mut reported = BTreeSet::new();
    for one in bound {
        let extent = match (one.directive.kind, one.stmt()) {
            (DirectiveKind::Data, Some(stmt)) => Some(unit.stmt(stmt).span),
            (DirectiveKind::EnterData, _) => None,
            _ => continue,
        };
        let start = one.directive.span.start;
        let is_later = |at: Span| match extent {
            Some(extent) => extent.contains(at),
            None => {
                let is_after = at.start > start || !is_in(unit, one.function, at);
                is_after && !in_other_case(unit, start, at)
            }
        };
        for item in data(one) {
            let Some(place) = place(symbols, item) else { continue };
            let Some(is_array) = is_pointer(symbols, &place) else { continue };
            let mut later = moves.iter().filter(|(at, moved)| *moved == place && is_later(*at));
            if is_array && !declared.contains(&place) {
                if let Some((at, _)) = later.next() {
                    places.insert(place, Some(*at));
                }
                continue;
            }
            let fresh = later.filter(|(at, _)| extent.is_some() && reported.insert((at.start, at.end)));
            diags.extend(fresh.map(|(at, _)| diag::pointer_moves(*at, item.variable())));
        }
    }
    Moving { places, moves, diags }
}

/// The pointers that a construct, or a directive inside it, uses in a way that is not open to an alias.
pub(super) fn kept(
    unit: &Unit,
    symbols: &Symbols,
    moves: &[(Span, Place)],
    (bound, index): (&[Bound], usize),
) -> BTreeSet<Place> {
    let one = &bound[index];
    let mut kept = BTreeSet::new();
    if !one.directive.kind.is_compute() {
        return kept;
    }
    for at in std::iter::once(index).chain(descendants(bound, index)) {
        for clause in &bound[at].directive.clauses {
            let list = match &clause.kind {
                ClauseKind::Private(list)
                | ClauseKind::Firstprivate(list)
                | ClauseKind::Reduction(_, list)
                | ClauseKind::Data(DataClause::Deviceptr, list) => list,
                _ => continue,
            };
            kept.extend(list.iter().filter_map(|item| place(symbols, item)));
        }
    }
    if let Some(stmt) = one.stmt() {
        let extent = unit.stmt(stmt).span;
        let inside = moves.iter().filter(|(at, _)| extent.contains(*at));
        kept.extend(inside.map(|(_, place)| place.clone()));
    }
    kept
}

/// The variable and the components that a list item names.
pub(super) fn place(symbols: &Symbols, item: &ListItem) -> Option<Place> {
    let root = symbols.lookup(&item.base.text, item.span.start)?;
    let members = item.parts.iter().filter_map(|part| match part {
        PathStep::Member(name) => Some(symbols.folded(&name.text).into_owned()),
        PathStep::Section(_) => None,
    });
    Some((root, members.collect()))
}

/// Pointers that are dummy arguments, and present on the device as their callers say: those may give them other targets
/// between two calls.
fn dummies(symbols: &Symbols, bound: &[Bound]) -> BTreeMap<Place, Option<Span>> {
    let is_dummy = |symbol: &SymbolId| {
        symbols.get(*symbol).kind == SymbolKind::Parameter
            && is_pointer(symbols, &(*symbol, Vec::new())) == Some(true)
    };
    let mut found = BTreeSet::new();
    for one in bound {
        for clause in &one.directive.clauses {
            match &clause.kind {
                ClauseKind::Data(DataClause::Present, list) => {
                    let named = list.iter().filter_map(|item| place(symbols, item));
                    found.extend(named.filter(|(root, members)| members.is_empty() && is_dummy(root)));
                }
                ClauseKind::Default { none: false } => {
                    let here = one.directive.span;
                    let visible = symbols.ids().filter(|id| symbols.get(*id).scope.contains(here));
                    found.extend(visible.filter(&is_dummy).map(|id| (id, Vec::new())));
                }
                _ => {}
            }
        }
    }
    found.into_iter().map(|place| (place, None)).collect()
}

/// What `declare` directives name: the device has variables of its own for it.
fn declared(symbols: &Symbols, bound: &[Bound]) -> BTreeSet<Place> {
    let declares = bound.iter().filter(|one| one.directive.kind == DirectiveKind::Declare);
    declares.flat_map(data).filter_map(|item| place(symbols, item)).collect()
}

/// The items of a directive's data clauses.
fn data(one: &Bound) -> impl Iterator<Item = &ListItem> {
    one.directive.clauses.iter().flat_map(|clause| match &clause.kind {
        ClauseKind::Data(DataClause::Deviceptr, _) => &[][..],
        ClauseKind::Data(_, list) => list.as_slice(),
        _ => &[][..],
    })
}

/// Whether a pointer is one to an array; `None` for what is not a pointer.
pub(super) fn is_pointer(symbols: &Symbols, (root, members): &Place) -> Option<bool> {
    let known = symbols.get(*root);
    if members.is_empty() {
        return known.fortran.pointer.then_some(known.class == Class::Array);
    }
    let component = symbols.component_at(known.record.as_deref(), members)?;
    component.is_pointer.then(|| component.is_array())
}

/// Whether two places are in different branches of one `select`.
fn in_other_case(unit: &Unit, first: u32, second: Span) -> bool {
    unit.stmts.iter().any(|stmt| {
        let StmtKind::Switch { body, .. } = &stmt.kind else { return false };
        let StmtKind::Block(cases) = &unit.stmt(*body).kind else { return false };
        if !stmt.span.contains(Span::at(first as usize)) || !stmt.span.contains(second) {
            return false;
        }
        let case = |at: u32| cases.iter().rposition(|case| unit.stmt(*case).span.start <= at);
        case(first) != case(second.start)
    })
}

fn is_in(unit: &Unit, function: Option<FunctionId>, at: Span) -> bool {
    function.is_some_and(|function| unit.stmt(unit.function(function).body).span.contains(at))
}
