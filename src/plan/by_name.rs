//! Arrays of C and C++ that code reaches by their names alone.
//!
//! Invariant: what is not understood may lead to any array.

use std::collections::BTreeSet;

use crate::host::ir::{Derived, ExprId, ExprKind, StmtKind, Unit};
use crate::sema::{CNumber, CType, Class, Rank, Symbol, SymbolId, SymbolKind, Symbols};
use crate::source::{SourceFile, Span};

use super::Input;
use super::exchange::words;

impl Input<'_> {
    /// Whether nothing else that the code names can lead to the array.
    pub(super) fn is_reached_by_name_only(&self, symbol: SymbolId, span: Span) -> bool {
        if self.has_objects(span) {
            return false;
        }
        if is_named_as_array_only(self.file, self.unit, self.symbols, symbol) {
            return true;
        }
        if self.recasts_pointers(span) {
            return false;
        }
        let number = |expr: ExprId| self.types().of(expr).target().and_then(CType::number);
        let array =
            self.unit.expr_ids_in(span).find(|expr| self.symbols.named(self.unit, *expr) == Some(symbol));
        let own = array.and_then(number);
        self.unit.expr_ids_in(span).all(|expr| {
            let ExprKind::Name(_) = self.unit.expr(expr).kind else { return true };
            let Some(other) = self.symbols.named(self.unit, expr) else { return true };
            let known = self.symbols.get(other);
            match known.class {
                _ if other == symbol => true,
                _ if matches!(known.kind, SymbolKind::Function | SymbolKind::Type | SymbolKind::Constant) => {
                    true
                }
                _ if known.is_reference => false,
                Class::Scalar => known.kind != SymbolKind::Member,
                Class::Array => known.kind != SymbolKind::Member && self.holds_numbers(expr),
                Class::Pointer => {
                    let is_restrict = known.decl.is_some_and(|decl| self.unit.decl(decl).is_restrict);
                    is_restrict && known.scope.contains(span) || is_other_type(own, number(expr))
                }
                Class::Record | Class::Unknown => false,
            }
        })
    }

    /// Whether an array holds numbers, which lead nowhere.
    fn holds_numbers(&self, array: ExprId) -> bool {
        let mut at = self.types().of(array);
        while let CType::Array(element) = at {
            at = *element;
        }
        at.number().is_some()
    }

    /// Whether some code of C++ uses objects, whose operators are functions.
    fn has_objects(&self, span: Span) -> bool {
        let is_object = |symbol: SymbolId| {
            let known = self.symbols.get(symbol);
            let is_variable =
                !matches!(known.kind, SymbolKind::Function | SymbolKind::Type | SymbolKind::Constant);
            is_variable && matches!(known.class, Class::Record | Class::Unknown)
        };
        let holds_objects = |expr: ExprId, symbol: SymbolId| {
            self.symbols.get(symbol).class == Class::Array && !self.holds_numbers(expr)
        };
        self.unit.is_cpp()
            && self.unit.expr_ids_in(span).any(|expr| {
                let named = self.symbols.named(self.unit, expr);
                named.is_some_and(|symbol| is_object(symbol) || holds_objects(expr, symbol))
            })
    }

    /// Whether some code takes a pointer for one to another type.
    fn recasts_pointers(&self, span: Span) -> bool {
        self.unit.exprs_in(span).any(|expr| match &expr.kind {
            ExprKind::Cast { to, operand } => {
                let is_number = self.types().of(*operand).number().is_some();
                to.contains(['*', '&']) || !is_number
            }
            _ => false,
        })
    }
}

