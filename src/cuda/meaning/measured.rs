//! `sizeof`: in C, a comparison and a character constant are an `int`, and what a comma gives is not an array; what code only
//! measures, a kernel has no name for.
//!
//! Invariant: the number is the one of the C source; where it is not known, the code is left untranslated.

use crate::host::forms::{Measured, inside};
use crate::host::ir::{BinaryOp, Decl, DeclKind, Derived, Expr, ExprId, ExprKind, UnaryOp};
use crate::sema::{CType, SymbolId, has_variable_length};
use crate::source::Span;

use super::Place;
use crate::cuda::code::text::Edits;
use crate::cuda::program::{Refused, refused};
use crate::cuda::types::spelling;

/// Writes out what differs.
pub fn sizes(place: &Place, edits: &mut Edits) -> Result<(), Refused> {
    let inside = inside(&place.types.unit.forms.measured, place.span);
    for one in inside {
        let exprs = &one.operand;
        let Some(last) = exprs.len().checked_sub(1).map(|at| ExprId(at as u32)) else { continue };
        if is_run_time(place, one, last) {
            return Err(refused(one.span, "`sizeof` of an array whose size is a run-time value"));
        }
        if !differs(place, exprs, last) {
            unnamed(place, one, edits)?;
            continue;
        }
        let words = match place.types.of_among(exprs, last) {
            CType::Number(number) => number.words(),
            CType::Pointer(_) => "void *",
            _ => return Err(refused(one.span, "`sizeof` of an expression whose type is not known")),
        };
        edits.replace(one.span, format!("sizeof({words})"));
    }
    Ok(())
}

/// Says the types of variables that a construct of a C++ source only measures: its kernel has no such variables.
pub fn only_measured(place: &Place, edits: &mut Edits) -> Result<(), Refused> {
    if !is_in_kernel(place) {
        return Ok(());
    }
    for one in inside(&place.types.unit.forms.measured, place.span) {
        unnamed(place, one, edits)?;
    }
    Ok(())
}

/// Whether C++ says another type than C.
fn differs(place: &Place, exprs: &[Expr], id: ExprId) -> bool {
    let Some(expr) = exprs.get(id.0 as usize) else { return false };
    let is_narrow = |id: ExprId| match place.types.of_among(exprs, id) {
        CType::Number(number) => number != number.promoted(),
        CType::Array(_) | CType::Unknown => true,
        _ => false,
    };
    match &expr.kind {
        ExprKind::Literal => {
            let text = place.types.file.text(expr.span);
            text.starts_with('\'') || text == "true" || text == "false"
        }
        ExprKind::Name(name) => name == "true" || name == "false",
        ExprKind::Unary(op, _) => *op == UnaryOp::Not,
        ExprKind::Binary(op, ..) => {
            use BinaryOp::*;
            matches!(op, Less | LessEqual | Greater | GreaterEqual | Equal | NotEqual | And | Or)
        }
        ExprKind::Comma(_, right) => {
            differs(place, exprs, *right)
                || matches!(place.types.of_among(exprs, *right), CType::Array(_) | CType::Unknown)
        }
        ExprKind::Conditional(_, then, other) => {
            [*then, *other].into_iter().any(|part| differs(place, exprs, part) || is_narrow(part))
        }
        _ => false,
    }
}

/// Whether it measures an array, or a row, of variable length.
fn is_run_time(place: &Place, one: &Measured, last: ExprId) -> bool {
    if !matches!(place.types.of_among(&one.operand, last), CType::Array(_)) {
        return false;
    }
    let Place { types, .. } = place;
    one.operand.iter().any(|expr| {
        let ExprKind::Name(name) = &expr.kind else { return false };
        let symbol = types.symbols.lookup(name, expr.span.start);
        symbol.is_some_and(|symbol| has_variable_length(types.unit, types.symbols, symbol))
    })
}

