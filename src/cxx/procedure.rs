//! Procedures that constructs call, as functions in C++ with `routine` (OpenACC 3.3, 2.15.1).
//!
//! Invariant: a procedure is written once, before those that call it, and only from the file that is translated.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use crate::acc::ast::{ClauseKind, DirectiveKind};
use crate::bind::{Bound, Target};
use crate::host::ir::{Derived, ExprId, ExprKind, FunctionId, Scope, StmtKind, Unit};
use crate::plan;
use crate::sema::{SymbolId, SymbolKind};
use crate::source::Span;

use super::Why;
use super::clause::{Clauses, Reader};
use super::construct::Ground;
use super::statement::{Around, Body};
use super::types::{Type, Word};
use super::value::{Value, Values, binds, macro_number};
use super::variable::{Asked, Variables, element, passed_name};

/// The procedures that are written so far.
#[derive(Default)]
pub struct Procedures {
    known: BTreeMap<String, Result<Signature, Why>>,
    /// Their texts, each before those that call it.
    texts: Vec<(String, String)>,
    /// Those that are being written.
    active: Vec<String>,
}

impl Procedures {
    /// The names and texts of the procedures, each before those that call it.
    pub fn texts(&self) -> &[(String, String)] {
        &self.texts
    }
}

/// How a procedure is called.
#[derive(Clone, Debug)]
pub struct Signature {
    name: String,
    dummies: Vec<Dummy>,
    result: Option<Type>,
}

