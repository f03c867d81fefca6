//! Statements, loops and conditions of a nest, in the order in which they happen.
//!
//! Invariant: what may happen or not leaves nothing known after it.

use crate::host::ir::{BaseType, BinaryOp, Decl, Derived, ExprId, ExprKind, StmtId, StmtKind, UnaryOp};
use crate::sema::loops::is_unsigned;
use crate::sema::{Class, Header, NotCanonical, SymbolId, SymbolKind, header, uses};
use crate::source::{self, Span};

use super::access::{Loop, Nest};
use super::affine::{Atom, Poly};
use super::condition::{Condition, Guard};

impl Nest<'_> {
    pub(super) fn statement(&mut self, stmt: StmtId) {
        stacker::maybe_grow(64 * 1024, 4 * 1024 * 1024, || self.statement_here(stmt));
    }

    pub(super) fn statement_here(&mut self, id: StmtId) {
        let unit = self.facts.unit;
        match &unit.stmt(id).kind {
            StmtKind::Block(list) => list.iter().for_each(|stmt| self.statement(*stmt)),
            StmtKind::Decl(decls) => {
                for decl in decls {
                    let decl = unit.decl(*decl);
                    let symbol = self.facts.symbols.lookup(&decl.name, decl.name_span.end);
                    self.object(decl);
                    decl.sizes().for_each(|size| drop(self.value(size)));
                    if let Some(symbol) = symbol.filter(|_| decl.derived.first() == Some(&Derived::Reference))
                    {
                        self.second_name(symbol, decl.init, decl.span);
                        continue;
                    }
                    if decl.init.is_some() && self.facts.symbols.may_refer(unit, decl) {
                        self.trouble(decl.span, "it gives something a second name");
                    }
                    let value = decl.init.map(|init| self.value(init)).unwrap_or_default();
                    if let Some(symbol) = symbol {
                        self.set(symbol, value);
                    }
                }
            }
            StmtKind::Expr(expr) => {
                if self.is_unclear_statement(*expr) {
                    self.trouble(unit.stmt(id).span, "this statement is not one of a computation");
                }
                self.value(*expr);
            }
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
    }

    /// Notes an object that runs code of the program where it begins or ends.
    fn object(&mut self, decl: &Decl) {
        let is_object =
            !decl.derived.iter().any(|part| matches!(part, Derived::Pointer | Derived::Reference));
        if let BaseType::Named(name) | BaseType::Tagged(name) = &decl.base
            && is_object
            && self.facts.symbols.operators().is_busy(name)
        {
            self.trouble(
                decl.span,
                format!("what an object of `{name}` does as it begins or ends is not known"),
            );
        }
    }

    /// Whether a statement that is an expression may do more than is seen: in Fortran, it moves data in or out; in C, it is
    /// what a macro stands for.
    pub(super) fn is_unclear_statement(&self, expr: ExprId) -> bool {
        match &self.facts.unit.expr(expr).kind {
            ExprKind::Initialiser(_) => true,
            ExprKind::Name(_) => self
                .facts
                .symbols
                .named(self.facts.unit, expr)
                .is_none_or(|symbol| self.facts.symbols.get(symbol).kind == SymbolKind::Constant),
            _ => false,
        }
    }

    /// Whether a macro that is used in an expression touches no memory, and nothing that the nest changes.
    pub(super) fn is_harmless(&self, name: &str, at: Span) -> bool {
        self.facts.is_harmless(name, at.start, &|symbol| self.assigned.contains(&symbol))
    }

    /// A second name of something is declared.
    pub(super) fn second_name(&mut self, symbol: SymbolId, init: Option<ExprId>, at: Span) {
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

    /// What comes after happens only if the jump did not.
    pub(super) fn jump(&mut self) {
        self.condition(Condition { inside: self.inside, says: Vec::new() });
    }

    pub(super) fn under(&mut self, says: Vec<Guard>, run: impl FnOnce(&mut Self)) {
        let depth = self.conditions.len();
        self.condition(Condition { inside: self.inside, says });
        run(self);
        let jumped = self.conditions.len() > depth + 1;
        self.conditions.truncate(depth);
        if jumped {
            self.jump();
        }
    }

    /// `if … else if … else`, however long: each way through it begins with what was known before.
    pub(super) fn branch(&mut self, cond: ExprId, then: StmtId, other: Option<StmtId>) {
        let unit = self.facts.unit;
        let depth = self.conditions.len();
        let mut says = self.chosen(cond);
        let start = self.known.mark();
        let mut early = (Vec::new(), Vec::new());
        let mut ways = Vec::new();
        let mut rest = (then, other);
        let mut denied = 0;
        loop {
            let here = self.known.mark();
            self.under(says.0, |nest| nest.statement(rest.0));
            ways.push(self.known.take_back(here));
            let Some(other) = rest.1 else { break };
            self.condition(Condition { inside: self.inside, says: says.1 });
            denied += 1;
            let StmtKind::If { cond, then, other: next } = &unit.stmt(other).kind else {
                self.statement(other);
                break;
            };
            let before = self.known.mark();
            says = self.chosen(*cond);
            let changed = self.known.changed_since(before);
            early.0.extend(changed.0);
            early.1.extend(changed.1);
            rest = (*then, *next);
        }
        // The last way, or none of them.
        ways.push(self.known.take_back(start));
        let jumped = self.conditions.len() > depth + denied;
        self.conditions.truncate(depth);
        if jumped {
            self.jump();
        }
        let (atoms, inside) = (&mut self.atoms, self.inside);
        self.known.join(&ways, &early, || atoms.unknown(inside));
    }

    /// Looks at a condition: what it says where it holds, and where it does not.
    fn chosen(&mut self, cond: ExprId) -> (Vec<Guard>, Vec<Guard>) {
        self.value(cond);
        match self.facts.changes(cond) {
            true => (Vec::new(), Vec::new()),
            false => (self.guards(cond, true), self.guards(cond, false)),
        }
    }

    /// Forgets the values of what `stmt` assigns.
    pub(super) fn forget(&mut self, stmt: StmtId) {
        let used = uses(self.facts.unit, self.facts.symbols, stmt);
        for (symbol, _) in used.iter().filter(|(_, how)| how.written || how.address_taken) {
            let unknown = self.atoms.unknown(self.inside);
            self.known.set_value(symbol, unknown);
            self.known.set_pointer(symbol, None);
        }
    }

    pub(super) fn enter(&mut self, stmt: StmtId, header: Result<Header, NotCanonical>) -> usize {
        let at = self.loops.len();
        let counter = self.atoms.id(Atom::Counter(at));
        let accesses = self.accesses.len()..self.accesses.len();
        self.loops.push(Loop { stmt, header, counter, outer: self.inside, bounds: Vec::new(), accesses });
        self.inside = Some(at);
        at
    }

    /// A loop that does not count: each of its iterations begins with what another one left.
    pub(super) fn repeated(&mut self, stmt: StmtId, run: impl FnOnce(&mut Self)) {
        let outer = self.inside;
        let depth = self.conditions.len();
        let header = header(self.facts.unit, self.facts.symbols, stmt);
        let at = self.enter(stmt, header.and(Err(NotCanonical("it does not count"))));
        self.forget(stmt);
        run(self);
        self.loops[at].accesses.end = self.accesses.len();
        self.conditions.truncate(depth);
        self.inside = outer;
        self.forget(stmt);
    }

    pub(super) fn counted(&mut self, stmt: StmtId) {
        let unit = self.facts.unit;
        let StmtKind::For { init, cond, step, body } = &unit.stmt(stmt).kind else { return };
        let header = match header(unit, self.facts.symbols, stmt) {
            Ok(header) => header,
            Err(_) => {
                init.iter().for_each(|init| self.statement(*init));
                self.repeated(stmt, |nest| {
                    cond.iter().for_each(|cond| drop(nest.value(*cond)));
                    nest.under(Vec::new(), |nest| {
                        nest.statement(*body);
                        step.iter().for_each(|step| drop(nest.value(*step)));
                    });
                });
                return;
            }
        };
        let first = self.value(header.first).number.map(|first| self.held_by(header.var, first));
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
        self.asked_each_time(&header, unit.stmt(stmt).span);
        let (value, bounds) = self.count(at, outer, first, bound, step, &header);
        self.known.set_value(header.var, value);
        self.loops[at].bounds = bounds;
        self.statement(*body);
        self.loops[at].accesses.end = self.accesses.len();
        self.conditions.truncate(depth);
        self.inside = outer;
        self.forget(*body);
        let unknown = self.atoms.unknown(self.inside);
        self.known.set_value(header.var, unknown);
    }

    /// C asks for the bound and the step of a loop in each iteration.
    fn asked_each_time(&mut self, header: &Header, at: Span) {
        if self.has_other_name(header.var) {
            let name = &self.facts.symbols.get(header.var).name;
            self.trouble(at, format!("its variable `{name}` has another name"));
        }
        if self.facts.unit.is_fortran() {
            return;
        }
        let quiet = (self.names.len(), self.troubles.len());
        for expr in std::iter::once(header.bound).chain(header.step) {
            self.value(expr);
        }
        self.names.truncate(quiet.0);
        self.troubles.truncate(quiet.1);
    }

    /// What the loop variable holds, and what is not negative while the loop runs.
    pub(super) fn count(
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
        // A bound that the loop moves away from is not one.
        let rises = match header.compare {
            BinaryOp::Less | BinaryOp::LessEqual => Some(true),
            BinaryOp::Greater | BinaryOp::GreaterEqual => Some(false),
            _ => None,
        };
        let bound = bound.filter(|_| rises.is_none_or(|rises| rises == (sign > 0)));
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

    /// Whether the larger one of two values that are compared may be negative, and is compared as an unsigned number.
    fn may_wrap(&self, larger: &Poly, left: ExprId, right: ExprId) -> bool {
        let facts = self.facts;
        let counts =
            larger.atoms().any(|atom| matches!(self.atoms.get(atom), Atom::Counter(_) | Atom::Unknown(..)));
        let is_unsigned = |expr: ExprId| {
            let text = facts.file.text(facts.unit.expr(expr).span);
            is_unsigned(facts.unit, facts.symbols, expr)
                || text.contains("unsigned")
                || source::words(&text).any(|word| {
                    word.starts_with(|c: char| c.is_ascii_digit()) && word.contains(['u', 'U'])
                        || word.starts_with("uint")
                        || word == "size_t"
                })
        };
        counts
            && !facts.unit.is_fortran()
            && (is_unsigned(left) || is_unsigned(right))
            && !self.is_between(larger, 0, i64::MAX - 1)
    }

    /// What a condition says where it is `true`, or false.
    pub(super) fn guards(&mut self, cond: ExprId, is_true: bool) -> Vec<Guard> {
        let unit = self.facts.unit;
        match &unit.expr(cond).kind {
            ExprKind::Binary(op, left, right)
                if *op == if is_true { BinaryOp::And } else { BinaryOp::Or } =>
            {
                let mut guards = self.guards(*left, is_true);
                guards.extend(self.guards(*right, is_true));
                guards
            }
            ExprKind::Unary(UnaryOp::Not, operand) => self.guards(*operand, !is_true),
            ExprKind::Binary(op, left, right) => {
                let quiet = (self.accesses.len(), self.names.len(), self.troubles.len());
                let difference = self.value(*right).number.zip(self.value(*left).number);
                self.accesses.truncate(quiet.0);
                self.names.truncate(quiet.1);
                self.troubles.truncate(quiet.2);
                let Some((right_value, left_value)) = difference else { return Vec::new() };
                let larger = match (op, is_true) {
                    (BinaryOp::Less | BinaryOp::LessEqual, true)
                    | (BinaryOp::Greater | BinaryOp::GreaterEqual, false) => &right_value,
                    _ => &left_value,
                };
                if self.may_wrap(larger, *left, *right) {
                    return Vec::new();
                }
                says(*op, is_true, &left_value, &right_value).unwrap_or_default()
            }
            _ => Vec::new(),
        }
    }
}

pub(super) fn says(op: BinaryOp, is_true: bool, left: &Poly, right: &Poly) -> Option<Vec<Guard>> {
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
