//! Statements that print: what the host can run in place of the device, as far as the statement itself goes.
//!
//! Invariant: a statement that is called output changes no variable but those of its own loops, and calls nothing of the program.

use crate::host::ir::{BinaryOp, ExprId, ExprKind, StmtId, StmtKind, Unit};
use crate::source::{SourceFile, Span};

use super::flow::children;
use super::loops::header;
use super::parallel::is_mathematical;
use super::symbol::{SymbolId, SymbolKind};
use super::symbols::Symbols;

/// What a statement that prints does beside.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// The variables that say where to.
    pub streams: Vec<SymbolId>,
    /// The variables of its loops.
    pub counters: Vec<SymbolId>,
    /// What keeps the host from running it: the place, and why.
    pub obstacle: Option<(Span, String)>,
}

/// Functions of C that print, and the place of the argument that says where to.
const FUNCTIONS: [(&str, Option<usize>); 9] = [
    ("printf", None),
    ("puts", None),
    ("putchar", None),
    ("fprintf", Some(0)),
    ("fflush", Some(0)),
    ("fputs", Some(1)),
    ("fputc", Some(1)),
    ("putc", Some(1)),
    ("perror", None),
];

/// The streams of C++.
const STREAMS: [&str; 3] = ["cout", "cerr", "clog"];

/// What is put into the streams of C++ and shows nothing.
const MANIPULATORS: [&str; 14] = [
    "endl",
    "flush",
    "fixed",
    "scientific",
    "defaultfloat",
    "left",
    "right",
    "internal",
    "showpos",
    "noshowpos",
    "boolalpha",
    "noboolalpha",
    "hex",
    "dec",
];

/// Functions that make such.
const MAKERS: [&str; 4] = ["setw", "setprecision", "setfill", "string"];

/// Reads a statement. `None` if it does not print, or does more than that.
pub fn output(file: &SourceFile, unit: &Unit, symbols: &Symbols, stmt: StmtId) -> Option<Output> {
    let mut reader = Reader { file, unit, symbols, output: Output::default(), prints: false };
    let mut pending = vec![stmt];
    while let Some(stmt) = pending.pop() {
        match &unit.stmt(stmt).kind {
            StmtKind::Block(_) | StmtKind::Empty => {}
            StmtKind::If { cond, .. } => reader.value(*cond),
            StmtKind::For { .. } => reader.header(stmt)?,
            StmtKind::Expr(expr) => reader.statement(unit.stmt(stmt).span, *expr)?,
            _ => return None,
        }
        let is_loop = matches!(unit.stmt(stmt).kind, StmtKind::For { .. });
        pending.extend(children(unit, stmt).skip(usize::from(is_loop)));
    }
    reader.prints.then_some(reader.output)
}

/// Whether something is printed in a statement.
pub fn prints(file: &SourceFile, unit: &Unit, symbols: &Symbols, stmt: StmtId) -> bool {
    let mut pending = vec![stmt];
    while let Some(stmt) = pending.pop() {
        let is_plain = matches!(unit.stmt(stmt).kind, StmtKind::Expr(_));
        if is_plain && output(file, unit, symbols, stmt).is_some() {
            return true;
        }
        pending.extend(children(unit, stmt));
    }
    false
}

/// A name without its namespace.
fn bare(name: &str) -> &str {
    name.strip_prefix("::").unwrap_or(name).strip_prefix("std::").unwrap_or(name)
}

struct Reader<'a> {
    file: &'a SourceFile,
    unit: &'a Unit,
    symbols: &'a Symbols,
    output: Output,
    prints: bool,
}

