//! Data flow of a statement: which names it reads and writes, which it reads before it has surely written them,
//! and which are still wanted after it.
//!
//! Invariant: errs on one side: `exposed` and `live_after` may name too many symbols, never too few (jumps and
//! conditional code count as not written).

use std::collections::BTreeSet;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::host::ir::{BinaryOp, Children, Decl, Derived, ExprId, ExprKind, StmtId, StmtKind, Unit};
use crate::source::Span;

use super::assigned::Assigned;
use super::hidden::Target;
use super::symbol::{Class, SymbolId, SymbolKind};
use super::symbols::Symbols;
use super::uses::{Use, Uses};

/// The uses in `stmt`.
pub fn uses(unit: &Unit, symbols: &Symbols, stmt: StmtId) -> Rc<Uses> {
    symbols.used.or((stmt, false), || uses_beside(unit, symbols, stmt, &FxHashMap::default()))
}

/// The uses in `stmt`, where no canonical loop counts as using its variable in its header.
pub fn uses_beside_headers(unit: &Unit, symbols: &Symbols, stmt: StmtId) -> Rc<Uses> {
    symbols.used.or((stmt, true), || {
        let mut controlled = FxHashMap::default();
        let mut pending = vec![stmt];
        while let Some(at) = pending.pop() {
            if let Ok(header) = super::loops::header(unit, symbols, at) {
                controlled.insert(at, header.var);
            }
            pending.extend(children(unit, at));
        }
        uses_beside(unit, symbols, stmt, &controlled)
    })
}

/// The uses in `stmt`, where each loop of `controlled` does not count as using its variable in its header:
/// a construct gives the variable a home of its own.
pub fn uses_beside(
    unit: &Unit,
    symbols: &Symbols,
    stmt: StmtId,
    controlled: &FxHashMap<StmtId, SymbolId>,
) -> Uses {
    let mut flow = Flow::new(unit, symbols, controlled);
    flow.stmt(stmt);
    for (place, name) in unit.unseen.names_in(unit.stmt(stmt).span) {
        flow.touched(symbols.lookup(name, *place), Span { start: *place, end: *place });
    }
    flow.uses
}

/// Whether a statement names a variable outside of some parts.
pub fn is_named_outside(
    unit: &Unit,
    symbols: &Symbols,
    (stmt, symbol): (StmtId, SymbolId),
    parts: &[Span],
) -> bool {
    unit.expr_ids_in(unit.stmt(stmt).span).any(|id| {
        let span = unit.expr(id).span;
        symbols.named(unit, id) == Some(symbol) && !parts.iter().any(|one| one.contains(span))
    })
}

/// The variables that an expression reads.
pub fn reads_of_expr(unit: &Unit, symbols: &Symbols, expr: ExprId) -> Vec<SymbolId> {
    let none = FxHashMap::default();
    let mut flow = Flow::new(unit, symbols, &none);
    flow.expr(expr);
    flow.uses.names.keys().copied().collect()
}

/// Those of `wanted` whose value may still be read once `stmt`, a part of the function body `body`, is done. Statics, members,
/// references and what has another name by `equivalence` are always among them, and `escaping` are those whose address the function takes.
pub fn live_after(
    unit: &Unit,
    symbols: &Symbols,
    body: StmtId,
    stmt: StmtId,
    wanted: &BTreeSet<SymbolId>,
    escaping: &BTreeSet<SymbolId>,
) -> BTreeSet<SymbolId> {
    let is_kept = |symbol: &SymbolId| {
        let known = symbols.get(*symbol);
        let outlives = matches!(known.kind, SymbolKind::Static | SymbolKind::Member) || known.is_reference;
        outlives || known.fortran.is_equivalent || escaping.contains(symbol)
    };
    // What stands in another file may read them.
    if unit.unseen.reads_always(unit.stmt(stmt).span) || unit.included_among(body).is_some() {
        return wanted.clone();
    }
    let (mut live, mut open): (BTreeSet<SymbolId>, BTreeSet<SymbolId>) =
        wanted.iter().copied().partition(is_kept);
    if symbols.goes_other_ways(unit.stmt(body).span) {
        live.extend(read_elsewhere(unit, symbols, (body, stmt), open));
        return live;
    }
    let none = FxHashMap::default();
    let mut flow = Flow { asks: true, ..Flow::new(unit, symbols, &none) };
    // What comes after, step by step, until each variable is read or surely overwritten, on the ways that jumps take, too.
    let mut settle = |flow: &Flow| {
        let read =
            |symbol: &SymbolId| flow.uses.of(*symbol).is_some_and(|used| used.exposed || used.address_taken);
        live.extend(open.iter().copied().filter(read));
        let gone = |symbol: &SymbolId| {
            let is_assigned = |all: &Assigned| all.contains(*symbol);
            flow.assigned.as_ref().is_some_and(is_assigned) && flow.left.as_ref().is_none_or(is_assigned)
        };
        open.retain(|symbol| !read(symbol) && !gone(symbol));
        open.is_empty()
    };
    let path = path_to(unit, body, stmt);
    'outwards: for pair in path.windows(2).rev() {
        let [outer, inner] = pair else { continue };
        match &unit.stmt(*outer).kind {
            StmtKind::Block(list) => {
                let mut from = unit.stmt(*inner).span.end;
                for after in list.iter().skip_while(|stmt| *stmt != inner).skip(1) {
                    flow.asked_between(from, unit.stmt(*after).span.start);
                    if settle(&flow) {
                        break 'outwards;
                    }
                    flow.stmt(*after);
                    from = unit.stmt(*after).span.end;
                }
                flow.asked_between(from, unit.stmt(*outer).span.end);
            }
            StmtKind::For { .. } | StmtKind::While { .. } | StmtKind::DoWhile { .. } => {
                flow.arrive();
                flow.again(*outer);
            }
            StmtKind::Switch { .. } => flow.arrive(),
            StmtKind::Decl(_)
            | StmtKind::Expr(_)
            | StmtKind::Empty
            | StmtKind::If { .. }
            | StmtKind::Labeled { .. }
            | StmtKind::Return(_)
            | StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Goto(_)
            | StmtKind::Opaque(_) => {}
        }
        if flow.assigned.is_none() {
            flow.assigned = Some(Assigned::default());
        }
    }
    // The label may stand anywhere.
    if !settle(&flow) && flow.goes {
        flow.assigned = Some(Assigned::default());
        flow.stmt(body);
        settle(&flow);
    }
    live
}

