//! Procedures that constructs call, as functions in C++ with `routine` (OpenACC 3.3, 2.15.1).
//!
//! Invariant: a procedure is written once, before those that call it, and only from the file that is translated.

use std::collections::BTreeSet;

use crate::acc::ast::{ClauseKind, DirectiveKind};
use crate::bind::{Bound, Target};
use crate::host::ir::{Derived, ExprId, ExprKind, Function, FunctionId, Scope, StmtId, StmtKind, Unit};
use crate::plan;
use crate::sema::{SymbolId, SymbolKind};
use crate::source::Span;

use super::Why;
use super::block;
use super::call;
use super::clause::{Clauses, Keeps, Order, Reader};
use super::expression::{Values, macro_number};
use super::ground::Ground;
use super::loops;
use super::named;
use super::record;
use super::signature::{Captured, Dummy, DummyKind, Signature, Written};
use super::statement::{Around, Body};
use super::types::{Type, plain_code};
use super::value::{Value, binds};
use super::variable::{BoundQuery, Variable, Variables, names_in, passed_name};

/// Writes the procedure of a name that is called at `at`: how it is called, and its text.
pub fn procedure(ground: &Ground, name: &str, at: Span) -> Written {
    let unit = ground.files.own.unit;
    let mut found = unit.scopes.iter().filter(|scope| scope.name == name && scope.function.is_some());
    let what = match (found.next(), found.next()) {
        (Some(scope), None) => {
            // Procedures that it calls are written before it.
            return stacker::maybe_grow(128 * 1024, 4 * 1024 * 1024, || Writer { ground, scope, at }.write());
        }
        (None, _) => "which no procedure in this file is",
        (Some(_), Some(_)) => "which several procedures in this file are called",
    };
    Err(Why::new(at, format!("a call of `{name}`, {what},")))
}

/// The bounds of dummy arrays.
struct Bounds {
    /// Those that the procedure computes: the name, and the value.
    lines: Vec<(String, String)>,
    /// The dimensions whose bounds are passed.
    passed: Vec<(SymbolId, usize, BoundQuery)>,
}

/// What a procedure names.
struct Named {
    variables: Variables,
    /// The variables in the order in which they appear.
    order: Vec<SymbolId>,
    dummies: Vec<SymbolId>,
    /// The variables around it.
    captured: Vec<SymbolId>,
    result: Option<SymbolId>,
}

