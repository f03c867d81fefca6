//! Scalars that may be on the device where a `kernels` construct uses them: it uses the device's copy then (2.6.2, 2.7.6).
//!
//! Invariant: what another file puts there is not seen (`docs/limits.md`).

use std::collections::BTreeSet;

use crate::acc::ast::DirectiveKind;
use crate::bind::function_at;
use crate::host::ir::{ExprKind, FunctionId, StmtId};
use crate::sema::{self, Class, Symbol, SymbolId, SymbolKind, uses};

use super::{Attribute, Input};

/// What the directives and calls of a file leave on the device for others.
#[derive(Debug, Default)]
pub(super) struct Standing {
    /// Scalars, each with the function that puts it there.
    scalars: BTreeSet<(Option<FunctionId>, SymbolId)>,
    /// What pointers lead to is put there.
    targets: bool,
}

impl Input<'_> {
    /// The scalars that `kernels` construct `index` only reads, without a clause, and that may be on the device already.
    pub(super) fn standing_scalars(&self, index: usize, stmt: StmtId) -> BTreeSet<SymbolId> {
        let read = self.scalars_read(index, stmt);
        read.into_iter().filter(|symbol| self.may_stand(index, *symbol)).collect()
    }

    /// The scalars from outside that `kernels` construct `index` only reads, and that no clause names.
    pub(super) fn scalars_read(&self, index: usize, stmt: StmtId) -> Vec<SymbolId> {
        let stated = self.stated(index);
        let inner = self.all_loops_below(index).into_iter().chain([index]);
        let inner: Vec<SymbolId> = inner.flat_map(|at| self.own_of(at)).collect();
        let is_free = |symbol: SymbolId| {
            let known = self.symbols.get(symbol);
            known.class == Class::Scalar
                && known.kind != SymbolKind::Member
                && !known.is_const
                && !self.is_inside(symbol, stmt)
                && !stated.contains(&known.name)
                && !inner.contains(&symbol)
        };
        let used = uses(self.unit, self.symbols, stmt);
        let read = used.iter().filter(|(_, how)| how.exposed && !how.written && !how.address_taken);
        read.map(|(symbol, _)| symbol).filter(|symbol| is_free(*symbol)).collect()
    }

    /// The names of those that may be on the device already.
    pub(super) fn standing_among(&self, index: usize, scalars: &[Attribute]) -> BTreeSet<String> {
        let here = self.bound[index].directive.span.start;
        let symbol = |one: &Attribute| self.symbols.lookup(&one.item, here);
        let standing = |one: &&Attribute| symbol(one).is_some_and(|symbol| self.may_stand(index, symbol));
        scalars.iter().filter(standing).map(|one| one.item.clone()).collect()
    }

    fn may_stand(&self, index: usize, symbol: SymbolId) -> bool {
        let function = self.bound[index].function;
        let standing = self.standing.get_or_init(|| self.stands());
        let known = self.symbols.get(symbol);
        let is_handed = known.kind == SymbolKind::Parameter && (known.is_reference || self.unit.is_fortran());
        let is_other_name = !is_handed && !standing.scalars.is_empty() && self.has_other_names(known);
        let mut scalars = standing.scalars.iter();
        scalars.any(|one| one.1 == symbol || is_handed && one.0 != function || is_other_name)
            || standing.targets && self.is_escaping(index, symbol)
    }

    /// Whether the construct of directive `index` may change a scalar that it only reads by this name.
    pub(super) fn may_change_by_name(&self, index: usize, symbol: SymbolId) -> bool {
        let known = self.symbols.get(symbol);
        self.is_escaping(index, symbol) || !known.is_const && self.has_other_names(known)
    }

    /// Whether a scalar may be the same memory as another one, by what its declaration says.
    fn has_other_names(&self, known: &Symbol) -> bool {
        let said = &known.fortran;
        let mut commons = self.unit.scopes.iter().flat_map(|scope| &scope.commons);
        let is_common = commons.any(|(_, names)| names.contains(&known.name));
        // An associate name is copied.
        known.is_reference && !self.unit.is_fortran() || said.pointer || said.is_equivalent || is_common
    }

    /// Whether the function of directive `index` lends a variable to others.
    pub(super) fn is_escaping(&self, index: usize, symbol: SymbolId) -> bool {
        let function = self.bound[index].function;
        let escaping = function.and_then(|function| self.escaping.get(&function));
        escaping.is_some_and(|escaping| escaping.contains(&symbol))
    }

    /// Whether a routine of OpenACC puts its first argument on the device.
    fn is_placing(&self, name: &str) -> bool {
        let puts = ["acc_copyin", "acc_create", "acc_present_or", "acc_pc", "acc_map_data"];
        puts.iter().any(|start| name.starts_with(start))
    }

    fn stands(&self) -> Standing {
        let mut standing = Standing::default();
        let mut add = |function: Option<FunctionId>, symbol: SymbolId| match self.symbols.get(symbol).class {
            Class::Scalar | Class::Unknown => {
                standing.scalars.insert((function, symbol));
                // Another name of it may be used then.
                standing.targets |= self.has_other_names(self.symbols.get(symbol));
            }
            Class::Pointer => standing.targets = true,
            Class::Array | Class::Record => {}
        };
        let puts = |kind| matches!(kind, DirectiveKind::Data | DirectiveKind::EnterData);
        for one in self.bound.iter().filter(|one| puts(one.directive.kind)) {
            let items = one.directive.clauses.iter().flat_map(|clause| super::list(&clause.kind));
            let symbols =
                items.filter_map(|item| self.symbols.lookup(item.variable(), one.directive.span.start));
            symbols.for_each(|symbol| add(one.function, symbol));
        }
        let placing = self.symbols.macros_naming(|word| self.is_placing(word));
        for call in &self.unit.exprs {
            let ExprKind::Call { callee, args } = &call.kind else { continue };
            let ExprKind::Name(name) = &self.unit.expr(*callee).kind else { continue };
            let placed = match self.is_placing(name) {
                true => &args[..args.len().min(1)],
                false if placing.contains(name) => args.as_slice(),
                false => &[],
            };
            let function = function_at(self.unit, call.span.start);
            for one in placed {
                let named = sema::reads_of_expr(self.unit, self.symbols, *one);
                named.into_iter().for_each(|symbol| add(function, symbol));
            }
        }
        standing
    }
}
