//! Derived types of Fortran and their components: what each is, and where code names one.
//!
//! Invariant: a component of a type that no file at hand declares is unknown, and never guessed.

use std::collections::{BTreeMap, BTreeSet};

use crate::host::ir::{BaseType, Derived, Expr, ExprId, ExprKind, Unit};
use crate::source::Span;

use super::derived_types::Component;
use super::symbol::{Class, SymbolId, SymbolKind};
use super::symbols::Symbols;

/// Deeper chains of names for names are not followed.
const DEPTH: usize = 16;

impl Symbols {
    /// Whether a component of this name may be a pointer: of some type it is one, or no type that is seen has it.
    pub fn may_be_pointer_component(&self, name: &str) -> bool {
        let types = self.derived_types.types.values();
        let mut known = types.filter_map(|one| one.components.get(name)).peekable();
        known.peek().is_none() || known.any(|component| component.is_pointer)
    }
}

impl Symbols {
    /// Whether a derived type has allocatable components, in whatever depth.
    pub fn is_deep(&self, record: &str) -> bool {
        self.derived_types.deep.contains(record)
    }

    /// Whether files at hand declare a derived type, and the types that it extends.
    pub fn is_declared(&self, record: &str) -> bool {
        self.derived_types.is_declared(record, 0)
    }

    /// A component of a derived type, an inherited one among them; `None` for a type-bound procedure.
    pub fn component(&self, record: &str, name: &str) -> Option<&Component> {
        self.derived_types.component(record, name, 0)
    }

    /// The components of a derived type that extends none, by name; none if code elsewhere may not name all of them.
    pub fn all_components(&self, record: &str) -> Vec<(&str, &Component)> {
        self.derived_types.all(record)
    }

    /// The component that a path of component names ends at, from a variable of derived type `record`; `None` for an empty
    /// path, and where a type on the way is not known.
    pub fn component_at<S: AsRef<str>>(&self, record: Option<&str>, members: &[S]) -> Option<&Component> {
        let (last, before) = members.split_last()?;
        let owner = match before {
            [] => record,
            _ => self.component_at(record, before)?.record.as_deref(),
        };
        self.component(owner?, &self.folded(last.as_ref()))
    }
}

/// What the name of an `associate` block stands for.
struct Selected {
    rank: usize,
    record: Option<String>,
    intrinsic: Option<String>,
}

impl Symbols {
    /// Gives the names of `associate` blocks the types of the variables that they stand for, where those are known.
    pub(super) fn associated(&mut self, unit: &Unit) {
        for id in self.ids() {
            let Some(selector) = selector(unit, self, id) else { continue };
            let Some(Selected { rank, record, intrinsic }) = selected(unit, self, selector) else { continue };
            // A branch of `select type` says the type.
            let own = self.get(id);
            let (record, intrinsic) = match (own.record.clone(), own.intrinsic.clone()) {
                (None, None) => (record, intrinsic),
                narrowed => narrowed,
            };
            let class = match (&record, &intrinsic) {
                _ if rank > 0 => Class::Array,
                (Some(_), _) => Class::Record,
                (_, Some(_)) => Class::Scalar,
                (None, None) => continue,
            };
            let known = self.get_mut(id);
            let is_real = |word: &str| matches!(word, "real" | "double precision" | "complex");
            known.is_floating = class == Class::Scalar && intrinsic.as_deref().is_some_and(is_real);
            known.shape = vec![true; rank];
            (known.class, known.record, known.intrinsic) = (class, record, intrinsic);
        }
    }
}

/// The variable that a name of an `associate` block stands for; `None` for names of values, and for other symbols.
fn selector(unit: &Unit, symbols: &Symbols, symbol: SymbolId) -> Option<ExprId> {
    let known = symbols.get(symbol);
    let decl = unit.decl(known.decl?);
    let is_alias = decl.derived.first() == Some(&Derived::Reference) && known.kind != SymbolKind::Constant;
    decl.init.filter(|_| is_alias && unit.is_fortran())
}

