//! What a whole file says of its variables: where each gets its values, which pointers lead to memory of their own, and which
//! names of macros are numbers.
//!
//! Invariant: a variable that may get a value unseen has a source that is not known.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};

use crate::host::ir::{
    BaseType, BinaryOp, Decl, Derived, ExprId, ExprKind, FunctionId, StmtKind, UnaryOp, Unit,
};
use crate::scan::Define;
use crate::sema::{Class, SymbolId, SymbolKind, Symbols};
use crate::source::{SourceFile, Span};

use super::calls::Effect;

/// Functions that give memory which nothing else leads to.
const ALLOCATORS: [&str; 10] = [
    "malloc",
    "calloc",
    "aligned_alloc",
    "valloc",
    "memalign",
    "acc_malloc",
    "_mm_malloc",
    "fftw_malloc",
    "alloca",
    "strdup",
];

/// Chains of variables that are set to one another are followed no further than this.
const DEPTH: usize = 8;

/// What is known of a file.
pub struct Facts<'a> {
    /// The file.
    pub file: &'a SourceFile,
    /// Its structure.
    pub unit: &'a Unit,
    /// Its names.
    pub symbols: &'a Symbols,
    /// The user says that no two names lead to the same memory.
    pub(super) no_alias: bool,
    /// The macros by name, in small letters for Fortran; `None` for one that is defined in several ways.
    macros: HashMap<String, Option<&'a Define>>,
    /// The bodies of all macros, those of the same name among them.
    bodies: Vec<&'a str>,
    /// The values that each variable is given; `None` for one that is not known.
    sources: HashMap<SymbolId, Vec<Option<ExprId>>>,
    functions: HashMap<&'a str, Vec<FunctionId>>,
    pub(super) effects: RefCell<HashMap<FunctionId, Effect>>,
}

impl<'a> Facts<'a> {
    /// Reads a file. With `no_alias`, no two names lead to the same memory.
    pub fn new(
        file: &'a SourceFile,
        unit: &'a Unit,
        symbols: &'a Symbols,
        macros: &[&'a Define],
        no_alias: bool,
    ) -> Facts<'a> {
        let mut functions: HashMap<&str, Vec<FunctionId>> = HashMap::new();
        for (index, function) in unit.functions.iter().enumerate() {
            functions.entry(&function.name).or_default().push(FunctionId(index as u32));
        }
        let mut facts = Facts {
            file,
            unit,
            symbols,
            no_alias,
            macros: HashMap::new(),
            bodies: macros.iter().map(|define| define.body.as_str()).collect(),
            sources: HashMap::new(),
            functions,
            effects: RefCell::default(),
        };
        for define in macros {
            let is_same = |known: &&Define| known.params == define.params && known.body == define.body;
            let place = facts.macros.entry(facts.folded(&define.name).into_owned());
            place.and_modify(|known| *known = known.filter(is_same)).or_insert(Some(define));
        }
        facts.read_sources();
        facts
    }

    fn read_sources(&mut self) {
        let unit = self.unit;
        for expr in &unit.exprs {
            match &expr.kind {
                ExprKind::Assign(None, left, right) => self.source(*left, Some(*right)),
                ExprKind::Assign(Some(_), left, _) => self.source(*left, None),
                ExprKind::Step { operand, .. } => self.source(*operand, None),
                ExprKind::AddressOf(operand) => self.source(*operand, None),
                ExprKind::Opaque(parts) => parts.iter().for_each(|part| self.source(*part, None)),
                ExprKind::Call { callee, args } => {
                    let (ExprKind::Name(name) | ExprKind::Member { name, .. }) = &unit.expr(*callee).kind
                    else {
                        continue;
                    };
                    for (place, arg) in args.iter().enumerate() {
                        if self.symbols.takes_reference(name, place) {
                            self.source(*arg, None);
                        }
                    }
                }
                _ => {}
            }
        }
        for decl in &unit.decls {
            let Some(init) = decl.init else { continue };
            if let Some(symbol) = self.symbols.lookup(&decl.name, decl.name_span.end) {
                self.sources.entry(symbol).or_default().push(Some(init));
                // Another name of it.
                if decl.derived.first() == Some(&Derived::Reference) && !decl.is_const {
                    self.source(init, None);
                }
            }
        }
        for stmt in &unit.stmts {
            if let StmtKind::Opaque(parts) = &stmt.kind {
                parts.iter().for_each(|part| self.source(*part, None));
            }
        }
    }

    fn source(&mut self, target: ExprId, value: Option<ExprId>) {
        if let Some(symbol) = self.symbols.named(self.unit, target) {
            self.sources.entry(symbol).or_default().push(value);
        }
    }

    /// The line that holds an offset.
    pub fn line(&self, offset: u32) -> Span {
        self.file.lines.span(self.file.lines.line(offset))
    }

    /// The number of the line that holds an offset, from one.
    pub fn line_number(&self, offset: u32) -> usize {
        self.file.line_number(offset)
    }

