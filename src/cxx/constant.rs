//! Constants of Fortran: numbers by their values, arrays as functions that give their elements.
//!
//! Invariant: a value is written as the file computes it that declares the constant.

use crate::host::ir::{Decl, ExprId, ExprKind};
use crate::sema::{SymbolId, SymbolKind};
use crate::source::Span;

use super::Why;
use super::expression::Values;
use super::ground::Ground;
use super::types::{Type, Word, intrinsic_kind, is_conditional, module_in, plain_code};
use super::value::{Value, binds};
use super::variable::{Bound, Variables, cpp_name, shape_of};

/// The value of a constant that is not an array, which is named at `at`.
pub fn value(ground: &Ground, symbol: SymbolId, at: Span) -> Result<Value, Why> {
    let known = ground.symbols.get(symbol);
    let unknown = || Why::new(at, format!("`{}`, a constant whose value is not seen,", known.name));
    if let Some(number) = intrinsic_kind(known) {
        return Ok(Value::name(number.to_string(), Type::INTEGER));
    }
    let files = ground.files;
    let found =
        files.decl_of(known).filter(|(seen, decl)| decl.derived.is_empty() && !is_conditional(*seen, decl));
    let (seen, decl) = found.ok_or_else(unknown)?;
    let ty = files.declared(seen, decl).ok_or_else(unknown)?;
    let init = decl.init.ok_or_else(unknown)?;
    if ty.word == Word::Integer
        && let Some(number) = files.constant(seen, init)
    {
        let text = format!("{number}{}", if ty.bytes == 8 { "ll" } else { "" });
        let binds = if number < 0 { binds::PREFIX } else { binds::NAME };
        return Ok(Value { text, binds, ty });
    }
    let value = where_declared(ground, symbol, &|there, _, init| {
        Values::new(there, &Variables::default()).value(init)
    });
    // A file that is included may be read for its declarations alone.
    let written = || match &seen.unit.expr(init).kind {
        ExprKind::Literal => {
            Values::new(ground, &Variables::default()).literal(seen, seen.unit.expr(init).span)
        }
        _ => Err(unknown()),
    };
    let value = value.unwrap_or_else(written).map_err(|_| unknown())?;
    let is_logical = [value.ty, ty].map(|ty| ty.word == Word::Logical);
    if is_logical[0] != is_logical[1] { Err(unknown()) } else { Ok(value.to(ty)) }
}

/// The name of the function that gives the elements of a constant array, which is written if it is not yet.
pub fn function(ground: &Ground, variables: &Variables, symbol: SymbolId, at: Span) -> Result<String, Why> {
    let known = ground.symbols.get(symbol);
    let unknown = || Why::new(at, format!("`{}`, a constant array whose values are not seen,", known.name));
    let (ty, elements) = where_declared(ground, symbol, &elements).flatten().ok_or_else(unknown)?;
    let values: Vec<String> = elements.into_iter().map(|element| element.to(ty).text).collect();
    let mut name = format!("{}_at", cpp_name(&known.name));
    loop {
        let text = format!(
            "#pragma acc routine seq\nstatic inline {cpp} {name}(int place)\n{{\n    const {cpp} values[] = {{{}}};\n    return values[place];\n}}\n",
            values.join(", "),
            cpp = ty.cpp()
        );
        let mut procedures = ground.procedures.borrow_mut();
        let taken = procedures.texts.iter().find(|(other, _)| *other == name);
        let is_variable = variables.is_named(&name) || ground.symbols.lookup(&name, at.start).is_some();
        match taken {
            Some((_, other)) if *other == text && !is_variable => return Ok(name),
            None if !is_variable => {
                procedures.texts.push((name.clone(), text));
                return Ok(name);
            }
            _ => name.push('_'),
        }
    }
}

/// What `work` makes of the declaration of a constant and its value in the file that declares it.
fn where_declared<T>(
    ground: &Ground,
    symbol: SymbolId,
    work: &dyn Fn(&Ground, &Decl, ExprId) -> T,
) -> Option<T> {
    let known = ground.symbols.get(symbol);
    if known.kind != SymbolKind::Constant {
        return None;
    }
    let unit = ground.files.own.unit;
    if let Some(decl) = known.decl {
        let decl = unit.decl(decl);
        return Some(work(ground, decl, decl.init?));
    }
    let home = known.home.as_deref()?;
    ground.over_there(ground.files.number_of(home)?, |there| {
        let seen = there.files.own;
        let scope = seen.unit.scope(module_in(seen, home)?);
        let mut decls = scope.decls.iter().map(|id| seen.unit.decl(*id));
        let decl = decls.find(|decl| decl.is_const && decl.name == known.name)?;
        Some(work(there, decl, decl.init?))
    })?
}

/// The type and the elements of a constant array, in the order of memory.
fn elements(ground: &Ground, decl: &Decl, init: ExprId) -> Option<(Type, Vec<Value>)> {
    let files = ground.files;
    if is_conditional(files.own, decl) {
        return None;
    }
    let ty = files.declared(files.own, decl)?;
    let mut count = 1;
    for dimension in shape_of(files, files.own, decl)? {
        let Bound::Constant(extent) = dimension.extent else { return None };
        count *= usize::try_from(extent).ok()?;
    }
    let variables = Variables::default();
    let values = Values::new(ground, &variables);
    let mut found = Vec::new();
    if !listed(&values, init, &mut found)? {
        // One value for all.
        found = vec![values.value(init).ok()?; count];
    }
    let is_alike = |value: &Value| (value.ty.word == Word::Logical) == (ty.word == Word::Logical);
    (found.len() == count && found.iter().all(is_alike)).then_some((ty, found))
}

/// Adds the elements of an array; `None` if they are not seen, `false` if it is one value.
fn listed(values: &Values, expr: ExprId, found: &mut Vec<Value>) -> Option<bool> {
    let seen = values.files.own;
    let known = seen.unit.expr(expr);
    let code = plain_code(seen, known.span);
    match &known.kind {
        ExprKind::Initialiser(parts) if code.starts_with('[') || code.starts_with("(/") => {
            if code.contains("::") || code.contains('=') {
                return None;
            }
            for part in parts {
                if !listed(values, *part, found)? {
                    found.push(values.value(*part).ok()?);
                }
            }
            Some(true)
        }
        ExprKind::Call { callee, args } => match (&seen.unit.expr(*callee).kind, args.as_slice()) {
            (ExprKind::Name(name), [source, shape])
                if name == "reshape" && [source, shape].iter().all(|arg| values.keyword(**arg).is_none()) =>
            {
                listed(values, *source, found)
            }
            _ => Some(false),
        },
        _ => Some(false),
    }
}
