//! The variables of a compute construct: how C++ calls them, and what the host passes.
//!
//! Invariant: an array is a pointer to its first element; its bounds are constants, or are passed beside it.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use crate::host::ir::{BaseType, Decl, Derived, ExprId, ExprKind, ScopeKind, StmtId, UnaryOp, Unit};
use crate::sema::{Class, Symbol, SymbolId, SymbolKind, Symbols, Texts};
use crate::source::{self, Span};

use super::Why;
use super::component;
use super::types::{Files, Identity, Type, is_conditional};

/// A number of an array's shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// It is the same in every run.
    Constant(i128),
    /// The host passes it.
    Passed,
}

/// A dimension of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dimension {
    /// Its lower bound.
    pub lower: Bound,
    /// How many elements it has.
    pub extent: Bound,
}

/// What C++ may ask of a dimension that the host passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BoundQuery {
    /// Its lower bound.
    Lower,
    /// How many elements it has.
    Extent,
}

/// A variable.
#[derive(Clone, Debug)]
pub struct Variable {
    /// How C++ calls it.
    pub name: String,
    /// How the source spells it.
    pub spelled: String,
    /// The type of its elements.
    pub ty: Type,
    /// Its dimensions; none of a scalar.
    pub shape: Vec<Dimension>,
    /// It may be another name of what is named, too.
    pub is_aliased: bool,
    /// It is a constant array, and its name is that of the function that gives its elements.
    pub is_constant: bool,
    /// How the names of its bounds begin.
    pub bounds: String,
    /// The struct that its objects are.
    pub object: Option<String>,
    /// It is a component of objects, an array, and what it belongs to stands before its name.
    pub is_part: bool,
    /// It may be absent.
    pub is_optional: bool,
}

/// The variables of a construct by their symbols, and what is asked of their shapes.
#[derive(Default)]
pub struct Variables {
    all: BTreeMap<SymbolId, Variable>,
    /// Components by the variable and the path, and the expressions that name them.
    components: BTreeMap<(SymbolId, String), SymbolId>,
    named: BTreeMap<ExprId, SymbolId>,
    /// Variables of modules that have no name in the code.
    unnamed: BTreeMap<Identity, SymbolId>,
    /// How many symbols were made for what has none.
    made: u32,
    /// Other names of variables.
    others: BTreeMap<SymbolId, SymbolId>,
    /// There are names of variables or of parts of such.
    has_others: bool,
    bounds_passed: RefCell<BTreeSet<(SymbolId, usize, BoundQuery)>>,
    /// The optional arguments of which it is asked whether they are there.
    presence: RefCell<BTreeSet<SymbolId>>,
}

/// Where the symbols of components begin.
const COMPONENTS: u32 = u32::MAX / 2;

/// Words of C++ and its libraries that a variable cannot have as its name.
const TAKEN: &[&str] = &[
    "alignas",
    "alignof",
    "alloca",
    "and",
    "asm",
    "assert",
    "auto",
    "bool",
    "break",
    "c_double",
    "c_double_complex",
    "c_float",
    "c_float_complex",
    "c_int",
    "c_long",
    "c_long_long",
    "c_short",
    "c_signed_char",
    "case",
    "catch",
    "char",
    "class",
    "compl",
    "const",
    "constexpr",
    "continue",
    "default",
    "delete",
    "device",
    "do",
    "double",
    "else",
    "enum",
    "environ",
    "errno",
    "explicit",
    "export",
    "extern",
    "false",
    "float",
    "for",
    "friend",
    "goto",
    "if",
    "inline",
    "int",
    "linux",
    "long",
    "main",
    "major",
    "minor",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "not",
    "nullptr",
    "offsetof",
    "operator",
    "or",
    "private",
    "protected",
    "public",
    "queue",
    "region",
    "register",
    "requires",
    "return",
    "short",
    "signed",
    "signgam",
    "sizeof",
    "static",
    "stderr",
    "stdin",
    "stdout",
    "struct",
    "switch",
    "template",
    "this",
    "throw",
    "true",
    "try",
    "typedef",
    "typeid",
    "typename",
    "union",
    "unix",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "while",
    "xor",
];

/// The names in a text of C++ or Fortran; words and numbers are among them.
pub fn names_in(text: &str) -> impl Iterator<Item = &str> {
    source::words(text)
}

