//! Initialisers: C takes designators in any order, elements by number, and a string without its last byte.
//!
//! Invariant: each part is initialised with what C initialises it with.

use std::collections::BTreeMap;

use super::Place;
use super::wraps::Wraps;
use crate::cuda::code::text::Edits;
use crate::cuda::program::{Refused, refused};
use crate::cuda::types::enums;
use crate::host::forms::{Designated, Designator, inside};
use crate::host::ir::{Derived, ExprId, ExprKind};
use crate::sema::{CNumber, CType, Rank};
use crate::source::Span;

/// Arrays with more elements are not written out.
const LONGEST: usize = 4096;

/// Writes the initialisers in the code as C++ takes them.
pub fn edit(place: &Place, edits: &mut Edits) -> Result<(), Refused> {
    let unit = place.types.unit;
    for decl in unit.decls_in(place.span) {
        let Some(init) = decl.init else { continue };
        strings(place, (&decl.derived, init), &place.types.of_decl(unit, decl), edits)?;
        list(place, init, &place.types.of_decl(unit, decl), edits)?;
    }
    for literal in inside(&unit.forms.literals, place.span) {
        let mut all = unit.exprs_in(literal.span).filter(|expr| expr.span == literal.span);
        let Some(ExprKind::Initialiser(parts)) = all.next().map(|expr| &expr.kind) else { continue };
        if let [inner] = parts.as_slice() {
            list(place, *inner, &place.types.of_words(&literal.to), edits)?;
        }
    }
    Ok(())
}

/// Casts the parts that C converts to a type that does not hold all of their values: C++ refuses these in braces.
pub fn narrowed(place: &Place, wraps: &mut Wraps) {
    let unit = place.types.unit;
    for decl in unit.decls_in(place.span) {
        if let Some(init) = decl.init {
            narrow(place, init, &place.types.of_decl(unit, decl), wraps);
        }
    }
    for literal in inside(&unit.forms.literals, place.span) {
        let mut all = unit.exprs_in(literal.span).filter(|expr| expr.span == literal.span);
        if let Some(ExprKind::Initialiser(parts)) = all.next().map(|expr| &expr.kind)
            && let [inner] = parts.as_slice()
        {
            narrow(place, *inner, &place.types.of_words(&literal.to), wraps);
        }
    }
}

fn narrow(place: &Place, init: ExprId, found: &CType, wraps: &mut Wraps) {
    let unit = place.types.unit;
    let ExprKind::Initialiser(parts) = &unit.expr(init).kind else { return };
    let mut next = 0;
    for part in parts {
        let span = unit.expr(*part).span;
        let own = inside(&unit.forms.designated, span).find(|one| one.span == span);
        let (at, value) = match own {
            Some(one) => match slot(place, one, found) {
                Ok(at) => (at, one.value),
                Err(_) => return,
            },
            None => (next, *part),
        };
        next = at + 1;
        let wanted = part_type(place, found, at);
        match (&unit.expr(value).kind, &wanted, place.types.of(value)) {
            (ExprKind::Initialiser(_), ..) => narrow(place, value, &wanted, wraps),
            (ExprKind::Int(number), CType::Number(CNumber::Integer(_, true)), _) if number.abs() < 128 => {}
            (ExprKind::Int(number), CType::Number(_), _) if (0..128).contains(number) => {}
            (ExprKind::Literal, CType::Number(CNumber::Float), CType::Number(CNumber::Double)) => {}
            (_, CType::Number(to), CType::Number(from)) if is_narrower(*to, from) => {
                wraps.cast(place, value, to.words());
            }
            _ => {}
        }
    }
}

/// Whether a type does not hold all values of another one.
fn is_narrower(to: CNumber, from: CNumber) -> bool {
    use CNumber::{Double, Float, Integer, LongDouble};
    match (to, from) {
        (Integer(rank, signed), Integer(other, has_sign)) => match (signed, has_sign) {
            (false, true) => true,
            (true, false) => rank <= other,
            _ => rank < other,
        },
        (Integer(..), _) | (_, Integer(..)) => true,
        (Float, Double | LongDouble) | (Double, LongDouble) => true,
        _ => false,
    }
}

/// Arrays of characters that a string fills without its last byte.
fn strings(
    place: &Place,
    (derived, init): (&[Derived], ExprId),
    found: &CType,
    edits: &mut Edits,
) -> Result<(), Refused> {
    let unit = place.types.unit;
    let CType::Array(element) = found else { return Ok(()) };
    if let CType::Array(_) = **element {
        if let (ExprKind::Initialiser(parts), Some(rest)) = (&unit.expr(init).kind, derived.get(1..)) {
            for part in parts {
                strings(place, (rest, *part), element, edits)?;
            }
        }
        return Ok(());
    }
    let is_char = matches!(**element, CType::Number(CNumber::Integer(Rank::Char, _)));
    let Some(Derived::Array(Some(size))) = derived.first().filter(|_| is_char) else { return Ok(()) };
    let span = unit.expr(init).span;
    let text = place.types.file.text(span);
    let Some(size) = number(place, *size).filter(|_| text.starts_with('"')) else { return Ok(()) };
    match characters(&text) {
        Some(all) if all.len() as i128 == size => {
            edits.replace(span, format!("{{{}}}", all.join(", ")));
            Ok(())
        }
        Some(_) => Ok(()),
        None => Err(refused(span, "an array of characters that begins with such a string")),
    }
}

