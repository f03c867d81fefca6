//! Variables that a construct of Fortran has for itself, where the host runs it: they get back the values that they had.
//!
//! Invariant: a value is kept by a name of `associate`, which has the type and the shape of the variable.

use std::collections::{BTreeMap, BTreeSet};

use crate::acc::ast::{ClauseKind, ListItem};
use crate::bind::{ancestors, descendants};
use crate::cxx::{Ground, Why};
use crate::host::ir::StmtId;
use crate::plan;
use crate::sema::{self, Class, SymbolId, SymbolKind, Use};
use crate::source::Span;

/// What keeps the values that variables had.
#[derive(Debug, Default)]
pub struct Kept {
    /// Lines before the code of the construct.
    pub before: Vec<String>,
    /// Lines after it.
    pub after: Vec<String>,
    /// The same for loops in it whose variables are others beside them, by the numbers of their directives.
    pub loops: BTreeMap<usize, KeptLoop>,
}

/// A loop whose variables are others beside it.
#[derive(Debug)]
pub struct KeptLoop {
    pub stmt: StmtId,
    pub before: Vec<String>,
    pub after: Vec<String>,
}

/// What keeps the values of variables that a construct and its loops have for themselves.
pub fn kept(ground: &Ground, index: usize, stmt: StmtId) -> Result<Kept, Why> {
    let unit = ground.files.own.unit;
    let own = Own::of(ground, index);
    let assigned = |stmt: StmtId, is_own: &dyn Fn(SymbolId) -> bool| -> plan::Names {
        let span = unit.stmt(stmt).span;
        let uses = sema::uses(unit, ground.symbols, stmt);
        let all = uses.iter().filter(|(symbol, used)| {
            let known = ground.symbols.get(*symbol);
            let is_variable =
                matches!(known.kind, SymbolKind::Local | SymbolKind::Parameter | SymbolKind::Static);
            is_assigned(ground, *symbol, used)
                && is_own(*symbol)
                && is_variable
                && !span.contains(known.scope)
        });
        all.map(|(symbol, _)| symbol).collect()
    };
    let mut kept = Kept::default();
    let whole = assigned(stmt, &|symbol| own.holds(ground, index, symbol));
    (kept.before, kept.after) = lines(ground, (index, stmt), &whole);
    for at in descendants(ground.bound, index) {
        let Some(part) = ground.bound[at].stmt() else { continue };
        let names = assigned(part, &|symbol| own.differs_around(ground, (index, at), symbol));
        let (before, after) = lines(ground, (at, part), &names);
        if before.is_empty() {
            continue;
        }
        if plan::jump_out(unit, part).is_some() {
            let what = "a loop with private variables that a jump leaves".to_owned();
            return Err(Why { at: ground.bound[at].directive.span, what });
        }
        kept.loops.insert(at, KeptLoop { stmt: part, before, after });
    }
    Ok(kept)
}

/// The lines around the code of directive `index` that keep variables whose values are wanted after it.
fn lines(ground: &Ground, (index, stmt): (usize, StmtId), own: &plan::Names) -> (Vec<String>, Vec<String>) {
    let (unit, symbols) = (ground.files.own.unit, ground.symbols);
    let (bound, device_type) = (ground.bound, ground.device_type);
    let live = plan::live_after(plan::Code { unit, symbols, bound, device_type }, index, stmt, own);
    let names: BTreeSet<&str> = live.iter().map(|symbol| symbols.get(*symbol).name.as_str()).collect();
    if names.is_empty() {
        return (Vec::new(), Vec::new());
    }
    let saved: Vec<String> = names.iter().map(|name| format!("acc2omp_{name} => ({name})")).collect();
    let mut after: Vec<String> = names.iter().map(|name| format!("{name} = acc2omp_{name}")).collect();
    after.push("end associate".to_owned());
    (vec![format!("associate ({})", saved.join(", "))], after)
}

