//! Variables that a construct of Fortran has for itself, where the host runs it: they get back the values that they had.
//!
//! Invariant: a value is kept by a name of `associate`, which has the type and the shape of the variable.

use std::collections::{BTreeMap, BTreeSet};

use crate::acc::ast::{ClauseKind, ListItem};
use crate::bind::descendants;
use crate::cxx::Ground;
use crate::host::ir::StmtId;
use crate::plan;
use crate::sema::{self, Class, SymbolId, SymbolKind, Use};
use crate::source::Span;

/// Lines before and after the code of a construct that keep the values.
pub fn kept(ground: &Ground, index: usize, stmt: StmtId) -> (Vec<String>, Vec<String>) {
    let unit = ground.files.own.unit;
    let span = unit.stmt(stmt).span;
    let own = Own::of(ground, index);
    let uses = sema::uses(unit, ground.symbols, stmt);
    let own: plan::Names = uses
        .iter()
        .filter(|(symbol, used)| {
            is_assigned(ground, *symbol, used) && own.holds(ground, (index, stmt), *symbol)
        })
        .filter(|(symbol, _)| {
            let known = ground.symbols.get(*symbol);
            let is_variable =
                matches!(known.kind, SymbolKind::Local | SymbolKind::Parameter | SymbolKind::Static);
            is_variable && !span.contains(known.scope)
        })
        .map(|(symbol, _)| symbol)
        .collect();
    let (symbols, bound, device_type) = (ground.symbols, ground.bound, ground.device_type);
    let live = plan::live_after(plan::Code { unit, symbols, bound, device_type }, index, stmt, &own);
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
    /// Those that the construct or a loop of it has for itself, with what has them.
    apart: BTreeMap<SymbolId, Vec<Span>>,
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
            let span = unit.stmt(stmt).span;
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
                        false => own.apart.entry(symbol).or_default().push(span),
                    }
                }
            }
            if one.directive.kind.is_loop() && one.text.is_some() {
                let loops = ground.plan.loops_of(stmt).into_iter();
                for header in loops.filter_map(|stmt| sema::header(unit, symbols, stmt).ok()) {
                    own.apart.entry(header.var).or_default().push(span);
                }
            }
        }
        let said = ground.plan.construct(index);
        own.shared.extend(said.data.iter().chain(said.around()).filter_map(|one| one.symbol));
        own
    }

    /// Whether the construct has a variable for itself.
    fn holds(&self, ground: &Ground, (index, stmt): (usize, StmtId), symbol: SymbolId) -> bool {
        let in_kernels = ground.bound[index].directive.kind.is_kernels();
        if let Some(loops) = self.apart.get(&symbol) {
            // What the rest of `kernels` leaves in it stays.
            let unit = ground.files.own.unit;
            return !in_kernels || !sema::is_named_outside(unit, ground.symbols, (stmt, symbol), loops);
        }
        let known = ground.symbols.get(symbol);
        !in_kernels
            && known.class == Class::Scalar
            && !known.fortran.pointer
            && !self.shared.contains(&symbol)
            && !ground.symbols.is_on_device(symbol)
    }
}
