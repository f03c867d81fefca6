//! Variables whose type is not seen, as that of a template's parameter: what they are, by what the program does with them.
//!
//! Invariant: what has a section is a pointer or an array, and what has members is an object. An index may be either's.

use std::collections::{BTreeMap, BTreeSet};

use crate::acc::ast::{ListItem, PathStep};
use crate::cuda::program::Input;
use crate::cuda::program::functions::functions;
use crate::cuda::program::uses;
use crate::host::ir::{ExprId, ExprKind, StmtId};
use crate::plan;
use crate::sema::{Class, SymbolId};

/// The places of the parameters that functions index, by where the functions begin.
type Params = BTreeMap<u32, BTreeSet<usize>>;

/// What the program shows of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// A clause names a section of it.
    Pointer,
    /// The code puts an index after it, or a star before it, or hands it on to where that may be done.
    Indexed,
    /// The code names a member of it.
    Object,
}

/// What the program shows of a variable of `stmt` whose type is not seen; `None` of others, and where it shows nothing.
pub fn shown(input: &Input, stmt: StmtId, symbol: SymbolId) -> Option<Shown> {
    if input.symbols.get(symbol).class != Class::Unknown {
        return None;
    }
    if has_section(input, symbol) {
        return Some(Shown::Pointer);
    }
    if indexed(input, stmt, &mut Params::new()).contains(&symbol) {
        return Some(Shown::Indexed);
    }
    has_members(input, stmt, symbol).then_some(Shown::Object)
}

/// Whether a clause of the program names a section of a variable.
fn has_section(input: &Input, symbol: SymbolId) -> bool {
    let is_of = |place: u32, item: &ListItem| {
        let skipped = usize::from(item.variable() != item.base.text);
        let mut parts = item.parts.iter().skip(skipped).peekable();
        parts.peek().is_some()
            && parts.all(|part| matches!(part, PathStep::Section(_)))
            && input.symbols.lookup(item.variable(), place) == Some(symbol)
    };
    input.bound.iter().any(|one| {
        let mut items = one.directive.clauses.iter().flat_map(|clause| plan::list(&clause.kind));
        items.any(|item| is_of(one.directive.span.start, item))
    })
}

/// What code puts an index after, or a star before, by itself, in other variables, or in functions that it calls.
fn indexed(input: &Input, stmt: StmtId, params: &mut Params) -> BTreeSet<SymbolId> {
    let unit = input.unit();
    let mut found = BTreeSet::new();
    let mut handed: Vec<(SymbolId, ExprId)> = Vec::new();
    for id in uses::inside(input, stmt) {
        match &unit.expr(id).kind {
            ExprKind::Index(base, _) | ExprKind::Deref(base) | ExprKind::Member { base, arrow: true, .. } => {
                terms(input, *base, &mut found);
            }
            ExprKind::Call { callee, args } => {
                let places = indexed_params(input, *callee, params);
                let led = args.iter().enumerate().filter(|(place, _)| places.contains(place));
                led.for_each(|(_, arg)| terms(input, *arg, &mut found));
            }
            ExprKind::Assign(None, left, right) => {
                handed.extend(input.symbols.named(unit, *left).map(|to| (to, *right)));
            }
            _ => {}
        }
    }
    for decl in unit.decls_in(input.stmt_span(stmt)) {
        let to = input.symbols.lookup(&decl.name, decl.name_span.end);
        handed.extend(to.zip(decl.init));
    }
    let mut known = 0;
    while known < found.len() {
        known = found.len();
        for (to, from) in &handed {
            if found.contains(to) {
                terms(input, *from, &mut found);
            }
        }
    }
    found
}

/// The places of the parameters that functions of the program index.
fn indexed_params(input: &Input, callee: ExprId, params: &mut Params) -> BTreeSet<usize> {
    let unit = input.unit();
    let ExprKind::Name(name) = &unit.expr(callee).kind else { return BTreeSet::new() };
    let mut places = BTreeSet::new();
    for function in functions(input, name) {
        let start = function.span.start;
        if let Some(known) = params.get(&start) {
            places.extend(known);
            continue;
        }
        params.insert(start, BTreeSet::new());
        let found = indexed(input, function.body, params);
        let body = input.stmt_span(function.body);
        let mut own = BTreeSet::new();
        for (place, param) in function.params.iter().enumerate() {
            let symbol = input.symbols.lookup(&unit.decl(*param).name, body.start);
            own.extend(symbol.filter(|symbol| found.contains(symbol)).map(|_| place));
        }
        places.extend(&own);
        params.insert(start, own);
    }
    places
}

/// The variables of which an address may be made up.
fn terms(input: &Input, expr: ExprId, found: &mut BTreeSet<SymbolId>) {
    let unit = input.unit();
    match &unit.expr(expr).kind {
        ExprKind::Name(_) => found.extend(input.symbols.named(unit, expr)),
        ExprKind::Binary(..) | ExprKind::Cast { .. } | ExprKind::Conditional(..) | ExprKind::Comma(..) => {
            unit.expr(expr).kind.children().for_each(|child| terms(input, child, found));
        }
        _ => {}
    }
}

/// Whether code names a member of a variable.
fn has_members(input: &Input, stmt: StmtId, symbol: SymbolId) -> bool {
    let unit = input.unit();
    uses::inside(input, stmt).any(|id| match unit.expr(id).kind {
        ExprKind::Member { base, arrow: false, .. } => input.symbols.named(unit, base) == Some(symbol),
        _ => false,
    })
}
