//! What an expression of Fortran names: a variable, an array, a section, an element, a component.
//!
//! Invariant: two designators have equal keys only if they name the same elements in the same order.

use crate::host::ir::{Attributes, BaseType, Decl, Derived, ExprId, ExprKind, Unit};
use crate::source::Span;

use super::numeric::Number;
use super::refusal::Refusal;
use super::subscript::{Extent, Range, Subscript, plain};
use super::symbol::{Class, Symbol, SymbolId, SymbolKind};
use super::symbols::Symbols;
use super::texts::Texts;

/// A variable or a part of it.
#[derive(Clone, Debug)]
pub(super) struct Designator {
    /// All of it.
    pub(super) whole: Span,
    /// From its start up to the subscripts that run.
    pub(super) part: Span,
    /// What stands before those subscripts.
    pub(super) name: String,
    /// The subscripts of the array whose elements are run through; none of a scalar.
    pub(super) subscripts: Vec<Subscript>,
    /// All of it in one spelling.
    pub(super) key: String,
    /// The expressions in its subscripts.
    pub(super) inside: Vec<ExprId>,
    /// The values of all subscripts, of all parts.
    extents: Vec<Extent>,
    /// The variable.
    pub(super) root: SymbolId,
    /// The components, outermost first.
    path: Vec<String>,
    is_pointer: bool,
    is_target: bool,
    base: Option<BaseType>,
    /// The type of its elements, if it is one of numbers or logical values.
    pub(super) number: Option<Number>,
}

impl Designator {
    /// How many dimensions are run through.
    pub(super) fn rank(&self) -> usize {
        self.subscripts.iter().filter(|one| matches!(one, Subscript::Range(_))).count()
    }

    /// The subscripts that run.
    pub(super) fn ranges(&self) -> Vec<Range> {
        let ranges = self.subscripts.iter().filter_map(|one| match one {
            Subscript::Range(range) => Some(range.clone()),
            Subscript::Fixed(_) => None,
        });
        ranges.collect()
    }

    /// The name as it is shown to people.
    pub(super) fn spelling(&self) -> String {
        self.name.clone()
    }

    /// Whether the two are different variables, or different parts of one.
    pub(super) fn is_apart(&self, other: &Designator) -> bool {
        let is_same = self.root == other.root && self.path == other.path;
        let are_disjoint = self.extents.iter().zip(&other.extents).any(|(one, two)| one.is_apart(two));
        self.root != other.root
            || self.path.iter().zip(&other.path).any(|(one, two)| one != two)
            || is_same && are_disjoint
    }

    /// Whether the two are parts of the same variable or component.
    pub(super) fn is_sibling(&self, other: &Designator) -> bool {
        self.root == other.root && self.path == other.path
    }

    /// Whether two that are apart may mean the same memory.
    pub(super) fn may_alias(&self, other: &Designator) -> bool {
        let differ = self.base.as_ref().zip(other.base.as_ref()).is_some_and(|(one, two)| one != two);
        let reach = |one: &Designator, two: &Designator| one.is_pointer && (two.is_pointer || two.is_target);
        !differ && (reach(self, other) || reach(other, self))
    }
}

/// A part of a designator, from left to right.
enum DesignatorPart {
    /// A name: of the variable, or of a component.
    Name(String, Span),
    /// Subscripts, and the end of their list.
    Subscripts(Vec<ExprId>, u32),
}

fn parts(unit: &Unit, expr: ExprId) -> Option<Vec<DesignatorPart>> {
    let mut parts = Vec::new();
    let mut at = expr;
    loop {
        let span = unit.expr(at).span;
        match &unit.expr(at).kind {
            ExprKind::Name(name) => {
                parts.push(DesignatorPart::Name(name.clone(), span));
                parts.reverse();
                return Some(parts);
            }
            ExprKind::Member { base, name, .. } => {
                parts.push(DesignatorPart::Name(name.clone(), span));
                at = *base;
            }
            ExprKind::Index(base, subscript) => {
                match parts.last_mut() {
                    Some(DesignatorPart::Subscripts(list, _)) => list.insert(0, *subscript),
                    _ => parts.push(DesignatorPart::Subscripts(vec![*subscript], span.end)),
                }
                at = *base;
            }
            _ => return None,
        }
    }
}

/// Reads what `expr` names. `None` if it is not a name, element, section or component.
pub(super) fn designator(
    texts: Texts,
    symbols: &Symbols,
    expr: ExprId,
) -> Option<Result<Designator, Refusal>> {
    let whole = texts.unit.expr(expr).span;
    let parts = parts(texts.unit, expr)?;
    let Some(DesignatorPart::Name(name, at)) = parts.first() else { return None };
    let root = symbols.lookup(name, at.start)?;
    Some(Walk { texts, symbols, whole }.read(root, &parts))
}

struct Walk<'a> {
    texts: Texts<'a>,
    symbols: &'a Symbols,
    whole: Span,
}

