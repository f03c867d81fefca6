//! Functions that a compute construct calls without a `routine` directive: OpenACC takes them as `routine seq` (3.3,
//! 2.15.1) if it sees them.
//!
//! Invariant: each function is found once, for the first construct that needs it.

use std::collections::{BTreeSet, HashMap};

use crate::acc::ast::{Argument, DirectiveKind};
use crate::bind::Target;
use crate::host::ir::FunctionId;
use crate::sema::uses;

use super::{Input, Item, Maker};

impl Input<'_> {
    /// The functions that `routine` directives are about.
    fn routines(&self, by_name: &HashMap<&str, FunctionId>) -> BTreeSet<FunctionId> {
        let routines = self.bound.iter().filter(|bound| bound.directive.kind == DirectiveKind::Routine);
        let named = routines.filter_map(|bound| match (&bound.directive.argument, bound.target) {
            (Argument::Name(name), _) => by_name.get(name.text.as_str()).copied(),
            (_, Target::Function(function)) => Some(function),
            (_, Target::Declaration(span)) => {
                let globals = &self.unit.globals;
                let first = globals.partition_point(|id| self.unit.decl(*id).span.start < span.start);
                let declared = globals[first..].iter().map(|id| self.unit.decl(*id));
                let mut inside = declared.take_while(|decl| span.contains(decl.span));
                inside.find_map(|decl| by_name.get(decl.name.as_str()).copied())
            }
            (_, Target::Stmt(_) | Target::Standalone) => None,
        });
        named.collect()
    }
}

impl Maker<'_> {
    /// Finds the functions, the directly called ones and those that they call.
    pub(super) fn callees(&mut self) {
        let by_name: HashMap<&str, FunctionId> = self
            .input
            .unit
            .functions
            .iter()
            .enumerate()
            .map(|(index, function)| (function.name.as_str(), FunctionId(index as u32)))
            .collect();
        let mut seen: BTreeSet<FunctionId> = self.input.routines(&by_name);
        for index in 0..self.input.bound.len() {
            let is_launch = self.input.bound[index].directive.kind.is_compute();
            let Some(stmt) = self.input.bound[index].stmt().filter(|_| is_launch) else { continue };
            let is_left = matches!(self.plan.items[index], Item::Left);
            let mut pending = if is_left { Vec::new() } else { vec![stmt] };
            while let Some(stmt) = pending.pop() {
                for name in uses(self.input.unit, self.input.symbols, stmt).calls.keys() {
                    let Some(function) = by_name.get(name.as_str()).copied() else { continue };
                    if seen.insert(function) {
                        self.plan.callees.push((index, function));
                        pending.push(self.input.unit.function(function).body);
                    }
                }
            }
        }
    }
}
