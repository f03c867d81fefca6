//! Arrays that a launch does no more with than update their elements atomically: histograms. Each gang counts in a table of
//! its own first, whose elements are added to the array at the end.
//!
//! Invariant: an array has a table only where nothing in the launch can tell when an update reaches the array, and where
//! updates are of integers, by operators whose order and grouping make no difference.

use std::collections::BTreeSet;

use crate::acc::ast::{ClauseKind, DirectiveKind};
use crate::bind::descendants;
use crate::host::ir::{BinaryOp, DeclKind, Derived, ExprId, ExprKind, StmtId, StmtKind, Unit};
use crate::sema::{self, CNumber, Rank, SymbolId, SymbolKind, Symbols};
use crate::source::{SourceFile, Span};

use super::Input;
use super::exchange::{has_conditions, words};

/// An array whose updates each gang collects in a table of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// The array, as the launch names it.
    pub array: String,
    /// The table.
    pub name: String,
    /// Its bytes, as this build has it.
    bytes: i128,
    /// What an element of the table is combined with the array's by: its value at first is zero.
    pub operator: &'static str,
    /// A variable that counts the elements.
    pub counter: String,
    /// Where the launch names the array.
    pub places: Vec<Span>,
}

/// The tables of a launch have at most so many bytes: those of all gangs that share a processor fit into its memory.
const BYTES: i128 = 16 * 1024;

/// Loops that are known to have fewer iterations than this update what the program names itself.
pub(super) const ITERATIONS: i128 = 1 << 16;

/// An update of an element of an array, as `atomic` knows it (OpenACC 3.3, 2.12).
#[derive(Clone, Debug)]
pub struct ElementUpdate {
    /// The array.
    pub symbol: SymbolId,
    /// The statement's expression.
    pub expr: ExprId,
    /// The operator.
    pub operator: BinaryOp,
    /// What the element is combined with; none if it is one.
    pub operand: Option<ExprId>,
    /// Where it names the array.
    pub names: Vec<Span>,
}

/// The update that an expression is: `a[i]++`, `a[i] += e`, or `a[i] = a[i] + e`.
pub fn element_update(
    (file, unit): (&SourceFile, &Unit),
    symbols: &Symbols,
    expr: ExprId,
) -> Option<ElementUpdate> {
    let kind = |expr: ExprId| &unit.expr(expr).kind;
    let text = |expr: ExprId| file.text(unit.expr(expr).span);
    let (place, again, operator, operand) = match *kind(expr) {
        ExprKind::Step { operand, .. } => (operand, None, BinaryOp::Add, None),
        ExprKind::Assign(Some(op), left, right) => (left, None, op, Some(right)),
        ExprKind::Assign(None, left, right) => match *kind(right) {
            ExprKind::Binary(op, one, two) if text(one) == text(left) => (left, Some(one), op, Some(two)),
            _ => return None,
        },
        _ => return None,
    };
    let base = |mut place: ExprId| {
        while let ExprKind::Index(inner, _) = *kind(place) {
            place = inner;
        }
        place
    };
    let names = std::iter::once(place).chain(again).map(|place| unit.expr(base(place)).span).collect();
    let symbol = symbols.named(unit, base(place)).filter(|_| base(place) != place)?;
    Some(ElementUpdate { symbol, expr, operator, operand, names })
}