/// Puts the type, or an object of it, in place of a variable that is declared elsewhere: a kernel has a pointer for it, or
/// nothing if the code only measures it.
fn unnamed(place: &Place, one: &Measured, edits: &mut Edits) -> Result<(), Refused> {
    let Place { types, .. } = place;
    for (at, expr) in one.operand.iter().enumerate() {
        let ExprKind::Name(name) = &expr.kind else { continue };
        let Some(symbol) = types.symbols.lookup(name, expr.span.start) else { continue };
        let Some(decl) = types.symbols.get(symbol).decl.map(|id| types.unit.decl(id)) else { continue };
        let is_variable = matches!(decl.kind, DeclKind::Variable | DeclKind::Parameter);
        if !is_variable || place.span.contains(decl.span) || is_global(place, decl) && !is_in_kernel(place) {
            continue;
        }
        let is_whole = at + 1 == one.operand.len();
        let is_array = is_whole && matches!(types.of_decl(types.unit, decl), CType::Array(_));
        let is_kept = match place.input.is_c {
            true => !is_array && is_used(place, place.span, (symbol, name)),
            false => {
                let mut around = constructs_around(place);
                around.any(|one| one.contains(decl.span) || is_used(place, one, (symbol, name)))
            }
        };
        if is_kept {
            continue;
        }
        let base = spelling::written(place.input, place.input.source, decl);
        let inner = if is_whole { "" } else { "*" };
        let (base, declarator) = match (base, abstract_declarator(place, decl, inner)) {
            (Some(base), Some(declarator)) => (base, declarator),
            // What it is may stand in the device file: a constant.
            _ if !place.input.is_c && is_global(place, decl) => continue,
            _ => return Err(refused(expr.span, "`sizeof` of a variable of this type")),
        };
        let blank = if declarator.is_empty() || declarator.starts_with('[') { "" } else { " " };
        match is_whole {
            true => edits.replace(one.span, format!("sizeof({base}{blank}{declarator})")),
            false => edits.replace(expr.span, format!("(*({base} {declarator})0)")),
        }
    }
    Ok(())
}

/// Whether the code in a span names a variable where it is evaluated.
fn is_used(place: &Place, span: Span, (symbol, name): (SymbolId, &str)) -> bool {
    let types = &place.types;
    types.unit.exprs_in(span).any(|expr| {
        matches!(&expr.kind, ExprKind::Name(own) if own == name)
            && types.symbols.lookup(name, expr.span.start) == Some(symbol)
    })
}

/// What stands around `inner` in the type of a declaration.
fn abstract_declarator(place: &Place, decl: &Decl, inner: &str) -> Option<String> {
    let mut made = inner.to_owned();
    for (at, part) in decl.derived.iter().enumerate() {
        let decays = at == 0 && decl.kind == DeclKind::Parameter;
        match part {
            Derived::Array(Some(size)) if !decays => {
                if made.starts_with('*') {
                    made = format!("({made})");
                }
                made += &format!("[{}]", place.input.source.text(*size));
            }
            Derived::Pointer | Derived::Array(_) if decays || *part == Derived::Pointer => {
                made.insert(0, '*')
            }
            // What it refers to is measured.
            Derived::Reference => {}
            _ => return None,
        }
    }
    Some(made)
}

/// Whether the code is that of a compute construct.
fn is_in_kernel(place: &Place) -> bool {
    constructs_around(place).next().is_some()
}

/// The code of the compute constructs that hold the code.
fn constructs_around<'a>(place: &'a Place) -> impl Iterator<Item = Span> + 'a {
    let computing = place.input.bound.iter().filter(|one| one.directive.kind.is_compute());
    let spans = computing.filter_map(|one| Some(place.input.stmt_span(one.stmt()?)));
    spans.filter(|span| span.contains(place.span))
}

/// Whether a routine of the device may name the variable.
fn is_global(place: &Place, decl: &Decl) -> bool {
    let unit = place.types.unit;
    unit.globals.iter().any(|id| unit.decl(*id).name_span == decl.name_span)
}
