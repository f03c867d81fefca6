//! The object of member functions in C++ (OpenACC 3.3, 2.7.1): a construct that calls a member function of its own object
//! needs all of it on the device, not only the members that its clauses name.
//!
//! Invariant: what a clause says of the object stays as it is.

use std::collections::BTreeSet;

use crate::acc::ast::{ClauseKind, DataClause, DirectiveKind, ListItem, PathStep};
use crate::bind::{Bound, ancestors, implied_copy};
use crate::diag;
use crate::host;
use crate::host::ir::{DeclKind, Derived, Expr, ExprId, ExprKind, Function, Record, StmtId, Unit};
use crate::sema::{Class, SymbolId, SymbolKind, Symbols, uses};

use super::data::class_of;
use super::{Input, Item, Maker};

/// Adds `copy(this)` to compute constructs that name members and use all of the object, as by member functions: clang 19 maps
/// the members alone.
pub fn with_objects(unit: &Unit, symbols: &Symbols, mut bound: Vec<Bound>) -> Vec<Bound> {
    if !unit.is_cpp() {
        return bound;
    }
    let needs = |at: &usize| {
        let one = &bound[*at];
        let is_compute = one.directive.kind.is_compute();
        let mut around = ancestors(&bound, *at).chain([*at]);
        let names = |at: usize| names_members(unit, symbols, &bound[at]);
        is_compute
            && !around.any(|at| names_object(&bound[at]))
            && one.stmt().is_some_and(|stmt| {
                let reads = || uses_members(unit, symbols, stmt) && !ancestors(&bound, *at).any(names);
                uses_object(unit, symbols, one, stmt) && (names(*at) || reads())
            })
    };
    let all: Vec<usize> = (0..bound.len()).filter(needs).collect();
    for at in all {
        let start = bound[at].directive.span.end;
        bound[at].directive.clauses.push(implied_copy(start, "this".to_owned()));
    }
    bound
}

/// Whether a clause of the directive names the whole object: `this`, or `this[0:1]`.
pub fn names_object(bound: &Bound) -> bool {
    let mut items = bound.directive.clauses.iter().flat_map(|clause| super::list(&clause.kind));
    items.any(|item| item.variable() == "this")
}

/// Whether a data clause of the directive names members of the object.
fn names_members(unit: &Unit, symbols: &Symbols, one: &Bound) -> bool {
    data_items(one).any(|item| is_member(unit, symbols, one, item))
}

/// The items of a directive's data clauses.
fn data_items(one: &Bound) -> impl Iterator<Item = &ListItem> {
    let data = one.directive.clauses.iter().filter(|clause| matches!(clause.kind, ClauseKind::Data(..)));
    data.flat_map(|clause| super::list(&clause.kind))
}

/// Whether an item of a directive is a member of the object.
pub fn is_member(unit: &Unit, symbols: &Symbols, one: &Bound, item: &ListItem) -> bool {
    let symbol = symbols.lookup(item.variable(), one.directive.span.start);
    symbol.map(|symbol| symbols.get(symbol)).is_some_and(|known| {
        let is_static = known.decl.is_some_and(|decl| unit.decl(decl).is_static);
        known.kind == SymbolKind::Member && !is_static
    })
}

/// Whether a construct names members of its own object in its code.
fn uses_members(unit: &Unit, symbols: &Symbols, stmt: StmtId) -> bool {
    unit.expr_ids_in(unit.stmt(stmt).span).any(|expr| match &unit.expr(expr).kind {
        ExprKind::Name(_) => {
            symbols.named(unit, expr).is_some_and(|symbol| symbols.get(symbol).kind == SymbolKind::Member)
        }
        ExprKind::Member { base, arrow: true, .. } => is_this(unit, *base),
        _ => false,
    })
}

fn is_this(unit: &Unit, expr: ExprId) -> bool {
    matches!(&unit.expr(expr).kind, ExprKind::Name(name) if name == "this")
}

