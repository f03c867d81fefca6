//! Queues that are named by constants of the program.
//!
//! Invariant: what is called a queue has one for each value that the constants can have.

use crate::acc::Queue;
use crate::acc::ast::Expr;
use crate::host::ir::{BinaryOp, ExprId, ExprKind, Unit};
use crate::sema::{SymbolId, SymbolKind, Symbols};

/// Constants that are defined by one another more often are not followed.
const DEPTH: usize = 8;

/// Which queue an expression at `offset` names that consists of constants; `None` if its value is not known.
pub fn queue(unit: &Unit, symbols: &Symbols, expr: &Expr, offset: u32) -> Option<Queue> {
    let text = expr.text.trim();
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if text.chars().all(is_word) {
        return named(unit, symbols, symbols.lookup(text, offset)?, 0);
    }
    let is_sum = |c: char| is_word(c) || c.is_whitespace() || matches!(c, '+' | '*' | '(' | ')');
    let mut words = text.split(|c| !is_word(c)).filter(|word| !word.is_empty());
    let is_queue = |word: &str| {
        let symbol = symbols.lookup(word, offset);
        word.parse::<u32>().is_ok()
            || symbol.and_then(|symbol| named(unit, symbols, symbol, 0)) == Some(Queue::Other)
    };
    (text.chars().all(is_sum) && words.all(is_queue)).then_some(Queue::Other)
}

/// Which queue a constant names. One of another file is taken for a number.
fn named(unit: &Unit, symbols: &Symbols, symbol: SymbolId, depth: usize) -> Option<Queue> {
    let known = symbols.get(symbol);
    let is_constant =
        known.kind == SymbolKind::Constant || known.is_const && known.kind == SymbolKind::Static;
    if !is_constant || depth > DEPTH {
        return None;
    }
    let Some(init) = known.decl.and_then(|decl| unit.decl(decl).init) else { return Some(Queue::Other) };
    value(unit, symbols, init, depth)
}

/// Which queue the value of a constant names.
fn value(unit: &Unit, symbols: &Symbols, init: ExprId, depth: usize) -> Option<Queue> {
    let init = unit.expr(init);
    match &init.kind {
        ExprKind::Int(number) if *number >= 0 => Some(Queue::Other),
        ExprKind::Name(name) => match Queue::of(name, unit.is_fortran()) {
            Queue::Other => named(unit, symbols, symbols.lookup(name, init.span.start)?, depth + 1),
            other => Some(other),
        },
        ExprKind::Binary(BinaryOp::Add | BinaryOp::Multiply, left, right) => {
            let is_queue = |part| value(unit, symbols, part, depth + 1) == Some(Queue::Other);
            (depth <= DEPTH && is_queue(*left) && is_queue(*right)).then_some(Queue::Other)
        }
        _ => None,
    }
}
