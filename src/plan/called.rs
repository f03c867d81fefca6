//! The levels of parallelism that procedures take for themselves, as their `routine` directives say (OpenACC 3.3, 2.15.1).
//!
//! Invariant: a directive of the file itself comes before those of the files that it includes or uses.

use std::collections::BTreeMap;

use crate::acc::ast::{Directive, DirectiveKind};
use crate::bind::{Bound, bare_name, named_by};
use crate::host::ir::{ExprKind, StmtId, Unit};
use crate::sema::{self, Symbols};

use super::clauses::{LoopClauses, effective};
use super::level::Levels;

/// Levels by the names of procedures.
#[derive(Clone, Debug, Default)]
pub struct Routines {
    own: BTreeMap<String, Levels>,
    others: BTreeMap<String, Levels>,
}

/// The levels that a `routine` directive names, and those inside of them.
pub fn declared_levels(directive: &Directive, device_type: &str) -> Levels {
    let clauses = LoopClauses::new(directive, &effective(directive, device_type).0);
    let (gang, worker) = (clauses.gang, clauses.gang || clauses.worker);
    Levels { gang, worker, vector: worker || clauses.vector }
}

impl Routines {
    /// Those of other files, by the names that `routine` directives are about.
    pub fn of_others<'a>(
        directives: impl Iterator<Item = &'a (String, Directive)>,
        device_type: &str,
    ) -> Routines {
        let mut others: BTreeMap<String, Levels> = BTreeMap::new();
        for (name, directive) in directives {
            let known = others.entry(bare_name(name).to_owned()).or_default();
            *known = known.with(declared_levels(directive, device_type));
        }
        Routines { own: BTreeMap::new(), others }
    }

    /// With those of the file itself: the first directive about a procedure counts.
    pub(super) fn and_own(mut self, unit: &Unit, bound: &[Bound], device_type: &str) -> Routines {
        for one in bound.iter().filter(|one| one.directive.kind == DirectiveKind::Routine) {
            let levels = declared_levels(&one.directive, device_type);
            for name in named_by(unit, &one.directive, one.target) {
                self.own.entry(bare_name(&name).to_owned()).or_insert(levels);
            }
        }
        self
    }

    /// The levels that a call of a procedure takes.
    pub fn levels(&self, name: &str) -> Levels {
        let name = bare_name(name);
        self.own.get(name).or_else(|| self.others.get(name)).copied().unwrap_or_default()
    }

    /// The levels of a procedure that a directive of the file itself is about.
    pub(super) fn own_levels(&self, name: &str) -> Levels {
        self.own.get(bare_name(name)).copied().unwrap_or_default()
    }

    /// The levels that the calls in a statement take.
    pub fn levels_in(&self, unit: &Unit, symbols: &Symbols, stmt: StmtId) -> Levels {
        if self.own.is_empty() && self.others.is_empty() {
            return Levels::NONE;
        }
        let uses = sema::uses(unit, symbols, stmt);
        let called = uses.calls.keys().fold(Levels::NONE, |sum, name| sum.with(self.levels(name)));
        if !unit.is_cpp() {
            return called;
        }
        let callees = unit.exprs_in(unit.stmt(stmt).span).filter_map(|expr| match &expr.kind {
            ExprKind::Call { callee, .. } => Some(&unit.expr(*callee).kind),
            _ => None,
        });
        let named = callees.filter_map(|callee| match callee {
            ExprKind::Name(name) | ExprKind::Member { name, .. } => Some(name),
            _ => None,
        });
        named.fold(called, |sum, name| sum.with(self.levels(name)))
    }
}
