//! Names: what each one declares, where it is visible, and of which class its type is.
//!
//! Invariant: a name is resolved by the innermost scope that holds the place of its use.

use std::collections::HashMap;

use crate::host::ir::{
    BaseType, Decl, DeclId, DeclKind, Derived, ExprId, ExprKind, FunctionId, StmtId, StmtKind, Unit,
};
use crate::scan::Define;
use crate::source::Span;

/// Index into the symbols of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SymbolId(pub u32);

/// Where a symbol comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymbolKind {
    /// Declared in a block or a loop header.
    Local,
    /// A parameter of the function.
    Parameter,
    /// Declared at file scope, here or in a header, or `static` in a function.
    Static,
    /// A function.
    Function,
    /// A type name.
    Type,
    /// An enumerator or an object-like macro: a constant.
    Constant,
}

/// The classes of types that OpenACC's rules tell apart (1.6 "aggregate" and "scalar"; a C pointer is a scalar there).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// An arithmetic type or an enumeration.
    Scalar,
    /// A pointer.
    Pointer,
    /// An array.
    Array,
    /// A struct or union.
    Record,
    /// A type we cannot see.
    Unknown,
}

/// One declared name.
#[derive(Clone, Debug)]
pub struct Symbol {
    /// The name.
    pub name: String,
    /// Where it comes from.
    pub kind: SymbolKind,
    /// The class of its type.
    pub class: Class,
    /// Its type is a floating one.
    pub is_floating: bool,
    /// Number of array dimensions or pointer stars that a subscript may remove, outermost first: `true` is an array.
    pub shape: Vec<bool>,
    /// The bytes in which it is visible (the whole file for a header's).
    pub scope: Span,
    /// It is visible behind this offset.
    pub from: u32,
    /// The declaration, if it is in this file.
    pub decl: Option<DeclId>,
    /// It is `const`.
    pub is_const: bool,
}

/// All names of one file, those of its headers included.
#[derive(Debug, Default)]
pub struct Symbols {
    symbols: Vec<Symbol>,
    /// By name and by the outermost function that holds the scope, so that equal names of other functions cost nothing;
    /// sorted by the start of their scope.
    by_name: HashMap<String, HashMap<Option<usize>, Vec<SymbolId>>>,
    /// The outermost functions, by place.
    functions: Vec<Span>,
}

struct Types<'a> {
    units: Vec<&'a Unit>,
    typedefs: HashMap<&'a str, (&'a Unit, &'a Decl)>,
}

impl Symbols {
    /// Reads the declarations of `unit` and, before them, those of its headers and the object-like macros.
    pub fn new(unit: &Unit, length: usize, headers: &[&Unit], macros: &[&Define]) -> Symbols {
        let mut units: Vec<&Unit> = headers.to_vec();
        units.push(unit);
        let mut typedefs = HashMap::new();
        for unit in &units {
            for decl in unit.decls.iter().filter(|decl| decl.kind == DeclKind::Typedef) {
                typedefs.insert(decl.name.as_str(), (*unit, decl));
            }
        }
        let types = Types { units, typedefs };
        let file = Span::new(0, length);
        let mut symbols = Symbols::default();
        for function in &unit.functions {
            if symbols.functions.last().is_none_or(|last| last.end <= function.span.start) {
                symbols.functions.push(function.span);
            }
        }
        for define in macros.iter().filter(|define| !define.has_params) {
            symbols.insert(Symbol {
                name: define.name.clone(),
                kind: SymbolKind::Constant,
                class: Class::Scalar,
                is_floating: false,
                shape: Vec::new(),
                scope: file,
                from: 0,
                decl: None,
                is_const: true,
            });
        }
        for header in headers {
            for id in &header.globals {
                symbols.declare(header.decl(*id), None, SymbolKind::Static, file, 0, &types);
            }
            for function in &header.functions {
                symbols.function(&function.name, file, 0);
            }
        }
        for id in &unit.globals {
            let decl = unit.decl(*id);
            symbols.declare(decl, Some(*id), SymbolKind::Static, file, decl.name_span.end, &types);
        }
        for (index, function) in unit.functions.iter().enumerate() {
            symbols.function(&function.name, file, function.name_span.start);
            symbols.function_scope(unit, FunctionId(index as u32), &types);
        }
        let Symbols { symbols: all, by_name, .. } = &mut symbols;
        for known in by_name.values_mut().flat_map(HashMap::values_mut) {
            known.sort_by_key(|id| {
                let symbol = &all[id.0 as usize];
                (symbol.scope.start, symbol.from)
            });
        }
        symbols
    }