/// A dummy argument.
#[derive(Clone, Debug)]
struct Dummy {
    name: String,
    ty: Type,
    kind: DummyKind,
    /// The dimensions whose number of elements is passed, too.
    extents: Vec<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DummyKind {
    Value,
    Reference,
    Array,
}

/// The procedure of a name that is called at `at`: it is written if it is not yet.
pub fn signature(ground: &Ground, name: &str, at: Span) -> Result<Signature, Why> {
    if let Some(known) = ground.procedures.borrow().known.get(name) {
        return known.clone().map_err(|why| {
            Why::new(at, {
                let what = why.what.trim_end_matches(',');
                format!("a call of `{name}`, because of {what},")
            })
        });
    }
    if ground.procedures.borrow().active.iter().any(|one| one == name) {
        return Err(Why::new(at, format!("`{name}`, which calls itself,")));
    }
    ground.procedures.borrow_mut().active.push(name.to_owned());
    let written = write(ground, name, at);
    let mut procedures = ground.procedures.borrow_mut();
    procedures.active.pop();
    let signature = written.map(|(signature, text)| {
        procedures.texts.push((signature.name.clone(), text));
        signature
    });
    procedures.known.insert(name.to_owned(), signature.clone());
    signature
}

/// A call of a procedure: as an expression, or as a statement if it gives nothing.
pub fn call(values: &Values, name: &str, args: &[ExprId], at: Span) -> Result<Value, Why> {
    let ground = values.ground;
    // A `use` may give it another name here.
    let own = values.symbols.lookup(name, at.start).map(|symbol| values.symbols.get(symbol).name.as_str());
    let signature = signature(ground, own.unwrap_or(name), at)?;
    if values.variables.is_named(&signature.name) {
        return Err(Why::new(at, format!("`{}`, the name of a variable and of a function,", signature.name)));
    }
    let refused = || Why::new(at, format!("a call of `{name}` with these arguments"));
    let mut actual: Vec<Option<ExprId>> = vec![None; signature.dummies.len()];
    for (place, arg) in args.iter().enumerate() {
        let place = match values.keyword(*arg) {
            Some(keyword) => signature.dummies.iter().position(|dummy| dummy.name == keyword),
            None => Some(place),
        };
        *place.and_then(|place| actual.get_mut(place)).ok_or_else(refused)? = Some(*arg);
    }
    let mut texts = Vec::new();
    for (dummy, arg) in signature.dummies.iter().zip(actual) {
        let arg = arg.ok_or_else(refused)?;
        match dummy.kind {
            DummyKind::Value | DummyKind::Reference => {
                let value = values.value(arg)?;
                let is_place = matches!(
                    values.files.own.unit.expr(arg).kind,
                    ExprKind::Name(_) | ExprKind::Index(..) | ExprKind::Member { .. }
                );
                let is_passed = dummy.kind == DummyKind::Value || is_place;
                if value.ty != dummy.ty || !is_passed {
                    return Err(refused());
                }
                texts.push(if dummy.ty.word == Word::Logical && dummy.kind == DummyKind::Value {
                    value.within(binds::OR)
                } else {
                    value.text
                });
            }
            DummyKind::Array => {
                let (text, extents, ty) = array(values, arg, dummy, at)?;
                if ty != dummy.ty {
                    return Err(refused());
                }
                texts.push(text);
                texts.extend(extents);
            }
        }
    }
    let ty = signature.result.unwrap_or(Type::INTEGER);
    Ok(Value::name(format!("{}({})", signature.name, texts.join(", ")), ty))
}

/// An array as an argument: where it begins, and the numbers of elements that are passed.
fn array(values: &Values, arg: ExprId, dummy: &Dummy, at: Span) -> Result<(String, Vec<String>, Type), Why> {
    let seen = values.files.own;
    let refused = || Why::new(at, format!("`{}`, an argument that is no array in one piece,", dummy.name));
    let (base, subscripts) = element(seen, arg).ok_or_else(refused)?;
    let symbol = values.symbol(base).ok_or_else(refused)?;
    let variable = values.variables.get(symbol).filter(|one| !one.shape.is_empty()).ok_or_else(refused)?;
    let rank = variable.shape.len();
    let is_range = |subscript: &ExprId| matches!(seen.unit.expr(*subscript).kind, ExprKind::Triplet(_));
    let ranges = subscripts.iter().filter(|one| is_range(one)).count();
    let (text, counts) = if subscripts.is_empty() {
        let all = (0..rank).map(|place| values.count(symbol, place, [None; 3], at));
        (variable.name.clone(), all.collect::<Result<Vec<_>, Why>>()?)
    } else if ranges == 0 {
        // The elements from there on.
        (format!("&{}", values.value(arg)?.text), Vec::new())
    } else {
        // All that is before the last range is whole, and all behind it are elements.
        for subscript in subscripts.iter().take(ranges - 1) {
            if !matches!(seen.unit.expr(*subscript).kind, ExprKind::Triplet([None, None, None])) {
                return Err(refused());
            }
        }
        if !subscripts.get(ranges - 1).is_some_and(is_range) {
            return Err(refused());
        }
        let mut counts = Vec::new();
        for (place, subscript) in subscripts.iter().enumerate().take(ranges) {
            let ExprKind::Triplet(parts) = seen.unit.expr(*subscript).kind else { return Err(refused()) };
            counts.push(values.count(symbol, place, parts, at)?);
        }
        let names = vec!["0".to_owned(); ranges];
        let kept = values.running.replace(names);
        let first = values.value(arg);
        values.running.replace(kept);
        (format!("&{}", first?.text), counts)
    };
    let mut extents = Vec::new();
    for place in &dummy.extents {
        extents.push(counts.get(*place).ok_or_else(refused)?.text.clone());
    }
    let is_of_rank = dummy.extents.is_empty() || counts.len() == dummy.extents.len().max(counts.len());
    if !is_of_rank {
        return Err(refused());
    }
    Ok((text, extents, variable.ty))
}

/// Writes a procedure.
fn write(ground: &Ground, name: &str, at: Span) -> Result<(Signature, String), Why> {
    let unit = ground.files.own.unit;
    let mut found = unit.scopes.iter().filter(|scope| scope.name == name && scope.function.is_some());
    let (Some(scope), None) = (found.next(), found.next()) else {
        return Err(Why::new(at, format!("a call of `{name}`, which no procedure in this file is,")));
    };
    Writer { ground, scope, at }.write()
}

/// The bounds of dummy arrays.
struct Bounds {
    /// The declarations of those that the procedure computes.
    lines: Vec<String>,
    /// The dimensions whose number of elements is passed.
    passed: Vec<(SymbolId, usize)>,
}

struct Writer<'a> {
    ground: &'a Ground<'a>,
    scope: &'a Scope,
    /// Where it is called.
    at: Span,
}