/// Whether a construct uses its own object other than by its data members: it calls member functions, those of bases among
/// them, or names the object itself.
fn uses_object(unit: &Unit, symbols: &Symbols, one: &Bound, stmt: StmtId) -> bool {
    let Some(class) = one.function.and_then(|function| unit.function(function).member_of.as_ref()) else {
        return false;
    };
    let classes = host::with_bases(&[unit], class);
    let within = unit.stmt(stmt).span;
    let is_own_call = |expr: &Expr| {
        let ExprKind::Call { callee, .. } = &expr.kind else { return false };
        match &unit.expr(*callee).kind {
            ExprKind::Name(name) => {
                let known = symbols.lookup(name, expr.span.start).map(|symbol| symbols.get(symbol).kind);
                let is_variable = matches!(known, Some(SymbolKind::Local | SymbolKind::Parameter));
                !is_variable && is_member_function(unit, &classes, name)
            }
            ExprKind::Member { base, arrow: true, .. } => is_this(unit, *base),
            _ => false,
        }
    };
    let is_member = |expr: &&Expr| matches!(&expr.kind, ExprKind::Member { base, arrow: true, .. } if is_this(unit, *base));
    let named = unit.expr_ids_in(within).filter(|expr| is_this(unit, *expr)).count();
    named > unit.exprs_in(within).filter(is_member).count() || unit.exprs_in(within).any(is_own_call)
}

/// Whether a name is that of a function of one of the classes that needs an object.
fn is_member_function(unit: &Unit, classes: &BTreeSet<&str>, name: &str) -> bool {
    classes.iter().any(|class| {
        let is_own = |one: &Function| one.member_of.as_deref() == Some(*class) && !one.is_static;
        let is_declared = |body: &Record| {
            let mut prototypes = unit.decls_named(name).filter(|decl| decl.kind == DeclKind::Prototype);
            prototypes.any(|decl| body.span.contains(decl.span))
        };
        (unit.functions_named(name).any(is_own) || unit.records_named(class).any(is_declared))
            && !is_static_function(unit, class, name)
    })
}

/// Whether the body of a class declares a member function as `static`: it has no object.
fn is_static_function(unit: &Unit, class: &str, name: &str) -> bool {
    unit.records_named(class).any(|body| {
        let mut inside = unit.decls_named(name).filter(|decl| body.span.contains(decl.span));
        inside.any(|decl| decl.is_static && decl.derived.contains(&Derived::Function))
    })
}

