//! The memory that a loop nest reads and writes: each access with its subscripts, the loops around it and the conditions it
//! is under.
//!
//! Invariant: what is not understood is noted as an obstacle of the loops around it, never passed over.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::budget;
use crate::host::ir::{ExprId, ExprKind, StmtId, StmtKind};
use crate::sema::{Header, NotCanonical, SymbolId, Type, children, uses};
use crate::source::Span;

use super::affine::{AtomId, Atoms, Poly};
use super::condition::{Condition, ConditionId, Conditions, Guard};
use super::facts::Facts;
use super::known::Known;
use crate::acc::ast::ReductionOp;

/// Equal accesses are looked for among so many.
const NEAR: usize = 48;

/// A loop of a nest.
#[derive(Debug)]
pub(super) struct Loop {
    pub(super) stmt: StmtId,
    pub(super) header: Result<Header, NotCanonical>,
    /// What tells its iterations apart.
    pub(super) counter: AtomId,
    /// The innermost loop around it.
    pub(super) outer: Option<usize>,
    /// What is not negative while it runs.
    pub(super) bounds: Vec<Poly>,
    /// The accesses in it, by number.
    pub(super) accesses: Range<usize>,
}

/// A step on the way from a variable to a part of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Step {
    /// An element; `None`: one that is not known, or several.
    Index(Option<Poly>),
    /// A member.
    Member(String),
    /// What the pointer leads to.
    Hop,
    /// From here on, memory is taken for an array of this type, whatever it was declared as; `None`: of one that is not known.
    As(Option<Type>),
}

/// A part of a variable.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Place {
    pub(super) root: SymbolId,
    pub(super) steps: Vec<Step>,
    /// The `restrict` pointers by which the program leads there, where the root is not one.
    pub(super) via: Vec<SymbolId>,
}

impl Place {
    pub(super) fn new(root: SymbolId, steps: Vec<Step>) -> Place {
        Place { root, steps, via: Vec::new() }
    }

    /// What the value of the pointer `root` leads to.
    pub(super) fn pointee(root: SymbolId) -> Place {
        Place::new(root, vec![Step::Hop, Step::Index(Some(Poly::default()))])
    }
}

/// One access.
#[derive(Clone, Debug)]
pub(super) struct Access {
    pub(super) place: Place,
    pub(super) writes: bool,
    pub(super) at: Span,
    /// The innermost loop around it.
    pub(super) inside: Option<usize>,
    pub(super) conditions: Option<ConditionId>,
    /// An atomic statement combines a value with it, in this way.
    pub(super) combines: Option<ReductionOp>,
    /// The statement assigns to the same element that it reads: `a[i] += …`.
    pub(super) is_update: bool,
    /// It is about all that the place leads to.
    pub(super) is_deep: bool,
    /// It is to a variable without parts, by its own name: data flow is about it.
    pub(super) by_name: bool,
    /// It reads a member that the nest does not assign by a name.
    pub(super) is_kept: bool,
}

impl Access {
    /// The access without its subscripts: where two are apart by more than these, so are all of their kinds.
    pub(super) fn kind(&self) -> (Place, bool, bool) {
        let steps = self.place.steps.iter().map(|step| match step {
            Step::Index(_) => Step::Index(None),
            step => step.clone(),
        });
        (Place { steps: steps.collect(), ..self.place.clone() }, self.is_kept, self.is_deep)
    }
}

/// Why code cannot be analysed.
#[derive(Clone, Debug)]
pub(super) struct Trouble {
    pub(super) inside: Option<usize>,
    pub(super) at: Span,
    pub(super) why: String,
}

/// What was read of a nest.
pub(super) struct Nest<'a> {
    pub(super) facts: &'a Facts<'a>,
    pub(super) atoms: Atoms,
    pub(super) loops: Vec<Loop>,
    pub(super) accesses: Vec<Access>,
    pub(super) troubles: Vec<Trouble>,
    /// The names of all scalars used, by place.
    pub(super) names: Vec<(SymbolId, Span)>,
    /// The bytes that were read.
    pub(super) whole: Span,
    /// Where atomic statements name what they update, and how.
    pub(super) atomic: &'a BTreeMap<Span, ReductionOp>,
    /// Members that the nest assigns.
    pub(super) assigned_members: BTreeSet<String>,
    /// Variables that the nest assigns.
    pub(super) assigned: BTreeSet<SymbolId>,
    /// What variables hold here.
    pub(super) known: Known,
    /// What second names stand for.
    pub(super) names_of: FxHashMap<SymbolId, Place>,
    /// All conditions of the nest.
    pub(super) all_conditions: Conditions,
    /// The conditions here, outermost first; each knows those before it.
    pub(super) conditions: Vec<ConditionId>,
    pub(super) inside: Option<usize>,
    /// The expression that is all of a subscript.
    pub(super) subscript: Option<ExprId>,
    /// What the nest may change by other names.
    unsteady: Unsteady,
}