/// A name of Fortran as a name of C++.
pub fn cpp_name(name: &str) -> String {
    let is_taken = TAKEN.contains(&name) || name.starts_with("acc");
    if is_taken { format!("{name}_") } else { name.to_owned() }
}

/// What Fortran says of a variable when it passes it on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passing {
    /// How the source spells it.
    pub spelled: String,
    /// Its type, as Fortran declares it.
    pub ty: String,
    /// How many dimensions it has.
    pub rank: usize,
    /// Its lower bounds are 1.
    pub keeps_bounds: bool,
}

impl Passing {
    /// The variable of a symbol that is named at `at`.
    pub fn of(files: &Files, symbols: &Symbols, symbol: SymbolId, at: Span) -> Result<Passing, Why> {
        let Variable { spelled, ty, shape, .. } = variable(files, symbols.get(symbol), at)?;
        let keeps_bounds = shape.iter().all(|dimension| dimension.lower == Bound::Constant(1));
        Ok(Passing { spelled, ty: ty.declared(), rank: shape.len(), keeps_bounds })
    }
}

impl Variable {
    /// A variable of which no more is to be said; its bounds get their names with it.
    pub fn new(name: String, spelled: String, ty: Type, shape: Vec<Dimension>) -> Variable {
        Variable {
            name,
            spelled,
            ty,
            shape,
            is_aliased: false,
            is_constant: false,
            bounds: String::new(),
            object: None,
            is_part: false,
            is_optional: false,
        }
    }

    /// How C++ calls the type of its elements.
    pub fn cpp(&self) -> &str {
        self.object.as_deref().unwrap_or(self.ty.cpp())
    }

    /// Whether its shape is the same in every run.
    pub fn is_fixed(&self) -> bool {
        self.shape.iter().all(|dimension| matches!(dimension.extent, Bound::Constant(_)))
    }

    /// How C++ calls its bounds, whether they are passed or not.
    fn bound_names(&self) -> impl Iterator<Item = String> {
        let places = 0..self.shape.len();
        let bounds = places.flat_map(|place| {
            [BoundQuery::Lower, BoundQuery::Extent].map(|which| passed_name(&self.bounds, place, which))
        });
        let own = [presence_name(&self.bounds), place_name(&self.bounds)];
        let own = own.into_iter().filter(|_| self.is_optional);
        bounds.chain(["first", "count"].map(|word| format!("{}_{word}", self.bounds))).chain(own)
    }
}

impl Variables {
    /// The variable of a symbol.
    pub fn get(&self, symbol: SymbolId) -> Option<&Variable> {
        self.all.get(&self.itself(symbol))
    }

    /// The variable that a symbol is another name of, or the symbol.
    fn itself(&self, symbol: SymbolId) -> SymbolId {
        self.others.get(&symbol).copied().unwrap_or(symbol)
    }

    /// Whether it is another name of a variable.
    pub fn is_other_name(&self, symbol: SymbolId) -> bool {
        self.others.contains_key(&symbol)
    }

    /// Whether some variables have other names.
    pub fn has_other_names(&self) -> bool {
        self.has_others
    }

    /// From here on a symbol is another name of a variable.
    pub fn add_other_name(&mut self, symbol: SymbolId, variable: SymbolId) {
        self.others.insert(symbol, self.itself(variable));
        self.has_others = true;
    }

    /// Takes in a variable that is known, except its names in C++.
    pub fn add_own(&mut self, symbols: &Symbols, symbol: SymbolId, mut variable: Variable, at: Span) {
        let name = &symbols.get(symbol).name;
        variable.name = cpp_name(name);
        self.has_others = true;
        self.settle(&mut variable, symbols, name, at);
        self.all.insert(symbol, variable);
    }

    /// Whether C++ calls a variable so, or a bound that is passed beside one.
    pub fn is_named(&self, name: &str) -> bool {
        self.all
            .values()
            .any(|variable| variable.name == name || variable.bound_names().any(|one| one == name))
    }

    /// All elements of an array as a section of C++: `[0:n]`.
    pub fn section(&self, symbol: SymbolId) -> Option<String> {
        let shape = &self.get(symbol)?.shape;
        let is_large = may_be_large(shape);
        let mut sizes = Vec::with_capacity(shape.len());
        for at in 0..shape.len() {
            sizes.push(match self.bound(symbol, at, BoundQuery::Extent)? {
                BoundText::Number(number) if is_large && at == 0 && shape.len() > 1 => format!("{number}ll"),
                BoundText::Number(number) => number.to_string(),
                BoundText::Name(name) => name,
            });
        }
        Some(format!("[0:{}]", sizes.join(" * ")))
    }