impl Reader<'_> {
    fn refuse(&mut self, at: Span, why: String) {
        self.output.obstacle.get_or_insert((at, why));
    }

    /// The head of a loop that counts.
    fn header(&mut self, stmt: StmtId) -> Option<()> {
        let header = header(self.unit, self.symbols, stmt).ok()?;
        self.output.counters.push(header.var);
        for part in header.values() {
            self.value(part);
        }
        Some(())
    }

    fn statement(&mut self, span: Span, expr: ExprId) -> Option<()> {
        if self.unit.is_fortran() {
            return self.transfer(span, expr);
        }
        match &self.unit.expr(expr).kind {
            ExprKind::Call { callee, args } => {
                let ExprKind::Name(name) = &self.unit.expr(*callee).kind else { return None };
                let (_, stream) = FUNCTIONS.iter().find(|(known, _)| *known == bare(name))?;
                if self.is_own(name) {
                    return None;
                }
                for (place, arg) in args.iter().enumerate() {
                    if Some(place) == *stream { self.stream(*arg) } else { self.value(*arg) }
                }
            }
            ExprKind::Binary(BinaryOp::ShiftLeft, ..) => self.insertion(expr)?,
            _ => return None,
        }
        self.prints = true;
        Some(())
    }

    /// Whether the program has a function of this name.
    fn is_own(&self, name: &str) -> bool {
        self.unit.functions.iter().any(|function| function.name == bare(name))
    }

    fn stream(&mut self, expr: ExprId) {
        let span = self.unit.expr(expr).span;
        match &self.unit.expr(expr).kind {
            ExprKind::Name(name) if matches!(bare(name), "stdout" | "stderr") => {}
            ExprKind::Name(_) => match self.symbols.named(self.unit, expr) {
                Some(symbol) => self.output.streams.push(symbol),
                None => self.refuse(span, "where it goes to is not seen".to_owned()),
            },
            _ => self.refuse(span, "where it goes to is not seen".to_owned()),
        }
    }

    /// `std::cout << a << b`
    fn insertion(&mut self, expr: ExprId) -> Option<()> {
        let (mut at, mut values) = (expr, Vec::new());
        while let ExprKind::Binary(BinaryOp::ShiftLeft, left, right) = &self.unit.expr(at).kind {
            values.push(*right);
            at = *left;
        }
        let ExprKind::Name(name) = &self.unit.expr(at).kind else { return None };
        let is_stream = STREAMS.contains(&bare(name)) && !self.is_own(name);
        if !is_stream || self.symbols.named(self.unit, at).is_some() {
            return None;
        }
        for value in values {
            let is_manipulator = match &self.unit.expr(value).kind {
                ExprKind::Name(name) => {
                    MANIPULATORS.contains(&bare(name)) && self.symbols.named(self.unit, value).is_none()
                }
                _ => false,
            };
            if !is_manipulator {
                self.value(value);
            }
        }
        Some(())
    }

    /// `print` and `write`, that change nothing.
    fn transfer(&mut self, span: Span, expr: ExprId) -> Option<()> {
        let ExprKind::Initialiser(reads) = &self.unit.expr(expr).kind else { return None };
        let text = self.file.text(span).to_ascii_lowercase();
        let is_output = text.starts_with("print") || text.starts_with("write");
        let changes = reads.iter().any(|read| matches!(self.unit.expr(*read).kind, ExprKind::Opaque(_)));
        if !is_output || changes {
            return None;
        }
        reads.iter().for_each(|read| self.value(*read));
        self.prints = true;
        Some(())
    }

    /// A value that is printed, or decides about it.
    fn value(&mut self, expr: ExprId) {
        let mut pending = vec![expr];
        while let Some(expr) = pending.pop() {
            let span = self.unit.expr(expr).span;
            let kind = &self.unit.expr(expr).kind;
            match kind {
                ExprKind::Int(_) | ExprKind::Literal | ExprKind::Sizeof => {}
                ExprKind::Name(name) => match self.symbols.named(self.unit, expr) {
                    Some(symbol) if self.symbols.is_macro(symbol) && !self.is_number(name) => {
                        self.refuse(span, format!("it is not seen what the macro `{name}` stands for"));
                    }
                    Some(symbol) if self.is_unit(symbol) => self.output.streams.push(symbol),
                    Some(_) => {}
                    None => self.refuse(span, format!("the declaration of `{name}` is not seen")),
                },
                ExprKind::Unary(..)
                | ExprKind::Binary(..)
                | ExprKind::Index(..)
                | ExprKind::Cast { .. }
                | ExprKind::Conditional(..)
                | ExprKind::Initialiser(_)
                | ExprKind::Triplet(_) => pending.extend(kind.children()),
                ExprKind::Member { arrow: false, .. } => pending.extend(kind.children()),
                ExprKind::Call { callee, args } => match &self.unit.expr(*callee).kind {
                    ExprKind::Name(name) if self.is_pure(name, *callee) => pending.extend(args),
                    ExprKind::Name(name) => self.refuse(span, format!("it calls `{name}`")),
                    _ => self.refuse(span, "it calls a function of an object".to_owned()),
                },
                _ => self.refuse(span, "it is not understood".to_owned()),
            }
        }
    }

    /// Whether a name of Fortran is that of a unit in `iso_fortran_env`.
    fn is_unit(&self, symbol: SymbolId) -> bool {
        let known = self.symbols.get(symbol);
        let is_declared = known.decl.is_some() || known.home.is_some();
        self.unit.is_fortran() && !is_declared && matches!(known.name.as_str(), "output_unit" | "error_unit")
    }

    /// Whether a macro stands for a number or a text.
    fn is_number(&self, name: &str) -> bool {
        let is_plain = |body: &str| {
            let is_text = body.starts_with('"') && body.ends_with('"') && body.matches('"').count() == 2;
            let digits = |char: char| char.is_ascii_digit() || "()+-*/.eEuUlLxX ".contains(char);
            is_text || body.chars().all(digits)
        };
        self.symbols.body_of(name).is_some_and(is_plain)
    }

    fn is_pure(&self, name: &str, callee: ExprId) -> bool {
        let symbol = self.symbols.named(self.unit, callee);
        if self.unit.is_fortran() {
            return symbol.is_none() && super::elemental::is_intrinsic(name);
        }
        let is_variable = symbol.is_some_and(|id| self.symbols.get(id).kind != SymbolKind::Function);
        let is_known = is_mathematical(name) || MAKERS.contains(&bare(name));
        is_known && !is_variable && !self.is_own(name)
    }
}