/// What is known of the variable or component that a name means.
struct Known<'a> {
    rank: usize,
    attributes: &'a Attributes,
    /// Its declaration, if it is in this file.
    decl: Option<&'a Decl>,
}

impl Walk<'_> {
    fn refused<T>(&self, why: &str) -> Result<T, Refusal> {
        Err(Refusal::new(self.whole, why))
    }

    /// The values of a subscript; those of a named constant are one number.
    fn extent(&self, subscript: &Subscript) -> Extent {
        let Subscript::Fixed(text) = subscript else { return Extent::new(subscript) };
        self.constant(&plain(text))
            .map_or_else(|| Extent::new(subscript), |value| Extent::Between(value, value))
    }

    /// The value of a constant whose declaration has a number for it.
    fn constant(&self, name: &str) -> Option<i128> {
        let symbol = self.symbols.get(self.symbols.lookup(name, self.whole.start)?);
        let decl = symbol.decl.filter(|_| symbol.kind == SymbolKind::Constant)?;
        match self.texts.unit.expr(self.texts.unit.decl(decl).init?).kind {
            ExprKind::Int(value) => Some(value),
            _ => None,
        }
    }

    fn read(&self, root: SymbolId, parts: &[DesignatorPart]) -> Result<Designator, Refusal> {
        let symbol = self.symbols.get(root);
        let mut known = self.of_symbol(symbol)?;
        let mut out = Designator {
            whole: self.whole,
            part: self.whole,
            name: symbol.name.clone(),
            subscripts: Vec::new(),
            key: String::new(),
            inside: Vec::new(),
            extents: Vec::new(),
            root,
            path: Vec::new(),
            is_pointer: false,
            is_target: symbol.fortran.target,
            base: None,
            number: None,
        };
        let mut parts = parts.iter().enumerate().peekable();
        while let Some((at, part)) = parts.next() {
            let DesignatorPart::Name(name, span) = part else { return self.refused("it is not understood") };
            if at > 0 {
                known = self.of_component(&known, name)?;
                out.path.push(name.clone());
                out.key.push('%');
            }
            out.key.push_str(name);
            out.is_pointer |= known.attributes.pointer;
            let listed = parts.next_if(|(_, next)| matches!(next, DesignatorPart::Subscripts(..)));
            let before = Span { start: self.whole.start, end: span.end };
            let (subscripts, end) = match listed {
                Some((_, DesignatorPart::Subscripts(list, end))) => {
                    out.inside.extend(self.expressions(list));
                    (self.listed(&known, before, list)?, *end)
                }
                _ => (self.all(&known, before), span.end),
            };
            self.add(&mut out, subscripts, before, end)?;
        }
        out.base = known.decl.map(|decl| decl.base.clone());
        out.number = known.decl.and_then(|decl| Number::of_decl(self.texts, self.symbols, decl));
        if out.rank() > 0
            && matches!(out.base, Some(BaseType::Named(_) | BaseType::Tagged(_) | BaseType::Record(_)))
        {
            return self.refused("its elements are of a derived type");
        }
        Ok(out)
    }

    /// Adds the subscripts of one part.
    fn add(
        &self,
        out: &mut Designator,
        subscripts: Vec<Subscript>,
        before: Span,
        end: u32,
    ) -> Result<(), Refusal> {
        out.extents.extend(subscripts.iter().map(|one| self.extent(one)));
        for subscript in &subscripts {
            out.key.push_str(&match subscript {
                Subscript::Fixed(text) => format!("({})", plain(text)),
                Subscript::Range(range) => format!("({}:{})", plain(&range.first), plain(&range.step)),
            });
        }
        if subscripts.iter().any(|one| matches!(one, Subscript::Range(_))) {
            if out.rank() > 0 {
                return self.refused("two of its parts are arrays");
            }
            out.subscripts = subscripts;
            out.part = Span { start: self.whole.start, end };
            out.name = self.texts.code(before);
        }
        Ok(())
    }

    fn of_symbol<'a>(&'a self, symbol: &'a Symbol) -> Result<Known<'a>, Refusal> {
        let is_variable = !matches!(symbol.kind, SymbolKind::Function | SymbolKind::Type);
        let rank = symbol.shape.len();
        let decl = symbol.decl.map(|decl| self.texts.unit.decl(decl));
        let is_seen = match symbol.class {
            // The type may be implicit, but the rank is declared; that of another name is not.
            Class::Unknown => decl.is_some_and(|decl| !decl.derived.contains(&Derived::Reference)),
            Class::Array => rank > 0,
            Class::Scalar | Class::Pointer | Class::Record => true,
        };
        if !is_variable || !is_seen || symbol.fortran.assumed_rank {
            return self.refused("its declaration is not seen");
        }
        Ok(Known { rank, attributes: &symbol.fortran, decl })
    }

    fn of_component<'a>(&'a self, outer: &Known<'a>, name: &str) -> Result<Known<'a>, Refusal> {
        let mut tag = match outer.decl.map(|decl| &decl.base) {
            Some(BaseType::Named(tag) | BaseType::Tagged(tag)) => Some(tag),
            _ => None,
        };
        // A type that extends itself is met again.
        for _ in 0..16 {
            let record = tag.and_then(|tag| {
                self.texts.unit.records.iter().find(|record| record.tag.as_ref() == Some(tag))
            });
            let Some(record) = record else { break };
            let mut members = record.members.iter().map(|id| self.texts.unit.decl(*id));
            if let Some(decl) = members.find(|decl| decl.name == name) {
                let rank = decl.derived.iter().filter(|part| matches!(part, Derived::Array(_))).count();
                return Ok(Known { rank, attributes: &decl.fortran, decl: Some(decl) });
            }
            tag = record.bases.first();
        }
        self.refused("the declaration of a component is not seen")
    }

    /// The expressions in a list of subscripts.
    fn expressions(&self, list: &[ExprId]) -> Vec<ExprId> {
        let mut all = Vec::new();
        for subscript in list {
            match &self.texts.unit.expr(*subscript).kind {
                ExprKind::Triplet(parts) => all.extend(parts.iter().flatten()),
                _ => all.push(*subscript),
            }
        }
        all
    }

    fn all(&self, known: &Known, name: Span) -> Vec<Subscript> {
        let dimensions = 0..known.rank;
        dimensions.map(|at| Subscript::Range(self.range(known, name, at, [None; 3]))).collect()
    }

    fn listed(&self, known: &Known, name: Span, list: &[ExprId]) -> Result<Vec<Subscript>, Refusal> {
        if list.len() != known.rank {
            return self.refused("it has another number of subscripts than dimensions");
        }
        let subscripts =
            list.iter().enumerate().map(|(at, subscript)| match &self.texts.unit.expr(*subscript).kind {
                ExprKind::Triplet(parts) => Subscript::Range(self.range(known, name, at, *parts)),
                _ => Subscript::Fixed(self.text(*subscript)),
            });
        Ok(subscripts.collect())
    }

    fn text(&self, expr: ExprId) -> String {
        self.texts.code(self.texts.unit.expr(expr).span)
    }

    /// The values of a subscript that runs along dimension `at`.
    fn range(&self, known: &Known, name: Span, at: usize, written: [Option<ExprId>; 3]) -> Range {
        let [first, last, step] = written.map(|part| part.map(|part| self.text(part)));
        let step = step.unwrap_or_else(|| "1".to_owned());
        let [lower, upper] = self.bounds(known, name, at);
        // A negative step begins at the other end.
        let (low, high) = if step.starts_with('-') { (upper, lower) } else { (lower, upper) };
        Range { first: first.unwrap_or(low), last: last.unwrap_or(high), step }
    }

    /// The bounds of dimension `at`: as they are declared, if they are constant, or asked for.
    fn bounds(&self, known: &Known, name: Span, at: usize) -> [String; 2] {
        let asked = |word: &str| format!("{word}({}, {})", self.texts.code(name), at + 1);
        let Some(decl) = known.decl else { return [asked("lbound"), asked("ubound")] };
        let attributes = known.attributes;
        let is_deferred = attributes.allocatable || attributes.pointer;
        let constant = |expr: ExprId| self.is_constant(expr).then(|| self.text(expr));
        let lower = match attributes.lower.get(at).copied().flatten() {
            _ if is_deferred => None,
            None => Some("1".to_owned()),
            Some(expr) => constant(expr),
        };
        let is_last = at + 1 == known.rank;
        let upper = match decl.derived.get(at) {
            Some(Derived::Array(Some(expr))) if !is_deferred && !attributes.assumed_shape => constant(*expr),
            _ => None,
        };
        let upper = upper.filter(|_| !(attributes.assumed_size && is_last));
        [lower.unwrap_or_else(|| asked("lbound")), upper.unwrap_or_else(|| asked("ubound"))]
    }

    /// Whether an expression of a declaration has the same value wherever the variable is used.
    fn is_constant(&self, expr: ExprId) -> bool {
        let at = self.texts.unit.expr(expr).span.start;
        match &self.texts.unit.expr(expr).kind {
            ExprKind::Int(_) => true,
            ExprKind::Name(name) => {
                // It means the same at the place of the use.
                let symbol = self.symbols.lookup(name, at);
                symbol.is_some_and(|id| {
                    let symbol = self.symbols.get(id);
                    let is_fixed = symbol.kind == SymbolKind::Constant || symbol.fortran.intent_in;
                    is_fixed && self.symbols.lookup(name, self.whole.start) == Some(id)
                })
            }
            ExprKind::Unary(_, operand) => self.is_constant(*operand),
            ExprKind::Binary(_, left, right) => self.is_constant(*left) && self.is_constant(*right),
            _ => false,
        }
    }
}
