//! The memory of a list item: is it one piece, and if not, which of its dimensions take it apart?
//!
//! Invariant: a section is called contiguous, or not, only where that is sure; what the declarations do not say is unknown.

use crate::acc::ast::{ClauseKind, Expr, ListItem, PathStep, Subscript};
use crate::bind::Bound;
use crate::diag::{self, Diag};
use crate::host::ir::{ExprId, ExprKind, FunctionId, StmtId, Unit};
use crate::sema::{Dimensions, Sum, SymbolId, SymbolKind, Symbols, uses};
use crate::source::Span;

use super::Input;

/// What a section takes of one dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// One element, by a subscript without a colon.
    Element,
    /// A range of one element.
    One,
    /// All of it.
    Whole,
    /// Surely not all of it, and perhaps more than one element.
    Some,
    /// Every so many elements.
    Strided,
    /// Not known.
    Unknown,
}

/// Whether the memory of a list item is one piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contiguity {
    /// It is.
    Contiguous,
    /// It is not, or only if the program's values make ranges of one element of its ranges.
    Apart,
    /// The declarations do not say.
    Unknown,
}

/// A list item's section, dimension by dimension, as the source writes them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// What is taken of each dimension.
    pub extents: Vec<Extent>,
    /// How many elements each dimension has, where the declaration says a number.
    pub sizes: Vec<Option<i64>>,
    /// Dimensions that stand after a pointer of their own, each of which leads to other memory.
    pub through_pointer: Vec<bool>,
    /// A descriptor of Fortran says where its elements are.
    pub has_descriptor: bool,
    /// The first dimension is the one whose elements lie side by side, as in Fortran.
    pub first_is_fastest: bool,
}

impl Section {
    /// The dimensions from the slowest to the fastest.
    fn order(&self) -> Vec<usize> {
        let all = 0..self.extents.len();
        if self.first_is_fastest { all.rev().collect() } else { all.collect() }
    }

    /// Whether it is one piece of memory.
    pub fn contiguity(&self) -> Contiguity {
        let order = self.order();
        let is_single = |at: &usize| matches!(self.extents[*at], Extent::Element | Extent::One);
        let Some(first) = order.iter().position(|at| !is_single(at)) else { return Contiguity::Contiguous };
        let rest = &order[first + 1..];
        if self.extents[order[first]] == Extent::Strided || rest.iter().any(|at| self.through_pointer[*at]) {
            return Contiguity::Apart;
        }
        let is_apart = |at: &usize| !matches!(self.extents[*at], Extent::Whole | Extent::Unknown);
        if rest.iter().any(is_apart) {
            Contiguity::Apart
        } else if rest.iter().all(|at| self.extents[*at] == Extent::Whole) {
            Contiguity::Contiguous
        } else {
            Contiguity::Unknown
        }
    }

    /// The dimension that is the slowest one of a piece: all that are faster are taken whole, and those that are slower have
    /// one value in a piece. `None` if a piece is one element.
    pub fn piece(&self) -> Option<usize> {
        let mut found = None;
        for at in self.order().into_iter().rev() {
            match self.extents[at] {
                Extent::Element | Extent::One | Extent::Strided => return found,
                Extent::Some | Extent::Unknown => return Some(at),
                Extent::Whole if self.through_pointer[at] => return Some(at),
                Extent::Whole => found = Some(at),
            }
        }
        found
    }

    /// The dimensions that a loop must run through, so that each of its iterations has one piece of memory.
    pub fn loops(&self) -> Vec<usize> {
        if self.contiguity() == Contiguity::Contiguous {
            return Vec::new();
        }
        let piece = self.piece();
        let is_looped = |at: &usize| {
            let is_slower = piece.is_none_or(|piece| self.is_slower(*at, piece));
            is_slower && !matches!(self.extents[*at], Extent::Element | Extent::One)
        };
        (0..self.extents.len()).filter(is_looped).collect()
    }

    /// Whether a range of one element stands before a range of a part: clang 19 takes the two for what is not contiguous.
    pub fn is_row(&self, at: usize) -> bool {
        let is_part = |one: usize| matches!(self.extents[one], Extent::One | Extent::Some | Extent::Unknown);
        self.extents[at] == Extent::One
            && (0..self.extents.len()).any(|one| self.is_slower(at, one) && is_part(one))
    }

    /// Whether it is one element that a descriptor leads to: flang 22 looks for it in the wrong place, and not for a range.
    pub fn is_led_to(&self) -> bool {
        self.has_descriptor && self.extents.iter().all(|extent| *extent == Extent::Element)
    }

