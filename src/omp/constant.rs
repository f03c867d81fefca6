//! Queues that are named by constants of the program, and by counters of loops around a directive.
//!
//! Invariant: what is called a queue has one for each value that the constants and counters can have.

use crate::acc::Queue;
use crate::acc::ast::Expr;
use crate::host::ir::{BinaryOp, ExprId, ExprKind, StmtKind, Unit};
use crate::sema::{self, Symbol, SymbolId, SymbolKind, Symbols};
use crate::source::Span;

/// Constants that are defined by one another more often are not followed.
const DEPTH: usize = 8;

/// Which queue an expression at `offset` names; `None` if its value is not known.
pub fn queue(unit: &Unit, symbols: &Symbols, expr: &Expr, offset: u32) -> Option<Queue> {
    Known { unit, symbols }.expression(expr.text.trim(), offset)
}

/// What a file says of values.
#[derive(Clone, Copy)]
struct Known<'a> {
    unit: &'a Unit,
    symbols: &'a Symbols,
}

impl Known<'_> {
    fn expression(self, text: &str, offset: u32) -> Option<Queue> {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if text.chars().all(is_word) {
            return self.named(self.symbols.lookup(text, offset)?, offset, 0);
        }
        let is_fortran = self.unit.is_fortran();
        // Of two numbers that are not negative, none of these makes a negative one.
        let is_operator = |c: char| match c {
            '+' | '*' | '(' | ')' => true,
            '%' | '/' => !is_fortran,
            ',' => is_fortran,
            _ => c.is_whitespace(),
        };
        let mut words = text.split(|c| !is_word(c)).filter(|word| !word.is_empty());
        let is_queue = |word: &str| {
            let symbol = self.symbols.lookup(word, offset);
            word.parse::<u32>().is_ok()
                || is_fortran && word.eq_ignore_ascii_case("mod")
                || symbol.and_then(|symbol| self.named(symbol, offset, 0)) == Some(Queue::Other)
        };
        (text.chars().all(|c| is_word(c) || is_operator(c)) && words.all(is_queue)).then_some(Queue::Other)
    }

    /// Which queue a name at `offset` names. A constant of another file is taken for a number.
    fn named(self, symbol: SymbolId, offset: u32, depth: usize) -> Option<Queue> {
        let known = self.symbols.get(symbol);
        let init = known.decl.and_then(|decl| self.unit.decl(decl).init);
        let is_constant = match known.kind {
            SymbolKind::Constant => true,
            SymbolKind::Static => known.is_const,
            SymbolKind::Local => known.is_const && init.is_some(),
            _ => false,
        };
        if !is_constant || depth > DEPTH {
            return self.counts_up(symbol, known, offset, depth).then_some(Queue::Other);
        }
        let Some(init) = init else { return Some(Queue::Other) };
        self.value(init, depth)
    }

    /// Which queue the value of an expression names.
    fn value(self, expr: ExprId, depth: usize) -> Option<Queue> {
        let expr = self.unit.expr(expr);
        match &expr.kind {
            ExprKind::Int(number) if *number >= 0 => Some(Queue::Other),
            ExprKind::Name(name) => match Queue::of(name, self.unit.is_fortran()) {
                Queue::Other => {
                    let symbol = self.symbols.lookup(name, expr.span.start)?;
                    self.named(symbol, expr.span.start, depth + 1)
                }
                other => Some(other),
            },
            // The rest has the sign of the number that is divided.
            ExprKind::Binary(BinaryOp::Remainder, left, _) => (depth <= DEPTH)
                .then(|| self.value(*left, depth + 1))
                .flatten()
                .filter(|one| *one == Queue::Other),
            ExprKind::Binary(BinaryOp::Add | BinaryOp::Multiply | BinaryOp::Divide, left, right) => {
                let is_queue = |part| self.value(part, depth + 1) == Some(Queue::Other);
                (depth <= DEPTH && is_queue(*left) && is_queue(*right)).then_some(Queue::Other)
            }
            _ => None,
        }
    }

    /// Whether a variable counts up from a number that is not negative, in a loop around `offset` that alone changes it.
    fn counts_up(self, symbol: SymbolId, known: &Symbol, offset: u32, depth: usize) -> bool {
        let is_number = |expr: ExprId| self.value(expr, depth + 1) == Some(Queue::Other);
        let here = Span::at(offset as usize);
        let Some(function) = self.unit.function_around(here).filter(|_| depth <= DEPTH) else { return false };
        let mut loops = self.unit.stmt_ids_in(function.span).filter(|stmt| {
            let stmt = self.unit.stmt(*stmt);
            matches!(stmt.kind, StmtKind::For { .. }) && stmt.span.contains(here)
        });
        let is_own = known.kind == SymbolKind::Local && !known.is_reference;
        is_own
            && loops.any(|stmt| {
                let Ok(header) = sema::header(self.unit, self.symbols, stmt) else { return false };
                let is_changed = || {
                    let used = sema::uses(self.unit, self.symbols, header.body);
                    used.of(symbol).is_some_and(|used| used.written || used.address_taken)
                };
                header.var == symbol
                    && self.unit.expr(header.bound).span.end <= offset
                    && !header.down
                    && !header.counts_down()
                    && is_number(header.first)
                    && header.step.is_none_or(is_number)
                    && !is_changed()
            })
    }
}