fn selected(unit: &Unit, symbols: &Symbols, selector: ExprId) -> Option<Selected> {
    let (object, subscripts) = object(unit, selector);
    let chain = chain(unit, object)?;
    let root = symbols.get(symbols.named(unit, chain.root)?);
    if root.kind == SymbolKind::Function {
        return None;
    }
    let mut whole = Selected {
        rank: root.shape.len().max(usize::from(root.class == Class::Array)),
        record: root.record.clone(),
        intrinsic: root.intrinsic.clone(),
    };
    // Of an array of a type, a component is an array, too.
    let mut outer = 0;
    for step in &chain.steps {
        outer += usize::from(whole.rank > 0 && !is_element(unit, &step.subscripts));
        let known = symbols.component(whole.record.as_deref()?, &step.name)?;
        let (record, intrinsic) = (known.record.clone(), known.intrinsic.clone());
        whole = Selected { rank: known.rank, record, intrinsic };
    }
    if !subscripts.is_empty() {
        let triplets = subscripts.iter().filter(|one| is_triplet(unit, **one)).count();
        let is_vector = |one: &ExprId| {
            let ExprKind::Name(name) = &unit.expr(*one).kind else { return false };
            let symbol = symbols.lookup(name, unit.expr(*one).span.start);
            symbol.is_none_or(|symbol| symbols.get(symbol).class != Class::Scalar)
        };
        // What is not an array has parts only of its characters.
        if whole.rank == 0 || subscripts.iter().any(is_vector) {
            return None;
        }
        whole.rank = triplets;
    }
    whole.rank += outer;
    Some(whole)
}

fn is_triplet(unit: &Unit, expr: ExprId) -> bool {
    matches!(unit.expr(expr).kind, ExprKind::Triplet(_))
}

/// Whether subscripts choose one element.
fn is_element(unit: &Unit, subscripts: &[ExprId]) -> bool {
    !subscripts.is_empty() && !subscripts.iter().any(|one| is_triplet(unit, *one))
}

/// A reference without the subscripts after it, and those subscripts.
fn object(unit: &Unit, expr: ExprId) -> (ExprId, Vec<ExprId>) {
    let (mut at, mut subscripts) = (expr, Vec::new());
    loop {
        match &unit.expr(at).kind {
            ExprKind::Index(base, subscript) => {
                subscripts.push(*subscript);
                at = *base;
            }
            ExprKind::Call { callee, args } if !args.is_empty() => {
                subscripts.extend(args);
                at = *callee;
            }
            _ => return (at, subscripts),
        }
    }
}

/// Whether a symbol is the name that an `associate` block gives to a variable or a value.
pub fn is_selected(unit: &Unit, symbols: &Symbols, symbol: SymbolId) -> bool {
    let decl = symbols.get(symbol).decl.map(|decl| unit.decl(decl));
    unit.is_fortran() && decl.is_some_and(|decl| decl.derived.first() == Some(&Derived::Reference))
}

/// Whether a symbol is the name that an `associate` block gives to a scalar variable.
pub fn is_lent(unit: &Unit, symbols: &Symbols, symbol: SymbolId) -> bool {
    let is_scalar = matches!(symbols.get(symbol).class, Class::Scalar | Class::Record);
    is_scalar && selector(unit, symbols, symbol).is_some()
}

/// The array of which a name of `associate` blocks stands for all or a part; `None` for other symbols, and for components.
pub fn lender(unit: &Unit, symbols: &Symbols, symbol: SymbolId) -> Option<SymbolId> {
    let mut at = symbol;
    for _ in 0..DEPTH {
        let Some(selector) = selector(unit, symbols, at) else { break };
        let chain = chain(unit, object(unit, selector).0).filter(|chain| chain.steps.is_empty())?;
        at = symbols.named(unit, chain.root)?;
    }
    (at != symbol && symbols.get(at).class == Class::Array).then_some(at)
}

/// The variable that a name of `associate` blocks stands for as a whole; other symbols stand for themselves.
pub fn lent_whole(unit: &Unit, symbols: &Symbols, symbol: SymbolId) -> SymbolId {
    let whole = |at: &SymbolId| lent(unit, symbols, *at).filter(|lent| lent.is_whole).map(|lent| lent.root);
    std::iter::successors(Some(symbol), whole).take(DEPTH).last().unwrap_or(symbol)
}

/// The variable that a name of `associate` blocks stands for, or for a part of; other symbols stand for themselves.
pub fn lent_from(unit: &Unit, symbols: &Symbols, symbol: SymbolId) -> SymbolId {
    let root = |at: &SymbolId| lent(unit, symbols, *at).map(|lent| lent.root);
    std::iter::successors(Some(symbol), root).take(DEPTH).last().unwrap_or(symbol)
}

/// What the name of an `associate` block stands for a part of.
#[derive(Clone, Debug)]
pub struct Lent {
    /// The variable.
    pub root: SymbolId,
    /// The components on the way, from the variable inwards.
    pub members: Vec<String>,
    /// It is the variable itself.
    pub is_whole: bool,
}

impl Lent {
    /// Whether two names may stand for one part of a variable, or for a part of one another.
    pub fn meets(&self, other: &Lent) -> bool {
        self.root == other.root && self.members.iter().zip(&other.members).all(|(one, two)| one == two)
    }
}