/// How a procedure is refused of which an argument is not known.
const UNSEEN: &str = "whose arguments are not seen";

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

    fn write(&self) -> Written {
        let (ground, scope) = (self.ground, self.scope);
        let unit = ground.files.own.unit;
        let id = scope.function.ok_or_else(|| self.refused("which has no statements"))?;
        let function = unit.function(id);
        if function.has_error {
            return Err(self.refused("which is not understood"));
        }
        let has_none = matches!(&unit.stmt(function.body).kind, StmtKind::Block(all) if all.is_empty());
        let alone = if has_none { unit.included_in(function.span) } else { None };
        if unit.included_among(function.body).or(alone).is_some() {
            return Err(self.refused("which has statements in another file"));
        }
        let body = unit.stmt(function.body).span;
        let name = self.name();
        let Named { variables, order, dummies, captured, result } = self.named(function, body)?;
        let result = result.and_then(|symbol| variables.get(symbol));
        let (word, mut around) = self.directives(id, &variables, result.map(|one| one.name.clone()))?;
        let counters = loops::counters(unit, ground.symbols, body).into_iter();
        let is_own = |symbol: &SymbolId| ground.symbols.get(*symbol).kind != SymbolKind::Parameter;
        let apart = counters.filter(|(symbol, counter)| is_own(symbol) && counter.is_apart());
        around.in_heads.extend(apart.map(|(symbol, _)| symbol));
        let values = Values::new(ground, &variables);
        let mut statements = Body::new(&values, &around, body, 1);
        statements.stmt(function.body)?;
        let statements = statements.finish();
        let Bounds { mut lines, passed } = self.bounds(&values, &dummies, &captured)?;
        // What is asked of a shape may not be needed in the end.
        let text = statements.join("\n");
        let is_needed = |name: &str| names_in(&text).any(|word| word == name);
        lines.retain(|(name, _)| is_needed(name));
        let mut lines: Vec<String> =
            lines.into_iter().map(|(name, value)| format!("    const long {name} = {value};")).collect();
        let is_around = |symbol: &SymbolId| dummies.contains(symbol) || captured.contains(symbol);
        let is_local = |symbol: &&SymbolId| !is_around(symbol) && !around.in_heads.contains(symbol);
        for symbol in order.iter().filter(is_local) {
            lines.extend(self.local(&variables, *symbol)?);
        }
        lines.push(text);
        lines.extend(result.map(|one| format!("    return {};", one.name)));
        let written = assigned(ground, &variables, body);
        let (mut parameters, mut signature) = (Vec::new(), Vec::new());
        for (symbol, param) in dummies.iter().zip(&function.params) {
            let decl = unit.decl(*param);
            let variable = variables.get(*symbol).ok_or_else(|| self.refused(UNSEEN))?;
            let kind = match (variable.shape.is_empty(), written.contains(symbol)) {
                (false, _) => DummyKind::Array,
                (true, true) if !decl.fortran.value => DummyKind::Reference,
                (true, _) if variable.object.is_some() && !decl.fortran.value => DummyKind::Reference,
                _ => DummyKind::Value,
            };
            let bounds = bounds_of(&passed, *symbol);
            parameters.extend(parameter(variable, kind, &bounds));
            let extents = bounds.into_iter().map(|(place, _)| place).collect();
            signature.push(Dummy { name: decl.name.clone(), ty: variable.ty, kind, extents });
        }
        let mut used = Vec::with_capacity(captured.len());
        for symbol in &captured {
            let variable = variables.get(*symbol).ok_or_else(|| self.refused(UNSEEN))?;
            let identity = variables.identity(*symbol).cloned().unwrap_or_else(|| ground.identity(*symbol));
            let is_shared = written.contains(symbol) || ground.has_place(&identity).is_some();
            let kind = match (variable.shape.is_empty(), is_shared) {
                (false, _) => DummyKind::Array,
                (true, true) => DummyKind::Reference,
                _ => DummyKind::Value,
            };
            let bounds = bounds_of(&passed, *symbol);
            parameters.extend(parameter(variable, kind, &bounds));
            let (symbol, number, ty) = (*symbol, ground.number, variable.ty);
            used.push(Captured { identity, symbol, number, ty, kind, bounds });
        }
        let text = format!(
            "#pragma acc routine {word}\nstatic inline {} {name}({})\n{{\n{}\n}}\n",
            result.map_or("void", |one| one.ty.cpp()),
            parameters.join(", "),
            lines.join("\n")
        );
        let result = result.map(|one| one.ty);
        Ok((Signature { name, dummies: signature, captured: used, result }, text))
    }

    /// Its statements.
    fn body(&self) -> StmtId {
        let unit = self.ground.files.own.unit;
        self.scope.function.map_or(StmtId(0), |id| unit.function(id).body)
    }

    /// The name of the function, which no other one has.
    fn name(&self) -> String {
        let scope = self.scope;
        let mut name = match scope.parent.map(|parent| self.ground.files.own.unit.scope(parent)) {
            Some(parent) if !parent.name.is_empty() => format!("{}_{}", parent.name, scope.name),
            _ => format!("{}_procedure", scope.name),
        };
        while self.ground.procedures.borrow().texts.iter().any(|(other, _)| *other == name) {
            name.push('_');
        }
        name
    }

    /// The variables that the procedure names.
    fn named(&self, function: &Function, body: Span) -> Result<Named, Why> {
        let (unit, symbols) = (self.ground.files.own.unit, self.ground.symbols);
        let (mut variables, mut order) = (Variables::default(), Vec::new());
        let lookup = |name: &str| symbols.lookup(name, body.start);
        let dummies: Option<Vec<SymbolId>> =
            function.params.iter().map(|param| lookup(&unit.decl(*param).name)).collect();
        let dummies = dummies.ok_or_else(|| self.refused(UNSEEN))?;
        let result = self.scope.result.as_deref();
        let result = result.map(|name| lookup(name).ok_or_else(|| self.refused("whose result is not seen")));
        let result = result.transpose()?;
        let named = unit.expr_ids_in(body).filter_map(|id| symbols.named(unit, id));
        let called = call::captured_in(self.ground, &mut variables, body)?;
        let called = called.into_iter().map(|(symbol, _)| symbol);
        let mut captured = Vec::new();
        for symbol in dummies.iter().copied().chain(named).chain(result).chain(called) {
            if variables.identity(symbol).is_some() {
                order.push(symbol);
                captured.push(symbol);
                continue;
            }
            let is_new = !order.contains(&symbol);
            self.add(symbol, body, &mut variables, &mut order)?;
            let is_constant = variables.get(symbol).is_some_and(|one| one.is_constant);
            if is_new && order.contains(&symbol) && !self.is_own(symbol) && !is_constant {
                captured.push(symbol);
            }
        }
        record::take_parts(self.ground, &mut variables, body)?;
        let is_number =
            |symbol| variables.get(symbol).is_some_and(|one| one.shape.is_empty() && one.object.is_none());
        if !result.is_none_or(is_number) {
            return Err(self.refused("whose result is not a number"));
        }
        Ok(Named { variables, order, dummies, captured, result })
    }

    /// The declaration of a variable of its own.
    fn local(&self, variables: &Variables, symbol: SymbolId) -> Result<Option<String>, Why> {
        let Some(variable) = variables.get(symbol) else { return Ok(None) };
        if variable.is_constant {
            return Ok(None);
        }
        let size = if variable.shape.is_empty() {
            String::new()
        } else if variable.is_fixed() {
            variables.section(symbol).unwrap_or_default().replacen("[0:", "[", 1)
        } else {
            return Err(self.refused("which has an array of variable size"));
        };
        Ok(Some(format!("    {} {}{size};", variable.cpp(), variable.name)))
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
        if known.kind == SymbolKind::Constant && !known.shape.is_empty() && !order.contains(&symbol) {
            named::add(ground, variables, symbol, at)?;
            order.push(symbol);
            return Ok(());
        }
        // The values of constants are written.
        let body = ground.files.own.unit.stmt(self.body()).span;
        if ground.is_declared_in(symbol, body) {
            let is_constant = block::has_value(ground, symbol, at);
            return if is_constant || is_other {
                Ok(())
            } else {
                block::add(ground, variables, symbol, (self.body(), body), at)
            };
        }
        let is_constant = known.kind == SymbolKind::Constant;
        if is_number || is_constant || is_other || order.contains(&symbol) {
            return Ok(());
        }
        let is_kept = known.fortran.save || known.kind == SymbolKind::Static;
        if self.is_own(symbol) && (is_kept || known.fortran.pointer || known.fortran.allocatable) {
            return Err(self.refused(&format!("in which `{}` is not a plain variable", known.name)));
        }
        if known.fortran.optional {
            return Err(self.refused(&format!("which has `{}`, an optional argument", known.name)));
        }
        named::add(ground, variables, symbol, at)?;
        let record = variables.get(symbol).and_then(|one| record::record(ground, one.ty));
        let is_dummy = known.kind == SymbolKind::Parameter;
        if record.is_some_and(|record| record.has_defaults)
            && self.is_own(symbol)
            && !(is_dummy && self.keeps_values(symbol))
        {
            return Err(self.refused(&format!("in which `{}` begins with values of its type", known.name)));
        }
        order.push(symbol);
        Ok(())
    }

    /// Whether a dummy argument has its value from the caller: it is not `intent(out)`.
    fn keeps_values(&self, symbol: SymbolId) -> bool {
        let texts = self.ground.files.own;
        let decl = self.ground.symbols.get(symbol).decl.map(|decl| texts.unit.decl(decl));
        decl.is_some_and(|decl| {
            let stated = Span { start: decl.span.start, end: decl.name_span.start };
            let stated = plain_code(texts, stated);
            decl.fortran.intent_in || stated.contains("intent(in")
        })
    }

    /// Whether a variable is declared in the procedure, or by its use there.
    fn is_own(&self, symbol: SymbolId) -> bool {
        let known = self.ground.symbols.get(symbol);
        let is_declared = known.decl.is_none_or(|decl| self.scope.decls.contains(&decl));
        is_declared && known.home.is_none()
    }

    /// The level of the procedure, and its directives.
    fn directives(
        &self,
        id: FunctionId,
        variables: &Variables,
        result: Option<String>,
    ) -> Result<(&'static str, Around), Why> {
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
                DirectiveKind::Loop | DirectiveKind::Atomic => self.inside(one, variables, &mut around)?,
                DirectiveKind::End(_) => {}
                _ => return Err(self.refused("which has directives of its own")),
            }
        }
        Ok((word, around))
    }

    /// Takes in a directive about a statement of the procedure.
    fn inside(&self, one: &Bound, variables: &Variables, around: &mut Around) -> Result<(), Why> {
        let ground = self.ground;
        let Some(stmt) = one.stmt() else { return Ok(()) };
        let mut all = Clauses::default();
        let body = ground.files.own.unit.stmt(self.body()).span;
        let reader = Reader {
            symbols: ground.symbols,
            device_type: ground.device_type,
            inside: &|symbol| ground.is_declared_in(symbol, body),
            name: &|symbol| variables.get(symbol).map(|one| one.name.clone()),
            section: &|_| None,
            is_fixed: &|_| true,
        };
        reader.read(&one.directive, &mut all)?;
        // Copies of its own variables have their names in the clauses.
        let is_copy = |(keeps, symbol): &(Keeps, SymbolId)| {
            let is_scalar = variables.get(*symbol).is_some_and(|one| one.shape.is_empty());
            let is_dummy = ground.symbols.get(*symbol).kind == SymbolKind::Parameter;
            let is_local = self.is_own(*symbol) && !is_dummy;
            is_local && (*keeps == Keeps::Private || *keeps == Keeps::Reference && is_scalar)
        };
        let is_more = !all.scalars.iter().all(is_copy)
            || !all.args.is_empty()
            || !all.data.is_empty()
            || all.order != Order::default();
        if is_more {
            return Err(self.refused("which has a loop with data clauses or a reduction of an argument"));
        }
        let word = if one.directive.kind == DirectiveKind::Atomic {
            around.atomic.insert(stmt);
            "atomic"
        } else {
            around.divided.insert(stmt);
            around.takes_leads(loops::leads(ground, one), ground.files.own.unit);
            around.in_heads.extend(loops::variable(ground.files.own.unit, ground.symbols, stmt));
            "loop"
        };
        around.lines.entry(stmt).or_default().push(all.pragma(word));
        Ok(())
    }

    /// The bounds of dummy arrays that the body asks for: those that it computes, and those that are passed.
    fn bounds(&self, values: &Values, dummies: &[SymbolId], captured: &[SymbolId]) -> Result<Bounds, Why> {
        let mut bounds = Bounds { lines: Vec::new(), passed: Vec::new() };
        let mut done: BTreeSet<(SymbolId, usize, BoundQuery)> = BTreeSet::new();
        loop {
            let bounds_passed = values.variables.bounds_passed();
            let fresh: Vec<_> = bounds_passed.into_iter().filter(|one| !done.contains(one)).collect();
            if fresh.is_empty() {
                return Ok(bounds);
            }
            for (symbol, place, which) in fresh {
                done.insert((symbol, place, which));
                if captured.contains(&symbol) {
                    bounds.passed.push((symbol, place, which));
                    continue;
                }
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
                    (BoundQuery::Lower, _) => {
                        let lower = lower.ok_or_else(unknown)?;
                        bounds.lines.push((name, lower.text));
                    }
                    (BoundQuery::Extent, Some(upper)) => {
                        let upper = values.value(upper)?;
                        let extent = match lower {
                            None => upper.text,
                            Some(lower) => {
                                let length = Value::binary(&upper, "-", &lower, binds::SUM, Type::INTEGER);
                                format!("{} + 1", length.text)
                            }
                        };
                        bounds.lines.push((name, extent));
                    }
                    (BoundQuery::Extent, None) if known.fortran.assumed_shape => {
                        bounds.passed.push((symbol, place, which));
                    }
                    (BoundQuery::Extent, None) => return Err(unknown()),
                }
            }
        }
    }
}