/// What is evaluated of the arguments of an inquiry function of Fortran: all but the object that the first one is.
pub(super) fn evaluated(unit: &Unit, args: &[ExprId]) -> Vec<ExprId> {
    let Some((first, others)) = args.split_first() else { return Vec::new() };
    let (mut found, mut at) = (others.to_vec(), *first);
    loop {
        match &unit.expr(at).kind {
            ExprKind::Name(_) => return found,
            ExprKind::Member { base, .. } => at = *base,
            ExprKind::Index(base, index) => {
                found.push(*index);
                at = *base;
            }
            _ => {
                found.push(at);
                return found;
            }
        }
    }
}

/// Those of `open` that `body` reads by their names outside of `stmt`, a part of it, before or after: what a macro hides may look
/// like a declaration of another variable.
fn read_elsewhere(
    unit: &Unit,
    symbols: &Symbols,
    (body, stmt): (StmtId, StmtId),
    open: BTreeSet<SymbolId>,
) -> impl Iterator<Item = SymbolId> {
    let elsewhere = uses_outside(unit, symbols, body, stmt);
    let read = elsewhere.iter().filter(|(_, used)| used.read || used.part_read || used.address_taken);
    let names: BTreeSet<&str> = read.map(|(symbol, _)| symbols.get(symbol).name.as_str()).collect();
    open.into_iter().filter(move |symbol| names.contains(symbols.get(*symbol).name.as_str()))
}

/// The uses in `body` but not in `stmt`, a part of it.
fn uses_outside(unit: &Unit, symbols: &Symbols, body: StmtId, stmt: StmtId) -> Uses {
    let none = FxHashMap::default();
    let mut flow = Flow { asks: true, ..Flow::new(unit, symbols, &none) };
    for pair in path_to(unit, body, stmt).windows(2) {
        let [outer, inner] = pair else { continue };
        let outer = unit.stmt(*outer);
        match &outer.kind {
            StmtKind::Block(_) => flow.asked_between(outer.span.start, outer.span.end),
            StmtKind::For { cond, step, .. } => cond.iter().chain(step).for_each(|expr| flow.expr(*expr)),
            StmtKind::If { cond, .. }
            | StmtKind::While { cond, .. }
            | StmtKind::DoWhile { cond, .. }
            | StmtKind::Switch { cond, .. } => flow.expr(*cond),
            _ => {}
        }
        outer.kind.children().filter(|child| child != inner).for_each(|child| flow.stmt(child));
    }
    flow.uses
}

/// The symbols whose address `stmt` takes, so that others may know it afterwards. A procedure of Fortran forgets where its
/// arguments are, unless they are targets (Fortran 2018, 15.5.2.4).
pub fn escaping(unit: &Unit, symbols: &Symbols, stmt: StmtId) -> BTreeSet<SymbolId> {
    let used = uses(unit, symbols, stmt);
    let is_kept = |symbol: SymbolId| {
        let fortran = &symbols.get(symbol).fortran;
        !unit.is_fortran() || fortran.target || fortran.pointer
    };
    let taken = used.iter().filter(|(_, used)| used.address_taken).map(|(symbol, _)| symbol);
    let lent = super::lent::lent(unit, symbols, stmt);
    // What `associate` gives another name (Fortran 2018, 11.1.3.3).
    let aliases = unit.decls_in(unit.stmt(stmt).span).filter(|decl| unit.is_fortran() && decl.is_alias());
    let named = aliases.filter_map(|decl| symbols.named(unit, decl.init?));
    taken.filter(|symbol| is_kept(*symbol)).chain(named).chain(lent.iter().copied()).collect()
}