/// What has no fixed value in a nest, as the nest may change it by another name.
#[derive(Debug, Default, PartialEq, Eq)]
struct Unsteady {
    variables: BTreeSet<SymbolId>,
    members: BTreeSet<String>,
}

impl<'a> Nest<'a> {
    /// Reads the nest of the loop `stmt`, or any statement.
    pub(super) fn new(
        facts: &'a Facts<'a>,
        stmt: StmtId,
        atomic: &'a BTreeMap<Span, ReductionOp>,
    ) -> Nest<'a> {
        let first = Nest::reading(facts, stmt, atomic, Unsteady::default());
        let unsteady = first.find_unsteady();
        match unsteady == Unsteady::default() {
            true => first,
            false => Nest::reading(facts, stmt, atomic, unsteady),
        }
    }

    fn reading(
        facts: &'a Facts<'a>,
        stmt: StmtId,
        atomic: &'a BTreeMap<Span, ReductionOp>,
        unsteady: Unsteady,
    ) -> Nest<'a> {
        let mut nest = Nest {
            facts,
            atoms: Atoms::default(),
            loops: Vec::new(),
            accesses: Vec::new(),
            troubles: Vec::new(),
            names: Vec::new(),
            whole: facts.unit.stmt(stmt).span,
            atomic,
            assigned_members: assigned_members(facts, stmt),
            assigned: assigned(facts, stmt),
            known: Known::default(),
            names_of: FxHashMap::default(),
            all_conditions: Conditions::default(),
            conditions: Vec::new(),
            inside: None,
            subscript: None,
            unsteady,
        };
        nest.statement(stmt);
        nest
    }

    /// The variables and members that a write to another place may change.
    fn find_unsteady(&self) -> Unsteady {
        let mut found = Unsteady::default();
        let kept = self.accesses.iter().filter(|access| access.by_name && !access.writes || access.is_kept);
        for read in kept {
            let other = |write: &&Access| write.writes && !(write.by_name && write.place == read.place);
            let mut writes = self.accesses.iter().filter(other);
            if !writes.any(|write| self.may_be_same(read, write)) {
                continue;
            }
            match read.place.steps.last() {
                Some(Step::Member(name)) => drop(found.members.insert(name.clone())),
                _ => drop(found.variables.insert(read.place.root)),
            }
        }
        found
    }

    /// The variables that are called by their names and, in another place, by other names, where one of the two changes them.
    pub(super) fn reached(&self) -> BTreeSet<SymbolId> {
        let mut found = BTreeSet::new();
        for own in self.accesses.iter().filter(|access| access.by_name) {
            let others = self.accesses.iter().filter(|other| other.writes || own.writes);
            let mut others = others.filter(|other| !(other.by_name && other.place == own.place));
            if !found.contains(&own.place.root) && others.any(|other| self.may_be_same(own, other)) {
                found.insert(own.place.root);
            }
        }
        found
    }

    /// Whether the nest may change a variable by another name.
    pub(super) fn is_unsteady(&self, symbol: SymbolId) -> bool {
        self.unsteady.variables.contains(&symbol)
    }

    /// Whether the nest may change a member by another name.
    pub(super) fn is_unsteady_member(&self, name: &str) -> bool {
        self.unsteady.members.contains(name)
    }

    /// Whether loop `inner` is loop `outer`, or in it.
    pub(super) fn is_within(&self, inner: Option<usize>, outer: usize) -> bool {
        std::iter::successors(inner, |at| self.loops[*at].outer).any(|at| at == outer)
    }

    /// The loops around an access, outermost first.
    pub(super) fn around(&self, inside: Option<usize>) -> Vec<usize> {
        let mut loops: Vec<usize> = std::iter::successors(inside, |at| self.loops[*at].outer).collect();
        loops.reverse();
        loops
    }

    /// Whether the access happens in each iteration of loop `outer` in which the loops in it have one.
    pub(super) fn is_sure(&self, access: &Access, outer: usize) -> bool {
        // The innermost condition stands in the innermost loop of all that have one.
        let last = access.conditions.map(|last| self.all_conditions.get(last));
        !last.is_some_and(|condition| self.is_within(condition.inside, outer))
    }

    /// What holds where an access happens, as far as it is understood; of very many conditions, the innermost.
    pub(super) fn guards_of(&self, access: &Access) -> impl Iterator<Item = &Guard> {
        self.all_conditions.guards(access.conditions).into_iter()
    }

    /// One more condition holds.
    pub(super) fn condition(&mut self, condition: Condition) {
        let outer = self.conditions.last().copied();
        self.conditions.push(self.all_conditions.within(outer, condition));
    }

    pub(super) fn trouble(&mut self, at: Span, why: impl Into<String>) {
        self.troubles.push(Trouble { inside: self.inside, at, why: why.into() });
    }

    pub(super) fn access(&mut self, place: Place, writes: bool, at: Span) {
        budget::keep(size_of::<Access>() + place.steps.len() * size_of::<Step>());
        self.accesses.push(Access {
            place,
            writes,
            at,
            inside: self.inside,
            conditions: self.conditions.last().copied(),
            combines: self.atomic.get(&at).copied(),
            is_update: false,
            is_deep: false,
            by_name: false,
            is_kept: false,
        });
    }

    /// A member is read that the nest does not assign by a name. The same is noted once in a row.
    pub(super) fn kept_access(&mut self, place: Place, at: Span) {
        let mut last = self.accesses.iter().rev().take(NEAR);
        let is_known = last.any(|access| {
            let is_same = access.is_kept && access.inside == self.inside && access.place == place;
            is_same
                && access.conditions == self.conditions.last().copied()
                && access.combines == self.atomic.get(&at).copied()
        });
        if !is_known {
            self.access(place, false, at);
            if let Some(last) = self.accesses.last_mut() {
                last.is_kept = true;
            }
        }
    }

    /// A variable without parts is read or assigned by its name. Where it has other names, that is an access like others.
    pub(super) fn by_name(&mut self, symbol: SymbolId, writes: bool, at: Span) {
        if self.has_other_name(symbol) {
            self.access(Place::new(symbol, Vec::new()), writes, at);
            if let Some(last) = self.accesses.last_mut() {
                last.by_name = true;
            }
        }
    }

    /// All that a place leads to is read.
    pub(super) fn deep_access(&mut self, place: Place, at: Span) {
        self.access(place, false, at);
        if let Some(last) = self.accesses.last_mut() {
            last.is_deep = true;
        }
    }
}