    /// The symbol `id`.
    pub fn get(&self, id: SymbolId) -> &Symbol {
        &self.symbols[id.0 as usize]
    }

    /// What `name` means at `offset`.
    pub fn lookup(&self, name: &str, offset: u32) -> Option<SymbolId> {
        let visible = |id: &&SymbolId| {
            let symbol = self.get(**id);
            symbol.scope.start <= offset && offset < symbol.scope.end && symbol.from <= offset
        };
        let places = self.by_name.get(name)?;
        let here = self.function_at(offset).and_then(|function| places.get(&Some(function)));
        // Scopes nest: of those that hold the place, the last one to begin is the innermost.
        let innermost = |known: &Vec<SymbolId>| {
            let before = known.partition_point(|id| self.get(*id).scope.start <= offset);
            known[..before].iter().rev().find(visible).copied()
        };
        here.and_then(innermost).or_else(|| places.get(&None).and_then(innermost))
    }

    /// The outermost function that holds `offset`.
    fn function_at(&self, offset: u32) -> Option<usize> {
        let at = self.functions.partition_point(|span| span.end <= offset);
        self.functions.get(at).filter(|span| span.start <= offset).map(|_| at)
    }

    fn insert(&mut self, symbol: Symbol) {
        let id = SymbolId(self.symbols.len() as u32);
        let holds = |at: &usize| self.functions.get(*at).is_some_and(|span| span.contains(symbol.scope));
        let function = self.function_at(symbol.scope.start).filter(holds);
        self.by_name.entry(symbol.name.clone()).or_default().entry(function).or_default().push(id);
        self.symbols.push(symbol);
    }

    fn function(&mut self, name: &str, scope: Span, from: u32) {
        let kind = SymbolKind::Function;
        let name = name.to_owned();
        self.insert(Symbol {
            name,
            kind,
            class: Class::Unknown,
            is_floating: false,
            shape: Vec::new(),
            scope,
            from,
            decl: None,
            is_const: true,
        });
    }

    fn declare(
        &mut self,
        decl: &Decl,
        id: Option<DeclId>,
        storage: SymbolKind,
        scope: Span,
        from: u32,
        types: &Types,
    ) {
        let kind = match decl.kind {
            DeclKind::Typedef => SymbolKind::Type,
            DeclKind::Prototype => SymbolKind::Function,
            DeclKind::Enumerator => SymbolKind::Constant,
            DeclKind::Parameter => SymbolKind::Parameter,
            DeclKind::Variable | DeclKind::Member if decl.is_static || decl.is_extern => SymbolKind::Static,
            DeclKind::Variable | DeclKind::Member => storage,
        };
        let mut shape = types.shape(decl, 0);
        let class = types.class(decl, &shape, 0);
        if decl.kind == DeclKind::Parameter
            && let Some(first) = shape.first_mut()
        {
            *first = false;
        }
        let class = match class {
            Class::Array if decl.kind == DeclKind::Parameter => Class::Pointer,
            class => class,
        };
        let is_floating = class == Class::Scalar && types.is_floating(decl, 0);
        let name = decl.name.clone();
        let is_const = decl.is_const;
        self.insert(Symbol { name, kind, class, is_floating, shape, scope, from, decl: id, is_const });
    }

    fn function_scope(&mut self, unit: &Unit, id: FunctionId, types: &Types) {
        let function = unit.function(id);
        for param in &function.params {
            self.declare(unit.decl(*param), Some(*param), SymbolKind::Parameter, function.span, 0, types);
        }
        let mut pending: Vec<(StmtId, Span)> = vec![(function.body, function.span)];
        while let Some((stmt, scope)) = pending.pop() {
            let span = unit.stmt(stmt).span;
            match &unit.stmt(stmt).kind {
                StmtKind::Block(list) => pending.extend(list.iter().map(|stmt| (*stmt, span))),
                StmtKind::Decl(decls) => {
                    for id in decls {
                        let decl = unit.decl(*id);
                        self.declare(decl, Some(*id), SymbolKind::Local, scope, decl.name_span.end, types);
                    }
                }
                StmtKind::For { init, body, .. } => {
                    pending.extend(init.iter().map(|init| (*init, span)));
                    pending.push((*body, span));
                }
                StmtKind::If { then, other, .. } => {
                    pending.push((*then, span));
                    pending.extend(other.iter().map(|other| (*other, span)));
                }
                StmtKind::While { body, .. }
                | StmtKind::DoWhile { body, .. }
                | StmtKind::Switch { body, .. } => pending.push((*body, span)),
                StmtKind::Labeled { stmt, .. } => pending.extend(stmt.iter().map(|stmt| (*stmt, scope))),
                StmtKind::Expr(_)
                | StmtKind::Empty
                | StmtKind::Return(_)
                | StmtKind::Break
                | StmtKind::Continue
                | StmtKind::Goto(_)
                | StmtKind::Opaque(_) => {}
            }
        }
    }
}