fn is_assigned(ground: &Ground, symbol: SymbolId, used: &Use) -> bool {
    let has_parts = matches!(ground.symbols.get(symbol).class, Class::Array | Class::Record);
    used.written || used.part_written && has_parts
}

/// The variables that clauses and loops name.
struct Own {
    /// Those that the construct or a loop of it has for itself, with the directives that have them, in source order.
    apart: BTreeMap<SymbolId, Vec<usize>>,
    /// Those that it shares, or reduces.
    shared: BTreeSet<SymbolId>,
}

impl Own {
    fn of(ground: &Ground, index: usize) -> Own {
        let (unit, symbols) = (ground.files.own.unit, ground.symbols);
        let mut own = Own { apart: BTreeMap::new(), shared: BTreeSet::new() };
        for at in std::iter::once(index).chain(descendants(ground.bound, index)) {
            let one = &ground.bound[at];
            let Some(stmt) = one.stmt() else { continue };
            let (counting, _) = plan::effective(&one.directive, ground.device_type);
            for clause in counting.into_iter().map(|at| &one.directive.clauses[at].kind) {
                let (list, is_reduced): (&[ListItem], bool) = match clause {
                    ClauseKind::Private(list) | ClauseKind::Firstprivate(list) => (list, false),
                    ClauseKind::Reduction(_, list) => (list, true),
                    _ => continue,
                };
                let items = list.iter().filter(|item| item.parts.is_empty());
                for symbol in items.filter_map(|item| symbols.lookup(&item.base.text, item.span.start)) {
                    match is_reduced {
                        true => drop(own.shared.insert(symbol)),
                        false => own.apart.entry(symbol).or_default().push(at),
                    }
                }
            }
            if one.directive.kind.is_loop() && one.text.is_some() {
                let loops = ground.plan.loops_of(stmt).into_iter();
                for header in loops.filter_map(|stmt| sema::header(unit, symbols, stmt).ok()) {
                    own.apart.entry(header.var).or_default().push(at);
                }
            }
        }
        let said = ground.plan.construct(index);
        own.shared.extend(said.data.iter().chain(said.around()).filter_map(|one| one.symbol));
        own
    }

    /// Whether the code of directive `outer` names a variable outside of loops in it that have the variable for themselves.
    fn is_beside(&self, ground: &Ground, outer: usize, symbol: SymbolId) -> bool {
        let unit = ground.files.own.unit;
        let stmt = |at: usize| ground.bound[at].stmt();
        let inner = self.apart.get(&symbol).into_iter().flatten().filter(|at| **at > outer);
        let parts: Vec<Span> = inner.filter_map(|at| Some(unit.stmt(stmt(*at)?).span)).collect();
        stmt(outer).is_some_and(|stmt| sema::is_named_outside(unit, ground.symbols, (stmt, symbol), &parts))
    }

    /// Whether a variable of loop `at` in construct `index` is another one than that of the code around the loop.
    fn differs_around(&self, ground: &Ground, (index, at): (usize, usize), symbol: SymbolId) -> bool {
        let Some(owners) = self.apart.get(&symbol).filter(|owners| owners.contains(&at)) else {
            return false;
        };
        let around = ancestors(ground.bound, at).find(|above| *above == index || owners.contains(above));
        around.is_some_and(|around| self.is_beside(ground, around, symbol))
    }

    /// Whether the construct has a variable for itself.
    fn holds(&self, ground: &Ground, index: usize, symbol: SymbolId) -> bool {
        let in_kernels = ground.bound[index].directive.kind.is_kernels();
        if let Some(owners) = self.apart.get(&symbol) {
            // What the rest of `kernels` leaves in it stays.
            return !in_kernels || owners.contains(&index) || !self.is_beside(ground, index, symbol);
        }
        let known = ground.symbols.get(symbol);
        !in_kernels
            && known.class == Class::Scalar
            && !known.fortran.pointer
            && !self.shared.contains(&symbol)
            && !ground.symbols.is_on_device(symbol)
    }
}
