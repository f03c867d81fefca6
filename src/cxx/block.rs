//! `block` and `associate`: the variables and names that they declare.
//!
//! Invariant: what a name of `associate` stands for is found out once, where its construct begins.

use std::collections::BTreeSet;

use crate::acc::ast::ListItem;
use crate::host::ir::{BaseType, DeclId, Derived, ExprId, ExprKind, StmtId, StmtKind};
use crate::sema::{self, SymbolId, SymbolKind, Texts};
use crate::source::Span;

use super::Why;
use super::component;
use super::constant;
use super::expression::{Values, macro_number, statement_function};
use super::ground::Ground;
use super::loops;
use super::named;
use super::record;
use super::statement::Body;
use super::types::Type;
use super::variable::{Bound, BoundQuery, Dimension, Variable, Variables, element, names_in, passed_name};

/// What a name of `associate` stands for.
enum Associated {
    /// A variable as a whole, or a component.
    Whole(SymbolId),
    /// An element, a section in one piece, or a value.
    Part { ty: Type, shape: Vec<Dimension> },
}

/// What `associate` gives a name to, and whether the name is that of a value.
fn selector(ground: &Ground, symbol: SymbolId) -> Option<(ExprId, bool)> {
    let unit = ground.files.own.unit;
    let decl = unit.decl(ground.symbols.get(symbol).decl?);
    let init = decl.init.filter(|_| decl.derived.first() == Some(&Derived::Reference))?;
    let is_value = decl.is_const || matches!(unit.expr(init).kind, ExprKind::Call { .. });
    Some((init, is_value))
}

/// Takes in all that the code in `extent` names, in `region`; their symbols in the order in which they appear. What
/// `is_passed_over` says is none of them.
pub fn gather(
    ground: &Ground,
    variables: &mut Variables,
    (region, extent): (StmtId, Span),
    copied: &[&ListItem],
    is_passed_over: &dyn Fn(SymbolId, Span) -> bool,
) -> Result<Vec<SymbolId>, Why> {
    let (files, symbols, unit) = (ground.files, ground.symbols, ground.files.own.unit);
    let named = |id| Some((id, component::named(files, symbols, id)?));
    let members: Vec<(ExprId, component::Named)> = unit.expr_ids_in(extent).filter_map(named).collect();
    // Of `o%p%x` only the whole is a component of its own.
    let inner: BTreeSet<ExprId> = members.iter().flat_map(|(_, named)| named.inner.iter().copied()).collect();
    let mut order = Vec::new();
    let objects = record::objects(ground, variables, (region, extent), (&members, &inner), copied)?;
    for (id, named) in members.iter().filter(|(id, _)| !inner.contains(id)) {
        if objects.contains(&named.root) {
            continue;
        }
        let symbol = variables.add_component(files, symbols, (*id, named), region)?;
        if !order.contains(&symbol) {
            order.push(symbol);
        }
    }
    let mut places: Vec<(Span, &[String])> = vec![(extent, &[])];
    let mut next = 0;
    while let Some((place, dummies)) = places.get(next).copied() {
        next += 1;
        for id in unit.expr_ids_in(place) {
            let ExprKind::Name(name) = &unit.expr(id).kind else { continue };
            let is_object = symbols.named(unit, id).is_some_and(|symbol| objects.contains(&symbol));
            let is_taken = inner.contains(&id) && !is_object
                || dummies.contains(name)
                || name.starts_with("acc_device_");
            let Some(symbol) = symbols.named(unit, id).filter(|_| !is_taken) else { continue };
            // What a statement function names is not in sight.
            if let Some(function) = statement_function(ground, symbol) {
                let value = (unit.expr(function.value).span, function.dummies.as_slice());
                if !places.contains(&value) {
                    places.push(value);
                }
            }
            let at = unit.expr(id).span;
            let is_other = macro_number(symbols, symbol).is_some()
                || matches!(symbols.get(symbol).kind, SymbolKind::Function | SymbolKind::Type);
            if is_other || is_passed_over(symbol, at) {
                continue;
            }
            add(ground, variables, symbol, (region, extent), at)?;
            let is_array = variables.get(symbol).is_some_and(|one| !one.shape.is_empty());
            if is_array && next > 1 && !order.contains(&symbol) {
                return Err(Why::new(at, "an array that a statement function names"));
            }
            if !order.contains(&symbol) && !variables.is_other_name(symbol) {
                order.push(symbol);
            }
        }
    }
    Ok(order)
}