/// What a name of an `associate` block stands for; `None` for other names.
pub fn lent(unit: &Unit, symbols: &Symbols, symbol: SymbolId) -> Option<Lent> {
    let selector = selector(unit, symbols, symbol)?;
    let chain = chain(unit, selector)?;
    let members = chain.steps.into_iter().map(|step| step.name).collect();
    Some(Lent { root: symbols.named(unit, chain.root)?, members, is_whole: chain.root == selector })
}

/// A variable as a specification can ask for its kind: with ones for subscripts, and without names of `associate` blocks.
/// With it, the variable itself.
pub fn inquired(unit: &Unit, symbols: &Symbols, variable: (&str, SymbolId)) -> Option<(String, SymbolId)> {
    inquired_within(unit, symbols, variable, 0)
}

fn inquired_within(
    unit: &Unit,
    symbols: &Symbols,
    (name, symbol): (&str, SymbolId),
    depth: usize,
) -> Option<(String, SymbolId)> {
    let Some(selector) = selector(unit, symbols, symbol) else { return Some((name.to_owned(), symbol)) };
    // Outside of its branch of `select type`, a variable has no components of the branch's type.
    let known = symbols.get(symbol).decl.map(|decl| &unit.decl(decl).base);
    if known.is_some_and(|base| *base != BaseType::Unknown) {
        return None;
    }
    let ones = |count: usize| match count {
        0 => String::new(),
        count => format!("({})", vec!["1"; count].join(", ")),
    };
    let (object, subscripts) = object(unit, selector);
    let chain = chain(unit, object).filter(|_| depth <= DEPTH)?;
    let root = symbols.named(unit, chain.root)?;
    let ExprKind::Name(name) = &unit.expr(chain.root).kind else { return None };
    let (mut text, variable) = inquired_within(unit, symbols, (name, root), depth + 1)?;
    for step in chain.steps {
        text += &format!("{}%{}", ones(step.subscripts.len()), step.name);
    }
    // A section has as many subscripts as its array only if all of them are ranges.
    match subscripts.iter().filter(|one| is_triplet(unit, **one)).count() {
        0 => text += &ones(subscripts.len()),
        ranges if ranges == subscripts.len() => {}
        _ => return None,
    }
    Some((text, variable))
}

/// The derived type of a variable, that of what an `associate` name stands for among them.
pub fn record_of(unit: &Unit, symbols: &Symbols, symbol: SymbolId) -> Option<String> {
    record_within(unit, symbols, symbol, 0)
}

fn record_within(unit: &Unit, symbols: &Symbols, symbol: SymbolId, depth: usize) -> Option<String> {
    let known = symbols.get(symbol);
    if known.record.is_some() || depth > DEPTH {
        return known.record.clone();
    }
    let decl = unit.decl(known.decl?);
    let init = decl.init.filter(|_| decl.derived.first() == Some(&Derived::Reference))?;
    let chain = chain(unit, init)?;
    let root = symbols.named(unit, chain.root)?;
    let record = record_within(unit, symbols, root, depth + 1);
    let members: Vec<&str> = chain.steps.iter().map(|step| step.name.as_str()).collect();
    if members.is_empty() {
        record
    } else {
        symbols.component_at(record.as_deref(), &members)?.record.clone()
    }
}

/// A variable of a derived type, or a component of one, where code names it.
#[derive(Clone, Debug)]
pub struct Path {
    /// The variable.
    pub root: SymbolId,
    /// The components, from the variable inwards; none where the variable itself is named.
    pub steps: Vec<Step>,
    /// Its bytes, without subscripts after the last component.
    pub span: Span,
    /// It is assigned, or may be by a procedure that it is passed to.
    pub is_written: bool,
    /// The code asks whether it is allocated or associated, or allocates it.
    pub is_inquired: bool,
}

impl Path {
    /// How many components from the variable inwards lead to one of `places`; `None` if the path names none of them.
    pub fn leads_to<T>(&self, places: &BTreeMap<Place, T>) -> Option<usize> {
        let mut place: Place = (self.root, Vec::new());
        if places.contains_key(&place) {
            return Some(0);
        }
        self.steps
            .iter()
            .position(|step| {
                place.1.push(step.name.clone());
                places.contains_key(&place)
            })
            .map(|at| at + 1)
    }
}

/// A variable and the components of it that lead inwards, without their subscripts.
pub type Place = (SymbolId, Vec<String>);

/// The place that an expression names: that of `o%p` for `o%p(3)`.
pub(super) fn place(unit: &Unit, symbols: &Symbols, expr: ExprId) -> Option<Place> {
    let chain = chain(unit, expr)?;
    let root = symbols.named(unit, chain.root)?;
    Some((root, chain.steps.into_iter().map(|step| step.name).collect()))
}

/// One `%name` of a path.
#[derive(Clone, Debug)]
pub struct Step {
    /// The component.
    pub name: String,
    /// The subscripts before it.
    pub subscripts: Vec<ExprId>,
    /// The offset after it.
    pub end: u32,
}

