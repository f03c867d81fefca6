//! Compound literals whose address is taken: in C they last as long as the block around them, in C++ they are temporary.
//!
//! Invariant: each becomes a variable of that block, which is assigned where the literal stands.

use std::collections::{BTreeMap, BTreeSet};

use crate::cuda::code::text::Edits;
use crate::cuda::program::names::Names;
use crate::cuda::program::{Input, Refused, defines, refused};
use crate::host::forms::{CompoundLiteral, inside};
use crate::host::ir::{Derived, ExprKind, StmtId, StmtKind, Unit};
use crate::sema::CType;
use crate::source::Span;

use super::Place;
use super::wraps::Wraps;

/// The compound literals in some code of the source to which an address may lead: of them, of their members, or of members
/// that are arrays.
pub fn lasting<'a>(input: &Input<'a>, unit: &'a Unit, span: Span) -> Vec<&'a CompoundLiteral> {
    let literals: Vec<&CompoundLiteral> = inside(&unit.forms.literals, span).collect();
    if literals.is_empty() {
        return literals;
    }
    let is_array = |name: &str| {
        let mut named = input.files().flat_map(|seen| seen.unit.decls_named(name));
        named.any(|decl| matches!(decl.derived.first(), Some(Derived::Array(_))))
    };
    // Each part with the literal that it is of. Inner expressions come before outer ones, or after them: parts of parts take turns.
    let mut parts: BTreeMap<Span, Span> = literals.iter().map(|one| (one.span, one.span)).collect();
    let mut lasting: BTreeSet<Span> = BTreeSet::new();
    let mut known = 0;
    while known < parts.len() {
        known = parts.len();
        for expr in unit.exprs_in(span) {
            match &expr.kind {
                ExprKind::AddressOf(of) | ExprKind::Index(of, _) => {
                    lasting.extend(parts.get(&unit.expr(*of).span));
                }
                ExprKind::Member { base, name, arrow: false } => {
                    let Some(literal) = parts.get(&unit.expr(*base).span).copied() else { continue };
                    lasting.extend(is_array(name).then_some(literal));
                    parts.insert(expr.span, literal);
                }
                _ => {}
            }
        }
    }
    literals.into_iter().filter(|literal| lasting.contains(&literal.span)).collect()
}

/// Declares them as variables, and has their places assign these.
pub fn edit(place: &Place, wraps: &mut Wraps, edits: &mut Edits) -> Result<(), Refused> {
    none_in_macros(place.input, place.span)?;
    let unit = place.types.unit;
    let mut declared: BTreeMap<Span, String> = BTreeMap::new();
    for literal in lasting(place.input, unit, place.span) {
        let refusal = || refused(literal.span, "a compound literal of this kind whose address is taken");
        match place.types.of_words(&literal.to) {
            CType::Number(_) | CType::Pointer(_) | CType::Record(_) => {}
            CType::Void | CType::Array(_) | CType::Function(_) | CType::Unknown => return Err(refusal()),
        }
        let item = around(unit, place.span, literal.span).ok_or_else(refusal)?;
        let name = name(place, literal);
        let kept: Vec<&str> = literal.to.split_whitespace().filter(|word| *word != "const").collect();
        *declared.entry(unit.stmt(item).span).or_default() +=
            &format!("[[maybe_unused]] {} {name};\n", kept.join(" "));
        wraps.around(literal.span, format!("({name} = "), ")");
    }
    for (span, text) in declared {
        edits.insert(span.start, text);
    }
    Ok(())
}

/// The statement of a block that holds a literal, and which a declaration may stand before.
fn around(unit: &Unit, all: Span, literal: Span) -> Option<StmtId> {
    let blocks = unit.stmt_ids_in(all).filter_map(|id| match &unit.stmt(id).kind {
        StmtKind::Block(list) if unit.stmt(id).span.contains(literal) => Some(list),
        _ => None,
    });
    let items = blocks.filter_map(|list| list.iter().find(|id| unit.stmt(**id).span.contains(literal)));
    let item = *items.min_by_key(|id| unit.stmt(**id).span.end - unit.stmt(**id).span.start)?;
    // What a label leads to stands after it; what a loop repeats would be one object.
    let is_plain = matches!(
        unit.stmt(item).kind,
        StmtKind::Decl(_) | StmtKind::Expr(_) | StmtKind::Return(_) | StmtKind::If { .. }
    );
    is_plain.then_some(item)
}

/// A name that nothing in the file has.
fn name(place: &Place, literal: &CompoundLiteral) -> String {
    let all = &place.types.unit.forms.literals;
    let number = all.partition_point(|one| one.span.start < literal.span.start) + 1;
    let text = place.types.file.text(Span { start: 0, end: place.types.file.bytes.len() as u32 });
    Names::of(&text).fresh(&format!("literal_{number}"))
}

/// That no macro which the code uses has such a literal.
fn none_in_macros(input: &Input, span: Span) -> Result<(), Refused> {
    let text = input.source.code(span);
    let has_literal = |body: &String| {
        let body: String = body.chars().filter(|c| !c.is_whitespace()).collect();
        body.contains("){") && body.contains("&(")
    };
    match defines::reached(input, &text).iter().skip(1).any(has_literal) {
        true => {
            let at = Span { start: span.start, end: span.start + 1 };
            Err(refused(at, "the address of a compound literal in a macro"))
        }
        false => Ok(()),
    }
}
