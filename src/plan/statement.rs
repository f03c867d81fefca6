//! Statement functions of Fortran in compute constructs: compilers put their values in place of the calls.
//!
//! Invariant: says what could go wrong; changes nothing.

use std::collections::BTreeSet;

use crate::bind::descendants;
use crate::diag;
use crate::host::ir::{ExprKind, StatementFunction};
use crate::sema::{self, SymbolId};

use super::{Attribute, Input, Item, Maker, Names, Sharing};

impl Input<'_> {
    fn statement_function(&self, name: &str, here: u32) -> Option<&StatementFunction> {
        let decl = self.symbols.get(self.symbols.lookup(name, here)?).decl?;
        self.unit.statement_functions.iter().find(|one| one.decl == decl)
    }

    /// The variables that a statement function uses, those of other ones that it calls among them.
    fn used_by(&self, function: &StatementFunction) -> BTreeSet<SymbolId> {
        let (mut used, mut met) = (BTreeSet::new(), BTreeSet::new());
        let mut pending = vec![function];
        while let Some(one) = pending.pop().filter(|one| met.insert(one.decl.0)) {
            let mut inside = vec![one.value];
            while let Some(expr) = inside.pop() {
                let expr = self.unit.expr(expr);
                inside.extend(expr.kind.children());
                let ExprKind::Name(name) = &expr.kind else { continue };
                if one.dummies.contains(name) {
                    continue;
                }
                pending.extend(self.statement_function(name, expr.span.start));
                used.extend(self.symbols.lookup(name, expr.span.start));
            }
        }
        used
    }
}

impl Maker<'_> {
    /// Says which statement functions use variables that their calls do not show and that the device has otherwise: such of
    /// which each thread has its own, and such with allocatable components.
    pub(super) fn statement_functions(&mut self) {
        let mut said = Vec::new();
        for (index, one) in self.input.bound.iter().enumerate() {
            let Some(stmt) = one.stmt().filter(|_| one.directive.kind.is_compute()) else { continue };
            if self.input.unit.statement_functions.is_empty() || matches!(self.plan.items[index], Item::Left)
            {
                continue;
            }
            let here = self.input.unit.stmt(stmt).span.start;
            let own = self.own_names(index, here);
            for (name, call) in &sema::uses(self.input.unit, self.input.symbols, stmt).calls {
                let Some(function) = self.input.statement_function(name, here) else { continue };
                let used = self.input.used_by(function);
                let is_deep = |symbol: &SymbolId| {
                    let record = self.input.symbols.get(*symbol).record.as_ref();
                    record.is_some_and(|record| self.input.symbols.is_deep(record))
                };
                let wrong = used.iter().find(|symbol| own.contains(symbol) || is_deep(symbol));
                if let Some(wrong) = wrong {
                    said.push(diag::statement_function(*call, name, &self.input.symbols.get(*wrong).name));
                }
            }
        }
        self.diags.append(&mut said);
    }

    /// The variables of which the threads of construct `index` have their own.
    fn own_names(&self, index: usize, here: u32) -> Names {
        let mut attributes: Vec<&Attribute> = Vec::new();
        for at in std::iter::once(index).chain(descendants(self.input.bound, index)) {
            let nest = match &self.plan.items[at] {
                Item::Launch(launch) => {
                    attributes.extend(&launch.attributes);
                    launch.nest.as_ref()
                }
                Item::Loop(work) => Some(work.as_ref()),
                _ => None,
            };
            attributes.extend(nest.iter().flat_map(|nest| &nest.attributes));
        }
        let own = attributes.iter().filter(|one| {
            matches!(one.sharing, Sharing::Private | Sharing::Firstprivate | Sharing::Reduction(_))
        });
        own.filter_map(|one| self.input.symbols.lookup(&one.item, here)).collect()
    }
}
