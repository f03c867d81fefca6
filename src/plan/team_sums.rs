//! Reductions of a launch that are made in two steps: each gang reduces into a variable of its own, and combines that with the
//! program's variable atomically at the end (OpenACC 3.3, 2.5.15 leaves the order open).
//!
//! Invariant: a launch makes all of its reductions in two steps, or none; each variable is a number that can be declared again
//! under the same name.

use crate::acc::ast::ReductionOp;
use crate::host::ir::{DeclKind, StmtId};
use crate::sema::{self, CNumber, Class, Rank, SymbolId, SymbolKind};

use super::Input;
use super::exchange::{has_conditions, words};
use super::tables::{ITERATIONS, Table};
use super::tree::{Attribute, Sharing};

/// A variable into which each gang reduces, before it combines it with the program's variable of the same name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TeamSum {
    /// The variable, as the launch names it.
    pub variable: String,
    /// A pointer to the program's variable.
    pub pointer: String,
    /// How values are combined.
    pub operator: ReductionOp,
    /// What the gang's variable has at first: it changes nothing.
    pub neutral: &'static str,
}

impl Input<'_> {
    /// The tables and the reductions in two steps of the nest at `stmt`, directive `at`; none if it is not a launch over teams.
    pub(super) fn of_teams(
        &self,
        is_launch: bool,
        at: usize,
        stmt: StmtId,
        attributes: [&[Attribute]; 2],
    ) -> (Vec<Table>, Vec<TeamSum>) {
        if !is_launch {
            return Default::default();
        }
        let reductions = attributes.into_iter().flatten().filter_map(|one| match one.sharing {
            Sharing::Reduction(op) => Some((op, one.item.as_str())),
            _ => None,
        });
        (self.tables(at, stmt), self.sums(at, stmt, reductions).unwrap_or_default())
    }

    /// Reductions as they are made in two steps; none if one of them is not.
    pub(super) fn sums<'b>(
        &self,
        at: usize,
        stmt: StmtId,
        reductions: impl Iterator<Item = (ReductionOp, &'b str)>,
    ) -> Option<Vec<TeamSum>> {
        let mut reductions = reductions.peekable();
        let span = self.unit.stmt(stmt).span;
        let is_short = || self.trips_of_all(span).is_some_and(|trips| trips < ITERATIONS);
        let is_wanted = self.settings.preference.team_sums && !self.unit.is_fortran();
        if !is_wanted || reductions.peek().is_none() || is_short() {
            return None;
        }
        let mut sums: Vec<TeamSum> = Vec::new();
        for (operator, item) in reductions {
            let sum = self.sum(at, stmt, operator, item)?;
            match sums.iter().find(|other| other.variable == sum.variable) {
                Some(other) if other.operator != operator => return None,
                Some(_) => {}
                None => sums.push(sum),
            }
        }
        let has_room = self.has_room_for_block(at, stmt) && !has_conditions(&self.file.text(span));
        has_room.then_some(sums)
    }

    /// Whether the bounds of a loop in a nest may have a variable: before the loops, it has the program's value.
    fn bounds_loop(&self, stmt: StmtId, symbol: SymbolId) -> bool {
        let inside = self.unit.stmt_ids_in(self.unit.stmt(stmt).span);
        inside.into_iter().filter_map(|stmt| sema::header(self.unit, self.symbols, stmt).ok()).any(|header| {
            let mut read =
                header.values().flat_map(|expr| sema::reads_of_expr(self.unit, self.symbols, expr));
            let mut words = header.values().flat_map(|expr| words(self.file, self.unit.expr(expr).span));
            read.any(|read| read == symbol) || words.any(|word| !self.symbols.is_no_macro(&word))
        })
    }

    /// Whether the directive or the loop names a variable with its namespace, where the program's is meant.
    fn is_qualified(&self, at: usize, stmt: StmtId, name: &str) -> bool {
        let Some(directive) = self.written_above(at) else { return true };
        let text = self.file.text(directive.to(self.unit.stmt(stmt).span));
        let mut after = text.split("::").skip(1).map(str::trim_start);
        self.unit.is_cpp()
            && after.any(|rest| {
                let rest = rest.strip_prefix(name);
                rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
            })
    }

    fn sum(&self, at: usize, stmt: StmtId, operator: ReductionOp, item: &str) -> Option<TeamSum> {
        let symbol = self.symbols.lookup(item, self.unit.stmt(stmt).span.start)?;
        let known = self.symbols.get(symbol);
        let decl = self.unit.decl(known.decl?);
        let is_variable =
            matches!(known.kind, SymbolKind::Static | SymbolKind::Local | SymbolKind::Parameter)
                && matches!(decl.kind, DeclKind::Variable | DeclKind::Parameter)
                && known.class == Class::Scalar
                && decl.derived.is_empty()
                && !known.is_reference
                && known.name == item;
        let words = self.file.text(decl.span);
        let is_special =
            ["volatile", "_Atomic", "register", "thread_local", "_Thread_local", "__thread", "auto"]
                .iter()
                .any(|word| words.contains(word));
        if !is_variable || is_special || !self.symbols.is_no_macro(item) {
            return None;
        }
        if self.bounds_loop(stmt, symbol) || self.is_qualified(at, stmt, item) {
            return None;
        }
        let neutral = match operator {
            ReductionOp::Add | ReductionOp::BitOr | ReductionOp::BitXor => "0",
            ReductionOp::Multiply => "1",
            ReductionOp::BitAnd => "~0",
            _ => return None,
        };
        let place = self.unit.expr_ids_in(self.unit.stmt(stmt).span);
        let mut named = place.filter(|expr| self.symbols.named(self.unit, *expr) == Some(symbol));
        if !is_plain_number(self.types().of(named.next()?).number()?) {
            return None;
        }
        let pointer = self.unused_name(&format!("{}_of_all", known.name));
        Some(TeamSum { variable: item.to_owned(), pointer, operator, neutral })
    }
}

/// Whether every GPU updates such a number atomically.
fn is_plain_number(number: CNumber) -> bool {
    match number {
        CNumber::Integer(rank, _) => rank >= Rank::Int,
        CNumber::Float | CNumber::Double => true,
        CNumber::LongDouble => false,
    }
}