    /// The one value that a variable ever has, if it is set where it is declared or once.
    pub(super) fn only_value(&self, symbol: SymbolId) -> Option<ExprId> {
        let known = self.symbols.get(symbol);
        let has_names = known.fortran.target || known.fortran.pointer || known.fortran.is_equivalent;
        let is_plain =
            known.class == Class::Scalar && !known.is_floating && !known.is_reference && !has_names;
        let is_fixed = matches!(known.kind, SymbolKind::Local | SymbolKind::Constant) || known.is_const;
        match self.sources.get(&symbol).map(Vec::as_slice) {
            Some([Some(value)]) if is_plain && is_fixed => Some(*value),
            _ => None,
        }
    }

    /// The one place that a pointer ever leads to, as an expression.
    pub(super) fn only_aim(&self, symbol: SymbolId) -> Option<ExprId> {
        let known = self.symbols.get(symbol);
        let decl = self.decl(symbol)?;
        let is_name = decl.derived.first() == Some(&Derived::Reference);
        if self.unit.is_fortran() {
            return decl.init.filter(|_| is_name);
        }
        let is_own = known.kind == SymbolKind::Local && known.class == Class::Pointer && !is_name;
        match self.sources.get(&symbol).map(Vec::as_slice) {
            Some([Some(value)]) if is_own => Some(*value),
            _ => None,
        }
    }

    /// The variable that a pointer, or a second name, leads into: itself, if that is not known.
    pub(super) fn origin(&self, symbol: SymbolId) -> SymbolId {
        let mut symbol = symbol;
        for _ in 0..DEPTH {
            let Some(next) = self.only_aim(symbol).and_then(|aim| self.root(aim)) else { break };
            symbol = next;
        }
        symbol
    }

    /// The variable whose memory the value of a pointer expression leads into.
    fn root(&self, aim: ExprId) -> Option<SymbolId> {
        let mut at = aim;
        let is_pointer = |symbol: &SymbolId| {
            let class = self.symbols.get(*symbol).class;
            self.unit.is_fortran() || matches!(class, Class::Pointer | Class::Array)
        };
        loop {
            at = match &self.unit.expr(at).kind {
                ExprKind::Name(_) => return self.symbols.named(self.unit, at).filter(is_pointer),
                ExprKind::Cast { operand, .. } => *operand,
                ExprKind::Binary(BinaryOp::Add | BinaryOp::Subtract, left, _) => *left,
                ExprKind::AddressOf(inner) => match &self.unit.expr(*inner).kind {
                    ExprKind::Index(base, _) if !self.unit.is_fortran() => match self.unit.expr(*base).kind {
                        ExprKind::Name(_) => *base,
                        _ => return None,
                    },
                    _ => return None,
                },
                ExprKind::Index(base, _) | ExprKind::Member { base, .. } if self.unit.is_fortran() => *base,
                _ => return None,
            }
        }
    }

    /// Whether a variable keeps the value that its function begins with.
    pub(super) fn is_fixed_parameter(&self, symbol: SymbolId) -> bool {
        let known = self.symbols.get(symbol);
        let is_plain = matches!(known.class, Class::Scalar | Class::Pointer);
        known.kind == SymbolKind::Parameter && is_plain && !self.sources.contains_key(&symbol)
    }

    /// The number that an expression always is.
    pub fn constant(&self, expr: ExprId) -> Option<i64> {
        self.constant_within(expr, DEPTH)
    }

    fn constant_within(&self, expr: ExprId, depth: usize) -> Option<i64> {
        let depth = depth.checked_sub(1)?;
        let value = |expr: ExprId| self.constant_within(expr, depth);
        match &self.unit.expr(expr).kind {
            ExprKind::Int(value) => i64::try_from(*value).ok(),
            ExprKind::Name(name) => match self.symbols.named(self.unit, expr) {
                Some(symbol) => self.only_value(symbol).and_then(value).or_else(|| self.number_of(name)),
                None => self.number_of(name),
            },
            ExprKind::Unary(UnaryOp::Minus, operand) => value(*operand)?.checked_neg(),
            ExprKind::Unary(UnaryOp::Plus, operand) => value(*operand),
            ExprKind::Cast { operand, .. } => value(*operand),
            ExprKind::Binary(op, left, right) => {
                let (left, right) = (value(*left)?, value(*right)?);
                match op {
                    BinaryOp::Add => left.checked_add(right),
                    BinaryOp::Subtract => left.checked_sub(right),
                    BinaryOp::Multiply => left.checked_mul(right),
                    BinaryOp::Divide => left.checked_div(right),
                    BinaryOp::Remainder => left.checked_rem(right),
                    BinaryOp::ShiftLeft => left.checked_mul(1_i64.checked_shl(u32::try_from(right).ok()?)?),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// The number that an object-like macro stands for.
    pub(super) fn number_of(&self, name: &str) -> Option<i64> {
        let mut name = name;
        for _ in 0..DEPTH {
            let define = self.define(name).filter(|define| define.params.is_none())?;
            let body = define.body.trim();
            let body = body.strip_prefix('(').and_then(|body| body.strip_suffix(')')).unwrap_or(body).trim();
            let digits = body.trim_end_matches(['u', 'U', 'l', 'L']);
            if let Ok(value) = digits.parse() {
                return Some(value);
            }
            name = body;
        }
        None
    }

    /// The macro `name`.
    pub(super) fn define(&self, name: &str) -> Option<&'a Define> {
        self.macros.get(self.folded(name).as_ref()).copied().flatten()
    }

    /// The bodies of all macros.
    pub(super) fn defines(&self) -> impl Iterator<Item = &'a str> {
        self.bodies.iter().copied()
    }

    /// Whether `name` alone is that of a macro, or may be.
    pub(super) fn is_macro(&self, name: &str) -> bool {
        let known = self.macros.get(self.folded(name).as_ref());
        known.is_some_and(|known| known.is_none_or(|define| define.params.is_none()))
    }

    /// Whether calls of `name` are those of a macro, or may be.
    pub(super) fn is_called_macro(&self, name: &str) -> bool {
        let known = self.macros.get(self.folded(name).as_ref());
        known.is_some_and(|known| known.is_none_or(|define| define.params.is_some()))
    }

    /// A name as it is kept: Fortran knows no capitals.
    fn folded<'n>(&self, name: &'n str) -> Cow<'n, str> {
        match self.unit.is_fortran() {
            true => name.to_ascii_lowercase().into(),
            false => name.into(),
        }
    }