    /// Whether dimension `one` is slower than dimension `other`.
    pub fn is_slower(&self, one: usize, other: usize) -> bool {
        if self.first_is_fastest { one > other } else { one < other }
    }
}

impl Input<'_> {
    /// The section of a list item of directive `index`; `None` if it has no subscripts.
    pub(super) fn section(&self, index: usize, item: &ListItem) -> Option<Section> {
        let subscripts = item.subscripts();
        if subscripts.is_empty() {
            return None;
        }
        let place = Place::of(self.unit, self.symbols, &self.bound[index]);
        let known = place.declared(item);
        let is_fortran = self.unit.is_fortran();
        let each = subscripts.iter().enumerate();
        let extents = each.map(|(at, subscript)| known.extent(&place, subscript, at)).collect();
        let size = |at: usize| known.upper(&place, at).and_then(|upper| upper.value());
        let after = |at: usize| at > 0 && !is_fortran && known.dimensions.shape.get(at) == Some(&false);
        Some(Section {
            extents,
            sizes: (0..subscripts.len()).map(size).collect(),
            through_pointer: (0..subscripts.len()).map(after).collect(),
            has_descriptor: is_fortran && place.has_descriptor(item),
            first_is_fastest: is_fortran,
        })
    }
}

/// Takes items of data clauses in C for the whole array that look like the element after its last one, as `a[64]` of
/// `double a[64]`: there is no such element.
pub fn sizes_as_arrays(unit: &Unit, symbols: &Symbols, mut bound: Vec<Bound>) -> (Vec<Bound>, Vec<Diag>) {
    let mut diags = Vec::new();
    if unit.is_fortran() {
        return (bound, diags);
    }
    for one in &mut bound {
        let place = Place::of(unit, symbols, one);
        let mut whole = Vec::new();
        for (at, clause) in one.directive.clauses.iter().enumerate() {
            let items = super::clauses::list(&clause.kind).iter().enumerate();
            let items = items.filter(|_| matches!(clause.kind, ClauseKind::Data(..)));
            whole.extend(items.filter(|(_, item)| place.is_size(item)).map(|(item, _)| (at, item)));
        }
        for (at, item) in whole {
            let ClauseKind::Data(_, list) = &mut one.directive.clauses[at].kind else { continue };
            let item = &mut list[item];
            diags.push(diag::size_for_array(item.span, &item.text));
            let kept = item.parts.iter().rposition(|part| matches!(part, PathStep::Member(_)));
            item.parts.truncate(kept.map_or(0, |last| last + 1));
            item.text.truncate(item.text.rfind(']').and(item.text.find('[')).unwrap_or(item.text.len()));
            item.text.truncate(item.text.trim_end().len());
        }
    }
    (bound, diags)
}

/// Where an item stands, and what its names mean there.
struct Place<'a> {
    unit: &'a Unit,
    symbols: &'a Symbols,
    offset: u32,
    function: Option<FunctionId>,
}

/// What is declared of an item: of its variable, or of its last member.
struct Declared {
    dimensions: Dimensions,
    /// Where the names in the bounds are looked up.
    names: Names,
}

/// Where the names in the bounds of a declaration are looked up.
enum Names {
    /// At this offset of the file.
    At(u32),
    /// In a Fortran module of another file.
    In(String),
    /// At file scope, or, in Fortran, outside of procedures.
    Outside,
}

/// How a symbol is called in a sum.
const SYMBOL: &str = "_acc2omp_symbol_";

impl Declared {
    fn upper(&self, place: &Place, at: usize) -> Option<Sum> {
        let text = self.dimensions.bounds.get(at)?.upper.as_ref()?;
        Some(place.declared_sum(text, &self.names))
    }

    fn lower(&self, place: &Place, at: usize) -> Option<Sum> {
        match self.dimensions.bounds.get(at)?.lower.as_ref() {
            Some(text) => Some(place.declared_sum(text, &self.names)),
            // An array with deferred shape may begin anywhere.
            None => self.dimensions.bounds.get(at)?.upper.as_ref().map(|_| place.plain("1")),
        }
    }

    /// What a subscript takes of dimension `at`.
    fn extent(&self, place: &Place, subscript: &Subscript, at: usize) -> Extent {
        let is_fortran = place.unit.is_fortran();
        let is_array = is_fortran || self.dimensions.shape.get(at) == Some(&true);
        let upper = self.upper(place, at).filter(|_| is_array);
        let (first, second, stride) = match subscript {
            Subscript::Index(_) => {
                let is_only = !is_fortran && upper.and_then(|upper| upper.value()) == Some(1);
                return if is_only { Extent::Whole } else { Extent::Element };
            }
            Subscript::Range { first, second, stride } => (first.as_ref(), second.as_ref(), stride.as_ref()),
        };
        if stride.is_some_and(|stride| place.sum(stride).value() != Some(1)) {
            return Extent::Strided;
        }
        match is_fortran {
            true => self.in_fortran(place, first, second, at, upper),
            false => in_c(place, first, second, upper),
        }
    }