    /// What is passed beside variables: the variable, the number of the dimension from one, and what of it.
    pub fn bounds_passed(&self) -> Vec<(SymbolId, usize, BoundQuery)> {
        self.bounds_passed.borrow().iter().copied().collect()
    }

    /// What says whether an optional argument is there; `None` of another variable.
    pub fn presence(&self, symbol: SymbolId) -> Option<String> {
        let symbol = self.itself(symbol);
        let variable = self.all.get(&symbol).filter(|one| one.is_optional)?;
        self.presence.borrow_mut().insert(symbol);
        Some(presence_name(&variable.bounds))
    }

    /// Whether it is asked if a variable is there.
    pub fn is_presence_asked(&self, symbol: SymbolId) -> bool {
        self.presence.borrow().contains(&symbol)
    }

    /// A bound of a dimension in C++: a number, or the name of what is passed.
    pub fn bound(&self, symbol: SymbolId, at: usize, which: BoundQuery) -> Option<BoundText> {
        let symbol = self.itself(symbol);
        let variable = self.all.get(&symbol)?;
        let dimension = variable.shape.get(at)?;
        let bound = if which == BoundQuery::Lower { dimension.lower } else { dimension.extent };
        Some(match bound {
            Bound::Constant(value) => BoundText::Number(value),
            Bound::Passed => {
                self.bounds_passed.borrow_mut().insert((symbol, at, which));
                BoundText::Name(passed_name(&variable.bounds, at, which))
            }
        })
    }

    /// What an expression names.
    pub fn named(&self, symbols: &Symbols, unit: &Unit, expr: ExprId) -> Option<SymbolId> {
        let own = symbols.named(unit, expr).or_else(|| self.named.get(&expr).copied());
        own.map(|symbol| self.itself(symbol))
    }

    /// The component of a variable by its path in small letters and without blanks.
    pub fn component(&self, root: SymbolId, path: &str) -> Option<SymbolId> {
        self.components.get(&(root, path.to_owned())).copied()
    }

    /// Whether it is a component or has no name in the code: it has no symbol but the one that it got here.
    pub fn is_component(&self, symbol: SymbolId) -> bool {
        symbol.0 >= COMPONENTS
    }

    /// Takes in a component that an expression names.
    pub fn add_component(
        &mut self,
        files: &Files,
        symbols: &Symbols,
        (expr, named): (ExprId, &component::Named),
        region: StmtId,
    ) -> Result<SymbolId, Why> {
        let place = (named.root, named.path.clone());
        if let Some(known) = self.components.get(&place) {
            self.named.insert(expr, *known);
            return Ok(*known);
        }
        let mut variable = named.variable(files, symbols, region)?;
        variable.name = cpp_name(&variable.name);
        self.settle(&mut variable, symbols, "", files.own.unit.stmt(region).span);
        let symbol = self.next_symbol();
        self.all.insert(symbol, variable);
        self.components.insert(place, symbol);
        self.named.insert(expr, symbol);
        Ok(symbol)
    }

    /// The next symbol for what has none.
    fn next_symbol(&mut self) -> SymbolId {
        self.made += 1;
        SymbolId(COMPONENTS + self.made)
    }

    /// The variables that components begin with.
    pub fn roots(&self) -> impl Iterator<Item = SymbolId> {
        self.components.keys().map(|(root, _)| *root)
    }

    /// The symbol of a variable of a module that has no name in the code, if that is taken in.
    pub fn unnamed(&self, identity: &Identity) -> Option<SymbolId> {
        self.unnamed.get(identity).copied()
    }

    /// Which variable of a module a symbol is that has no name in the code.
    pub fn identity(&self, symbol: SymbolId) -> Option<&Identity> {
        self.unnamed.iter().find(|(_, other)| **other == symbol).map(|(identity, _)| identity)
    }

