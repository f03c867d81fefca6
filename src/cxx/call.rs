//! Calls of procedures (OpenACC 3.3, 2.15.1).
//!
//! Invariant: an argument is what the procedure takes it for, in one piece of memory if it is an array.

use crate::host::ir::{ExprId, ExprKind};
use crate::sema::{SymbolId, SymbolKind};
use crate::source::Span;

use super::Why;
use super::expression::{Values, statement_function};
use super::ground::Ground;
use super::signature::{Captured, Dummy, DummyKind, Signature};
use super::types::{Type, Word, module_in};
use super::value::{Value, binds};
use super::variable::{Variable, Variables, element};

/// The procedure that a name means at `at`: it is written if it is not yet.
pub fn signature(ground: &Ground, name: &str, at: Span) -> Result<Signature, Why> {
    let symbol = ground.symbols.lookup(name, at.start);
    // A `use` may give it another name here.
    let own = symbol.map_or(name, |symbol| ground.symbols.get(symbol).name.as_str());
    let home = symbol.and_then(|symbol| ground.symbols.get(symbol).home.as_deref());
    let Some(home) = home.filter(|home| module_in(ground.files.own, home).is_none()) else {
        return signature_at(ground, own, at);
    };
    let number = ground.files.number_of(home);
    let there = number.and_then(|number| ground.over_there(number, |there| signature_at(there, own, at)));
    // Why another file's procedure is not written is reported where it is called.
    let there = there.map(|written| written.map_err(|why| Why { at, ..why }));
    there.unwrap_or_else(|| Err(Why::new(at, format!("a call of `{name}`, whose file is not seen,"))))
}

/// Whether a name in front of arguments is that of a procedure of the program.
pub fn is_procedure(ground: &Ground, name: &str, at: Span) -> bool {
    ground.symbols.lookup(name, at.start).is_some_and(|symbol| {
        let is_type = ground.symbols.get(symbol).kind == SymbolKind::Type;
        !is_type && statement_function(ground, symbol).is_none()
    })
}

/// The procedure of a name in the file of the ground.
fn signature_at(ground: &Ground, name: &str, at: Span) -> Result<Signature, Why> {
    let place = (ground.number, name.to_owned());
    if let Some(known) = ground.procedures.borrow().known.get(&place) {
        return known.clone().map_err(|why| {
            Why::new(at, format!("a call of `{name}`, because of {},", why.what.trim_end_matches(',')))
        });
    }
    if ground.procedures.borrow().active.contains(&place) {
        return Err(Why::new(at, format!("`{name}`, which calls itself,")));
    }
    ground.procedures.borrow_mut().active.push(place.clone());
    let written = (ground.write)(ground, name, at);
    let mut procedures = ground.procedures.borrow_mut();
    procedures.active.pop();
    let signature = written.map(|(signature, text)| {
        procedures.texts.push((signature.name.clone(), text));
        signature
    });
    procedures.known.insert(place, signature.clone());
    signature
}

/// The symbol here of a variable that a procedure uses; `None` if it has no name here.
pub fn captured(ground: &Ground, variables: &Variables, one: &Captured, at: Span) -> Option<SymbolId> {
    let found = ground.symbols.lookup(&one.identity.1, at.start);
    let is_it = |symbol: &SymbolId| {
        let is_same = ground.identity(*symbol) == one.identity;
        is_same && (one.identity.0.is_some() || ground.number == one.number && *symbol == one.symbol)
    };
    found.filter(is_it).or_else(|| variables.unnamed(&one.identity))
}

/// The variables that procedures use which are called in an extent, each as a symbol here, with how it is passed.
pub fn captured_in(
    ground: &Ground,
    variables: &mut Variables,
    extent: Span,
) -> Result<Vec<(SymbolId, DummyKind)>, Why> {
    let unit = ground.files.own.unit;
    let mut all = Vec::new();
    for expr in unit.exprs_in(extent) {
        let ExprKind::Call { callee, .. } = &expr.kind else { continue };
        let ExprKind::Name(name) = &unit.expr(*callee).kind else { continue };
        if !is_procedure(ground, name, expr.span) {
            continue;
        }
        for one in signature(ground, name, expr.span)?.captured {
            let symbol = match captured(ground, variables, &one, expr.span) {
                Some(symbol) => symbol,
                None => variables.add_unnamed(ground.files, ground.symbols, &one.identity, expr.span)?,
            };
            all.push((symbol, one.kind));
        }
    }
    Ok(all)
}

/// A call of a procedure: as an expression, or as a statement if it gives nothing.
pub fn call(values: &Values, name: &str, args: &[ExprId], at: Span) -> Result<Value, Why> {
    let ground = values.ground;
    let signature = signature(ground, name, at)?;
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
                let is_passed = dummy.kind == DummyKind::Value || is_place && !values.is_in_parentheses(arg);
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
    for one in &signature.captured {
        let symbol = captured(ground, values.variables, one, at).ok_or_else(refused)?;
        let variable = values.variables.get(symbol).filter(|variable| variable.ty == one.ty);
        texts.push(variable.ok_or_else(refused)?.name.clone());
        for (place, which) in &one.bounds {
            texts.push(values.bound(symbol, *place, *which).ok_or_else(refused)?.text);
        }
    }
    let ty = signature.result.unwrap_or(Type::INTEGER);
    Ok(Value::name(format!("{}({})", signature.name, texts.join(", ")), ty))
}

/// An array as an argument: where it begins, and the numbers of elements that are passed.
fn array(values: &Values, arg: ExprId, dummy: &Dummy, at: Span) -> Result<(String, Vec<String>, Type), Why> {
    let seen = values.files.own;
    let refused =
        || Why::new(at, format!("`{}`, an argument that is not an array in one piece,", dummy.name));
    if values.is_in_parentheses(arg) {
        return Err(refused());
    }
    let (base, subscripts) = element(seen, arg).ok_or_else(refused)?;
    let symbol = values.symbol(base).ok_or_else(refused)?;
    let is_array = |one: &&Variable| !one.shape.is_empty() && !one.is_constant;
    let variable = values.variables.get(symbol).filter(is_array).ok_or_else(refused)?;
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
        // All that is before the last range is whole, and all after it are elements.
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
        let first = values.running_over(names, || values.value(arg))?;
        (format!("&{}", first.text), counts)
    };
    let mut extents = Vec::new();
    for place in &dummy.extents {
        extents.push(counts.get(*place).ok_or_else(refused)?.text.clone());
    }
    Ok((text, extents, variable.ty))
}