    fn in_fortran(
        &self,
        place: &Place,
        first: Option<&Expr>,
        second: Option<&Expr>,
        at: usize,
        upper: Option<Sum>,
    ) -> Extent {
        if let (Some(first), Some(second)) = (first, second)
            && place.apart(&place.sum(second), &place.sum(first)) == Some(0)
        {
            return Extent::One;
        }
        let lower = self.lower(place, at);
        let misses = |bound: Option<&Expr>, declared: Option<Sum>| match (bound, declared) {
            (None, _) => Some(0),
            (Some(bound), Some(declared)) => place.apart(&place.sum(bound), &declared),
            (Some(_), None) => None,
        };
        match (misses(first, lower), misses(second, upper)) {
            (Some(0), Some(0)) => Extent::Whole,
            (Some(by), _) | (_, Some(by)) if by != 0 => Extent::Some,
            _ => Extent::Unknown,
        }
    }
}

fn in_c(place: &Place, first: Option<&Expr>, length: Option<&Expr>, size: Option<Sum>) -> Extent {
    let first = first.map_or_else(|| place.plain("0"), |first| place.sum(first));
    let length = length.map(|length| place.sum(length));
    if length.as_ref().and_then(Sum::value) == Some(1) {
        let is_only = size.and_then(|size| size.value()) == Some(1);
        return if is_only { Extent::Whole } else { Extent::One };
    }
    let missing = match (&length, size) {
        (Some(length), Some(size)) => place.apart(length, &size),
        (Some(_), None) => None,
        // Up to the end.
        (None, _) => Some(0),
    };
    match (first.value(), missing) {
        (Some(0), Some(0)) => Extent::Whole,
        (Some(by), _) | (_, Some(by)) if by != 0 => Extent::Some,
        _ => Extent::Unknown,
    }
}

