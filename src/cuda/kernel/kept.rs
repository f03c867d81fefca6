//! What one thread changes of the variables that each thread has for itself: the others get it from that thread.
//!
//! Invariant: a variable of which the code takes the address counts as changed wherever one thread runs.

use std::collections::{BTreeSet, HashMap};

use crate::host::ir::{Derived, ExprId, ExprKind, StmtId};
use crate::sema::{self, Class, SymbolId, SymbolKind};
use crate::source::Span;

use super::body::Body;

impl Body<'_, '_> {
    /// The variables of the thread's own, declared outside the statements, that they may change.
    pub(super) fn kept(&self, run: &[StmtId]) -> Vec<SymbolId> {
        let (unit, symbols) = (self.input.unit(), self.input.symbols);
        let mut changed = self.led_to.get_or_init(|| self.led_to()).clone();
        for stmt in run {
            changed.extend(self.addressed(self.input.stmt_span(*stmt)));
            for (symbol, used) in sema::uses(unit, symbols, *stmt).iter() {
                let is_changed = match symbols.get(symbol).class {
                    // What comes after it is not the pointer.
                    Class::Pointer => used.written,
                    Class::Array | Class::Record => used.written || used.address_taken || used.part_written,
                    _ => used.written || used.address_taken,
                };
                if is_changed {
                    changed.insert(symbol);
                }
            }
        }
        let spans: Vec<Span> = run.iter().map(|stmt| self.input.stmt_span(*stmt)).collect();
        changed.retain(|symbol| self.is_own(*symbol, &spans));
        changed.into_iter().collect()
    }

    /// The variables of the thread's own that a call may change; not objects that it is given by their values.
    pub(super) fn changed_by(&self, call: StmtId) -> Vec<SymbolId> {
        let (unit, symbols) = (self.input.unit(), self.input.symbols);
        let uses = sema::uses(unit, symbols, call);
        let addressed = self.addressed(self.input.stmt_span(call));
        let is_value = |symbol: &SymbolId| {
            let is_kept = uses.of(*symbol).is_none_or(|used| !used.written && !used.address_taken);
            symbols.get(*symbol).class == Class::Record && is_kept && !addressed.contains(symbol)
        };
        self.kept(&[call]).into_iter().filter(|symbol| !is_value(symbol)).collect()
    }

    /// Whether each thread has a variable for itself that code around all `spans` declares.
    fn is_own(&self, symbol: SymbolId, spans: &[Span]) -> bool {
        let known = self.input.symbols.get(symbol);
        let is_given = known.class == Class::Array && known.kind == SymbolKind::Parameter;
        let is_around = |span: &Span| !span.contains(known.scope);
        let is_value = !matches!(known.kind, SymbolKind::Constant | SymbolKind::Function | SymbolKind::Type);
        is_value
            && !is_given
            && !known.is_const
            && !self.common.contains(&symbol)
            && spans.iter().all(is_around)
    }

    /// The variables whose addresses the region gives to pointers.
    fn led_to(&self) -> BTreeSet<SymbolId> {
        let (unit, symbols) = (self.input.unit(), self.input.symbols);
        let given = unit.exprs_in(self.region).filter_map(|expr| match expr.kind {
            ExprKind::Assign(None, left, right) => {
                let target = symbols.named(unit, left);
                let is_pointer = target.is_none_or(|target| symbols.get(target).class == Class::Pointer);
                is_pointer.then_some(right)
            }
            _ => None,
        });
        let declared = unit.decls.iter().filter(|decl| self.region.contains(decl.span));
        let declared = declared.filter(|decl| !decl.derived.is_empty()).filter_map(|decl| decl.init);
        let values = given.chain(declared).map(|value| unit.expr(value).span);
        let mut found: BTreeSet<SymbolId> = values.flat_map(|span| self.addressed(span)).collect();
        found.retain(|symbol| symbols.get(*symbol).kind == SymbolKind::Local);
        found
    }

    /// The variables whose addresses code uses: by `&`, as arrays or rows without all their subscripts, as members that a call
    /// gets.
    fn addressed(&self, span: Span) -> BTreeSet<SymbolId> {
        let (unit, symbols) = (self.input.unit(), self.input.symbols);
        let ids: Vec<ExprId> = unit.expr_ids_in(span).collect();
        let subscripted: HashMap<ExprId, ExprId> = ids
            .iter()
            .filter_map(|id| match unit.expr(*id).kind {
                ExprKind::Index(base, _) => Some((base, *id)),
                _ => None,
            })
            .collect();
        let mut found = BTreeSet::new();
        for id in ids {
            match &unit.expr(id).kind {
                ExprKind::AddressOf(place) => found.extend(self.root_of(*place)),
                ExprKind::Call { args, .. } => {
                    let members = args.iter().filter(|arg| symbols.named(unit, **arg).is_none());
                    let roots = members.filter_map(|arg| self.root_of(*arg));
                    found.extend(roots.filter(|root| symbols.get(*root).class == Class::Record));
                }
                ExprKind::Name(_) => {
                    let Some(symbol) = symbols.named(unit, id) else { continue };
                    let subscripts =
                        std::iter::successors(Some(id), |at| subscripted.get(at).copied()).count() - 1;
                    if symbols.get(symbol).class == Class::Array && subscripts < self.dimensions(symbol) {
                        found.insert(symbol);
                    }
                }
                _ => {}
            }
        }
        found
    }

    /// How many subscripts an element has.
    fn dimensions(&self, symbol: SymbolId) -> usize {
        let decl = self.input.symbols.get(symbol).decl.map(|decl| self.input.unit().decl(decl));
        let derived = decl.map_or(&[][..], |decl| &decl.derived);
        derived.iter().filter(|part| matches!(part, Derived::Array(_))).count().max(1)
    }

    /// The variable that a place is or is a part of; not a pointer that leads there.
    fn root_of(&self, place: ExprId) -> Option<SymbolId> {
        let (unit, symbols) = (self.input.unit(), self.input.symbols);
        match &unit.expr(place).kind {
            ExprKind::Name(_) => symbols.named(unit, place),
            ExprKind::Index(base, _) | ExprKind::Member { base, arrow: false, .. } => {
                let root = self.root_of(*base)?;
                let is_pointer =
                    symbols.named(unit, *base) == Some(root) && symbols.get(root).class == Class::Pointer;
                (!is_pointer).then_some(root)
            }
            _ => None,
        }
    }
}
