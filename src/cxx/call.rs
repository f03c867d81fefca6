//! Calls of procedures (OpenACC 3.3, 2.15.1).
//!
//! Invariant: an argument is what the procedure takes it for, in one piece of memory if it is an array.

use crate::host::ir::{ExprId, ExprKind};
use crate::source::Span;

use super::Why;
use super::ground::Ground;
use super::signature::{Dummy, DummyKind, Signature};
use super::types::{Type, Word};
use super::value::{Value, Values, binds};
use super::variable::element;

/// The procedure of a name that is called at `at`: it is written if it is not yet.
pub fn signature(ground: &Ground, name: &str, at: Span) -> Result<Signature, Why> {
    if let Some(known) = ground.procedures.borrow().known.get(name) {
        return known.clone().map_err(|why| {
            Why::new(at, format!("a call of `{name}`, because of {},", why.what.trim_end_matches(',')))
        });
    }
    if ground.procedures.borrow().active.iter().any(|one| one == name) {
        return Err(Why::new(at, format!("`{name}`, which calls itself,")));
    }
    ground.procedures.borrow_mut().active.push(name.to_owned());
    let written = (ground.write)(ground, name, at);
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
        let first = values.running_over(names, || values.value(arg))?;
        (format!("&{}", first.text), counts)
    };
    let mut extents = Vec::new();
    for place in &dummy.extents {
        extents.push(counts.get(*place).ok_or_else(refused)?.text.clone());
    }
    Ok((text, extents, variable.ty))
}