/// Whether the address of an array of this file goes nowhere: each use of its name is of an element, whose address nothing
/// takes.
pub fn is_named_as_array_only(file: &SourceFile, unit: &Unit, symbols: &Symbols, symbol: SymbolId) -> bool {
    let known = symbols.get(symbol);
    let is_own = known.decl.is_some_and(|decl| {
        let decl = unit.decl(decl);
        known.kind == SymbolKind::Local || decl.is_static && !decl.is_extern
    });
    if !is_own || symbols.is_in_macro(&known.name) {
        return false;
    }
    let mut elements = BTreeSet::new();
    let mut holders = Vec::new();
    for expr in unit.exprs_in(known.scope) {
        match &expr.kind {
            ExprKind::Index(base, _) => drop(elements.insert(*base)),
            ExprKind::AddressOf(operand) => holders.push(unit.expr(*operand).span),
            ExprKind::Opaque(_) => holders.push(expr.span),
            // A parameter may be a reference.
            ExprKind::Call { args, .. } if unit.is_cpp() => {
                holders.extend(args.iter().map(|arg| unit.expr(*arg).span));
            }
            _ => {}
        }
    }
    let references = unit.decls_in(known.scope).filter(|decl| decl.derived.contains(&Derived::Reference));
    holders.extend(references.map(|decl| decl.span));
    let returns = unit.stmts_in(known.scope).filter(|stmt| matches!(stmt.kind, StmtKind::Return(_)));
    holders.extend(returns.filter(|_| unit.is_cpp()).map(|stmt| stmt.span));
    let opaque = unit.stmts_in(known.scope).filter(|stmt| matches!(stmt.kind, StmtKind::Opaque(_)));
    if opaque.into_iter().any(|stmt| words(file, stmt.span).contains(&known.name)) {
        return false;
    }
    let lambdas = unit.lambdas.iter().map(|(span, _)| *span);
    holders.extend(lambdas);
    let names = unit.expr_ids_in(known.scope).filter(|expr| symbols.named(unit, *expr) == Some(symbol));
    let names: Vec<ExprId> = names.collect();
    let places = names.iter().map(|expr| unit.expr(*expr).span);
    let declared = known.decl.map(|decl| unit.decl(decl).name_span);
    let lines = places.chain(declared).map(|span| file.lines.line(span.start)).collect();
    is_understood(file, known, &lines)
        && names.into_iter().all(|expr| {
            let span = unit.expr(expr).span;
            elements.contains(&expr)
                && !holders.iter().any(|holder| holder.contains(span))
                && has_plain_words_around((file, unit, symbols), span)
        })
}

/// Whether each line of code that has a variable's name is among the `lines` where it is seen as that: others hold it in
/// something that was not understood.
fn is_understood(file: &SourceFile, known: &Symbol, lines: &BTreeSet<usize>) -> bool {
    let is_beside_code = |line: &str| {
        let line = line.trim_start();
        line == "*" || ["//", "/*", "* ", "*/", "#"].iter().any(|begin| line.starts_with(begin))
    };
    (file.lines.line(known.scope.start)..=file.lines.line(known.scope.end)).all(|line| {
        let span = file.lines.span(line);
        lines.contains(&line) || is_beside_code(&file.text(span)) || !words(file, span).contains(&known.name)
    })
}

/// Whether the statement of some code uses no macros but those that stand for numbers.
fn has_plain_words_around((file, unit, symbols): (&SourceFile, &Unit, &Symbols), span: Span) -> bool {
    let line = file.lines.span(file.lines.line(span.start));
    let block = unit.block_around(span).map(|block| &unit.stmt(block).kind);
    let whole = match block {
        Some(StmtKind::Block(list)) => {
            list.iter().map(|stmt| unit.stmt(*stmt).span).find(|stmt| stmt.contains(span))
        }
        _ => None,
    };
    let whole = whole.unwrap_or(line);
    words(file, whole).iter().chain(&words(file, line)).all(|word| symbols.is_no_macro(word))
}

/// Whether objects of two types are never the same memory (C11, 6.5, paragraph 7).
fn is_other_type(one: Option<CNumber>, two: Option<CNumber>) -> bool {
    let unsigned = |number: CNumber| match number {
        CNumber::Integer(rank, _) => CNumber::Integer(rank, false),
        other => other,
    };
    let is_char = |number: CNumber| matches!(number, CNumber::Integer(Rank::Char, _));
    one.zip(two).is_some_and(|(one, two)| unsigned(one) != unsigned(two) && !is_char(one) && !is_char(two))
}