/// The statements from `from` down to `to`, both included; just `from` if `to` is not below it.
pub fn path_to(unit: &Unit, from: StmtId, to: StmtId) -> Vec<StmtId> {
    let wanted = unit.stmt(to).span;
    let mut path = vec![from];
    let mut at = from;
    while at != to {
        let span = |child: &StmtId| unit.stmt(*child).span;
        let inner = children(unit, at);
        let next = inner.clone().find(|child| span(child).contains(wanted));
        // A body of Fortran begins with its first statement; a region that begins it, with the end of its directive.
        let overlaps = |child: &StmtId| span(child).start < wanted.end && wanted.start < span(child).end;
        let next = next.or_else(|| inner.clone().find(overlaps));
        let Some(next) = next else { break };
        path.push(next);
        at = next;
    }
    path
}

/// The statements directly inside `stmt`.
pub fn children(unit: &Unit, stmt: StmtId) -> Children<'_, StmtId> {
    unit.stmt(stmt).kind.children()
}

struct Flow<'a> {
    unit: &'a Unit,
    symbols: &'a Symbols,
    controlled: &'a FxHashMap<StmtId, SymbolId>,
    uses: Uses,
    /// What is surely assigned here; `None` after a jump: nothing gets here.
    assigned: Option<Assigned>,
    /// The loops and `switch` statements around, outermost first; `None` for a loop.
    around: Vec<Option<Switch>>,
    /// What is surely assigned at each jump that left all of `around`, or went to a label; `None` if there was none.
    left: Option<Assigned>,
    /// Whether a jump to a label was met.
    goes: bool,
    /// The complex number of which the statement just before assigned a part, and that part.
    half: Option<(SymbolId, String)>,
    /// A variable whose uses do not count at the moment.
    hidden: Option<SymbolId>,
    /// The variables of the loops around that have a home of their own: they have a value there.
    homes: Vec<SymbolId>,
    /// What clauses of directives read counts, too.
    asks: bool,
}

/// A `switch` whose body is being looked at.
#[derive(Default)]
struct Switch {
    /// What was surely assigned when it began.
    entry: Option<Assigned>,
    /// What is surely assigned on all ways out of it that were met so far; `None` if there was none.
    out: Option<Assigned>,
    /// One of its branches is taken if no other is.
    has_default: bool,
}