    /// Takes in a variable of a module that has no name in the code at `at`.
    pub fn add_unnamed(
        &mut self,
        files: &Files,
        symbols: &Symbols,
        identity: &Identity,
        at: Span,
    ) -> Result<SymbolId, Why> {
        if let Some(known) = self.unnamed.get(identity) {
            return Ok(*known);
        }
        let (home, name) = identity;
        let refused = || Why::new(at, format!("`{name}`, a variable that has no name here,"));
        // A module does not use itself.
        let mut around = files.own.unit.scope_at(at.start);
        while let Some(scope) = around.map(|id| files.own.unit.scope(id)) {
            if scope.kind == ScopeKind::Module && Some(scope.name.as_str()) == home.as_deref() {
                return Err(refused());
            }
            around = scope.parent;
        }
        let (seen, decl) = home.as_deref().and_then(|home| files.public(home, name)).ok_or_else(refused)?;
        let is_plain = matches!(decl.base, BaseType::Builtin(_)) && !decl.fortran.procedure;
        let ty = files.declared(seen, decl).filter(|_| is_plain).ok_or_else(refused)?;
        let shape = shape_of(files, seen, decl).ok_or_else(refused)?;
        let is_taken = symbols.lookup(name, at.start).is_some();
        let spelled = if is_taken { format!("acc2omp_{name}") } else { name.clone() };
        let is_aliased = decl.fortran.pointer || decl.fortran.target || decl.fortran.is_equivalent;
        let mut variable = Variable { is_aliased, ..Variable::new(cpp_name(name), spelled, ty, shape) };
        self.settle(&mut variable, symbols, "", at);
        let symbol = self.next_symbol();
        self.all.insert(symbol, variable);
        self.unnamed.insert(identity.clone(), symbol);
        Ok(symbol)
    }

    /// Gives a variable, and the bounds that are passed beside it, names that no other one has; `own` is its name in Fortran.
    fn settle(&self, variable: &mut Variable, symbols: &Symbols, own: &str, at: Span) {
        let is_taken =
            |name: &str| self.is_named(name) || name != own && symbols.lookup(name, at.start).is_some();
        while is_taken(&variable.name) {
            variable.name.push('_');
        }
        variable.bounds = variable.name.clone();
        while variable.bound_names().any(|name| is_taken(&name)) {
            variable.bounds.push('_');
        }
    }

    /// Takes in a variable as it is, under a name that no other one has.
    pub fn insert(&mut self, symbols: &Symbols, symbol: SymbolId, mut variable: Variable, at: Span) {
        self.settle(&mut variable, symbols, &symbols.get(symbol).name, at);
        self.all.insert(symbol, variable);
    }

    /// Gives a constant array the name of the function of its elements.
    pub fn rename(&mut self, symbol: SymbolId, name: String) {
        if let Some(variable) = self.all.get_mut(&symbol) {
            variable.name = name;
        }
    }

    /// Takes in a component that is an array, where an expression names it.
    pub fn add_part(&mut self, expr: ExprId, ty: Type, shape: Vec<Dimension>) {
        let symbol = self.next_symbol();
        let variable = Variable { is_part: true, ..Variable::new(String::new(), String::new(), ty, shape) };
        self.all.insert(symbol, variable);
        self.named.insert(expr, symbol);
    }

    /// Takes in the variable of a symbol that is used at `at`.
    pub fn add(&mut self, files: &Files, symbols: &Symbols, symbol: SymbolId, at: Span) -> Result<(), Why> {
        if self.all.contains_key(&symbol) {
            return Ok(());
        }
        let mut variable = variable(files, symbols.get(symbol), at)?;
        self.settle(&mut variable, symbols, &symbols.get(symbol).name, at);
        self.all.insert(symbol, variable);
        Ok(())
    }
}

/// A bound in C++.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BoundText {
    /// A number.
    Number(i128),
    /// The name of a parameter.
    Name(String),
}

/// How C++ calls what says whether an optional argument is there.
pub fn presence_name(variable: &str) -> String {
    format!("{variable}_present")
}

/// How C++ calls the address of a number that may be absent.
pub fn place_name(variable: &str) -> String {
    format!("{variable}_there")
}

/// How C++ calls a bound of an array that is passed.
pub fn passed_name(array: &str, at: usize, which: BoundQuery) -> String {
    let letter = if which == BoundQuery::Lower { 'l' } else { 'n' };
    format!("{array}_{letter}{}", at + 1)
}