impl Writer<'_> {
    fn refused(&self, what: &str) -> Why {
        Why::new(self.at, format!("a call of `{}`, {what},", self.scope.name))
    }

    fn write(&self) -> Result<(Signature, String), Why> {
        let (ground, scope) = (self.ground, self.scope);
        let unit = ground.files.own.unit;
        let id = scope.function.ok_or_else(|| self.refused("which has no statements"))?;
        let function = unit.function(id);
        if function.has_error {
            return Err(self.refused("which is not understood"));
        }
        let body = unit.stmt(function.body).span;
        let name = match scope.parent.map(|parent| unit.scope(parent)) {
            Some(parent) if !parent.name.is_empty() => format!("{}_{}", parent.name, scope.name),
            _ => format!("{}_procedure", scope.name),
        };
        let mut name = name;
        while ground.procedures.borrow().texts.iter().any(|(other, _)| *other == name) {
            name.push('_');
        }
        let mut variables = Variables::default();
        let mut order: Vec<SymbolId> = Vec::new();
        let dummies: Vec<SymbolId> = function
            .params
            .iter()
            .filter_map(|param| ground.symbols.lookup(&unit.decl(*param).name, body.start))
            .collect();
        if dummies.len() != function.params.len() {
            return Err(self.refused("whose arguments are not seen"));
        }
        let named = unit.expr_ids_in(body).filter_map(|id| ground.symbols.named(unit, id));
        for symbol in dummies.iter().copied().chain(named) {
            self.add(symbol, body, &mut variables, &mut order)?;
        }
        let result = match &scope.result {
            None => None,
            Some(result) => {
                let symbol = ground.symbols.lookup(result, body.start);
                let symbol = symbol.ok_or_else(|| self.refused("whose result is not seen"))?;
                self.add(symbol, body, &mut variables, &mut order)?;
                let variable = variables.get(symbol).filter(|one| one.shape.is_empty());
                let variable = variable.ok_or_else(|| self.refused("whose result is no number"))?;
                Some((symbol, variable.name.clone(), variable.ty))
            }
        };
        let (word, around) = self.directives(id, result.as_ref().map(|(_, name, _)| name.clone()))?;
        let values = Values {
            files: ground.files,
            symbols: ground.symbols,
            variables: &variables,
            ground,
            running: RefCell::default(),
            known: RefCell::default(),
        };
        let mut statements = Body::new(&values, &around, body, 1);
        statements.stmt(function.body)?;
        let statements = statements.finish();
        let written = assigned(ground, body);
        let Bounds { lines: bounds, passed: asked } = self.bounds(&values, &dummies)?;
        let mut signature =
            Signature { name, dummies: Vec::new(), result: result.as_ref().map(|(_, _, ty)| *ty) };
        for (dummy, param) in dummies.iter().zip(&function.params) {
            let variable =
                variables.get(*dummy).ok_or_else(|| self.refused("whose arguments are not seen"))?;
            let kind = match (variable.shape.is_empty(), written.contains(dummy)) {
                (false, _) => DummyKind::Array,
                (true, true) if !unit.decl(*param).fortran.value => DummyKind::Reference,
                _ => DummyKind::Value,
            };
            let extents = asked.iter().filter(|(of, _)| of == dummy).map(|(_, place)| *place).collect();
            let name = unit.decl(*param).name.clone();
            signature.dummies.push(Dummy { name, ty: variable.ty, kind, extents });
        }
        let mut parameters = Vec::new();
        for (dummy, symbol) in signature.dummies.iter().zip(&dummies) {
            let Some(variable) = variables.get(*symbol) else { continue };
            let (cpp, name) = (variable.ty.cpp(), &variable.name);
            parameters.push(match dummy.kind {
                DummyKind::Value => format!("{cpp} {name}"),
                DummyKind::Reference => format!("{cpp} &{name}"),
                DummyKind::Array => format!("{cpp} *{name}"),
            });
            let extents =
                dummy.extents.iter().map(|place| passed_name(&variable.bounds, *place, Asked::Extent));
            parameters.extend(extents.map(|name| format!("long {name}")));
        }
        let mut lines = bounds;
        for symbol in order.iter().filter(|symbol| !dummies.contains(symbol)) {
            let Some(variable) = variables.get(*symbol) else { continue };
            if around.in_heads.contains(symbol) {
                continue;
            }
            let size = if variable.shape.is_empty() {
                String::new()
            } else if variable.is_fixed() {
                let section = variables.section(*symbol).unwrap_or_default();
                section.replacen("[0:", "[", 1)
            } else {
                return Err(self.refused("which has an array of variable size"));
            };
            lines.push(format!("    {} {}{size};", variable.ty.cpp(), variable.name));
        }
        lines.extend(statements);
        let returns = match &result {
            Some((_, name, ty)) => {
                lines.push(format!("    return {name};"));
                ty.cpp()
            }
            None => "void",
        };
        let text = format!(
            "#pragma acc routine {word}\nstatic inline {returns} {}({})\n{{\n{}\n}}\n",
            signature.name,
            parameters.join(", "),
            lines.join("\n")
        );
        Ok((signature, text))
    }

    /// Takes in a variable that the procedure names.
    fn add(
        &self,
        symbol: SymbolId,
        at: Span,
        variables: &mut Variables,
        order: &mut Vec<SymbolId>,
    ) -> Result<(), Why> {
        let ground = self.ground;
        let known = ground.symbols.get(symbol);
        let is_number = macro_number(ground.symbols, symbol).is_some();
        let is_result = self.scope.result.as_deref() == Some(known.name.as_str());
        let is_other = matches!(known.kind, SymbolKind::Function | SymbolKind::Type) && !is_result;
        // The values of constants are written.
        let is_constant = known.kind == SymbolKind::Constant;
        if is_number || is_constant || is_other || order.contains(&symbol) {
            return Ok(());
        }
        let is_own = known.decl.is_some_and(|decl| self.scope.decls.contains(&decl)) || known.decl.is_none();
        if !is_own || known.home.is_some() {
            return Err(self.refused(&format!("which uses `{}`, a variable around it", known.name)));
        }
        let is_kept = known.fortran.save || known.kind == SymbolKind::Static;
        if is_kept || known.fortran.pointer || known.fortran.allocatable {
            return Err(self.refused(&format!("in which `{}` is no plain variable", known.name)));
        }
        variables.add(ground.files, ground.symbols, symbol, at)?;
        order.push(symbol);
        Ok(())
    }

    /// The level of the procedure, and its directives.
    fn directives(&self, id: FunctionId, result: Option<String>) -> Result<(&'static str, Around), Why> {
        let ground = self.ground;
        let mut word = "seq";
        let mut around = Around { returns: Some(result), ..Around::default() };
        let is_own = |one: &&Bound| one.function == Some(id) || one.target == Target::Function(id);
        for one in ground.bound.iter().filter(is_own) {
            let directive = &one.directive;
            match directive.kind {
                DirectiveKind::Routine => {
                    for at in plan::effective(directive, ground.device_type).0 {
                        match directive.clauses.get(at).map(|clause| &clause.kind) {
                            Some(ClauseKind::Gang(_)) => word = "gang",
                            Some(ClauseKind::Worker(_)) => word = "worker",
                            Some(ClauseKind::Vector(_)) => word = "vector",
                            Some(ClauseKind::Bind(_)) => return Err(self.refused("which has `bind`")),
                            _ => {}
                        }
                    }
                }
                DirectiveKind::Loop => {
                    let Some(stmt) = one.stmt() else { continue };
                    let mut all = Clauses::default();
                    let reader = Reader {
                        symbols: ground.symbols,
                        device_type: ground.device_type,
                        inside: &|_| true,
                        name: &|_| None,
                        section: &|_| None,
                        is_fixed: &|_| true,
                    };
                    reader.read(directive, &mut all)?;
                    let is_more = !all.scalars.is_empty() || !all.args.is_empty() || !all.data.is_empty();
                    if is_more {
                        return Err(self.refused("which has a loop with these clauses"));
                    }
                    let line = format!("    #pragma acc loop {}", all.words.join(" "));
                    around.lines.entry(stmt).or_default().push(line);
                    around.divided.insert(stmt);
                    let unit = ground.files.own.unit;
                    if let StmtKind::For { init: Some(init), .. } = unit.stmt(stmt).kind
                        && let StmtKind::Expr(init) = unit.stmt(init).kind
                        && let ExprKind::Assign(None, var, _) = unit.expr(init).kind
                    {
                        around.in_heads.extend(ground.symbols.named(unit, var));
                    }
                }
                DirectiveKind::Atomic => {
                    let Some(stmt) = one.stmt() else { continue };
                    let words = directive.clauses.iter().map(|clause| match clause.kind {
                        ClauseKind::AtomicRead => " read",
                        ClauseKind::AtomicWrite => " write",
                        ClauseKind::AtomicCapture => " capture",
                        _ => " update",
                    });
                    let line = format!("    #pragma acc atomic{}", words.collect::<String>());
                    around.lines.entry(stmt).or_default().push(line);
                    around.atomic.insert(stmt);
                }
                DirectiveKind::End(_) => {}
                _ => return Err(self.refused("which has directives of its own")),
            }
        }
        Ok((word, around))
    }

    /// The bounds of dummy arrays that the body asks for: those that it computes, and those that are passed.
    fn bounds(&self, values: &Values, dummies: &[SymbolId]) -> Result<Bounds, Why> {
        let mut bounds = Bounds { lines: Vec::new(), passed: Vec::new() };
        let mut done: BTreeSet<(SymbolId, usize, Asked)> = BTreeSet::new();
        loop {
            let asked = values.variables.asked();
            let fresh: Vec<_> = asked.into_iter().filter(|one| !done.contains(one)).collect();
            if fresh.is_empty() {
                return Ok(bounds);
            }
            for (symbol, place, which) in fresh {
                done.insert((symbol, place, which));
                let unknown = || self.refused("which has an array of variable size");
                let variable =
                    values.variables.get(symbol).filter(|_| dummies.contains(&symbol)).ok_or_else(unknown)?;
                let known = self.ground.symbols.get(symbol);
                let (_, decl) = self.ground.files.decl_of(known).ok_or_else(unknown)?;
                let name = passed_name(&variable.bounds, place, which);
                let lower = decl.fortran.lower.get(place).copied().flatten();
                let upper = match decl.derived.get(place) {
                    Some(Derived::Array(upper)) => *upper,
                    _ => return Err(unknown()),
                };
                let lower = lower.map(|lower| values.value(lower)).transpose()?;
                match (which, upper) {
                    (Asked::Lower, _) => {
                        let lower = lower.ok_or_else(unknown)?;
                        bounds.lines.push(format!("    const long {name} = {};", lower.text));
                    }
                    (Asked::Extent, Some(upper)) => {
                        let upper = values.value(upper)?;
                        let extent = match lower {
                            None => upper.text,
                            Some(lower) => {
                                let length = Value::binary(&upper, "-", &lower, binds::SUM, Type::INTEGER);
                                format!("{} + 1", length.text)
                            }
                        };
                        bounds.lines.push(format!("    const long {name} = {extent};"));
                    }
                    (Asked::Extent, None) if known.fortran.assumed_shape => {
                        bounds.passed.push((symbol, place));
                    }
                    (Asked::Extent, None) => return Err(unknown()),
                }
            }
        }
    }
}