    /// The function-like macro `name`.
    pub(super) fn function_like(&self, name: &str) -> Option<(&'a Define, &'a [String])> {
        let define = self.define(name)?;
        Some((define, define.params.as_deref()?))
    }

    /// The functions of the file with this name.
    pub(super) fn functions(&self, name: &str) -> &[FunctionId] {
        let name = name.rsplit_once(':').map_or(name, |(_, last)| last);
        self.functions.get(name).map(Vec::as_slice).unwrap_or_default()
    }

    /// Whether what a pointer leads to was allocated for it: nothing else leads there.
    pub(super) fn is_allocated(&self, symbol: SymbolId) -> bool {
        let sources = self.sources.get(&symbol).map(Vec::as_slice).unwrap_or_default();
        let known = self.symbols.get(symbol);
        let is_own = known.kind == SymbolKind::Local && !known.is_reference;
        let is_null = |value: ExprId| match &self.unit.expr(value).kind {
            ExprKind::Int(0) => true,
            ExprKind::Name(name) => name == "NULL" || name == "nullptr",
            _ => false,
        };
        let mut values = sources.iter().filter(|value| !value.is_some_and(is_null)).peekable();
        is_own
            && values.peek().is_some()
            && values.all(|value| value.is_some_and(|value| self.allocates(value)))
    }

    fn allocates(&self, value: ExprId) -> bool {
        match &self.unit.expr(value).kind {
            ExprKind::Cast { operand, .. } => self.allocates(*operand),
            ExprKind::Call { callee, .. } => match &self.unit.expr(*callee).kind {
                ExprKind::Name(name) => {
                    let name = name.rsplit_once(':').map_or(name.as_str(), |(_, last)| last);
                    ALLOCATORS.contains(&name)
                }
                _ => false,
            },
            ExprKind::Opaque(_) | ExprKind::Initialiser(_) => {
                let text = self.file.text(self.unit.expr(value).span);
                let rest = text.trim_start().strip_prefix("new");
                rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_whitespace()))
            }
            _ => false,
        }
    }

    /// The declaration of a variable, if it is in this file.
    pub fn decl(&self, symbol: SymbolId) -> Option<&'a Decl> {
        self.symbols.get(symbol).decl.map(|id| self.unit.decl(id))
    }

    /// Whether the type of what a variable leads to is surely another one than that of the other: such do not share memory
    /// (C11 6.5).
    pub(super) fn have_other_types(&self, one: SymbolId, two: SymbolId) -> bool {
        let (Some(one), Some(two)) = (self.decl(one), self.decl(two)) else { return false };
        let stars = |decl: &Decl| decl.derived.iter().filter(|part| **part != Derived::Reference).count();
        let Some((first, second)) = element(one).zip(element(two)) else {
            return false;
        };
        let is_char = |words: &BTreeSet<&str>| words.contains("char") || words.contains("byte");
        (first != second || stars(one) != stars(two)) && !is_char(&first) && !is_char(&second)
    }
}

/// The words of a built-in type, without those that do not part types.
fn element(decl: &Decl) -> Option<BTreeSet<&str>> {
    match &decl.base {
        BaseType::Builtin(words) => {
            let passed = ["signed", "unsigned", "int"];
            let mut set: BTreeSet<&str> = words.split(' ').filter(|word| !passed.contains(word)).collect();
            if set.is_empty() {
                set.insert("int");
            }
            Some(set)
        }
        _ => None,
    }
}
