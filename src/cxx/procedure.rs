//! Procedures that constructs call, as functions in C++ with `routine` (OpenACC 3.3, 2.15.1).
//!
//! Invariant: a procedure is written once, before those that call it, and only from the file that is translated.

use std::cell::RefCell;
use std::collections::BTreeSet;

use crate::acc::ast::{ClauseKind, DirectiveKind};
use crate::bind::{Bound, Target};
use crate::host::ir::{Derived, ExprId, ExprKind, FunctionId, Scope, StmtKind, Unit};
use crate::plan;
use crate::sema::{SymbolId, SymbolKind};
use crate::source::Span;

use super::Why;
use super::clause::{Clauses, Reader};
use super::ground::Ground;
use super::signature::{Dummy, DummyKind, Signature, Written};
use super::statement::{Around, Body};
use super::types::Type;
use super::value::{Value, Values, binds, macro_number};
use super::variable::{Asked, Variables, passed_name};

/// Writes the procedure of a name that is called at `at`: how it is called, and its text.
pub fn procedure(ground: &Ground, name: &str, at: Span) -> Written {
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

    fn write(&self) -> Written {
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
        let (word, mut around) = self.directives(id, result.as_ref().map(|(_, name, _)| name.clone()))?;
        self.heads(body, &mut around);
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
        // What is asked of a shape may not be needed in the end.
        let text = statements.join("\n");
        let is_named = |name: &str| {
            text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|word| word == name)
        };
        let mut lines = bounds;
        lines.retain(|line| {
            let name = line.trim_start().strip_prefix("const long ").and_then(|rest| rest.split(' ').next());
            name.is_none_or(is_named)
        });
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

    /// Finds the variables of loops that nothing beside their loops names: they are declared in the heads.
    fn heads(&self, body: Span, around: &mut Around) {
        let unit = self.ground.files.own.unit;
        let symbols = self.ground.symbols;
        let mut extents: Vec<(SymbolId, Span)> = Vec::new();
        for id in unit.stmt_ids_in(body) {
            if let StmtKind::For { init: Some(init), .. } = unit.stmt(id).kind
                && let StmtKind::Expr(init) = unit.stmt(init).kind
                && let ExprKind::Assign(None, var, _) = unit.expr(init).kind
            {
                extents.extend(symbols.named(unit, var).map(|symbol| (symbol, unit.stmt(id).span)));
            }
        }
        let is_inside = |symbol: SymbolId, at: Span| {
            extents.iter().any(|(own, extent)| *own == symbol && extent.contains(at))
        };
        for (symbol, _) in &extents {
            let mut uses = unit.expr_ids_in(body).filter(|id| symbols.named(unit, *id) == Some(*symbol));
            let is_own = symbols.get(*symbol).kind != SymbolKind::Parameter;
            if is_own && uses.all(|id| is_inside(*symbol, unit.expr(id).span)) {
                around.in_heads.insert(*symbol);
            }
        }
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
