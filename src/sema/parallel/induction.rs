//! Inductions: integer scalars that every iteration of a loop changes by the same amount, so that their value is a function
//! of the loop variables.
//!
//! Invariant: a variable is called an induction only if nothing else can change it between its start value and the loop's
//! end, and if its amounts, its start value and the trip counts that they need stay the same all that time.

use crate::budget;
use crate::host::ir::{BinaryOp, DeclKind, Derived, ExprId, ExprKind, StmtId, StmtKind, UnaryOp};
use crate::sema::loops::changes;
use crate::sema::{Header, SymbolId, SymbolKind, children, header, live_after, path_to, uses};
use crate::source::Span;

use super::changes::Change;
use super::facts::Facts;
use super::integer::integer;
use super::{Around, Judge, Nest};

/// A variable that a loop counts with.
#[derive(Clone, Debug)]
pub struct Induction {
    /// The variable.
    pub symbol: SymbolId,
    /// Its value when the loop begins.
    pub start: ExprId,
    /// The assignment that gives it this value.
    pub started: Span,
    /// The loop, and those in it down to the one whose iterations change the variable.
    pub loops: Vec<Level>,
    /// What an iteration of the innermost of them adds.
    pub amount: Amount,
    /// The value that the loop leaves may be read after it.
    pub is_wanted: bool,
}

impl Induction {
    /// The expressions that its values are made of.
    pub fn parts(&self, facts: &Facts) -> Vec<ExprId> {
        let header = |level: &Level| header(facts.unit, facts.symbols, level.stmt).ok();
        let bounds = self.loops.iter().filter_map(header).flat_map(|head| [head.first, head.bound]);
        let amount = match self.amount {
            Amount::Number(_) => None,
            Amount::Value(expr, _) => Some(expr),
        };
        bounds.chain([self.start]).chain(amount).collect()
    }
}

/// A loop that an induction counts through.
#[derive(Clone, Copy, Debug)]
pub struct Level {
    /// The loop.
    pub stmt: StmtId,
    /// The variable is named in its body outside of the next loop.
    pub is_named: bool,
}

/// What an iteration adds to an induction.
#[derive(Clone, Copy, Debug)]
pub enum Amount {
    /// A number.
    Number(i64),
    /// The value of an expression; negative: it is taken away.
    Value(ExprId, bool),
}

/// The step of a loop whose header is understood, from the first value on; negative if it counts down.
pub fn fixed_step(facts: &Facts, header: &Header) -> Option<i64> {
    let step = header.step.map_or(Some(1), |step| facts.constant(step))?;
    let step = if header.down { step.checked_neg()? } else { step };
    let agrees = match header.compare {
        BinaryOp::Less | BinaryOp::LessEqual => step > 0,
        BinaryOp::Greater | BinaryOp::GreaterEqual => step < 0,
        BinaryOp::NotEqual => step.abs() == 1,
        _ => false,
    };
    agrees.then_some(step)
}

/// The inductions of the loop `stmt`.
pub fn inductions(facts: &Facts, around: &Around, stmt: StmtId) -> Vec<Induction> {
    let found = budget::within(facts.limits, || inductions_of(facts, around, stmt));
    found.unwrap_or_else(|_| {
        facts.effects.borrow_mut().clear();
        Vec::new()
    })
}

fn inductions_of(facts: &Facts, around: &Around, stmt: StmtId) -> Vec<Induction> {
    let (Ok(head), Some(body)) = (header(facts.unit, facts.symbols, stmt), around.body) else {
        return Vec::new();
    };
    let seeker = Seeker { facts, around, body, stmt, head };
    let used = uses(facts.unit, facts.symbols, head.body);
    let changed = used.iter().filter(|(_, how)| how.written && how.exposed && !how.address_taken);
    let mut found: Vec<Induction> = changed.filter_map(|(symbol, _)| seeker.induction(symbol)).collect();
    if found.is_empty() || fixed_step(facts, &head).is_none() || !seeker.is_clear() {
        return Vec::new();
    }
    let nest = Nest::new(facts, stmt, &around.atomic);
    let judge = Judge::new(&nest, around, stmt);
    found.retain(|one| judge.reduction(one.symbol, facts.unit.stmt(stmt).span).is_none());
    found
}

pub(super) struct Seeker<'s, 'a> {
    pub(super) facts: &'s Facts<'a>,
    pub(super) around: &'s Around,
    /// The body of the function.
    body: StmtId,
    /// The loop.
    stmt: StmtId,
    head: Header,
}

