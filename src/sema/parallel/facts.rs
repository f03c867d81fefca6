//! What a whole file says of its variables: where each gets its values, which pointers lead to memory of their own, and which
//! names of macros are numbers.
//!
//! Invariant: a variable that may get a value unseen has a source that is not known.

use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::budget::{Budget, Limits};
use crate::host::ir::{BinaryOp, Decl, Derived, ExprId, ExprKind, FunctionId, StmtKind, UnaryOp, Unit};
use crate::scan::Define;
use crate::sema::macros::assigned_names;
use crate::sema::{Class, SymbolId, SymbolKind, Symbols};
use crate::source::{SourceFile, Span};

use super::calls::Effects;
use super::origin::Origins;

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
    /// The user says that no two pointers alias.
    pub(super) no_alias: bool,
    /// What the proofs about a nest of loops may cost.
    pub(super) limits: Limits,
    /// The macros by name, in small letters for Fortran; `None` for one that is defined in several ways.
    macros: FxHashMap<String, Option<&'a Define>>,
    /// All macros by name, those that are defined in several ways among them.
    defines: FxHashMap<String, Vec<&'a Define>>,
    /// The variables that Fortran's `associate` gives other names.
    lent: FxHashSet<SymbolId>,
    /// The variables that some macro assigns, by name.
    set_by_macros: FxHashSet<String>,
    /// The values that each variable is given; `None` for one that is not known.
    sources: FxHashMap<SymbolId, Vec<Option<ExprId>>>,
    functions: FxHashMap<&'a str, Vec<FunctionId>>,
    pub(super) effects: RefCell<Effects>,
    origins: OnceCell<Origins>,
    template_parameters: OnceCell<FxHashSet<String>>,
    /// Whether an expression changes a variable, as far as it was asked.
    changing: RefCell<FxHashMap<ExprId, bool>>,
}

impl<'a> Facts<'a> {
    /// Reads a file. With `no_alias`, no two pointers alias.
    pub fn new(
        file: &'a SourceFile,
        unit: &'a Unit,
        symbols: &'a Symbols,
        macros: &[&'a Define],
        no_alias: bool,
    ) -> Facts<'a> {
        let mut functions: FxHashMap<&str, Vec<FunctionId>> = FxHashMap::default();
        for (index, function) in unit.functions.iter().enumerate() {
            functions.entry(&function.name).or_default().push(FunctionId(index as u32));
        }
        let mut facts = Facts {
            file,
            unit,
            symbols,
            no_alias,
            limits: Budget::default().of_proof(),
            macros: FxHashMap::default(),
            defines: FxHashMap::default(),
            lent: FxHashSet::default(),
            set_by_macros: FxHashSet::default(),
            sources: FxHashMap::default(),
            functions,
            effects: RefCell::default(),
            origins: OnceCell::new(),
            template_parameters: OnceCell::new(),
            changing: RefCell::default(),
        };
        for define in macros {
            let name = facts.folded(&define.name).into_owned();
            facts.defines.entry(name).or_default().push(define);
            let is_param = |name: &String| define.params.iter().flatten().any(|param| param == name);
            let assigned = assigned_names(&define.body).into_iter().filter(|name| !is_param(name));
            facts.set_by_macros.extend(assigned);
            let is_same = |known: &&Define| known.params == define.params && known.body == define.body;
            let place = facts.macros.entry(facts.folded(&define.name).into_owned());
            place.and_modify(|known| *known = known.filter(is_same)).or_insert(Some(define));
        }
        facts.read_sources();
        facts
    }