impl Place<'_> {
    fn of<'b>(unit: &'b Unit, symbols: &'b Symbols, bound: &Bound) -> Place<'b> {
        Place { unit, symbols, offset: bound.directive.span.start, function: bound.function }
    }

    /// Whether the subscripts of an item are the sizes of its dimensions.
    fn is_size(&self, item: &ListItem) -> bool {
        let subscripts = item.subscripts();
        let has_index = subscripts.iter().any(|one| matches!(one, Subscript::Index(_)));
        let members = item.parts.iter().filter(|part| matches!(part, PathStep::Member(_))).count();
        if !has_index || item.parts.len() != subscripts.len() + members {
            return false;
        }
        let known = self.declared(item);
        let is_size = |(at, one): (usize, &&Subscript)| match one {
            Subscript::Index(size) => {
                let upper = known.upper(self, at).filter(|_| known.dimensions.shape.get(at) == Some(&true));
                upper.is_some_and(|upper| self.apart(&self.sum(size), &upper) == Some(0))
            }
            Subscript::Range { .. } => false,
        };
        subscripts.len() == known.dimensions.shape.len() && subscripts.iter().enumerate().all(is_size)
    }

    fn declared(&self, item: &ListItem) -> Declared {
        let symbols = self.symbols;
        let last = item.parts.iter().rev().find_map(|part| match part {
            PathStep::Member(member) => Some(member.text.as_str()),
            PathStep::Section(_) => None,
        });
        if let Some(member) =
            last.filter(|_| item.base.text != "this" || item.variable() != last.unwrap_or_default())
        {
            let dimensions = symbols.dimensions_of_member(member).cloned().unwrap_or_default();
            return Declared { dimensions, names: Names::Outside };
        }
        let Some(symbol) = symbols.lookup(item.variable(), self.offset) else {
            return Declared { dimensions: Dimensions::default(), names: Names::Outside };
        };
        let known = symbols.get(symbol);
        let names = match (known.decl, &known.home) {
            (Some(decl), _) => Names::At(self.unit.decl(decl).name_span.start),
            (None, Some(home)) => Names::In(home.clone()),
            (None, None) => Names::Outside,
        };
        let dimensions = Dimensions { shape: known.shape.clone(), bounds: known.bounds.clone() };
        Declared { dimensions, names }
    }

    /// Whether the item's array, or what it is a component of, may have a descriptor.
    fn has_descriptor(&self, item: &ListItem) -> bool {
        let symbols = self.symbols;
        let is_member = item.parts.iter().any(|part| matches!(part, PathStep::Member(_)));
        let symbol = symbols.lookup(item.variable(), self.offset).map(|symbol| &symbols.get(symbol).fortran);
        is_member || symbol.is_none_or(|said| said.allocatable || said.pointer || said.assumed_shape)
    }

    /// The difference of two sums, if it is a number.
    fn apart(&self, one: &Sum, two: &Sum) -> Option<i64> {
        one.minus(two)?.value()
    }

    fn plain(&self, text: &str) -> Sum {
        Sum::of(text, &|_| None)
    }

    /// An expression of the directive.
    fn sum(&self, expr: &Expr) -> Sum {
        let offset = self.offset;
        Sum::of(&self.folded(&expr.text), &|name| self.meaning(name, self.symbols.lookup(name, offset)))
    }

    /// A bound of a declaration. A name whose value may have changed since is unlike all others.
    fn declared_sum(&self, text: &str, names: &Names) -> Sum {
        let since = match names {
            Names::At(offset) => *offset,
            Names::In(_) | Names::Outside => 0,
        };
        Sum::of(&self.folded(text), &|name| {
            let symbol = self.lookup(name, names);
            match symbol.filter(|symbol| !self.is_steady(*symbol, since)) {
                Some(symbol) => (!name.starts_with(SYMBOL)).then(|| format!("{SYMBOL}{}_then", symbol.0)),
                None => self.meaning(name, symbol),
            }
        })
    }

    fn folded(&self, text: &str) -> String {
        if self.unit.is_fortran() { text.to_ascii_lowercase() } else { text.to_owned() }
    }

    fn lookup(&self, name: &str, names: &Names) -> Option<SymbolId> {
        let symbols = self.symbols;
        match names {
            Names::At(offset) => symbols.lookup(name, *offset),
            Names::In(home) => {
                let here = symbols.lookup(name, self.offset)?;
                (symbols.get(here).home.as_ref() == Some(home)).then_some(here)
            }
            Names::Outside if self.unit.is_fortran() => {
                let here = symbols.lookup(name, self.offset)?;
                let is_own = self.function().is_some_and(|(span, _)| span.contains(symbols.get(here).scope));
                (!is_own).then_some(here)
            }
            Names::Outside => symbols.lookup(&format!("::{name}"), self.offset),
        }
    }

    /// The text that stands for a name in sums.
    fn meaning(&self, name: &str, symbol: Option<SymbolId>) -> Option<String> {
        if name.starts_with(SYMBOL) {
            return None;
        }
        let symbols = self.symbols;
        let known = symbols.get(symbol?);
        if symbols.is_macro(symbol?) {
            return symbols.body_of(name).filter(|body| *body != name).map(str::to_owned);
        }
        let init = known.decl.and_then(|decl| self.unit.decl(decl).init);
        let is_constant = known.kind == SymbolKind::Constant || known.is_const;
        let value = init.filter(|_| is_constant).map(|init| &self.unit.expr(init).kind);
        match value {
            Some(ExprKind::Int(value)) => Some(value.to_string()),
            _ => Some(format!("{SYMBOL}{}", symbol?.0)),
        }
    }

    /// The function that the directive stands in: its bytes and its body.
    fn function(&self) -> Option<(Span, StmtId)> {
        let function = self.unit.function(self.function?);
        Some((function.span, function.body))
    }

    /// Whether a variable surely has the value that it had where the declaration at `since` was reached.
    fn is_steady(&self, symbol: SymbolId, since: u32) -> bool {
        let Place { unit, symbols, .. } = *self;
        let known = symbols.get(symbol);
        if known.kind == SymbolKind::Constant || known.is_const || known.fortran.intent_in {
            return true;
        }
        let Some((span, body)) = self.function() else { return false };
        let is_local = matches!(known.kind, SymbolKind::Local | SymbolKind::Parameter);
        if !is_local || !span.contains(known.scope) || known.is_reference && unit.is_cpp() {
            return false;
        }
        let all = uses(unit, symbols, body);
        let Some(used) = all.of(symbol).filter(|used| used.written || used.address_taken) else {
            return true;
        };
        if unit.is_fortran() {
            return false;
        }
        let is_meant = |expr: &ExprId| symbols.named(unit, *expr) == Some(symbol);
        let is_later = |from: u32| from > since;
        let changed = unit.exprs_in(span).any(|expr| match &expr.kind {
            ExprKind::Assign(_, target, _) | ExprKind::Step { operand: target, .. } => {
                is_meant(target) && is_later(expr.span.start)
            }
            ExprKind::AddressOf(target) => is_meant(target) && is_later(expr.span.start),
            _ => false,
        });
        !changed && (used.written || used.address_taken)
    }
}