/// Whether the type of `symbol` holds an array whose size is known only when the program runs.
pub fn has_variable_length(unit: &Unit, symbols: &Symbols, symbol: SymbolId) -> bool {
    let Some(decl) = symbols.get(symbol).decl.map(|id| unit.decl(id)) else { return false };
    let skipped = usize::from(decl.kind == DeclKind::Parameter);
    decl.derived.iter().skip(skipped).any(|part| match part {
        Derived::Array(Some(size)) => !is_constant(unit, symbols, *size),
        Derived::Array(None) | Derived::Pointer | Derived::Function | Derived::Reference => false,
    })
}

/// Whether every name in an expression is a constant's.
fn is_constant(unit: &Unit, symbols: &Symbols, expr: ExprId) -> bool {
    let expr = unit.expr(expr);
    match &expr.kind {
        ExprKind::Name(name) => symbols
            .lookup(name, expr.span.start)
            .is_none_or(|symbol| symbols.get(symbol).kind == SymbolKind::Constant),
        kind => kind.children().into_iter().all(|child| is_constant(unit, symbols, child)),
    }
}

/// Deeper chains of typedefs than this are taken as unknown.
const TYPEDEF_DEPTH: usize = 16;

impl Types<'_> {
    fn shape(&self, decl: &Decl, depth: usize) -> Vec<bool> {
        let mut shape: Vec<bool> = decl
            .derived
            .iter()
            .filter_map(|part| match part {
                Derived::Pointer => Some(false),
                Derived::Array(_) => Some(true),
                Derived::Function | Derived::Reference => None,
            })
            .collect();
        if let BaseType::Named(name) = &decl.base
            && depth < TYPEDEF_DEPTH
            && let Some((_, typedef)) = self.typedefs.get(name.as_str())
        {
            shape.extend(self.shape(typedef, depth + 1));
        }
        shape
    }

    fn is_floating(&self, decl: &Decl, depth: usize) -> bool {
        match &decl.base {
            BaseType::Builtin(words) => {
                words.split(' ').any(|word| ["float", "double", "_Float16", "__float128"].contains(&word))
            }
            BaseType::Named(name) => match self.typedefs.get(name.as_str()) {
                Some((_, typedef)) if depth < TYPEDEF_DEPTH => self.is_floating(typedef, depth + 1),
                _ => matches!(name.as_str(), "float_t" | "double_t"),
            },
            BaseType::Void
            | BaseType::Tagged(_)
            | BaseType::Record(_)
            | BaseType::Enum
            | BaseType::Unknown => false,
        }
    }

    fn class(&self, decl: &Decl, shape: &[bool], depth: usize) -> Class {
        match (shape.first(), &decl.base) {
            (Some(true), _) => Class::Array,
            (Some(false), _) => Class::Pointer,
            (None, BaseType::Builtin(_) | BaseType::Enum) => Class::Scalar,
            (None, BaseType::Tagged(_) | BaseType::Record(_)) => Class::Record,
            (None, BaseType::Void | BaseType::Unknown) => Class::Unknown,
            (None, BaseType::Named(name)) => match self.typedefs.get(name.as_str()) {
                Some((unit, typedef)) if depth < TYPEDEF_DEPTH => {
                    debug_assert!(self.units.iter().any(|known| std::ptr::eq(*known, *unit)));
                    self.class(typedef, &[], depth + 1)
                }
                Some(_) => Class::Unknown,
                None if is_standard_scalar(name) => Class::Scalar,
                None => Class::Unknown,
            },
        }
    }
}

/// Arithmetic type names of the standard headers, which we never read.
fn is_standard_scalar(name: &str) -> bool {
    const NAMES: [&str; 14] = [
        "size_t",
        "ssize_t",
        "ptrdiff_t",
        "intptr_t",
        "uintptr_t",
        "intmax_t",
        "uintmax_t",
        "time_t",
        "clock_t",
        "bool",
        "wchar_t",
        "off_t",
        "float_t",
        "double_t",
    ];
    let fixed = name.strip_prefix('u').unwrap_or(name);
    let width = fixed.strip_prefix("int").and_then(|rest| rest.strip_suffix("_t"));
    let width = width.map(|rest| rest.trim_start_matches("_fast").trim_start_matches("_least"));
    NAMES.contains(&name) || width.is_some_and(|bits| ["8", "16", "32", "64"].contains(&bits))
}