/// The variables that a statement assigns.
fn assigned(facts: &Facts, stmt: StmtId) -> BTreeSet<SymbolId> {
    let used = uses(facts.unit, facts.symbols, stmt);
    used.iter().filter(|(_, how)| how.written || how.address_taken).map(|(symbol, _)| symbol).collect()
}

/// The names of the members that a statement assigns.
fn assigned_members(facts: &Facts, stmt: StmtId) -> BTreeSet<String> {
    let mut members = BTreeSet::new();
    for expr in expressions(facts, stmt) {
        let expr = facts.unit.expr(expr);
        let mut target = match &expr.kind {
            ExprKind::Assign(_, target, _)
            | ExprKind::Step { operand: target, .. }
            | ExprKind::AddressOf(target) => *target,
            _ => continue,
        };
        // An element of a member that is an array counts as the member.
        while let ExprKind::Index(base, _) = &facts.unit.expr(target).kind {
            target = *base;
        }
        if let ExprKind::Member { name, .. } = &facts.unit.expr(target).kind {
            members.insert(name.clone());
        }
    }
    let overlaid = facts.symbols.overlaid();
    if members.iter().any(|name| overlaid.contains(name)) {
        members.extend(overlaid.iter().cloned());
    }
    members
}

/// All expressions in a statement, those in others included.
pub(super) fn expressions(facts: &Facts, stmt: StmtId) -> Vec<ExprId> {
    let unit = facts.unit;
    let (mut found, mut pending) = (Vec::new(), vec![stmt]);
    while let Some(stmt) = pending.pop() {
        match &unit.stmt(stmt).kind {
            StmtKind::Decl(decls) => {
                let decls = decls.iter().map(|id| unit.decl(*id));
                found.extend(decls.flat_map(|decl| decl.sizes().chain(decl.init)));
            }
            StmtKind::Expr(expr)
            | StmtKind::If { cond: expr, .. }
            | StmtKind::While { cond: expr, .. }
            | StmtKind::DoWhile { cond: expr, .. }
            | StmtKind::Switch { cond: expr, .. } => found.push(*expr),
            StmtKind::For { cond, step, .. } => found.extend(cond.iter().chain(step)),
            StmtKind::Return(value) => found.extend(value),
            StmtKind::Opaque(parts) => found.extend(parts),
            StmtKind::Block(_)
            | StmtKind::Labeled { .. }
            | StmtKind::Empty
            | StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Goto(_) => {}
        }
        pending.extend(children(unit, stmt));
    }
    let mut at = 0;
    while let Some(expr) = found.get(at) {
        found.extend(unit.expr(*expr).kind.children());
        at += 1;
    }
    found
}