/// The characters of a string as constants, without the last byte; `None` for a string that is not understood.
fn characters(text: &str) -> Option<Vec<String>> {
    let inside = text.strip_prefix('"')?.strip_suffix('"')?;
    let mut found = Vec::new();
    let mut rest = inside.chars().peekable();
    while let Some(c) = rest.next() {
        let mut one = String::from(c);
        match c {
            '"' => return None,
            '\'' => one = "\\'".to_owned(),
            '\\' => {
                let next = rest.next()?;
                one.push(next);
                let digits = |c: &char| match next {
                    'x' => c.is_ascii_hexdigit(),
                    '0'..='7' => ('0'..='7').contains(c),
                    _ => false,
                };
                let most = if next == 'x' { usize::MAX } else { 2 };
                let mut count = 0;
                while let Some(digit) = rest.next_if(|c| count < most && digits(c)) {
                    one.push(digit);
                    count += 1;
                }
            }
            _ if !c.is_ascii() => return None,
            _ => {}
        }
        found.push(format!("'{one}'"));
    }
    Some(found)
}

/// A list of parts, inner lists first.
fn list(place: &Place, init: ExprId, found: &CType, edits: &mut Edits) -> Result<(), Refused> {
    let unit = place.types.unit;
    let ExprKind::Initialiser(parts) = &unit.expr(init).kind else { return Ok(()) };
    let span = unit.expr(init).span;
    let designated = |part: ExprId| {
        let span = unit.expr(part).span;
        inside(&unit.forms.designated, span).find(|one| one.span == span)
    };
    if inside(&unit.forms.designated, span).next().is_none()
        || inside(&unit.forms.literals, span).any(|one| one.span == span)
    {
        return Ok(());
    }
    let mut next = 0;
    let mut slots: BTreeMap<usize, ExprId> = BTreeMap::new();
    let mut is_in_order = matches!(found, CType::Record(_));
    for part in parts {
        let (at, value) = match designated(*part) {
            Some(one) => (slot(place, one, found)?, one.value),
            None => {
                is_in_order = false;
                (next, *part)
            }
        };
        is_in_order &= slots.is_empty() || at >= next;
        if slots.insert(at, value).is_some() {
            return Err(refused(span, "an initialiser that names a part twice"));
        }
        next = at + 1;
        list(place, value, &part_type(place, found, at), edits)?;
    }
    let has_own = parts.iter().any(|part| designated(*part).is_some());
    if !has_own || is_in_order {
        return Ok(());
    }
    let last = slots.keys().next_back().copied().unwrap_or_default();
    if last >= LONGEST {
        return Err(refused(span, "an initialiser of so many elements by their numbers"));
    }
    let mut all = Vec::new();
    for at in 0..=last {
        all.push(match slots.get(&at) {
            Some(value) => edits.render(place.types.file, outside(place, *value), 0)?.trim().to_owned(),
            None if matches!(part_type(place, found, at), CType::Number(_)) => "0".to_owned(),
            None => "{}".to_owned(),
        });
    }
    edits.replace_all(span, format!("{{{}}}", all.join(", ")));
    Ok(())
}

/// The bytes of a value, with what its edits put around it.
fn outside(place: &Place, value: ExprId) -> Span {
    place.types.unit.expr(value).span
}

/// The place of a part among its like.
fn slot(place: &Place, one: &Designated, found: &CType) -> Result<usize, Refused> {
    let unclear = || refused(one.span, "a designator of this kind");
    match (one.path.as_slice(), found) {
        ([Designator::Member(name)], CType::Record(tag)) => {
            let (home, record) = place.types.record(tag).ok_or_else(unclear)?;
            let mut members = record.members.iter().map(|id| home.decl(*id));
            let at = members.position(|member| member.name == *name).ok_or_else(unclear)?;
            if record.is_union && at > 0 { Err(unclear()) } else { Ok(at) }
        }
        ([Designator::Element(index)], CType::Array(_)) => {
            let value = number(place, *index).ok_or_else(unclear)?;
            usize::try_from(value).map_err(|_| unclear())
        }
        _ => Err(unclear()),
    }
}

fn part_type(place: &Place, found: &CType, at: usize) -> CType {
    match found {
        CType::Array(element) => (**element).clone(),
        CType::Record(tag) => {
            let member =
                place.types.record(tag).and_then(|(home, record)| Some((home, *record.members.get(at)?)));
            member.map_or(CType::Unknown, |(home, id)| place.types.of_decl(home, home.decl(id)))
        }
        _ => CType::Unknown,
    }
}

/// The value of a constant: a number, or a name for one.
fn number(place: &Place, expr: ExprId) -> Option<i128> {
    let unit = place.types.unit;
    match &unit.expr(expr).kind {
        ExprKind::Int(value) => Some(*value),
        ExprKind::Name(name) => {
            place.types.symbols.number(name).or_else(|| enums::constant(place.input, name))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
