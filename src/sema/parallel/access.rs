//! The memory that a loop nest reads and writes: each access with its subscripts, the loops around it and the conditions it
//! is under.
//!
//! Invariant: what is not understood is noted as an obstacle of the loops around it, never passed over.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use crate::host::ir::{BinaryOp, Derived, ExprId, ExprKind, StmtId, StmtKind, UnaryOp};
use crate::sema::{Class, Header, NotCanonical, SymbolId, SymbolKind, header, uses};
use crate::source::Span;

use super::affine::{Atom, AtomId, Atoms, Poly};
use super::calls::{Argument, Effect};
use super::facts::Facts;

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
}

/// A step on the way from a variable to a part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// An element; `None`: one that is not known, or several.
    Index(Option<Poly>),
    /// A member.
    Member(String),
    /// What the pointer leads to.
    Hop,
}

/// A part of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) root: SymbolId,
    pub(super) steps: Vec<Step>,
}

/// What holds where a condition is true.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Guard {
    NotNegative(Poly),
    NotZero(Poly),
}

/// A condition around code: the loop that it stands in, and what it says, if that is understood.
#[derive(Clone, Debug)]
pub(super) struct Condition {
    inside: Option<usize>,
    pub(super) says: Vec<Guard>,
}

/// One access.
#[derive(Clone, Debug)]
pub(super) struct Access {
    pub(super) place: Place,
    pub(super) writes: bool,
    pub(super) at: Span,
    /// The innermost loop around it.
    pub(super) inside: Option<usize>,
    pub(super) conditions: Rc<Vec<Condition>>,
    /// It belongs to an atomic statement.
    pub(super) is_atomic: bool,
    /// The statement assigns to the same element that it reads: `a[i] += …`.
    pub(super) is_update: bool,
    /// It is about all that the place leads to.
    pub(super) is_deep: bool,
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
    /// Statements that are atomic.
    atomic: &'a BTreeSet<StmtId>,
    /// Members that the nest assigns.
    assigned_members: BTreeSet<String>,
    /// Variables that the nest assigns.
    assigned: BTreeSet<SymbolId>,
    values: HashMap<SymbolId, Poly>,
    pointers: HashMap<SymbolId, Option<Place>>,
    /// What second names stand for.
    names_of: HashMap<SymbolId, Place>,
    conditions: Vec<Condition>,
    inside: Option<usize>,
    in_atomic: bool,
    /// The expression that is all of a subscript.
    subscript: Option<ExprId>,
}

/// What an expression gives.
#[derive(Clone, Debug, Default)]
struct Value {
    number: Option<Poly>,
    leads_to: Option<Place>,
}