/// The bounds of a variable that are passed.
fn bounds_of(passed: &[(SymbolId, usize, BoundQuery)], symbol: SymbolId) -> Vec<(usize, BoundQuery)> {
    let own = passed.iter().filter(|(of, _, _)| *of == symbol);
    own.map(|(_, place, which)| (*place, *which)).collect()
}

/// The parameters for a dummy argument, or for a variable around the procedure.
fn parameter(variable: &Variable, kind: DummyKind, bounds: &[(usize, BoundQuery)]) -> Vec<String> {
    let (cpp, name) = (variable.cpp(), &variable.name);
    let own = match kind {
        DummyKind::Value => format!("{cpp} {name}"),
        DummyKind::Reference => format!("{cpp} &{name}"),
        DummyKind::Array => format!("{cpp} *{name}"),
    };
    let bounds = bounds.iter().map(|(place, which)| passed_name(&variable.bounds, *place, *which));
    std::iter::once(own).chain(bounds.map(|name| format!("long {name}"))).collect()
}

/// The variables that code assigns, or passes on to procedures that assign them.
fn assigned(ground: &Ground, variables: &Variables, extent: Span) -> BTreeSet<SymbolId> {
    let unit = ground.files.own.unit;
    let named = |id: ExprId| ground.symbols.named(unit, id);
    let mut all = BTreeSet::new();
    for expr in unit.exprs_in(extent) {
        match &expr.kind {
            ExprKind::Assign(_, left, _) => all.extend(named(*left)),
            ExprKind::Step { operand, .. } => all.extend(named(*operand)),
            ExprKind::Call { callee, args } => {
                let ExprKind::Name(name) = &unit.expr(*callee).kind else { continue };
                // An intrinsic function assigns none of its arguments.
                if !call::is_procedure(ground, name, expr.span) {
                    continue;
                }
                let Ok(signature) = call::signature(ground, name, expr.span) else { continue };
                let has_keywords = args.iter().any(|arg| is_keyword(unit, *arg));
                let assigns = |place: usize| {
                    let dummy = signature.dummies.get(place);
                    has_keywords || dummy.is_none_or(|dummy| dummy.kind != DummyKind::Value)
                };
                let args = args.iter().enumerate().filter(|(place, _)| assigns(*place));
                all.extend(args.filter_map(|(_, arg)| named(*arg)));
                let shared = signature.captured.iter().filter(|one| one.kind == DummyKind::Reference);
                all.extend(shared.filter_map(|one| call::captured(ground, variables, one, expr.span)));
            }
            _ => {}
        }
    }
    block::with_selected(ground, extent, &mut all);
    all
}

fn is_keyword(unit: &Unit, arg: ExprId) -> bool {
    unit.keywords.binary_search_by_key(&arg, |(arg, _)| *arg).is_ok()
}