/// Takes in a variable that the code in `extent` names at `at`.
pub fn add(
    ground: &Ground,
    variables: &mut Variables,
    symbol: SymbolId,
    (region, extent): (StmtId, Span),
    at: Span,
) -> Result<(), Why> {
    if variables.get(symbol).is_some() {
        return Ok(());
    }
    let (files, symbols, unit) = (ground.files, ground.symbols, ground.files.own.unit);
    let known = symbols.get(symbol);
    let is_inside = ground.is_declared_in(symbol, extent);
    let refused = |what: &str| Why::new(at, format!("`{}`, {what},", known.name));
    let Some((init, is_value)) = selector(ground, symbol) else {
        return add_declared(ground, variables, symbol, is_inside, at);
    };
    let decl = known.decl.map(|id| unit.decl(id));
    if decl.is_none_or(|decl| decl.base != BaseType::Unknown) {
        return Err(refused("a name of `select type`"));
    }
    let names = unit.expr_ids_in(unit.expr(init).span).filter_map(|id| symbols.named(unit, id));
    if names
        .into_iter()
        .any(|other| symbols.get(other).scope == known.scope && selector(ground, other).is_some())
    {
        return Err(refused("which `associate` gives to what has that name, too"));
    }
    let mut outside = Variables::default();
    let place = (region, unit.expr(init).span);
    if !is_inside {
        gather(ground, &mut outside, place, &[], &|symbol, at| has_value(ground, symbol, at))?;
    }
    let found = {
        let all = if is_inside { &*variables } else { &outside };
        associated(ground, all, init, is_value)?
    };
    let spelled = known.spelled(files.own.file);
    match found {
        Associated::Whole(target) if is_inside => {
            variables.add_other_name(symbol, target);
            return Ok(());
        }
        Associated::Whole(target) => {
            let target = outside.get(target).ok_or_else(|| refused("of a type that is not seen"))?.clone();
            let own = Variable { spelled, is_aliased: true, is_optional: false, ..target };
            variables.add_own(symbols, symbol, own, at);
        }
        Associated::Part { ty, shape } => {
            let is_aliased = !is_value && !is_inside;
            let own = Variable { is_aliased, ..Variable::new(String::new(), spelled, ty, shape) };
            variables.add_own(symbols, symbol, own, at);
        }
    }
    Ok(())
}

/// Takes in a variable that is not a name of `associate`; it `is_inside` if the code declares it for itself.
fn add_declared(
    ground: &Ground,
    variables: &mut Variables,
    symbol: SymbolId,
    is_inside: bool,
    at: Span,
) -> Result<(), Why> {
    let (files, symbols) = (ground.files, ground.symbols);
    let known = symbols.get(symbol);
    let refused = |what: &str| Why::new(at, format!("`{}`, {what},", known.name));
    let said = &known.fortran;
    if is_inside && (said.save || said.pointer || said.allocatable || known.kind == SymbolKind::Constant) {
        return Err(refused("which a `block` declares as more than a plain variable"));
    }
    match loops::stated_type(files.own, &known.name, at).as_deref() {
        None => named::add(ground, variables, symbol, at),
        Some("integer") if known.decl.is_none() => {
            let own = Variable::new(String::new(), known.name.clone(), Type::INTEGER, Vec::new());
            variables.add_own(symbols, symbol, own, at);
            Ok(())
        }
        Some("integer") if files.type_of(known, at.start) == Some(Type::INTEGER) => {
            variables.add(files, symbols, symbol, at)
        }
        Some(_) => Err(refused("of a type that `do concurrent` states")),
    }
}