impl Seeker<'_, '_> {
    /// Whether the function is understood, and gives no variable a second name.
    fn is_clear(&self) -> bool {
        let unit = self.facts.unit;
        let whole = unit.stmt(self.body).span;
        let gives_names = unit.decls.iter().any(|decl| {
            let is_name =
                decl.kind == DeclKind::Variable && decl.derived.first() == Some(&Derived::Reference);
            is_name && whole.contains(decl.span)
        });
        !gives_names
            && !unit.errors.iter().any(|error| whole.contains(*error) || error.contains(whole))
            && !unit.lambdas.iter().any(|(lambda, _)| whole.contains(*lambda))
    }

    fn induction(&self, symbol: SymbolId) -> Option<Induction> {
        let facts = self.facts;
        self.is_candidate(symbol).then_some(())?;
        let mut changes = Vec::new();
        self.changes_in(symbol, self.head.body, &mut Vec::new(), &mut changes)?;
        let (start, started, between) = self.start(symbol)?;
        let mut steady = between;
        steady.push(self.stmt);
        let is_steady = |expr: ExprId| self.is_steady(symbol, expr, &steady);
        let is_fixed = |head: &Header| is_steady(head.first) && is_steady(head.bound);
        let mut levels = Vec::new();
        let (mut stmt, mut head) = (self.stmt, self.head);
        while let Some(next) = self.next(&mut changes) {
            levels.push(Level { stmt, is_named: !self.is_only_in(symbol, head.body, next) });
            (stmt, head) = (next, header(facts.unit, facts.symbols, next).ok()?);
            is_fixed(&head).then_some(())?;
        }
        levels.push(Level { stmt, is_named: true });
        let amount = self.amount(&changes)?;
        let is_whole = match amount {
            Amount::Number(_) => true,
            Amount::Value(expr, _) => is_steady(expr),
        };
        let counts = |level: &Level| {
            let head = header(facts.unit, facts.symbols, level.stmt).ok();
            head.is_some_and(|head| integer(facts, head.var).is_some())
        };
        let is_wanted = self.is_wanted(symbol);
        let is_counted = !is_wanted || is_fixed(&self.head);
        let is_known = is_whole && is_steady(start) && is_steady(self.head.first) && is_counted;
        let found = Induction { symbol, start, started, loops: levels, amount, is_wanted };
        (is_known && found.loops.iter().all(counts) && self.fits(&found)).then_some(found)
    }

    /// The loop that holds all changes, which are taken for those of its iterations.
    fn next(&self, changes: &mut [Change]) -> Option<StmtId> {
        let next = *changes.first()?.loops.first()?;
        if changes.iter().any(|change| change.loops.first() != Some(&next)) {
            return None;
        }
        for change in changes {
            change.loops.remove(0);
        }
        Some(next)
    }

    /// Whether nothing but what is seen in the function can touch the variable.
    fn is_candidate(&self, symbol: SymbolId) -> bool {
        let facts = self.facts;
        let known = facts.symbols.get(symbol);
        let is_fit = integer(facts, symbol).is_some_and(|kind| match facts.unit.is_fortran() {
            true => kind.bits == 32,
            false => kind.bits == 64 || kind.is_signed,
        });
        let fortran = &known.fortran;
        let has_names = fortran.target || fortran.pointer || fortran.is_equivalent || fortran.optional;
        let is_own = matches!(known.kind, SymbolKind::Local | SymbolKind::Parameter)
            && known.decl.is_some()
            && !known.is_const
            && !fortran.save
            && !has_names;
        let is_apart = match facts.unit.is_fortran() {
            // Procedures that it contains may name it.
            true => !self.is_named_elsewhere(symbol),
            false => !known.is_reference && !self.around.escaping.contains(&symbol),
        };
        let is_header = facts.unit.stmt_ids_in(facts.unit.stmt(self.stmt).span).any(|stmt| {
            matches!(facts.unit.stmt(stmt).kind, StmtKind::For { .. })
                && header(facts.unit, facts.symbols, stmt).is_ok_and(|head| head.var == symbol)
        });
        let is_plain = !facts.is_named_in_macros(&known.name);
        is_fit && is_own && is_apart && is_plain && !is_header && !self.around.shared.contains(&symbol)
    }

    pub(super) fn is_named_elsewhere(&self, symbol: SymbolId) -> bool {
        let facts = self.facts;
        let known = facts.symbols.get(symbol);
        let body = facts.unit.stmt(self.body).span;
        let scope = match known.kind {
            SymbolKind::Member => Span::new(0, facts.file.bytes.len()),
            _ => known.scope,
        };
        facts.unit.expr_ids_in(scope).any(|id| {
            let expr = facts.unit.expr(id);
            matches!(&expr.kind, ExprKind::Name(name) if name.eq_ignore_ascii_case(&known.name))
                && !body.contains(expr.span)
                && facts.symbols.named(facts.unit, id) == Some(symbol)
        })
    }