impl<'a> Flow<'a> {
    fn new(unit: &'a Unit, symbols: &'a Symbols, controlled: &'a FxHashMap<StmtId, SymbolId>) -> Flow<'a> {
        Flow {
            unit,
            symbols,
            controlled,
            uses: Uses::default(),
            assigned: Some(Assigned::default()),
            around: Vec::new(),
            left: None,
            goes: false,
            half: None,
            hidden: None,
            homes: Vec::new(),
            asks: false,
        }
    }

    fn stmt(&mut self, id: StmtId) {
        let asked = self.unit.asked.get();
        let is_copying = asked.is_some_and(|asked| asked.copies(id.0));
        if let Some(asked) = asked.filter(|_| self.asks) {
            self.asked(asked.before(id.0));
        }
        let before = is_copying.then(|| self.assigned.clone());
        if !matches!(self.unit.stmt(id).kind, StmtKind::Expr(_)) {
            self.half = None;
        }
        stacker::maybe_grow(64 * 1024, 4 * 1024 * 1024, || self.stmt_here(id));
        if let Some(before) = before.filter(|_| self.assigned.is_some()) {
            self.assigned = before;
        }
    }

    /// The statements of a block, and the directives beside them that stand alone.
    fn block(&mut self, block: Span, list: &[StmtId]) {
        let mut from = block.start;
        for stmt in list {
            let span = self.unit.stmt(*stmt).span;
            self.asked_between(from, span.start);
            self.stmt(*stmt);
            from = span.end;
        }
        self.asked_between(from, block.end);
    }

    /// What directives read that stand alone between two places.
    fn asked_between(&mut self, from: u32, to: u32) {
        if let Some(asked) = self.unit.asked.get().filter(|_| self.asks) {
            self.asked(asked.between(from, to));
        }
    }

    /// What clauses read.
    fn asked(&mut self, all: &[(u32, Vec<String>)]) {
        for (place, names) in all {
            for name in names {
                self.read(self.symbols.lookup(name, *place), Span { start: *place, end: *place });
            }
        }
    }

    fn stmt_here(&mut self, id: StmtId) {
        let unit = self.unit;
        match &unit.stmt(id).kind {
            StmtKind::Block(list) => self.block(unit.stmt(id).span, list),
            StmtKind::Decl(decls) => decls.iter().for_each(|decl| self.decl(unit.decl(*decl))),
            StmtKind::Expr(expr) => self.expr(*expr),
            StmtKind::If { cond, then, other } => {
                self.expr(*cond);
                let before = self.assigned.clone();
                self.stmt(*then);
                let first = std::mem::replace(&mut self.assigned, before);
                other.iter().for_each(|other| self.stmt(*other));
                self.assigned = meet(first, self.assigned.take());
            }
            StmtKind::For { init, cond, step, body } => {
                let hidden = self.controlled.get(&id).copied();
                self.hiding(hidden, |flow| init.iter().for_each(|init| flow.stmt(*init)));
                self.hiding(hidden, |flow| cond.iter().for_each(|cond| flow.expr(*cond)));
                let before = self.assigned.clone();
                let around = self.homes.len();
                self.homes.extend(hidden);
                self.body(*body);
                self.homes.truncate(around);
                // No jump from outside gets to a label in Fortran's loops.
                if unit.is_fortran()
                    && let (Some(assigned), Some(before)) = (&mut self.assigned, &before)
                {
                    *assigned = assigned.with(before);
                }
                self.hiding(hidden, |flow| step.iter().for_each(|step| flow.expr(*step)));
                if !self.surely_runs(id) || self.assigned.is_none() {
                    self.assigned = before;
                }
            }
            StmtKind::While { cond, body } => {
                self.expr(*cond);
                let before = self.assigned.clone();
                self.body(*body);
                self.assigned = before;
            }
            StmtKind::DoWhile { body, cond } => {
                let before = self.assigned.clone();
                self.body(*body);
                if jumps(self.unit, *body) {
                    self.assigned = before;
                }
                self.expr(*cond);
            }
            StmtKind::Switch { cond, body } => {
                self.expr(*cond);
                self.switch(*body);
            }
            StmtKind::Labeled { label, stmt } => {
                self.label(id, label.is_none());
                stmt.iter().for_each(|stmt| self.stmt(*stmt));
                if label.is_none() && unit.is_fortran() {
                    // A branch of Fortran does not go on in the next one.
                    self.leave_switch();
                }
            }
            StmtKind::Return(value) => {
                value.iter().for_each(|value| self.expr(*value));
                self.assigned = None;
            }
            StmtKind::Break => self.leave_switch(),
            StmtKind::Continue => {
                let is_outside = !self.around.iter().any(Option::is_none);
                self.leave(is_outside);
            }
            StmtKind::Goto(label) => {
                // In Fortran, another one is the name of a construct around.
                let is_label = |label: &str| label.starts_with(|first: char| first.is_ascii_digit());
                self.goes |= !unit.is_fortran() || label.is_empty() || is_label(label);
                self.leave(true);
            }
            StmtKind::Opaque(exprs) => exprs.iter().for_each(|expr| self.all_unclear(*expr)),
            StmtKind::Empty => {}
        }
    }

    fn decl(&mut self, decl: &Decl) {
        if let Some(init) = decl.init {
            match decl.derived.first() {
                // Another name of it: whatever is done to the one is done to the other.
                Some(Derived::Reference) if !decl.is_const => self.unclear(init),
                _ if self.symbols.may_refer(self.unit, decl) => self.referred(init),
                _ => self.expr(init),
            }
            // The name is visible after its declarator.
            let end = decl.name_span.end;
            let symbol = self.symbols.lookup(&decl.name, end);
            self.write(symbol, Span { start: end, end });
        }
        decl.sizes().for_each(|size| self.expr(size));
    }

    /// What an object is made from that holds references: all of it has another name then.
    fn referred(&mut self, init: ExprId) {
        let unit = self.unit;
        match &unit.expr(init).kind {
            ExprKind::Initialiser(parts) => parts.iter().for_each(|part| self.referred(*part)),
            _ => self.unclear(init),
        }
    }

    /// The body of a loop.
    fn body(&mut self, body: StmtId) {
        self.around.push(None);
        self.stmt(body);
        self.around.pop();
    }

    /// The body of a `switch`: after it, what all of its branches assign is assigned if one of them is surely taken.
    fn switch(&mut self, body: StmtId) {
        let before = self.assigned.clone();
        self.around.push(Some(Switch { entry: before.clone(), ..Switch::default() }));
        self.stmt(body);
        let Some(switch) = self.around.pop().flatten() else { return };
        let out = meet(switch.out, self.assigned.take());
        self.assigned = if switch.has_default { out } else { before };
    }

    /// A label: code may get here from its `switch`, or from anywhere.
    fn label(&mut self, id: StmtId, is_case: bool) {
        let switch = self.around.iter_mut().rev().find_map(Option::as_mut);
        self.assigned = match switch.filter(|_| is_case) {
            Some(switch) => {
                switch.has_default |= self.unit.defaults.binary_search(&id).is_ok();
                switch.entry.clone()
            }
            None => Some(Assigned::default()),
        };
    }

    /// The way out of the innermost loop or `switch`.
    fn leave_switch(&mut self) {
        match self.around.last_mut() {
            Some(Some(switch)) => switch.out = meet(switch.out.take(), self.assigned.take()),
            Some(None) => self.assigned = None,
            None => self.leave(true),
        }
    }

    /// A jump; `is_outside`: it leaves all that is looked at, or its place is not looked for.
    fn leave(&mut self, is_outside: bool) {
        let here = self.assigned.take();
        if is_outside {
            self.left = meet(self.left.take(), here);
        }
    }

    /// A place that jumps may come to which were met before.
    fn arrive(&mut self) {
        self.assigned = meet(self.assigned.take(), self.left.clone());
    }

    /// A loop around, once more: its last part, its condition, its body.
    fn again(&mut self, id: StmtId) {
        let unit = self.unit;
        let before = self.assigned.clone();
        match &unit.stmt(id).kind {
            StmtKind::For { cond, step, body, .. } => {
                step.iter().chain(cond).for_each(|expr| self.expr(*expr));
                self.body(*body);
            }
            StmtKind::While { cond, body } | StmtKind::DoWhile { body, cond } => {
                self.expr(*cond);
                self.body(*body);
            }
            _ => {}
        }
        self.assigned = before;
    }

    fn hiding(&mut self, hidden: Option<SymbolId>, run: impl FnOnce(&mut Self)) {
        let outer = self.hidden;
        self.hidden = hidden.or(outer);
        run(self);
        self.hidden = outer;
    }

    /// Whether the body of the `for` loop runs at least once and to its end each time: literal bounds and no jumps.
    fn surely_runs(&self, id: StmtId) -> bool {
        let StmtKind::For { init, cond, body, .. } = &self.unit.stmt(id).kind else { return false };
        let first = init.and_then(|init| match &self.unit.stmt(init).kind {
            StmtKind::Decl(decls) => decls.first().and_then(|decl| self.unit.decl(*decl).init),
            StmtKind::Expr(expr) => match self.unit.expr(*expr).kind {
                ExprKind::Assign(None, _, right) => Some(right),
                _ => None,
            },
            _ => None,
        });
        let value = |id: ExprId| match self.unit.expr(id).kind {
            ExprKind::Int(value) => Some(value),
            _ => None,
        };
        let runs = match (first.and_then(value), cond.map(|cond| &self.unit.expr(cond).kind)) {
            (Some(first), Some(ExprKind::Binary(BinaryOp::Less, _, bound))) => {
                value(*bound).is_some_and(|bound| first < bound)
            }
            (Some(first), Some(ExprKind::Binary(BinaryOp::LessEqual, _, bound))) => {
                value(*bound).is_some_and(|bound| first <= bound)
            }
            _ => false,
        };
        runs && !jumps(self.unit, *body)
    }

    fn expr(&mut self, id: ExprId) {
        stacker::maybe_grow(64 * 1024, 4 * 1024 * 1024, || self.expr_here(id));
    }

    fn expr_here(&mut self, id: ExprId) {
        let unit = self.unit;
        let span = unit.expr(id).span;
        match &unit.expr(id).kind {
            ExprKind::Name(name) => {
                self.read(self.symbols.named(unit, id), span);
                if self.symbols.assigns_by_others(name) {
                    return self.changed_by_macro(name, span, &[]);
                }
                self.read_by_macro(name, span, &[]);
            }
            ExprKind::Int(_) | ExprKind::Literal | ExprKind::Sizeof => {}
            ExprKind::Unary(_, operand) | ExprKind::Cast { operand, .. } => self.expr(*operand),
            ExprKind::Binary(BinaryOp::And | BinaryOp::Or, left, right) => {
                self.expr(*left);
                let before = self.assigned.clone();
                self.expr(*right);
                self.assigned = before;
            }
            ExprKind::Binary(_, left, right) | ExprKind::Comma(left, right) => {
                self.expr(*left);
                self.expr(*right);
                for operand in [*left, *right] {
                    if self.symbols.is_taken(unit, operand) {
                        self.all_unclear(operand);
                    }
                }
            }
            ExprKind::Assign(op, left, right) => {
                self.expr(*right);
                if op.is_some() {
                    self.expr(*left);
                    self.assign_what_was_read(*left);
                } else {
                    self.assign(*left);
                }
            }
            ExprKind::Step { operand, .. } => {
                self.expr(*operand);
                self.assign_what_was_read(*operand);
            }
            ExprKind::Index(base, index) => {
                self.expr(*base);
                self.expr(*index);
                self.part_of_what_was_read(*base);
            }
            ExprKind::Member { base, .. } | ExprKind::Deref(base) => {
                self.expr(*base);
                self.part_of_what_was_read(*base);
            }
            ExprKind::AddressOf(operand) => self.unclear(*operand),
            ExprKind::Call { callee, args } => self.call(*callee, args),
            ExprKind::Conditional(cond, first, second) => {
                self.expr(*cond);
                let before = self.assigned.clone();
                self.expr(*first);
                let one = std::mem::replace(&mut self.assigned, before);
                self.expr(*second);
                self.assigned = meet(one, self.assigned.take());
            }
            ExprKind::Initialiser(parts) => parts.iter().for_each(|part| self.expr(*part)),
            ExprKind::Triplet(parts) => parts.iter().flatten().for_each(|part| self.expr(*part)),
            ExprKind::Opaque(parts) => parts.iter().for_each(|part| self.all_unclear(*part)),
        }
    }

    /// A part of something that was not understood: each name in it may be read and written, now or later.
    fn all_unclear(&mut self, id: ExprId) {
        let unit = self.unit;
        self.unclear(id);
        // What Fortran hands on is forgotten afterwards.
        let mut pending = if unit.is_fortran() { Vec::new() } else { vec![id] };
        while let Some(id) = pending.pop() {
            let expr = unit.expr(id);
            if let ExprKind::Name(_) = expr.kind {
                self.touched(self.symbols.named(unit, id), expr.span);
                self.part(id, true);
            }
            // They see to their own parts.
            if !matches!(expr.kind, ExprKind::Opaque(_)) {
                pending.extend(expr.kind.children());
            }
        }
    }

    fn call(&mut self, callee: ExprId, args: &[ExprId]) {
        match &self.unit.expr(callee).kind {
            ExprKind::Name(name) => {
                let span = self.unit.expr(callee).span;
                self.uses.calls.entry(name.clone()).or_insert(span);
                let known = self.symbols.named(self.unit, callee);
                if known.is_some_and(|symbol| self.symbols.get(symbol).kind != SymbolKind::Function) {
                    self.read(known, span);
                }
            }
            ExprKind::Member { base, .. } => {
                // A member function may change its object.
                self.expr(callee);
                self.part(*base, true);
            }
            _ => {
                self.expr(callee);
                // An object that is called may change.
                if self.unit.is_cpp() {
                    self.lend(callee);
                }
            }
        }
        let called = match &self.unit.expr(callee).kind {
            ExprKind::Name(name) | ExprKind::Member { name, .. } => Some(name),
            _ => None,
        };
        let at = self.unit.expr(callee).span;
        for name in called.map(|name| self.symbols.assigned_by(name)).unwrap_or_default() {
            self.touched(self.symbols.lookup(name, at.start), at);
        }
        if let Some(name) = called.filter(|name| self.symbols.assigns_by_others(name)) {
            return self.changed_by_macro(name, at, args);
        }
        if let Some(name) = called {
            self.read_by_macro(name, at, args);
        }
        // What asks for the kind or the bounds of a variable does not read it.
        if called.is_some_and(|name| self.symbols.is_inquiry(name)) {
            return evaluated(self.unit, args).into_iter().for_each(|part| self.expr(part));
        }
        for (place, arg) in args.iter().enumerate() {
            if called.is_some_and(|name| self.symbols.takes_reference(name, place)) {
                self.unclear(*arg);
                continue;
            }
            self.expr(*arg);
            // What a pointer leads to or in an array may be read and written by the callee.
            if let ExprKind::Name(_) = self.unit.expr(*arg).kind {
                self.part(*arg, false);
                self.part(*arg, true);
            }
        }
    }

    /// What a macro may read and assign that does so by others.
    fn changed_by_macro(&mut self, name: &str, at: Span, args: &[ExprId]) {
        let unit = self.unit;
        args.iter().for_each(|arg| self.unclear(*arg));
        let given = args.iter().filter_map(|arg| self.symbols.named(unit, *arg)).collect::<Vec<_>>();
        let named = self.symbols.named_by_macro(unit, name, at.start, args);
        for symbol in named.into_iter().chain(given) {
            self.changed(symbol, at);
        }
    }

    /// A variable that is read and assigned in a way that is not followed.
    fn changed(&mut self, symbol: SymbolId, at: Span) {
        self.touched(Some(symbol), at);
        self.written(Some(symbol), at);
    }

    /// The scalars that a macro names, which is not assigned: they are read, and what it takes the address of may change.
    fn read_by_macro(&mut self, name: &str, at: Span, args: &[ExprId]) {
        for hidden in self.symbols.scalars_of_macro(self.unit, name, at.start, args) {
            match !self.unit.is_fortran() && self.symbols.is_lent_by_macro(name, hidden) {
                true => self.changed(hidden, at),
                false => self.read(Some(hidden), at),
            }
        }
    }

    /// What a macro stands for, which is assigned.
    fn assign_by_macro(&mut self, name: &str, at: Span, args: Option<&[ExprId]>) {
        match self.symbols.target_of_macro(self.unit, name, at.start, args) {
            Target::Variable(variable) => self.write(Some(variable), at),
            _ => self.lend_by_macro(name, at, args),
        }
    }

    /// What a macro stands for, whose address is taken.
    fn lend_by_macro(&mut self, name: &str, at: Span, args: Option<&[ExprId]>) {
        match self.symbols.target_of_macro(self.unit, name, at.start, args) {
            Target::Variable(variable) => self.changed(variable, at),
            Target::Other => self.read_by_macro(name, at, args.unwrap_or_default()),
            Target::Unknown => {
                let args = args.unwrap_or_default();
                let named = self.symbols.scalars_of_macro(self.unit, name, at.start, args);
                named.into_iter().for_each(|hidden| self.changed(hidden, at));
            }
        }
    }

    /// What a call is that stands where a variable may: what a macro with arguments stands for.
    fn macro_called(&self, expr: ExprId) -> Option<(&'a str, Span, &'a [ExprId])> {
        let unit = self.unit;
        let (callee, args) = match &unit.expr(expr).kind {
            ExprKind::Call { callee, args } => (callee, &args[..]),
            ExprKind::Index(base, index) if unit.is_fortran() => (base, std::slice::from_ref(index)),
            _ => return None,
        };
        let ExprKind::Name(name) = &unit.expr(*callee).kind else { return None };
        self.symbols.is_called_macro(name).then_some((name, unit.expr(*callee).span, args))
    }

    /// A variable that is assigned by its name, or by that of a macro that stands for it.
    fn assign_name(&mut self, target: ExprId, name: &str) {
        let span = self.unit.expr(target).span;
        self.assign_by_macro(name, span, None);
        self.write(self.symbols.named(self.unit, target), span);
    }

    /// The target of an assignment.
    fn assign(&mut self, target: ExprId) {
        let unit = self.unit;
        match &unit.expr(target).kind {
            ExprKind::Name(name) => self.assign_name(target, name),
            ExprKind::Index(..) if self.macro_called(target).is_some() => self.assign_call(target, &[]),
            ExprKind::Index(base, index) => {
                self.expr(*index);
                self.base_of_target(*base);
            }
            ExprKind::Member { base, name, .. } if self.is_number(*base) => self.assign_half(*base, name),
            ExprKind::Member { base, .. } | ExprKind::Deref(base) => self.base_of_target(*base),
            ExprKind::Cast { operand, .. } => self.assign(*operand),
            ExprKind::Call { args, .. } => self.assign_call(target, args),
            _ => self.unclear(target),
        }
    }

    /// What a macro stands for, or the result of a function. What a function is given may be what it returns: `std::tie(a, b) = …`.
    fn assign_call(&mut self, target: ExprId, args: &[ExprId]) {
        let called = self.macro_called(target);
        if let Some((name, at, args)) = called
            && let Target::Variable(_) = self.symbols.target_of_macro(self.unit, name, at.start, Some(args))
        {
            self.uses.calls.entry(name.to_owned()).or_insert(at);
            return self.assign_by_macro(name, at, Some(args));
        }
        self.expr(target);
        if let Some((name, at, args)) = called {
            self.lend_by_macro(name, at, Some(args));
        }
        args.iter().for_each(|arg| self.lend(*arg));
    }

    /// Whether an expression is a variable without components.
    fn is_number(&self, expr: ExprId) -> bool {
        let symbol = self.symbols.named(self.unit, expr);
        symbol.is_some_and(|symbol| self.symbols.get(symbol).class == Class::Scalar)
    }

    /// `z%re = …`: with the other part, assigned just before, all of the complex number is assigned.
    fn assign_half(&mut self, number: ExprId, part: &str) {
        let Some(symbol) = self.symbols.named(self.unit, number) else { return };
        let before = self.half.replace((symbol, part.to_owned()));
        if before.is_some_and(|(other, other_part)| other == symbol && other_part != part) {
            self.write(Some(symbol), self.unit.expr(number).span);
        } else {
            self.change(number);
        }
    }

    /// A part of a complex number is assigned: it is another number then.
    fn change(&mut self, number: ExprId) {
        self.part(number, true);
        self.written(self.symbols.named(self.unit, number), self.unit.expr(number).span);
    }

    /// The target of `+=` or `++`, which was read before: its parts are not looked at again.
    fn assign_what_was_read(&mut self, target: ExprId) {
        let unit = self.unit;
        let mut at = target;
        while let ExprKind::Cast { operand, .. } = &unit.expr(at).kind {
            at = *operand;
        }
        match &unit.expr(at).kind {
            ExprKind::Name(name) => self.assign_name(at, name),
            ExprKind::Call { .. } if let Some((name, place, args)) = self.macro_called(at) => {
                self.assign_by_macro(name, place, Some(args));
            }
            ExprKind::Member { base, .. } if self.is_number(*base) => self.change(*base),
            ExprKind::Index(base, _) | ExprKind::Member { base, .. } | ExprKind::Deref(base) => {
                self.part(*base, true);
            }
            _ => self.lend(at),
        }
    }

    /// `base` in `base[i] = …`: the pointer is read, what it holds is written.
    fn base_of_target(&mut self, base: ExprId) {
        self.expr(base);
        self.part(base, true);
    }

    /// Something inside the object that `base` leads to is read or written.
    fn part(&mut self, base: ExprId, written: bool) {
        let mut at = base;
        loop {
            match &self.unit.expr(at).kind {
                ExprKind::Name(_) => {
                    let span = self.unit.expr(at).span;
                    if let Some(used) = self.used(self.symbols.named(self.unit, at), span) {
                        if written {
                            used.part_written = true;
                        } else {
                            used.part_read = true;
                        }
                    }
                    return;
                }
                ExprKind::Index(base, _) | ExprKind::Member { base, .. } | ExprKind::Deref(base) => {
                    at = *base
                }
                ExprKind::Cast { operand, .. } | ExprKind::AddressOf(operand) => at = *operand,
                ExprKind::Binary(_, left, _) => at = *left,
                _ => return,
            }
        }
    }

    /// As `part`, of something that was read before: where it is a part itself, its own object is noted already.
    fn part_of_what_was_read(&mut self, base: ExprId) {
        let kind = &self.unit.expr(base).kind;
        if !matches!(kind, ExprKind::Index(..) | ExprKind::Member { .. } | ExprKind::Deref(_)) {
            self.part(base, false);
        }
    }

    /// A variable that code which is not looked at may read and write.
    fn touched(&mut self, symbol: Option<SymbolId>, span: Span) {
        self.read(symbol, span);
        if let Some(used) = self.used(symbol, span) {
            used.address_taken = true;
        }
    }

    /// An operand of `&` or of something that was not understood: it may be read and written.
    fn unclear(&mut self, id: ExprId) {
        if !matches!(self.unit.expr(id).kind, ExprKind::Name(_)) {
            self.expr(id);
        }
        self.lend(id);
    }

    /// The object that an expression is, whose parts were looked at: it may be read and written.
    fn lend(&mut self, id: ExprId) {
        let unit = self.unit;
        let mut pending = vec![id];
        while let Some(id) = pending.pop() {
            match &unit.expr(id).kind {
                ExprKind::Name(name) => {
                    self.lend_by_macro(name, unit.expr(id).span, None);
                    self.touched(self.symbols.named(unit, id), unit.expr(id).span);
                    self.part(id, true);
                }
                ExprKind::Call { .. } => {
                    if let Some((name, at, args)) = self.macro_called(id) {
                        self.lend_by_macro(name, at, Some(args));
                    }
                }
                // In C++, these are the objects themselves.
                ExprKind::Conditional(_, first, second) => pending.extend([*second, *first]),
                ExprKind::Initialiser(parts) => pending.extend(parts.iter().rev()),
                ExprKind::Comma(_, object)
                | ExprKind::Assign(_, object, _)
                | ExprKind::Cast { operand: object, .. }
                | ExprKind::Step { operand: object, .. } => pending.push(*object),
                ExprKind::Member { base, .. } if self.is_number(*base) => self.change(*base),
                _ => self.part(id, true),
            }
        }
    }

    /// The symbol, if it is an object whose uses count.
    fn object(&self, symbol: Option<SymbolId>) -> Option<SymbolId> {
        let symbol = symbol?;
        let kind = self.symbols.get(symbol).kind;
        let is_object = !matches!(kind, SymbolKind::Function | SymbolKind::Type | SymbolKind::Constant);
        (is_object && self.hidden != Some(symbol)).then_some(symbol)
    }

    fn used(&mut self, symbol: Option<SymbolId>, span: Span) -> Option<&mut Use> {
        let symbol = self.object(symbol)?;
        let used = self.uses.names.entry(symbol).or_default();
        used.first.get_or_insert(span);
        Some(used)
    }

    fn read(&mut self, symbol: Option<SymbolId>, span: Span) {
        let is_assigned =
            |symbol: SymbolId| self.assigned.as_ref().is_none_or(|assigned| assigned.contains(symbol));
        let known = symbol.is_some_and(|symbol| self.homes.contains(&symbol) || is_assigned(symbol));
        if let Some(used) = self.used(symbol, span) {
            used.read = true;
            used.exposed |= !known;
        }
    }

    fn write(&mut self, symbol: Option<SymbolId>, span: Span) {
        let Some(object) = self.object(symbol) else { return };
        if let Some(assigned) = &mut self.assigned {
            assigned.insert(object);
        }
        self.written(symbol, span);
    }

    fn written(&mut self, symbol: Option<SymbolId>, span: Span) {
        if let Some(used) = self.used(symbol, span) {
            used.written = true;
        }
    }
}

/// What is assigned on both of two paths.
fn meet(one: Option<Assigned>, other: Option<Assigned>) -> Option<Assigned> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.common(&other)),
        (one, other) => one.or(other),
    }
}

/// Whether a jump starts inside `body` (of whatever it leaves: this errs on the safe side).
fn jumps(unit: &Unit, body: StmtId) -> bool {
    let mut pending = vec![body];
    while let Some(stmt) = pending.pop() {
        if matches!(
            unit.stmt(stmt).kind,
            StmtKind::Break | StmtKind::Continue | StmtKind::Goto(_) | StmtKind::Return(_)
        ) {
            return true;
        }
        pending.extend(children(unit, stmt));
    }
    false
}