/// What a selector is, of which all names are known.
fn associated(ground: &Ground, all: &Variables, init: ExprId, is_value: bool) -> Result<Associated, Why> {
    let seen = ground.files.own;
    let values = Values::new(ground, all);
    let at = seen.unit.expr(init).span;
    let scalar = || Ok(Associated::Part { ty: values.value(init)?.ty, shape: Vec::new() });
    if is_value {
        return scalar();
    }
    let refused = || Why::new(at, "a section in `associate` that is not in one piece");
    let (base, subscripts) = element(seen, init).ok_or_else(refused)?;
    let symbol = values.symbol(base).ok_or_else(refused)?;
    if subscripts.is_empty() {
        return Ok(Associated::Whole(symbol));
    }
    let ranges = ranges_of(seen, &subscripts).ok_or_else(refused)?;
    if ranges.is_empty() {
        return scalar();
    }
    let variable = all.get(symbol).filter(|one| one.shape.len() == subscripts.len()).ok_or_else(refused)?;
    let shape = ranges.iter().zip(&variable.shape).map(|(range, dimension)| Dimension {
        lower: Bound::Constant(1),
        extent: if *range == [None; 3] { dimension.extent } else { Bound::Passed },
    });
    Ok(Associated::Part { ty: variable.ty, shape: shape.collect() })
}

/// The ranges of a section that is in one piece if its array is: before the last one all are whole, and after it are
/// elements; `None` of another section.
fn ranges_of(seen: Texts, subscripts: &[ExprId]) -> Option<Vec<[Option<ExprId>; 3]>> {
    let parts = |one: &ExprId| match seen.unit.expr(*one).kind {
        ExprKind::Triplet(parts) => Some(parts),
        _ => None,
    };
    let ranges: Vec<[Option<ExprId>; 3]> = subscripts.iter().map_while(parts).collect();
    let are_first = subscripts.iter().skip(ranges.len()).all(|one| parts(one).is_none());
    let Some((last, whole)) = ranges.split_last() else { return are_first.then(Vec::new) };
    let is_one = last[2].is_none() && whole.iter().all(|range| *range == [None; 3]);
    (are_first && is_one).then_some(ranges)
}

/// Whether a name is that of a constant whose value is written in place of it.
pub fn has_value(ground: &Ground, symbol: SymbolId, at: Span) -> bool {
    ground.symbols.get(symbol).kind == SymbolKind::Constant
        && selector(ground, symbol).is_none()
        && constant::value(ground, symbol, at).is_ok()
}

/// Adds the variables to those that code assigns that it assigns by other names.
pub fn with_selected(ground: &Ground, extent: Span, all: &mut BTreeSet<SymbolId>) {
    let unit = ground.files.own.unit;
    let mut names: Vec<SymbolId> =
        unit.expr_ids_in(extent).filter_map(|id| ground.symbols.named(unit, id)).collect();
    // Inner constructs may name what outer ones do.
    names.sort();
    names.dedup();
    loop {
        let before = all.len();
        for symbol in names.iter().filter(|symbol| all.contains(symbol)).collect::<Vec<_>>() {
            let Some((init, _)) = selector(ground, *symbol) else { continue };
            let parts = unit.expr_ids_in(unit.expr(init).span);
            all.extend(parts.filter_map(|id| ground.symbols.named(unit, id)));
        }
        if all.len() == before {
            return;
        }
    }
}