    /// Whether the value that the loop leaves may be read after it.
    fn is_wanted(&self, symbol: SymbolId) -> bool {
        let facts = self.facts;
        let wanted = std::collections::BTreeSet::from([symbol]);
        let escaping = &self.around.escaping;
        !live_after(facts.unit, facts.symbols, self.body, self.stmt, &wanted, escaping).is_empty()
    }

    /// What an iteration of the innermost loop adds.
    fn amount(&self, changes: &[Change]) -> Option<Amount> {
        let number = |change: &Change| {
            let factor = change.factor.map_or(Some(1), |factor| self.literal(factor))?;
            change.loops.is_empty().then(|| factor.checked_mul(change.times)).flatten()
        };
        if let Some(sum) = changes.iter().try_fold(0_i64, |sum, change| sum.checked_add(number(change)?)) {
            return Some(Amount::Number(sum));
        }
        let [Change { times, factor: Some(factor), loops }] = changes else { return None };
        loops.is_empty().then_some(Amount::Value(*factor, *times < 0))
    }

    fn literal(&self, expr: ExprId) -> Option<i64> {
        match &self.facts.unit.expr(expr).kind {
            ExprKind::Int(value) => i64::try_from(*value).ok(),
            ExprKind::Unary(UnaryOp::Minus, operand) => self.literal(*operand)?.checked_neg(),
            _ => None,
        }
    }

    /// Whether the variable is named nowhere in `body` but in `inner`.
    fn is_only_in(&self, symbol: SymbolId, body: StmtId, inner: StmtId) -> bool {
        let facts = self.facts;
        let (body, inner) = (facts.unit.stmt(body).span, facts.unit.stmt(inner).span);
        let known = facts.symbols.get(symbol);
        !facts.unit.expr_ids_in(body).any(|id| {
            let expr = facts.unit.expr(id);
            matches!(&expr.kind, ExprKind::Name(name) if name.eq_ignore_ascii_case(&known.name))
                && !inner.contains(expr.span)
                && facts.symbols.named(facts.unit, id) == Some(symbol)
        })
    }

    /// The value that the variable has when the loop begins: the expression, where it is assigned, and the statements from
    /// there to the loop.
    fn start(&self, symbol: SymbolId) -> Option<(ExprId, Span, Vec<StmtId>)> {
        let facts = self.facts;
        let unit = facts.unit;
        let path = path_to(unit, self.body, self.stmt);
        if path.last() != Some(&self.stmt) {
            return None;
        }
        let mut between = Vec::new();
        for pair in path.windows(2).rev() {
            let [outer, inner] = pair else { continue };
            match &unit.stmt(*outer).kind {
                StmtKind::Block(list) => {
                    let before = list.iter().take_while(|stmt| *stmt != inner).collect::<Vec<_>>();
                    for stmt in before.into_iter().rev() {
                        if let Some(start) = self.assigned(symbol, *stmt) {
                            return Some((start, unit.stmt(*stmt).span, between));
                        }
                        let used = uses(unit, facts.symbols, *stmt);
                        let is_changed = used.of(symbol).is_some_and(|how| how.written || how.address_taken);
                        if is_changed || has_label(facts, *stmt) {
                            return None;
                        }
                        between.push(*stmt);
                    }
                }
                StmtKind::If { cond, .. } if !changes(unit, *cond) => {}
                _ => return None,
            }
        }
        None
    }

    /// The value that a statement gives the variable.
    fn assigned(&self, symbol: SymbolId, stmt: StmtId) -> Option<ExprId> {
        let facts = self.facts;
        match &facts.unit.stmt(stmt).kind {
            StmtKind::Expr(expr) => match facts.unit.expr(*expr).kind {
                ExprKind::Assign(None, left, right) => {
                    (facts.symbols.named(facts.unit, left) == Some(symbol)).then_some(right)
                }
                _ => None,
            },
            // What Fortran declares with a value has it only once.
            StmtKind::Decl(decls) if !facts.unit.is_fortran() => {
                let own = facts.symbols.get(symbol).decl;
                let decl = decls.iter().find(|decl| Some(**decl) == own)?;
                facts.unit.decl(*decl).init
            }
            _ => None,
        }
    }
}

/// Whether code may get into a statement by a jump.
fn has_label(facts: &Facts, stmt: StmtId) -> bool {
    matches!(facts.unit.stmt(stmt).kind, StmtKind::Labeled { .. })
        || children(facts.unit, stmt).any(|child| has_label(facts, child))
}