fn variable(files: &Files, symbol: &Symbol, at: Span) -> Result<Variable, Why> {
    let named = |what: &str| Why::new(at, format!("`{}`, {what},", symbol.name));
    if symbol.record.is_some() || symbol.class == Class::Record {
        return Err(named("a variable of derived type"));
    }
    if symbol.kind == SymbolKind::Constant && files.decl_of(symbol).is_none() {
        return Err(named("a macro"));
    }
    let is_variable = matches!(
        symbol.kind,
        SymbolKind::Local | SymbolKind::Parameter | SymbolKind::Static | SymbolKind::Constant
    );
    if !is_variable || symbol.fortran.procedure {
        return Err(named("no variable"));
    }
    let ty = files.type_of(symbol, at.start).ok_or_else(|| named("of a type that is not surely known"))?;
    let shape = shape(files, symbol).ok_or_else(|| named("of a shape that is not known"))?;
    let said = &symbol.fortran;
    Ok(Variable {
        is_aliased: said.pointer || said.target || said.is_equivalent,
        is_constant: symbol.kind == SymbolKind::Constant && !shape.is_empty(),
        is_optional: said.optional,
        ..Variable::new(cpp_name(&symbol.name), spelled(files.own, symbol, at), ty, shape)
    })
}

/// How the source calls a variable at `at`: by the name that a `use` has given to it, too.
pub fn spelled(seen: Texts, symbol: &Symbol, at: Span) -> String {
    let text = seen.code(at);
    let is_name = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    match text.trim() {
        name if !name.is_empty() && is_name(name) => name.to_owned(),
        _ => symbol.spelled(seen.file),
    }
}

/// The dimensions of a variable; `None` if they are not known.
pub fn shape(files: &Files, symbol: &Symbol) -> Option<Vec<Dimension>> {
    let Some((seen, decl)) = files.decl_of(symbol) else {
        return (symbol.class == Class::Scalar && symbol.home.is_none()).then(Vec::new);
    };
    shape_of(files, seen, decl)
}

/// The dimensions that a declaration states.
pub fn shape_of(files: &Files, seen: Texts, decl: &Decl) -> Option<Vec<Dimension>> {
    if decl.fortran.assumed_rank || files.symbols.is_shaped_by_macro(seen.unit, decl) {
        return None;
    }
    let rank = decl.derived.len();
    let is_unsure = is_conditional(seen, decl);
    let mut shape = Vec::with_capacity(rank);
    for (at, derived) in decl.derived.iter().enumerate() {
        let Derived::Array(upper) = derived else { return None };
        let lower = decl.fortran.lower.get(at).copied().flatten();
        let is_free = decl.fortran.allocatable || decl.fortran.pointer || is_unsure;
        let lower = match lower.map(|lower| files.constant(seen, lower)) {
            _ if is_free => Bound::Passed,
            Some(value) => value.map_or(Bound::Passed, Bound::Constant),
            None => Bound::Constant(1),
        };
        let upper = upper.filter(|_| !is_free).and_then(|upper| files.constant(seen, upper));
        let extent = match (lower, upper) {
            (Bound::Constant(lower), Some(upper)) => Bound::Constant((upper - lower + 1).max(0)),
            _ => Bound::Passed,
        };
        shape.push(Dimension { lower, extent });
    }
    Some(shape)
}

/// Whether so many elements may be more than an `int` counts: that is not known where the host passes an extent.
pub fn may_be_large(shape: &[Dimension]) -> bool {
    let total = shape.iter().try_fold(1i128, |total, dimension| match dimension.extent {
        Bound::Constant(extent) => total.checked_mul(extent),
        Bound::Passed => None,
    });
    total.is_none_or(|total| total > i128::from(i32::MAX))
}

/// The array that an element is of, with its subscripts in order.
pub fn element(seen: Texts, expr: ExprId) -> Option<(ExprId, Vec<ExprId>)> {
    let mut subscripts = Vec::new();
    let mut at = expr;
    while let ExprKind::Index(base, subscript) = &seen.unit.expr(at).kind {
        subscripts.push(*subscript);
        at = *base;
    }
    subscripts.reverse();
    let is_variable = matches!(seen.unit.expr(at).kind, ExprKind::Name(_) | ExprKind::Member { .. });
    is_variable.then_some((at, subscripts))
}

/// The value of a whole number that is written out.
pub fn literal(seen: Texts, expr: ExprId) -> Option<i128> {
    match &seen.unit.expr(expr).kind {
        ExprKind::Int(value) => Some(*value),
        ExprKind::Unary(UnaryOp::Minus, inner) => literal(seen, *inner).map(|value| -value),
        _ => None,
    }
}