/// A name of a variable with the components after it.
pub struct Chain {
    /// The variable's name.
    pub root: ExprId,
    /// The root and the components without subscripts after them.
    pub inner: Vec<ExprId>,
    /// The components, from the variable inwards.
    pub steps: Vec<Step>,
}

/// The components that an expression names, from the variable inwards.
pub fn chain(unit: &Unit, expr: ExprId) -> Option<Chain> {
    let mut steps = Vec::new();
    let mut inner = Vec::new();
    let mut subscripts: Vec<ExprId> = Vec::new();
    let mut at = expr;
    loop {
        let Expr { span, kind } = unit.expr(at);
        match kind {
            ExprKind::Index(base, subscript) => {
                subscripts.push(*subscript);
                at = *base;
            }
            ExprKind::Call { callee, args } if !args.is_empty() => {
                subscripts.extend(args);
                at = *callee;
            }
            ExprKind::Member { base, name, .. } => {
                if let Some(Step { subscripts: own, .. }) = steps.last_mut() {
                    *own = std::mem::take(&mut subscripts);
                }
                subscripts.clear();
                inner.push(at);
                steps.push(Step { name: name.clone(), subscripts: Vec::new(), end: span.end });
                at = *base;
            }
            ExprKind::Name(_) => {
                if let Some(Step { subscripts: own, .. }) = steps.last_mut() {
                    *own = subscripts;
                }
                inner.push(at);
                steps.reverse();
                return Some(Chain { root: at, inner, steps });
            }
            _ => return None,
        }
    }
}

/// All places of a file that name variables of derived types or their components, scalars by names of `associate` blocks,
/// or the variables of `more`, by place.
pub fn paths(unit: &Unit, symbols: &Symbols, more: &BTreeSet<SymbolId>) -> Vec<Path> {
    let about = About::new(unit, symbols);
    let is_wanted = |root: SymbolId| {
        more.contains(&root) || record_of(unit, symbols, root).is_some() || is_lent(unit, symbols, root)
    };
    let mut met = vec![false; unit.exprs.len()];
    let mut paths = Vec::new();
    let mut add = |id: ExprId, root: SymbolId, steps: Vec<Step>| {
        let at = id.0 as usize;
        let (is_written, is_inquired) = (about.written[at], about.inquired[at]);
        paths.push(Path { root, steps, span: unit.expr(id).span, is_written, is_inquired });
    };
    // Outer members stand after the inner ones that they are made of.
    for (at, expr) in unit.exprs.iter().enumerate().rev() {
        if met[at] || !matches!(expr.kind, ExprKind::Member { .. }) {
            continue;
        }
        let id = ExprId(at as u32);
        let Some(chain) = chain(unit, id) else { continue };
        chain.inner.iter().for_each(|inner| met[inner.0 as usize] = true);
        let Some(root) = symbols.named(unit, chain.root) else { continue };
        if !chain.steps.is_empty() || is_wanted(root) {
            add(id, root, chain.steps);
        }
    }
    let names = unit.exprs.iter().enumerate().filter(|(_, expr)| matches!(expr.kind, ExprKind::Name(_)));
    for (at, _) in names {
        let id = ExprId(at as u32);
        let root = symbols.named(unit, id).filter(|_| !met[at]);
        if let Some(root) = root.filter(|root| is_wanted(*root)) {
            add(id, root, Vec::new());
        }
    }
    paths.sort_by_key(|path| (path.span.start, std::cmp::Reverse(path.span.end)));
    paths.dedup_by_key(|path| path.span);
    paths
}

/// What is done to each expression.
struct About {
    written: Vec<bool>,
    inquired: Vec<bool>,
}

impl About {
    fn new(unit: &Unit, symbols: &Symbols) -> About {
        let none = vec![false; unit.exprs.len()];
        let mut about = About { written: none.clone(), inquired: none };
        for expr in &unit.exprs {
            match &expr.kind {
                ExprKind::Assign(_, left, _) => about.written[left.0 as usize] = true,
                ExprKind::Call { callee, args } => {
                    let ExprKind::Name(name) = &unit.expr(*callee).kind else { continue };
                    if matches!(name.as_str(), "allocated" | "associated") {
                        args.iter().for_each(|arg| about.inquired[arg.0 as usize] = true);
                    }
                    for (place, arg) in args.iter().enumerate() {
                        about.written[arg.0 as usize] |= symbols.takes_reference(name, place);
                    }
                }
                _ => {}
            }
        }
        for object in unit.allocations.iter().flat_map(|one| &one.objects) {
            about.inquired[object.0 as usize] = true;
        }
        about
    }
}