impl Input<'_> {
    /// Whether nothing seen puts the object of directive `index` on the device.
    fn is_object_absent(&self, index: usize) -> bool {
        let class = class_of(self.unit, self.bound[index].function);
        let mut around = ancestors(self.bound, index).chain([index]);
        !around.any(|at| names_object(&self.bound[at])) && !self.entered.objects.contains(&class)
    }

    /// Whether a compute construct uses `symbol`, a pointer that it does not name, while its class puts on the device what
    /// it leads to, and not the object: nothing would give the construct the device's address.
    pub(super) fn is_entered_apart(&self, index: usize, symbol: SymbolId) -> bool {
        let known = self.symbols.get(symbol);
        let class = class_of(self.unit, self.bound[index].function);
        known.kind == SymbolKind::Member
            && self.entered.members.contains(&(class, known.name.clone()))
            && self.is_object_absent(index)
    }

    /// Whether a data clause of directive `index` names a member of a base of its class.
    pub(super) fn names_inherited(&self, index: usize) -> bool {
        data_items(&self.bound[index]).any(|item| self.is_inherited(index, item))
    }

    fn is_inherited(&self, index: usize, item: &ListItem) -> bool {
        let symbol = self.symbols.lookup(item.variable(), self.bound[index].directive.span.start);
        symbol.is_some_and(|symbol| self.symbols.is_inherited(symbol))
    }

    /// The names of `members`, the members that directive `index` names, if local variables can stand for all of them.
    fn apart(&self, index: usize, members: &[&ListItem]) -> Option<BTreeSet<String>> {
        let one = &self.bound[index];
        let has_target = |item: &ListItem| {
            let symbol = self.symbols.lookup(item.variable(), one.directive.span.start);
            let is_pointer = symbol.is_some_and(|symbol| self.symbols.get(symbol).class == Class::Pointer);
            let parts = item.parts.get(usize::from(item.base.text == "this")..);
            let is_section = matches!(parts, Some([PathStep::Section(subscripts)]) if subscripts.len() == 1);
            is_pointer && is_section && !self.is_rows(index, item)
        };
        let names: BTreeSet<String> = members.iter().map(|item| item.variable().to_owned()).collect();
        let is_data = |kind: &ClauseKind| match kind {
            ClauseKind::Data(DataClause::Attach | DataClause::Detach | DataClause::Deviceptr, _) => false,
            ClauseKind::Data(..) => true,
            kind => !super::list(kind).iter().any(|item| names.contains(item.variable())),
        };
        let items = one.directive.clauses.iter().flat_map(|clause| super::list(&clause.kind));
        let is_hidden = |item: &ListItem| {
            names.contains(item.variable()) && !is_member(self.unit, self.symbols, one, item)
        };
        let may = members.iter().all(|item| has_target(item))
            && one.directive.clauses.iter().all(|clause| is_data(&clause.kind))
            && !items.into_iter().any(is_hidden)
            && one.stmt().is_none_or(|stmt| self.may_hide(one, stmt, &names));
        may.then_some(names)
    }

    /// Whether variables may hide the members `names` in the construct `stmt`: it does not assign them, and reaches them by
    /// their names alone.
    fn may_hide(&self, one: &Bound, stmt: StmtId, names: &BTreeSet<String>) -> bool {
        let used = uses(self.unit, self.symbols, stmt);
        let is_moved = |name: &String| {
            let symbol = self.symbols.lookup(name, one.directive.span.start);
            let how = symbol.and_then(|symbol| used.of(symbol));
            how.is_some_and(|how| how.written || how.address_taken)
        };
        let mut inside = self.unit.exprs_in(self.unit.stmt(stmt).span);
        let is_named = |expr: &Expr| match &expr.kind {
            ExprKind::Member { base, arrow: true, name, .. } => {
                is_this(self.unit, *base) && names.contains(name)
            }
            _ => false,
        };
        !names.iter().any(is_moved)
            && !inside.any(is_named)
            && !uses_object(self.unit, self.symbols, one, stmt)
    }
}

impl Maker<'_> {
    /// Decides how a directive puts members on the device. As parts of an object that is not there they would keep all of it
    /// from going there later.
    pub(super) fn about_objects(&mut self, index: usize) {
        let bound = self.input.bound;
        let one = &bound[index];
        let members = self.members(index);
        let Some(first) = members.first() else { return };
        let is_absent = self.input.is_object_absent(index);
        let is_entered = matches!(one.directive.kind, DirectiveKind::EnterData | DirectiveKind::ExitData);
        let names = (is_absent || !is_entered).then(|| self.input.apart(index, &members)).flatten();
        if is_absent && names.is_none() {
            self.diags.push(diag::object_absent(first.span, first.variable()));
        } else if is_absent && one.directive.kind == DirectiveKind::EnterData {
            self.diags.push(diag::pointer_apart(first.span, first.variable()));
        }
        self.plan.notes[index].apart = names;
    }

    /// The members of the object among the data of directive `index`, if it puts data on the device: those of its bases
    /// alone where a construct uses at once what it maps. gcc 12 refuses their names in `map`, and clang takes their base
    /// for all of the object.
    fn members(&self, index: usize) -> Vec<&ListItem> {
        let one = &self.input.bound[index];
        let kind = one.directive.kind;
        let is_region = matches!(self.plan.items[index], Item::Clauses { .. });
        let are_all = match kind {
            DirectiveKind::Data | DirectiveKind::EnterData => true,
            DirectiveKind::Kernels => is_region,
            DirectiveKind::ExitData => false,
            kind if kind.is_compute() => false,
            _ => return Vec::new(),
        };
        let is_wanted = |item: &&ListItem| {
            (are_all || self.input.is_inherited(index, item))
                && is_member(self.input.unit, self.input.symbols, one, item)
        };
        let data = one
            .directive
            .clauses
            .iter()
            .filter(|clause| are_all || matches!(clause.kind, ClauseKind::Data(..)));
        data.flat_map(|clause| super::list(&clause.kind)).filter(is_wanted).collect()
    }
}