impl Body<'_> {
    /// What a `block` or `associate` in `block` declares; the lines for what is asked of shapes, which may not be needed in the
    /// end.
    pub(super) fn declarations(
        &mut self,
        decls: &[DeclId],
        block: StmtId,
    ) -> Result<Vec<(String, String)>, Why> {
        let mut sizes = Vec::new();
        let values = self.values;
        for id in decls {
            let decl = values.files.own.unit.decl(*id);
            let Some(symbol) = values.symbols.lookup(&decl.name, decl.name_span.end) else { continue };
            let is_there = values.variables.is_other_name(symbol) || self.is_in_loop(symbol);
            let Some(variable) = values.variables.get(symbol).filter(|_| !is_there) else { continue };
            let (cpp, name) = (variable.cpp(), &variable.name);
            let Some((init, is_value)) = selector(values.ground, symbol) else {
                let size = declared_size(values.variables, symbol).ok_or_else(|| {
                    Why::new(decl.name_span, format!("`{name}`, an array of variable size,"))
                })?;
                self.line(&format!("{cpp} {name}{size};"));
                continue;
            };
            let constant = if is_value || self.is_kept(symbol, block) { "const " } else { "" };
            if is_value {
                self.whole_arrays(init)?;
            }
            if variable.shape.is_empty() {
                let value = values.value(init)?;
                let by = if is_value { "" } else { "&" };
                self.line(&format!("{constant}{cpp} {by}{name} = {};", value.text));
                continue;
            }
            let (text, counts) = self.section(init)?;
            self.line(&format!("{constant}{cpp} *{name} = &{text};"));
            for (place, count) in counts.into_iter().enumerate() {
                sizes.push((passed_name(&variable.bounds, place, BoundQuery::Extent), count));
            }
        }
        Ok(sizes)
    }

    /// Whether the statements of a block leave what a name of it stands for as it is.
    fn is_kept(&self, symbol: SymbolId, block: StmtId) -> bool {
        let (unit, symbols) = (self.values.files.own.unit, self.values.symbols);
        let StmtKind::Block(list) = &unit.stmt(block).kind else { return false };
        let mut inside = list.iter().filter(|inner| !matches!(unit.stmt(**inner).kind, StmtKind::Decl(_)));
        inside.all(|inner| sema::uses(unit, symbols, *inner).of(symbol).is_none_or(|how| how.is_unchanged()))
    }

    /// Where a section begins, and how many elements each dimension has.
    fn section(&self, init: ExprId) -> Result<(String, Vec<String>), Why> {
        let (values, seen) = (self.values, self.values.files.own);
        let at = seen.unit.expr(init).span;
        let refused = || Why::new(at, "a section in `associate` that is not in one piece");
        let (base, subscripts) = element(seen, init).ok_or_else(refused)?;
        let symbol = values.symbol(base).ok_or_else(refused)?;
        let ranges = ranges_of(seen, &subscripts).ok_or_else(refused)?;
        let counts = ranges.iter().enumerate().map(|(place, parts)| values.count(symbol, place, *parts, at));
        let counts: Result<Vec<String>, Why> = counts.map(|count| Ok(count?.text)).collect();
        let first = values.running_over(vec!["0".to_owned(); ranges.len()], || values.value(init))?;
        Ok((first.text, counts?))
    }

    /// Puts the sizes that the lines from `first` on name before them.
    pub(super) fn sized(&mut self, first: usize, sizes: Vec<(String, String)>) {
        let text = self.lines[first..].join("\n");
        let needed = sizes.into_iter().filter(|(name, _)| names_in(&text).any(|word| word == name));
        let indent = "    ".repeat(self.depth);
        let lines: Vec<String> =
            needed.map(|(name, count)| format!("{indent}const long {name} = {count};")).collect();
        self.lines.splice(first..first, lines);
    }
}

/// What stands after the name of an array of fixed size where it is declared; `None` of one that is not.
pub fn declared_size(variables: &Variables, symbol: SymbolId) -> Option<String> {
    let variable = variables.get(symbol)?;
    if variable.shape.is_empty() {
        return Some(String::new());
    }
    variables.section(symbol).filter(|_| variable.is_fixed()).map(|section| section.replacen("[0:", "[", 1))
}