impl Input<'_> {
    /// The tables of the nest at `stmt` that is a launch.
    pub(super) fn tables(&self, at: usize, stmt: StmtId) -> Vec<Table> {
        if !self.settings.preference.team_tables || self.unit.is_fortran() {
            return Vec::new();
        }
        let updates = self.updates(at).unwrap_or_default();
        let span = self.unit.stmt(stmt).span;
        if updates.is_empty()
            || self.trips_of_all(span).is_some_and(|trips| trips < ITERATIONS)
            || !self.has_room_for_block(at, stmt)
            || !self.is_seen_whole(span)
        {
            return Vec::new();
        }
        let symbols: BTreeSet<SymbolId> = updates.iter().map(|update| update.symbol).collect();
        let tables: Vec<Table> =
            symbols.into_iter().filter_map(|symbol| self.table(stmt, symbol, &updates)).collect();
        let all: i128 = tables.iter().map(|table| table.bytes).sum();
        if all <= BYTES { tables } else { Vec::new() }
    }

    /// How many iterations the loops in some code have, if they are nested in one another and their numbers are known.
    pub(super) fn trips_of_all(&self, span: Span) -> Option<i128> {
        let is_loop = |stmt: &StmtId| matches!(self.unit.stmt(*stmt).kind, StmtKind::For { .. });
        let mut loops = self.unit.stmt_ids_in(span).filter(is_loop);
        loops.try_fold(1i128, |all, stmt| {
            let header = sema::header(self.unit, self.symbols, stmt).ok()?;
            all.checked_mul(sema::trips(&header, |expr| self.value(expr))?)
        })
    }

    /// All atomic updates of elements of arrays below directive `at`; none if an atomic of another kind is among them, which
    /// could tell.
    fn updates(&self, at: usize) -> Option<Vec<ElementUpdate>> {
        let mut updates = Vec::new();
        for one in descendants(self.bound, at).map(|below| &self.bound[below]) {
            if one.directive.kind != DirectiveKind::Atomic {
                continue;
            }
            let is_update = |kind: &ClauseKind| matches!(kind, ClauseKind::AtomicUpdate);
            let StmtKind::Expr(expr) = self.unit.stmt(one.stmt()?).kind else { return None };
            if !one.directive.clauses.iter().all(|clause| is_update(&clause.kind)) {
                return None;
            }
            updates.extend(element_update((self.file, self.unit), self.symbols, expr));
        }
        Some(updates)
    }

    /// Whether all of the code is understood: it calls no function of the program, jumps nowhere, and its macros are numbers.
    fn is_seen_whole(&self, span: Span) -> bool {
        let unit = self.unit;
        let is_known = |expr: ExprId| match &unit.expr(expr).kind {
            ExprKind::Name(name) => {
                sema::is_mathematical(name)
                    && unit.function_places(name).next().is_none()
                    && unit.decls_named(name).next().is_none()
            }
            _ => false,
        };
        let calls = unit.exprs_in(span).all(|expr| match expr.kind {
            ExprKind::Call { callee, .. } => is_known(callee),
            ExprKind::Opaque(_) => false,
            _ => true,
        });
        let is_plain = |kind: &StmtKind| {
            !matches!(kind, StmtKind::Goto(_) | StmtKind::Labeled { .. } | StmtKind::Opaque(_))
        };
        calls
            && !self.file.is_by_macro(span)
            && unit.stmts_in(span).all(|stmt| is_plain(&stmt.kind))
            && !has_conditions(&self.file.text(span))
            && words(self.file, span).iter().all(|word| self.symbols.is_no_macro(word))
    }

    /// Whether lines can be put between the directive at `at` and its loop, and after this: neither shares its last line with other
    /// code, or the directive with a comment.
    pub(super) fn has_room_for_block(&self, at: usize, stmt: StmtId) -> bool {
        let Some(directive) = self.written_above(at) else { return false };
        let Span { start, end } = self.unit.stmt(stmt).span;
        let rest = |from: u32| {
            let line = self.file.lines.span(self.file.lines.line(from));
            self.file.text(Span { start: from, end: line.end.max(from) }).trim().to_owned()
        };
        let after = rest(end);
        // All uses of a macro that stands for a directive must ask for the same.
        let is_in_macro = self.file.text(directive).starts_with("_Pragma");
        self.begins_line(stmt)
            && !is_in_macro
            && directive.end <= start
            && rest(directive.end).is_empty()
            && (after.is_empty() || after.starts_with("//"))
            && !self.file.text(Span { start: directive.end, end: start }).contains('#')
    }

    fn table(&self, stmt: StmtId, symbol: SymbolId, updates: &[ElementUpdate]) -> Option<Table> {
        let known = self.symbols.get(symbol);
        let decl = self.unit.decl(known.decl?);
        let own: Vec<&ElementUpdate> = updates.iter().filter(|update| update.symbol == symbol).collect();
        let first = own.first()?;
        let [Derived::Array(Some(size))] = decl.derived.as_slice() else { return None };
        if !matches!(known.kind, SymbolKind::Static | SymbolKind::Local)
            || decl.kind != DeclKind::Variable
            || known.is_reference
            || ["volatile", "_Atomic"].iter().any(|word| self.file.text(decl.span).contains(word))
            || self.is_inside(symbol, stmt)
        {
            return None;
        }
        let operator = combining(first.operator)?;
        let number = self.element(*first.names.first()?, symbol)?;
        let bytes = match number {
            CNumber::Integer(Rank::Int, _) => 4,
            CNumber::Integer(Rank::Long | Rank::LongLong, _) => 8,
            _ => return None,
        };
        let bytes = self.value(*size).filter(|extent| *extent > 0)?.checked_mul(bytes)?;
        let is_one_kind = own.iter().all(|update| {
            let is_same = combining(update.operator) == Some(operator);
            is_same && update.operand.is_none_or(|operand| self.is_integer(operand))
        });
        let places: Vec<Span> = own.iter().flat_map(|update| update.names.iter().copied()).collect();
        let span = self.unit.stmt(stmt).span;
        let named = words(self.file, span).iter().filter(|word| **word == known.name).count();
        if !is_one_kind || named != places.len() || !self.is_reached_by_name_only(symbol, span) {
            return None;
        }
        Some(Table {
            array: self.file.text(*first.names.first()?).into_owned(),
            name: self.unused_name(&format!("{}_of_team", known.name)),
            bytes,
            operator,
            counter: self.unused_name(&format!("{}_i", known.name)),
            places,
        })
    }

    /// The number that an element of an array is, which is named at `place`.
    fn element(&self, place: Span, symbol: SymbolId) -> Option<CNumber> {
        let mut named = self.unit.expr_ids_in(place);
        let name = named.find(|expr| self.symbols.named(self.unit, *expr) == Some(symbol))?;
        self.types().of(name).target()?.number()
    }

    fn is_integer(&self, expr: ExprId) -> bool {
        self.types().of(expr).number().is_some_and(CNumber::is_integer)
    }
}

/// The operator that combines an element of a table with one of the array, if the table begins with zeros.
fn combining(op: BinaryOp) -> Option<&'static str> {
    match op {
        BinaryOp::Add | BinaryOp::Subtract => Some("+"),
        BinaryOp::BitOr => Some("|"),
        BinaryOp::BitXor => Some("^"),
        _ => None,
    }
}
