//! The values of enumerations, and the integer types that C's compilers give them.
//!
//! Invariant: a value that is not known makes the type unknown.

use std::collections::BTreeMap;

use super::packed;
use crate::cuda::program::{Input, Seen};
use crate::host::forms::{EnumSpecifier, inside};
use crate::host::ir::{BinaryOp, Decl, DeclKind, ExprId, ExprKind, UnaryOp, Unit};
use crate::source::Span;

/// The integer type of the variables of an enumeration; `None` if its definition is not seen or has constants that are not
/// known.
pub fn integer(input: &Input, seen: &Seen, one: &EnumSpecifier) -> Option<&'static str> {
    if one.is_definition {
        return of_definition(input, seen, one.span);
    }
    let tag = one.tag.as_deref()?;
    let mut all = input.files();
    all.find_map(|seen| {
        let defined =
            seen.unit.forms.enums.iter().find(|one| one.is_definition && one.tag.as_deref() == Some(tag))?;
        of_definition(input, &seen, defined.span)
    })
}

/// The integer type of the variables of the enumeration that is defined in `span`.
pub fn of_definition(input: &Input, seen: &Seen, span: Span) -> Option<&'static str> {
    let values = values(input, seen.unit, span)?;
    let (low, high) = values.values().fold((0, 0), |(low, high), value| (low.min(*value), high.max(*value)));
    if packed::is_packed(seen, span) {
        return smallest(low, high);
    }
    let (int, unsigned) = (i128::from(i32::MIN)..=i128::from(i32::MAX), 0..=i128::from(u32::MAX));
    match low < 0 {
        true => (int.contains(&low) && int.contains(&high)).then_some("int"),
        false => unsigned.contains(&high).then_some("unsigned int"),
    }
}

/// The constants of the enumeration that is defined in `span`, and their values; `None` if one of these is not known.
pub fn values<'u>(input: &Input, unit: &'u Unit, span: Span) -> Option<BTreeMap<&'u str, i128>> {
    let mut known = BTreeMap::new();
    let mut next = 0;
    for decl in unit.decls_with_names_in(span).filter(|decl| decl.kind == DeclKind::Enumerator) {
        let value = match decl.init {
            Some(init) => Values { input, unit, known: &known }.of(init)?,
            None => next,
        };
        known.insert(decl.name.as_str(), value);
        next = value.checked_add(1)?;
    }
    Some(known)
}

/// The integer type of a packed enumeration.
fn smallest(low: i128, high: i128) -> Option<&'static str> {
    let types: [(&str, i128, i128); 5] = [
        ("unsigned char", 0, u8::MAX.into()),
        ("signed char", i8::MIN.into(), i8::MAX.into()),
        ("unsigned short", 0, u16::MAX.into()),
        ("short", i16::MIN.into(), i16::MAX.into()),
        ("int", i32::MIN.into(), i32::MAX.into()),
    ];
    let fitting = types.into_iter().find(|(_, least, most)| *least <= low && high <= *most);
    fitting.map(|(word, ..)| word)
}

impl Values<'_> {
    fn of(&self, expr: ExprId) -> Option<i128> {
        match &self.unit.expr(expr).kind {
            ExprKind::Int(value) => Some(*value),
            ExprKind::Name(name) => self.named(name),
            ExprKind::Unary(UnaryOp::Minus, operand) => self.of(*operand)?.checked_neg(),
            ExprKind::Unary(UnaryOp::Plus, operand) => self.of(*operand),
            ExprKind::Unary(UnaryOp::BitNot, operand) => self.of(*operand).map(|value| !value),
            ExprKind::Binary(op, left, right) => {
                let (left, right) = (self.of(*left)?, self.of(*right)?);
                match op {
                    BinaryOp::Add => left.checked_add(right),
                    BinaryOp::Subtract => left.checked_sub(right),
                    BinaryOp::Multiply => left.checked_mul(right),
                    BinaryOp::ShiftLeft => left.checked_shl(u32::try_from(right).ok()?),
                    BinaryOp::BitOr => Some(left | right),
                    BinaryOp::BitAnd => Some(left & right),
                    _ => None,
                }
            }
            ExprKind::Literal => {
                // A character.
                let text =
                    String::from_utf8_lossy(self.input.file().bytes.get(self.unit.expr(expr).span.range())?);
                let mut inside = text.trim().strip_prefix('\'')?.strip_suffix('\'')?.chars();
                let first = inside.next().filter(|c| c.is_ascii() && *c != '\\')?;
                inside.next().is_none().then_some(i128::from(u32::from(first)))
            }
            _ => None,
        }
    }

    fn named(&self, name: &str) -> Option<i128> {
        if let Some(value) = self.known.get(name) {
            return Some(*value);
        }
        self.input.symbols.number(name)
    }
}

pub struct Values<'a> {
    input: &'a Input<'a>,
    unit: &'a Unit,
    known: &'a BTreeMap<&'a str, i128>,
}

/// The value of a constant of an enumeration.
pub fn constant(input: &Input, name: &str) -> Option<i128> {
    input.files().find_map(|seen| {
        let decl = seen.unit.enumerators_named(name).next()?;
        values(input, seen.unit, decl.span)?.get(name).copied()
    })
}

/// The integer type of what a declaration declares with an enumeration as its type.
pub fn of_decl(input: &Input, seen: &Seen, decl: &Decl) -> Option<&'static str> {
    let head = Span { start: decl.span.start, end: decl.name_span.start };
    let one = inside(&seen.unit.forms.enums, head).next()?;
    integer(input, seen, one)
}

/// A definition without its tag, which nothing names any more.
pub fn constants(seen: &Seen, one: &EnumSpecifier) -> String {
    let text = seen.file.text(one.span);
    let shadow = seen.scan.shadow.get(one.span.range()).unwrap_or_default();
    let open = shadow.iter().position(|byte| *byte == b'{').unwrap_or_default();
    format!("enum {}", text.get(open..).unwrap_or_default())
}