impl<'a> Nest<'a> {
    /// Reads the nest of the loop `stmt`.
    pub(super) fn new(facts: &'a Facts<'a>, stmt: StmtId, atomic: &'a BTreeSet<StmtId>) -> Nest<'a> {
        let mut nest = Nest {
            facts,
            atoms: Atoms::default(),
            loops: Vec::new(),
            accesses: Vec::new(),
            troubles: Vec::new(),
            names: Vec::new(),
            atomic,
            assigned_members: assigned_members(facts, stmt),
            assigned: assigned(facts, stmt),
            values: HashMap::new(),
            pointers: HashMap::new(),
            names_of: HashMap::new(),
            conditions: Vec::new(),
            inside: None,
            in_atomic: false,
            subscript: None,
        };
        nest.statement(stmt);
        nest
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
        !access.conditions.iter().any(|condition| self.is_within(condition.inside, outer))
    }

    fn trouble(&mut self, at: Span, why: impl Into<String>) {
        self.troubles.push(Trouble { inside: self.inside, at, why: why.into() });
    }

    fn statement(&mut self, stmt: StmtId) {
        stacker::maybe_grow(64 * 1024, 4 * 1024 * 1024, || self.statement_here(stmt));
    }

    fn statement_here(&mut self, id: StmtId) {
        let unit = self.facts.unit;
        let was_atomic = self.in_atomic;
        self.in_atomic |= self.atomic.contains(&id);
        match &unit.stmt(id).kind {
            StmtKind::Block(list) => list.iter().for_each(|stmt| self.statement(*stmt)),
            StmtKind::Decl(decls) => {
                for decl in decls {
                    let decl = unit.decl(*decl);
                    let symbol = self.facts.symbols.lookup(&decl.name, decl.name_span.end);
                    if let Some(symbol) = symbol.filter(|_| decl.derived.first() == Some(&Derived::Reference))
                    {
                        self.second_name(symbol, decl.init, decl.span);
                        continue;
                    }
                    let value = decl.init.map(|init| self.value(init)).unwrap_or_default();
                    if let Some(symbol) = symbol {
                        self.set(symbol, value);
                    }
                }
            }
            StmtKind::Expr(expr) => drop(self.value(*expr)),
            StmtKind::If { cond, then, other } => self.branch(*cond, *then, *other),
            StmtKind::For { .. } => self.counted(id),
            StmtKind::While { cond, body } => {
                self.repeated(id, |nest| {
                    nest.value(*cond);
                    nest.under(Vec::new(), |nest| nest.statement(*body));
                });
            }
            StmtKind::DoWhile { body, cond } => self.repeated(id, |nest| {
                nest.statement(*body);
                nest.value(*cond);
            }),
            StmtKind::Switch { cond, body } => {
                self.value(*cond);
                self.forget(*body);
                self.under(Vec::new(), |nest| nest.statement(*body));
                self.forget(*body);
            }
            StmtKind::Labeled { stmt, .. } => {
                // Code may get here from elsewhere.
                stmt.iter().for_each(|stmt| {
                    self.forget(*stmt);
                    self.statement(*stmt);
                });
            }
            StmtKind::Return(value) => {
                value.iter().for_each(|value| drop(self.value(*value)));
                self.jump();
            }
            StmtKind::Break | StmtKind::Continue | StmtKind::Goto(_) => self.jump(),
            StmtKind::Opaque(parts) => {
                self.trouble(unit.stmt(id).span, "this statement is not one of a computation");
                parts.iter().for_each(|part| drop(self.value(*part)));
            }
            StmtKind::Empty => {}
        }
        self.in_atomic = was_atomic;
    }

    /// A second name of something is declared.
    fn second_name(&mut self, symbol: SymbolId, init: Option<ExprId>, at: Span) {
        if self.facts.unit.is_fortran() {
            // The names of arrays are looked into where they are used.
            if self.facts.symbols.get(symbol).class != Class::Array {
                self.trouble(at, "it gives something a second name");
            }
            return;
        }
        match init.and_then(|init| self.place(init)) {
            Some(place) => drop(self.names_of.insert(symbol, place)),
            None => self.trouble(at, "it gives something a second name"),
        }
    }

    /// Whether a name stands for something that it was given to outside of the nest, and that the nest may change.
    fn is_unclear_name(&self, symbol: SymbolId) -> bool {
        let facts = self.facts;
        let Some(decl) = facts.decl(symbol).filter(|decl| decl.derived.first() == Some(&Derived::Reference))
        else {
            return false;
        };
        let Some(init) = decl.init.filter(|_| !self.names_of.contains_key(&symbol)) else { return false };
        if facts.symbols.get(symbol).class == Class::Array {
            return !facts.unit.is_fortran();
        }
        let mut at = init;
        loop {
            at = match &facts.unit.expr(at).kind {
                ExprKind::Name(_) => {
                    let root = facts.symbols.named(facts.unit, at);
                    return root.is_none_or(|root| self.assigned.contains(&root));
                }
                ExprKind::Member { base, name, .. } if !self.assigned_members.contains(name) => *base,
                ExprKind::Literal | ExprKind::Int(_) => return false,
                _ => return true,
            }
        }
    }

    /// What comes behind happens only if the jump did not.
    fn jump(&mut self) {
        self.conditions.push(Condition { inside: self.inside, says: Vec::new() });
    }

    fn under(&mut self, says: Vec<Guard>, run: impl FnOnce(&mut Self)) {
        let depth = self.conditions.len();
        self.conditions.push(Condition { inside: self.inside, says });
        run(self);
        let jumped = self.conditions.len() > depth + 1;
        self.conditions.truncate(depth);
        if jumped {
            self.jump();
        }
    }

    fn branch(&mut self, cond: ExprId, then: StmtId, other: Option<StmtId>) {
        self.value(cond);
        let (says, denies) = match has_effect(self.facts, cond) {
            true => (Vec::new(), Vec::new()),
            false => (self.guards(cond, true), self.guards(cond, false)),
        };
        let before = (self.values.clone(), self.pointers.clone());
        self.under(says, |nest| nest.statement(then));
        let first =
            (std::mem::replace(&mut self.values, before.0), std::mem::replace(&mut self.pointers, before.1));
        if let Some(other) = other {
            self.under(denies, |nest| nest.statement(other));
        }
        self.join(first);
    }

    /// Where two ways meet, what differs is not known.
    fn join(&mut self, (values, pointers): (HashMap<SymbolId, Poly>, HashMap<SymbolId, Option<Place>>)) {
        let symbols: BTreeSet<SymbolId> = values.keys().chain(self.values.keys()).copied().collect();
        for symbol in symbols {
            if values.get(&symbol) != self.values.get(&symbol) {
                let unknown = self.atoms.unknown(self.inside);
                self.values.insert(symbol, unknown);
            }
        }
        let symbols: BTreeSet<SymbolId> = pointers.keys().chain(self.pointers.keys()).copied().collect();
        for symbol in symbols {
            if pointers.get(&symbol) != self.pointers.get(&symbol) {
                self.pointers.insert(symbol, None);
            }
        }
    }

    /// Forgets the values of what `stmt` assigns.
    fn forget(&mut self, stmt: StmtId) {
        let used = uses(self.facts.unit, self.facts.symbols, stmt);
        for (symbol, _) in used.iter().filter(|(_, how)| how.written || how.address_taken) {
            let unknown = self.atoms.unknown(self.inside);
            self.values.insert(symbol, unknown);
            self.pointers.insert(symbol, None);
        }
    }

    fn enter(&mut self, stmt: StmtId, header: Result<Header, NotCanonical>) -> usize {
        let at = self.loops.len();
        let counter = self.atoms.id(Atom::Counter(at));
        self.loops.push(Loop { stmt, header, counter, outer: self.inside, bounds: Vec::new() });
        self.inside = Some(at);
        at
    }

    /// A loop that does not count: each of its iterations begins with what another one left.
    fn repeated(&mut self, stmt: StmtId, run: impl FnOnce(&mut Self)) {
        let outer = self.inside;
        let depth = self.conditions.len();
        let header = header(self.facts.unit, self.facts.symbols, stmt);
        self.enter(stmt, header.and(Err(NotCanonical("it does not count"))));
        self.forget(stmt);
        run(self);
        self.conditions.truncate(depth);
        self.inside = outer;
        self.forget(stmt);
    }

    fn counted(&mut self, stmt: StmtId) {
        let unit = self.facts.unit;
        let StmtKind::For { init, cond, step, body } = &unit.stmt(stmt).kind else { return };
        let header = match header(unit, self.facts.symbols, stmt) {
            Ok(header) => header,
            Err(why) => {
                init.iter().for_each(|init| self.statement(*init));
                let outer = self.inside;
                self.repeated(stmt, |nest| {
                    nest.loops[nest.inside.unwrap_or(0)].header = Err(why);
                    cond.iter().for_each(|cond| drop(nest.value(*cond)));
                    nest.under(Vec::new(), |nest| {
                        nest.statement(*body);
                        step.iter().for_each(|step| drop(nest.value(*step)));
                    });
                });
                debug_assert_eq!(self.inside, outer);
                return;
            }
        };
        let first = self.value(header.first).number;
        // Where the bound is computed anew each time, it is still the same: the body does not change it.
        let bound = self.value(header.bound).number;
        let step = match header.step {
            None => Some(1),
            Some(step) => self.value(step).number.and_then(|step| step.value()),
        };
        let step = step.map(|step| if header.down { -step } else { step });
        let outer = self.inside;
        let depth = self.conditions.len();
        let at = self.enter(stmt, Ok(header));
        self.forget(*body);
        let (value, bounds) = self.count(at, outer, first, bound, step, &header);
        self.values.insert(header.var, value);
        self.loops[at].bounds = bounds;
        self.statement(*body);
        self.conditions.truncate(depth);
        self.inside = outer;
        self.forget(*body);
        let unknown = self.atoms.unknown(self.inside);
        self.values.insert(header.var, unknown);
    }

    /// What the loop variable holds, and what is not negative while the loop runs.
    fn count(
        &mut self,
        at: usize,
        outer: Option<usize>,
        first: Option<Poly>,
        bound: Option<Poly>,
        step: Option<i64>,
        header: &Header,
    ) -> (Poly, Vec<Poly>) {
        let counter = Poly::atom(self.loops[at].counter);
        let inclusive = matches!(header.compare, BinaryOp::LessEqual | BinaryOp::GreaterEqual);
        let slack = if inclusive { 0 } else { -1 };
        let Some(step) = step.filter(|step| *step != 0) else { return (counter, Vec::new()) };
        let sign = step.signum();
        let mut bounds = Vec::new();
        let value = match first {
            // It counts by itself.
            Some(first) if step.abs() == 1 => {
                bounds.extend(counter.plus(&first, -1).and_then(|past| past.scaled(sign)));
                counter
            }
            None if step.abs() == 1 => counter,
            first => {
                let first = first.unwrap_or_else(|| self.atoms.unknown(outer));
                bounds.push(counter.clone());
                let value = counter.scaled(step).and_then(|past| past.plus(&first, 1));
                value.unwrap_or_else(|| self.atoms.unknown(Some(at)))
            }
        };
        let left = bound.and_then(|bound| bound.plus(&value, -1)?.scaled(sign)?.shifted(slack));
        bounds.extend(left);
        (value, bounds)
    }

    /// What a condition says where it is `true`, or false.
    fn guards(&mut self, cond: ExprId, is_true: bool) -> Vec<Guard> {
        let unit = self.facts.unit;
        match &unit.expr(cond).kind {
            ExprKind::Binary(BinaryOp::And, left, right) if is_true => {
                [self.guards(*left, true), self.guards(*right, true)].concat()
            }
            ExprKind::Binary(BinaryOp::Or, left, right) if !is_true => {
                [self.guards(*left, false), self.guards(*right, false)].concat()
            }
            ExprKind::Unary(UnaryOp::Not, operand) => self.guards(*operand, !is_true),
            ExprKind::Binary(op, left, right) => {
                let quiet = (self.accesses.len(), self.names.len(), self.troubles.len());
                let difference = self.value(*right).number.zip(self.value(*left).number);
                self.accesses.truncate(quiet.0);
                self.names.truncate(quiet.1);
                self.troubles.truncate(quiet.2);
                difference.and_then(|(right, left)| says(*op, is_true, &left, &right)).unwrap_or_default()
            }
            _ => Vec::new(),
        }
    }

    fn set(&mut self, symbol: SymbolId, value: Value) {
        let known = self.facts.symbols.get(symbol);
        let number = value.number.filter(|_| !known.is_floating);
        let number = number.unwrap_or_else(|| self.atoms.unknown(self.inside));
        self.values.insert(symbol, number);
        if known.class == Class::Pointer {
            self.pointers.insert(symbol, value.leads_to);
        }
    }

    /// What the variable holds here.
    fn held(&mut self, symbol: SymbolId) -> Option<Poly> {
        let known = self.facts.symbols.get(symbol);
        if known.is_floating || !matches!(known.class, Class::Scalar | Class::Unknown) {
            return None;
        }
        if let Some(value) = self.values.get(&symbol) {
            return Some(value.clone());
        }
        Some(self.at_entry(symbol, 8))
    }

    /// Where a pointer leads when the nest begins: to where it was set to lead, if that is the same all the time, or to
    /// memory that is known by its name.
    fn aim_at_entry(&mut self, symbol: SymbolId, depth: usize) -> Option<Place> {
        let own = Place { root: symbol, steps: vec![Step::Hop, Step::Index(Some(Poly::default()))] };
        let aim = self.facts.only_aim(symbol).filter(|_| depth > 0);
        Some(aim.and_then(|aim| self.fixed_aim(aim, depth - 1)).unwrap_or(own))
    }

    fn fixed_aim(&mut self, expr: ExprId, depth: usize) -> Option<Place> {
        let unit = self.facts.unit;
        match &unit.expr(expr).kind {
            ExprKind::Name(_) => {
                let symbol = self.facts.symbols.named(unit, expr)?;
                let known = self.facts.symbols.get(symbol);
                match known.class {
                    Class::Array if !known.is_reference => {
                        Some(Place { root: symbol, steps: vec![Step::Index(Some(Poly::default()))] })
                    }
                    Class::Pointer if self.facts.is_fixed_parameter(symbol) => self.aim_at_entry(symbol, 0),
                    Class::Pointer if self.facts.only_aim(symbol).is_some() => {
                        self.aim_at_entry(symbol, depth)
                    }
                    _ => None,
                }
            }
            ExprKind::Binary(op @ (BinaryOp::Add | BinaryOp::Subtract), pointer, by) => {
                let leads_to = Some(self.fixed_aim(*pointer, depth)?);
                let number = Some(self.fixed(*by, depth)?);
                moved(*op, Value { number: None, leads_to }, Value { number, leads_to: None })
            }
            ExprKind::AddressOf(inner) => match &unit.expr(*inner).kind {
                ExprKind::Index(pointer, by) => {
                    let leads_to = Some(self.fixed_aim(*pointer, depth)?);
                    let number = Some(self.fixed(*by, depth)?);
                    moved(BinaryOp::Add, Value { number: None, leads_to }, Value { number, leads_to: None })
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// What a variable holds when the nest begins, by what it was set from.
    fn at_entry(&mut self, symbol: SymbolId, depth: usize) -> Poly {
        let entry = |nest: &mut Self| Poly::atom(nest.atoms.id(Atom::Entry(symbol)));
        match self.facts.only_value(symbol).filter(|_| depth > 0) {
            Some(value) => self.fixed(value, depth - 1).unwrap_or_else(|| entry(self)),
            None => entry(self),
        }
    }

    /// A value made of what never changes.
    fn fixed(&mut self, expr: ExprId, depth: usize) -> Option<Poly> {
        let unit = self.facts.unit;
        if let Some(value) = self.facts.constant(expr) {
            return Some(Poly::constant(value));
        }
        match &unit.expr(expr).kind {
            ExprKind::Name(_) => {
                let symbol = self.facts.symbols.named(unit, expr)?;
                let is_fixed =
                    self.facts.is_fixed_parameter(symbol) && !self.facts.symbols.get(symbol).is_floating;
                match self.facts.only_value(symbol) {
                    Some(_) => Some(self.at_entry(symbol, depth)),
                    None => is_fixed.then(|| Poly::atom(self.atoms.id(Atom::Entry(symbol)))),
                }
            }
            ExprKind::Binary(op, left, right) => {
                let (left, right) = (self.fixed(*left, depth)?, self.fixed(*right, depth)?);
                combined(*op, &left, &right)
            }
            _ => None,
        }
    }

    fn value(&mut self, expr: ExprId) -> Value {
        stacker::maybe_grow(64 * 1024, 4 * 1024 * 1024, || self.value_here(expr))
    }

    fn number(&mut self, expr: ExprId) -> Option<Poly> {
        self.value(expr).number
    }

    fn value_here(&mut self, expr: ExprId) -> Value {
        let unit = self.facts.unit;
        let of = |number: Option<Poly>| Value { number, leads_to: None };
        match &unit.expr(expr).kind {
            ExprKind::Name(_) => self.named(expr),
            ExprKind::Int(value) => of(i64::try_from(*value).ok().map(Poly::constant)),
            ExprKind::Literal | ExprKind::Sizeof => Value::default(),
            ExprKind::Unary(op, operand) => {
                let number = self.number(*operand);
                of(match op {
                    UnaryOp::Minus => number.and_then(|number| number.scaled(-1)),
                    UnaryOp::Plus => number,
                    UnaryOp::Not | UnaryOp::BitNot => None,
                })
            }
            ExprKind::Binary(op, left, right) => {
                let (left, right) = (self.value(*left), self.value(*right));
                let number = left.number.as_ref().zip(right.number.as_ref());
                let number = number.and_then(|(left, right)| self.combined(*op, left, right));
                Value { number, leads_to: moved(*op, left, right) }
            }
            ExprKind::Assign(op, left, right) => self.assign(*op, *left, *right),
            ExprKind::Step { up, operand, postfix } => {
                let old = self.value(*operand);
                let by = if *up { 1 } else { -1 };
                let number = old.number.as_ref().and_then(|number| number.shifted(by));
                let new = Value { number, leads_to: None };
                self.write(*operand, new.clone(), true);
                if *postfix { of(old.number) } else { new }
            }
            ExprKind::Index(..) | ExprKind::Member { .. } | ExprKind::Deref(_) => self.part(expr),
            ExprKind::AddressOf(operand) => {
                let place = self.place(*operand);
                if place.is_none() {
                    self.trouble(unit.expr(expr).span, "an address is taken");
                }
                Value { number: None, leads_to: place }
            }
            ExprKind::Call { callee, args } => of(self.call(expr, *callee, args)),
            ExprKind::Cast { to, operand } => {
                let value = self.value(*operand);
                let is_narrow = ["char", "short", "int8", "int16", "float", "double", "bool", "_Bool"]
                    .iter()
                    .any(|word| to.contains(word));
                Value { number: value.number.filter(|_| !is_narrow), ..value }
            }
            ExprKind::Conditional(cond, first, second) => {
                self.value(*cond);
                let (first, second) = (self.value(*first), self.value(*second));
                of(first.number.filter(|number| second.number.as_ref() == Some(number)))
            }
            ExprKind::Comma(left, right) => {
                self.value(*left);
                self.value(*right)
            }
            ExprKind::Initialiser(parts) => {
                parts.iter().for_each(|part| drop(self.value(*part)));
                Value::default()
            }
            ExprKind::Triplet(parts) => {
                parts.iter().flatten().for_each(|part| drop(self.value(*part)));
                Value::default()
            }
            ExprKind::Opaque(parts) => {
                self.trouble(unit.expr(expr).span, "this expression is not understood");
                parts.iter().for_each(|part| drop(self.value(*part)));
                Value::default()
            }
        }
    }

    /// Two values by an operator; of a division that does not come out, that it is the same for the same values.
    fn combined(&mut self, op: BinaryOp, left: &Poly, right: &Poly) -> Option<Poly> {
        let is_whole =
            matches!(op, BinaryOp::Divide | BinaryOp::Remainder | BinaryOp::ShiftRight | BinaryOp::BitAnd);
        combined(op, left, right).or_else(|| {
            is_whole.then(|| Poly::atom(self.atoms.id(Atom::Of(op, left.clone(), right.clone()))))
        })
    }

    fn named(&mut self, expr: ExprId) -> Value {
        let unit = self.facts.unit;
        let span = unit.expr(expr).span;
        let Some(symbol) = self.facts.symbols.named(unit, expr) else {
            let number = self.facts.constant(expr).map(Poly::constant);
            return Value { number, leads_to: None };
        };
        if let Some(place) = self.names_of.get(&symbol).cloned() {
            self.access(place, false, span);
            return Value::default();
        }
        if self.is_unclear_name(symbol) {
            self.trouble(span, "this is a second name of something that the loop changes");
        }
        self.names.push((symbol, span));
        if let Some(value) = self.facts.constant(expr) {
            return Value { number: Some(Poly::constant(value)), leads_to: None };
        }
        match self.facts.symbols.get(symbol).class {
            Class::Pointer => {
                let place = self.pointers.get(&symbol).cloned();
                Value { number: None, leads_to: place.unwrap_or_else(|| self.aim_at_entry(symbol, 8)) }
            }
            Class::Array if !unit.is_fortran() => Value {
                number: None,
                leads_to: Some(Place { root: symbol, steps: vec![Step::Index(Some(Poly::default()))] }),
            },
            Class::Array | Class::Record => {
                self.access(Place { root: symbol, steps: Vec::new() }, false, span);
                Value::default()
            }
            Class::Scalar | Class::Unknown => Value { number: self.held(symbol), leads_to: None },
        }
    }

    fn access(&mut self, place: Place, writes: bool, at: Span) {
        self.accesses.push(Access {
            place,
            writes,
            at,
            inside: self.inside,
            conditions: Rc::new(self.conditions.clone()),
            is_atomic: self.in_atomic,
            is_update: false,
            is_deep: false,
        });
    }

    /// All that a place leads to is read.
    fn deep_access(&mut self, place: Place, at: Span) {
        self.access(place, false, at);
        if let Some(last) = self.accesses.last_mut() {
            last.is_deep = true;
        }
    }

    /// A part of a variable is read.
    fn part(&mut self, expr: ExprId) -> Value {
        let span = self.facts.unit.expr(expr).span;
        let Some(place) = self.place(expr) else {
            self.trouble(span, "it is not known what memory this is");
            return Value::default();
        };
        let number = self.kept_member(&place);
        let is_pointer = self.is_pointer_value(&place);
        if number.is_none() {
            self.access(place.clone(), false, span);
        }
        // The value of a pointer leads on.
        let leads_to = is_pointer.then(|| {
            let mut place = place;
            place.steps.extend([Step::Hop, Step::Index(Some(Poly::default()))]);
            place
        });
        Value { number, leads_to }
    }

    /// Whether the value of a part is a pointer: of `double **a`, `a[i]` is one.
    fn is_pointer_value(&self, place: &Place) -> bool {
        let known = self.facts.symbols.get(place.root);
        let taken = place.steps.iter().filter(|step| matches!(step, Step::Index(_))).count();
        let plain = place.steps.iter().all(|step| !matches!(step, Step::Member(_)));
        plain && taken < known.shape.len()
    }

    /// The value of a member that the nest does not assign, if all of the way to it is fixed.
    fn kept_member(&mut self, place: &Place) -> Option<Poly> {
        let Some(Step::Member(last)) = place.steps.last() else { return None };
        let is_plain = place.steps.iter().all(|step| match step {
            Step::Member(_) | Step::Hop => true,
            Step::Index(index) => index.as_ref().and_then(Poly::value) == Some(0),
        });
        if !is_plain || self.assigned_members.contains(last) || self.assigned.contains(&place.root) {
            return None;
        }
        let names = place.steps.iter().filter_map(|step| match step {
            Step::Member(name) => Some(name.as_str()),
            _ => None,
        });
        let text = names.collect::<Vec<_>>().join(".");
        Some(Poly::atom(self.atoms.id(Atom::Member(place.root, text))))
    }

    /// The part of a variable that an expression is; what is in its subscripts is read.
    fn place(&mut self, expr: ExprId) -> Option<Place> {
        let unit = self.facts.unit;
        match &unit.expr(expr).kind {
            ExprKind::Name(_) => {
                let symbol = self.facts.symbols.named(unit, expr)?;
                if let Some(place) = self.names_of.get(&symbol) {
                    return Some(place.clone());
                }
                self.names.push((symbol, unit.expr(expr).span));
                Some(Place { root: symbol, steps: Vec::new() })
            }
            ExprKind::Index(base, index) => {
                let by = match &unit.expr(*index).kind {
                    ExprKind::Triplet(_) => {
                        self.value(*index);
                        None
                    }
                    _ => {
                        self.subscript = Some(*index);
                        self.number(*index)
                    }
                };
                let base = self.base(*base)?;
                self.element(base, by)
            }
            ExprKind::Deref(pointer) => {
                let to = self.value(*pointer).leads_to?;
                Some(to)
            }
            ExprKind::Member { base, name, arrow } => {
                let mut place = if *arrow { self.value(*base).leads_to? } else { self.place(*base)? };
                place.steps.push(Step::Member(name.clone()));
                Some(place)
            }
            ExprKind::Call { callee, args } if unit.is_fortran() => {
                let mut place = match unit.expr(*callee).kind {
                    ExprKind::Member { .. } => self.place(*callee)?,
                    _ => return None,
                };
                for arg in args {
                    let by = self.number(*arg);
                    place.steps.push(Step::Index(by));
                }
                Some(place)
            }
            ExprKind::Cast { .. } => None,
            _ => None,
        }
    }

    /// What a subscript is applied to: a variable, a part of one, or what a pointer leads to.
    fn base(&mut self, expr: ExprId) -> Option<Base> {
        let unit = self.facts.unit;
        if unit.is_fortran() {
            return self.place(expr).map(|place| Base { place, is_pointer: false });
        }
        match &unit.expr(expr).kind {
            ExprKind::Name(_) => {
                let symbol = self.facts.symbols.named(unit, expr)?;
                let class = self.facts.symbols.get(symbol).class;
                match class {
                    Class::Array => {
                        self.names.push((symbol, unit.expr(expr).span));
                        Some(Base { place: Place { root: symbol, steps: Vec::new() }, is_pointer: false })
                    }
                    Class::Pointer => self.value(expr).leads_to.map(|place| Base { place, is_pointer: true }),
                    Class::Scalar | Class::Record | Class::Unknown => None,
                }
            }
            ExprKind::Index(..) => {
                let place = self.place(expr)?;
                let shape = &self.facts.symbols.get(place.root).shape;
                let taken = place.steps.iter().filter(|step| matches!(step, Step::Index(_))).count();
                let members = place.steps.iter().any(|step| matches!(step, Step::Member(_)));
                // Of a member's own dimensions nothing more is known than that they are an array's, if it is one.
                let is_array = members || shape.get(taken).copied()?;
                let mut place = place;
                if !is_array {
                    self.access(place.clone(), false, unit.expr(expr).span);
                    place.steps.extend([Step::Hop, Step::Index(Some(Poly::default()))]);
                }
                Some(Base { place, is_pointer: !is_array })
            }
            ExprKind::Member { name, .. } => {
                let mut place = self.place(expr)?;
                let is_array = self.is_array_member(name);
                if !is_array {
                    self.access(place.clone(), false, unit.expr(expr).span);
                    place.steps.extend([Step::Hop, Step::Index(Some(Poly::default()))]);
                }
                Some(Base { place, is_pointer: !is_array })
            }
            _ => self.value(expr).leads_to.map(|place| Base { place, is_pointer: true }),
        }
    }

    /// Whether every member of this name is an array.
    fn is_array_member(&self, name: &str) -> bool {
        let unit = self.facts.unit;
        let mut all = unit.records.iter().flat_map(|record| &record.members).map(|id| unit.decl(*id));
        let is_array = |decl: &crate::host::ir::Decl| matches!(decl.derived.first(), Some(Derived::Array(_)));
        let mut named = all.by_ref().filter(|decl| decl.name == name).peekable();
        named.peek().is_some() && named.all(is_array)
    }

    fn element(&mut self, base: Base, by: Option<Poly>) -> Option<Place> {
        let Base { mut place, is_pointer } = base;
        if !is_pointer {
            place.steps.push(Step::Index(by));
            return Some(place);
        }
        shift(&mut place, by);
        Some(place)
    }

    fn assign(&mut self, op: Option<BinaryOp>, left: ExprId, right: ExprId) -> Value {
        let mut value = self.value(right);
        if let Some(op) = op {
            let old = self.value(left);
            let number = old.number.as_ref().zip(value.number.as_ref());
            let number = number.and_then(|(old, by)| combined(op, old, by));
            value = Value { number, leads_to: moved(op, old, value) };
        }
        self.write(left, value.clone(), op.is_some());
        value
    }

    fn write(&mut self, target: ExprId, value: Value, is_update: bool) {
        let unit = self.facts.unit;
        let span = unit.expr(target).span;
        if let ExprKind::Name(_) = unit.expr(target).kind {
            let Some(symbol) = self.facts.symbols.named(unit, target) else {
                return self.trouble(span, "it is not known what this name means");
            };
            if let Some(place) = self.names_of.get(&symbol).cloned() {
                return self.access(place, true, span);
            }
            self.names.push((symbol, span));
            let known = self.facts.symbols.get(symbol);
            let derived = self.facts.decl(symbol).and_then(|decl| decl.derived.first());
            if known.kind == SymbolKind::Local && derived == Some(&Derived::Reference) {
                self.trouble(span, format!("`{}` is another name of something", known.name));
            }
            match known.class {
                Class::Array | Class::Record => {
                    self.access(Place { root: symbol, steps: Vec::new() }, true, span);
                }
                Class::Unknown if unit.is_fortran() && self.facts.decl(symbol).is_none() => {
                    self.trouble(span, format!("the declaration of `{}` is not seen", known.name));
                }
                Class::Scalar | Class::Pointer | Class::Unknown => self.set(symbol, value),
            }
            return;
        }
        match self.place(target) {
            Some(place) => {
                self.access(place, true, span);
                if let Some(last) = self.accesses.last_mut() {
                    last.is_update = is_update;
                }
            }
            None => self.trouble(span, "it is not known what memory this is"),
        }
    }

    fn call(&mut self, expr: ExprId, callee: ExprId, args: &[ExprId]) -> Option<Poly> {
        let unit = self.facts.unit;
        let span = unit.expr(expr).span;
        let ExprKind::Name(name) = &unit.expr(callee).kind else {
            if unit.is_fortran()
                && let Some(place) = self.place(expr)
            {
                self.access(place, false, span);
                return None;
            }
            self.trouble(span, "it is not known what this call does");
            args.iter().for_each(|arg| drop(self.value(*arg)));
            return None;
        };
        if let Some(number) = self.written_out(expr, name, args) {
            return Some(number);
        }
        if self.facts.symbols.is_inquiry(name) {
            return None;
        }
        match self.facts.effect(name) {
            Effect::Changes(why) => {
                args.iter().for_each(|arg| drop(self.value(*arg)));
                self.trouble(span, why);
            }
            Effect::Does(does) => {
                for (place, arg) in args.iter().enumerate() {
                    self.argument(*arg, does.arguments.get(place).copied(), span);
                }
                for symbol in does.reads {
                    self.global(symbol, span);
                }
            }
        }
        None
    }

    /// An argument, and what the function does with it.
    fn argument(&mut self, arg: ExprId, does: Option<Argument>, at: Span) {
        let Some(does) = does else {
            // It may read all that a pointer leads to.
            if let Some(mut place) = self.value(arg).leads_to {
                place.steps.pop();
                self.deep_access(place, at);
            }
            return;
        };
        let place = match self.facts.unit.is_fortran() {
            true => match self.facts.unit.expr(arg).kind {
                ExprKind::Name(_) | ExprKind::Index(..) | ExprKind::Member { .. } => self.place(arg),
                _ => {
                    self.value(arg);
                    return;
                }
            },
            false => self.value(arg).leads_to,
        };
        let Some(mut place) = place else {
            if does.writes {
                self.trouble(at, "the call changes an argument");
            }
            return;
        };
        let is_scalar = place.steps.is_empty()
            && matches!(self.facts.symbols.get(place.root).class, Class::Scalar | Class::Unknown);
        if is_scalar {
            // Scalars are looked at by themselves.
            let unknown = self.atoms.unknown(self.inside);
            self.values.insert(place.root, unknown);
            return;
        }
        let is_section = place.steps.contains(&Step::Index(None)) || place.steps.is_empty();
        if does.is_whole && !(self.facts.unit.is_fortran() && is_section) {
            // From the element onwards.
            while matches!(place.steps.last(), Some(Step::Index(_))) {
                place.steps.pop();
            }
        }
        for writes in [false, true].into_iter().filter(|writes| does.writes || !writes) {
            self.access(place.clone(), writes, at);
            if let Some(last) = self.accesses.last_mut() {
                last.is_deep = does.is_whole;
            }
        }
    }

    /// A variable of the file that a function reads.
    fn global(&mut self, symbol: SymbolId, at: Span) {
        let known = self.facts.symbols.get(symbol);
        if self.assigned.contains(&symbol) {
            self.trouble(at, format!("the call reads `{}`, which the loop assigns", known.name));
        }
        match known.class {
            Class::Array | Class::Record => self.deep_access(Place { root: symbol, steps: Vec::new() }, at),
            Class::Pointer => self.deep_access(Place { root: symbol, steps: vec![Step::Hop] }, at),
            Class::Scalar | Class::Unknown => {}
        }
    }

    /// The number that a macro such as `IDX(i, j)` stands for.
    fn written_out(&mut self, expr: ExprId, name: &str, args: &[ExprId]) -> Option<Poly> {
        let (define, params) = self.facts.function_like(name)?;
        if params.len() != args.len()
            || !(super::text::is_enclosed(&define.body) || self.subscript == Some(expr))
        {
            return None;
        }
        let is_word =
            |arg: &ExprId| matches!(self.facts.unit.expr(*arg).kind, ExprKind::Name(_) | ExprKind::Int(_));
        if params
            .iter()
            .zip(args)
            .any(|(param, arg)| !is_word(arg) && !super::text::encloses(&define.body, param))
        {
            return None;
        }
        let mut values = HashMap::new();
        for (param, arg) in params.iter().zip(args) {
            values.insert(param.as_str(), self.number(*arg));
        }
        let at = self.facts.unit.expr(*args.first()?).span.start;
        super::text::number(&define.body, &mut |word| match values.get(word) {
            Some(known) => known.clone(),
            None => {
                let symbol = self.facts.symbols.lookup(word, at)?;
                match self.facts.symbols.get(symbol).kind {
                    SymbolKind::Constant => self.facts.number_of(word).map(Poly::constant),
                    _ => {
                        let span = Span { start: at, end: at };
                        self.names.push((symbol, span));
                        self.held(symbol)
                    }
                }
            }
        })
    }
}

/// What a subscript is applied to.
struct Base {
    place: Place,
    /// It is a pointer's value: the subscript moves on from where it leads.
    is_pointer: bool,
}

/// Moves a place that ends in an element on by some elements.
fn shift(place: &mut Place, by: Option<Poly>) {
    if let Some(Step::Index(last)) = place.steps.last_mut() {
        *last = last.take().zip(by).and_then(|(old, by)| old.plus(&by, 1));
    }
}

/// A pointer and a number: where it leads then.
fn moved(op: BinaryOp, left: Value, right: Value) -> Option<Place> {
    let (mut place, by) = match (op, left, right) {
        (BinaryOp::Add, Value { leads_to: Some(place), .. }, Value { number, .. })
        | (BinaryOp::Add, Value { number, .. }, Value { leads_to: Some(place), .. }) => (place, number),
        (BinaryOp::Subtract, Value { leads_to: Some(place), .. }, Value { number, leads_to: None }) => {
            (place, number.and_then(|number| number.scaled(-1)))
        }
        _ => return None,
    };
    shift(&mut place, by);
    Some(place)
}

fn combined(op: BinaryOp, left: &Poly, right: &Poly) -> Option<Poly> {
    let values = left.value().zip(right.value());
    match op {
        BinaryOp::Add => left.plus(right, 1),
        BinaryOp::Subtract => left.plus(right, -1),
        BinaryOp::Multiply => left.times(right),
        BinaryOp::Divide => values.and_then(|(left, right)| left.checked_div(right)).map(Poly::constant),
        BinaryOp::Remainder => values.and_then(|(left, right)| left.checked_rem(right)).map(Poly::constant),
        BinaryOp::ShiftLeft => {
            let by = right.value().and_then(|by| u32::try_from(by).ok()).filter(|by| *by < 32)?;
            left.scaled(1 << by)
        }
        _ => None,
    }
}

fn says(op: BinaryOp, is_true: bool, left: &Poly, right: &Poly) -> Option<Vec<Guard>> {
    let op = match (op, is_true) {
        (op, true) => op,
        (BinaryOp::Less, false) => BinaryOp::GreaterEqual,
        (BinaryOp::LessEqual, false) => BinaryOp::Greater,
        (BinaryOp::Greater, false) => BinaryOp::LessEqual,
        (BinaryOp::GreaterEqual, false) => BinaryOp::Less,
        (BinaryOp::Equal, false) => BinaryOp::NotEqual,
        (BinaryOp::NotEqual, false) => BinaryOp::Equal,
        _ => return None,
    };
    let up = right.plus(left, -1)?;
    let down = left.plus(right, -1)?;
    Some(match op {
        BinaryOp::Less => vec![Guard::NotNegative(up.shifted(-1)?)],
        BinaryOp::LessEqual => vec![Guard::NotNegative(up)],
        BinaryOp::Greater => vec![Guard::NotNegative(down.shifted(-1)?)],
        BinaryOp::GreaterEqual => vec![Guard::NotNegative(down)],
        BinaryOp::Equal => vec![Guard::NotNegative(up), Guard::NotNegative(down)],
        BinaryOp::NotEqual => vec![Guard::NotZero(up)],
        _ => return None,
    })
}

/// Whether an expression assigns something.
fn has_effect(facts: &Facts, expr: ExprId) -> bool {
    let mut pending = vec![expr];
    while let Some(expr) = pending.pop() {
        let kind = &facts.unit.expr(expr).kind;
        if matches!(kind, ExprKind::Assign(..) | ExprKind::Step { .. }) {
            return true;
        }
        pending.extend(kind.children());
    }
    false
}

/// The variables that a statement assigns.
fn assigned(facts: &Facts, stmt: StmtId) -> BTreeSet<SymbolId> {
    let used = uses(facts.unit, facts.symbols, stmt);
    used.iter().filter(|(_, how)| how.written || how.address_taken).map(|(symbol, _)| symbol).collect()
}

/// The names of the members that a statement assigns.
fn assigned_members(facts: &Facts, stmt: StmtId) -> BTreeSet<String> {
    let span = facts.unit.stmt(stmt).span;
    let mut members = BTreeSet::new();
    for expr in facts.unit.exprs.iter().filter(|expr| span.contains(expr.span)) {
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