    /// The same, where the proofs about a nest of loops may cost as much as `budget` says.
    pub fn within(self, budget: Budget) -> Facts<'a> {
        Facts { limits: budget.of_proof(), ..self }
    }

    /// The same, where no two pointers alias.
    pub fn without_aliases(&self) -> Facts<'a> {
        let macros: Vec<&'a Define> = self.defines.values().flatten().copied().collect();
        Facts { limits: self.limits, ..Facts::new(self.file, self.unit, self.symbols, &macros, true) }
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
                if decl.derived.first() == Some(&Derived::Reference) {
                    self.lent.extend(self.symbols.named(self.unit, init).filter(|_| self.unit.is_fortran()));
                    if !decl.is_const {
                        self.source(init, None);
                    }
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

    /// Whether an `associate` block of Fortran gives a variable another name.
    pub(super) fn is_lent(&self, symbol: SymbolId) -> bool {
        self.lent.contains(&symbol)
    }

    /// The names of the type parameters of all templates of the file.
    pub(super) fn template_parameters(&self) -> &FxHashSet<String> {
        self.template_parameters.get_or_init(|| {
            let whole = Span { start: 0, end: self.file.bytes.len() as u32 };
            type_parameters(&self.file.text(whole))
        })
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
        match self.values(symbol) {
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
        match self.values(symbol) {
            Some([Some(value)]) if is_own => Some(*value),
            _ => None,
        }
    }

    /// The variable that a pointer, or a second name, leads into: itself, if that is not known.
    pub(super) fn origin(&self, symbol: SymbolId) -> SymbolId {
        self.aims(symbol).last().copied().unwrap_or(symbol)
    }

    /// The variable, and those that the one value it ever has is made from, one after the other.
    pub(super) fn aims(&self, symbol: SymbolId) -> Vec<SymbolId> {
        let next = |symbol: &SymbolId| self.only_aim(*symbol).and_then(|aim| self.root(aim));
        std::iter::successors(Some(symbol), next).take(DEPTH).collect()
    }

    /// The sizes of a variable's dimensions; of a pointer's there is none.
    pub(super) fn dimensions(&self, symbol: SymbolId) -> Vec<Option<ExprId>> {
        let derived = self.decl(symbol).map(|decl| decl.derived.as_slice()).unwrap_or_default();
        let sizes = derived.iter().map(|part| match part {
            Derived::Array(size) => *size,
            Derived::Pointer | Derived::Function | Derived::Reference => None,
        });
        sizes.collect()
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
        known.kind == SymbolKind::Parameter && is_plain && self.values(symbol).is_none()
    }

    /// Whether evaluating an expression changes a variable. Each is looked at once, however often what is around it asks.
    pub(super) fn changes(&self, expr: ExprId) -> bool {
        let mut known = self.changing.borrow_mut();
        let mut pending = vec![(expr, false)];
        while let Some((at, is_inside_known)) = pending.pop() {
            if known.contains_key(&at) {
                continue;
            }
            let kind = &self.unit.expr(at).kind;
            if matches!(kind, ExprKind::Assign(..) | ExprKind::Step { .. }) {
                known.insert(at, true);
            } else if is_inside_known {
                let changes = kind.children().any(|child| known.get(&child) == Some(&true));
                known.insert(at, changes);
            } else {
                pending.push((at, true));
                pending.extend(kind.children().map(|child| (child, false)));
            }
        }
        known.get(&expr) == Some(&true)
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
                Some(symbol) => {
                    let number = self.only_value(symbol).and_then(value);
                    number
                        .and_then(|number| self.held_number(symbol, number))
                        .or_else(|| self.number_of(name))
                }
                None => self.number_of(name),
            },
            ExprKind::Unary(UnaryOp::Minus, operand) => value(*operand)?.checked_neg(),
            ExprKind::Unary(UnaryOp::Plus, operand) => value(*operand),
            ExprKind::Cast { to, operand } => value(*operand).and_then(|number| self.cast_number(to, number)),
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

    /// The names that a call of `name` may mean: macros that stand for one name lead to it, each of several definitions.
    pub(super) fn called<'n>(&self, name: &'n str) -> Vec<&'n str>
    where
        'a: 'n,
    {
        let (mut open, mut meant) = (vec![(name, DEPTH)], Vec::new());
        while let Some((name, depth)) = open.pop() {
            let is_name = |body: &str| {
                body.starts_with(|c: char| c.is_alphabetic() || c == '_')
                    && body.chars().all(|c| c.is_alphanumeric() || c == '_')
            };
            let defines = || self.defines_of(name).map(|define| (define, define.body.trim()));
            let leads = defines().next().is_some()
                && defines().all(|(define, body)| define.params.is_none() && is_name(body) && body != name);
            if leads && depth > 0 {
                open.extend(defines().map(|(_, body)| (body, depth - 1)));
            } else if !meant.contains(&name) {
                meant.push(name);
            }
        }
        meant
    }

    /// The macro `name`.
    pub(super) fn define(&self, name: &str) -> Option<&'a Define> {
        self.macros.get(self.folded(name).as_ref()).copied().flatten()
    }

    /// The macros `name`, which may be defined in several ways.
    pub(super) fn defines_of(&self, name: &str) -> impl Iterator<Item = &'a Define> {
        self.defines.get(self.folded(name).as_ref()).into_iter().flatten().copied()
    }

    /// The bodies of all macros.
    pub(super) fn defines(&self) -> impl Iterator<Item = &'a str> {
        self.defines.values().flatten().map(|define| define.body.as_str())
    }

    /// What the variables of the file are made from.
    pub(super) fn origins(&self) -> &Origins {
        self.origins.get_or_init(|| match self.unit.is_fortran() {
            true => Origins::default(),
            false => Origins::new(self),
        })
    }

    /// The values that a variable is given; `None` for one that is not known.
    fn values(&self, symbol: SymbolId) -> Option<&[Option<ExprId>]> {
        let is_set_unseen = self.set_by_macros.contains(&self.symbols.get(symbol).name);
        let known = self.sources.get(&symbol).map(Vec::as_slice);
        if is_set_unseen { Some(&[None]) } else { known }
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
        self.functions.get(plain_name(name)).map(Vec::as_slice).unwrap_or_default()
    }

    /// Whether a value is the address of memory that was allocated for it: nothing else leads there.
    pub(super) fn allocates(&self, value: ExprId) -> bool {
        match &self.unit.expr(value).kind {
            ExprKind::Cast { operand, .. } => self.allocates(*operand),
            ExprKind::Call { callee, .. } => match &self.unit.expr(*callee).kind {
                ExprKind::Name(name) => {
                    ALLOCATORS.contains(&plain_name(name)) && self.functions(name).is_empty()
                }
                _ => false,
            },
            ExprKind::Opaque(_) | ExprKind::Initialiser(_) => {
                let text = self.file.text(self.unit.expr(value).span);
                let rest = text.trim_start().strip_prefix("new");
                // After a parenthesis, a message may say where.
                rest.is_some_and(|rest| {
                    rest.starts_with(|c: char| c.is_whitespace()) && !rest.trim_start().starts_with('(')
                })
            }
            _ => false,
        }
    }

    /// The declaration of a variable, if it is in this file.
    pub fn decl(&self, symbol: SymbolId) -> Option<&'a Decl> {
        self.symbols.get(symbol).decl.map(|id| self.unit.decl(id))
    }
}

/// A name without that of its namespace or class.
pub(super) fn plain_name(name: &str) -> &str {
    name.rsplit_once(':').map_or(name, |(_, last)| last)
}

/// The names after `class` and `typename` in the parameter lists of templates.
fn type_parameters(text: &str) -> FxHashSet<String> {
    let mut found = FxHashSet::default();
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    for (at, word) in text.match_indices("template") {
        let Some(list) = text[at + word.len()..].trim_start().strip_prefix('<') else { continue };
        let mut depth = 1;
        let end = list.find(|c| {
            depth += i32::from(c == '<') - i32::from(c == '>');
            depth == 0
        });
        let list = list.get(..end.unwrap_or(0)).unwrap_or_default();
        let mut words = list.split(|c: char| !is_word(c)).filter(|word| !word.is_empty());
        while let Some(word) = words.next() {
            if matches!(word, "class" | "typename") {
                found.extend(words.next().map(str::to_owned));
            }
        }
    }
    found
}