/// The variables that code assigns, or passes on to procedures that assign them.
fn assigned(ground: &Ground, extent: Span) -> BTreeSet<SymbolId> {
    let unit = ground.files.own.unit;
    let named = |id: ExprId| ground.symbols.named(unit, id);
    let procedures = ground.procedures.borrow();
    let mut all = BTreeSet::new();
    for expr in unit.exprs_in(extent) {
        match &expr.kind {
            ExprKind::Assign(_, left, _) => all.extend(named(*left)),
            ExprKind::Step { operand, .. } => all.extend(named(*operand)),
            ExprKind::Call { callee, args } => {
                let ExprKind::Name(name) = &unit.expr(*callee).kind else { continue };
                // An intrinsic function assigns none of its arguments.
                let own = ground.symbols.lookup(name, expr.span.start);
                let own = own.map(|symbol| ground.symbols.get(symbol).name.as_str());
                let Some(Ok(signature)) = own.and_then(|own| procedures.known.get(own)) else { continue };
                let has_keywords = args.iter().any(|arg| is_keyword(unit, *arg));
                let assigns = |place: usize| {
                    let dummy = signature.dummies.get(place);
                    has_keywords || dummy.is_none_or(|dummy| dummy.kind != DummyKind::Value)
                };
                let args = args.iter().enumerate().filter(|(place, _)| assigns(*place));
                all.extend(args.filter_map(|(_, arg)| named(*arg)));
            }
            _ => {}
        }
    }
    all
}

fn is_keyword(unit: &Unit, arg: ExprId) -> bool {
    unit.keywords.binary_search_by_key(&arg, |(arg, _)| *arg).is_ok()
}
