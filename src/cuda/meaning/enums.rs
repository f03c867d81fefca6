//! Enumerations: to C, their constants are `int` and their variables are integers that take any number.
//!
//! Invariant: variables have the integer type that C's compilers give the enumeration; definitions only declare constants.

use std::collections::BTreeMap;

use crate::host::forms::{EnumSpecifier, inside};
use crate::host::ir::{BinaryOp, Decl, DeclKind, ExprId, ExprKind, UnaryOp, Unit};
use crate::source::Span;

use super::files;
use crate::cuda::code::text::Edits;
use crate::cuda::program::{Input, Refused, Seen, refused};

/// Writes the integer type in the place of each enumeration in some code. What is defined there is defined in front.
pub fn in_code(input: &Input, seen: &Seen, span: Span, edits: &mut Edits) -> Result<(), Refused> {
    let forms = &seen.unit.forms;
    for one in inside(&forms.enums, span) {
        let word = integer(input, seen, one)
            .ok_or_else(|| refused(one.span, "an enumeration whose constants are not known"))?;
        if one.is_definition {
            let stmts = seen.unit.stmts_in(span).filter(|stmt| stmt.span.contains(one.span));
            let around = stmts.map(|stmt| stmt.span).min_by_key(|span| span.len());
            let text = constants(seen, one);
            // Its constants are all that the declaration declares.
            let is_alone = around.is_some_and(|around| {
                around == one.span
                    || around.start == one.span.start
                        && seen.file.text(Span { start: one.span.end, end: around.end }).trim() == ";"
            });
            if is_alone {
                edits.replace(one.span, text);
                continue;
            }
            let Some(around) = around else { continue };
            edits.insert(around.start, format!("{text};\n"));
        }
        edits.replace(one.span, word);
    }
    Ok(())
}

/// That code names no constant of an enumeration of which one does not fit into an `int`: the types of the others differ.
pub fn none_large(input: &Input, span: Span) -> Result<(), Refused> {
    let unit = input.unit();
    for expr in unit.exprs_in(span) {
        let ExprKind::Name(name) = &expr.kind else { continue };
        let named = |seen: Seen| {
            let mut all = seen.unit.decls_named(name).filter(|decl| decl.kind == DeclKind::Enumerator);
            let whole = all.next()?.span;
            let mut known = seen.unit.decls_with_names_in(whole);
            let is_large = |value: i128| value > i128::from(i32::MAX);
            known.find(|one| {
                one.kind == DeclKind::Enumerator && constant(input, &one.name).is_some_and(is_large)
            })?;
            Some(())
        };
        if files(input).any(|seen| named(seen).is_some()) {
            return Err(refused(expr.span, "a constant of an enumeration with constants beyond `int`"));
        }
    }
    Ok(())
}

/// A definition without its tag, which nothing names any more.
pub fn constants(seen: &Seen, one: &EnumSpecifier) -> String {
    let text = seen.file.text(one.span);
    let shadow = seen.scan.shadow.get(one.span.range()).unwrap_or_default();
    let open = shadow.iter().position(|byte| *byte == b'{').unwrap_or_default();
    format!("enum {}", text.get(open..).unwrap_or_default())
}

/// The integer type of the variables of an enumeration; `None` if its definition is not seen or has constants that are not
/// known.
pub fn integer(input: &Input, seen: &Seen, one: &EnumSpecifier) -> Option<&'static str> {
    if one.is_definition {
        return of_definition(input, seen, one.span);
    }
    let tag = one.tag.as_deref()?;
    let mut all = files(input);
    all.find_map(|seen| {
        let defined =
            seen.unit.forms.enums.iter().find(|one| one.is_definition && one.tag.as_deref() == Some(tag))?;
        of_definition(input, &seen, defined.span)
    })
}

fn of_definition(input: &Input, seen: &Seen, span: Span) -> Option<&'static str> {
    let mut known: BTreeMap<&str, i128> = BTreeMap::new();
    let (mut next, mut low, mut high) = (0, 0, 0);
    for decl in seen.unit.decls_with_names_in(span).filter(|decl| decl.kind == DeclKind::Enumerator) {
        let value = match decl.init {
            Some(init) => Values { input, unit: seen.unit, known: &known }.of(init)?,
            None => next,
        };
        known.insert(&decl.name, value);
        (low, high, next) = (value.min(low), value.max(high), value + 1);
    }
    let (int, unsigned) = (i128::from(i32::MIN)..=i128::from(i32::MAX), 0..=i128::from(u32::MAX));
    match low < 0 {
        true => (int.contains(&low) && int.contains(&high)).then_some("int"),
        false => unsigned.contains(&high).then_some("unsigned int"),
    }
}

struct Values<'a> {
    input: &'a Input<'a>,
    unit: &'a Unit,
    known: &'a BTreeMap<&'a str, i128>,
}

impl Values<'_> {
    fn of(&self, expr: ExprId) -> Option<i128> {
        match &self.unit.expr(expr).kind {
            ExprKind::Int(value) => Some(*value),
            ExprKind::Name(name) => self.named(name),
            ExprKind::Unary(UnaryOp::Minus, operand) => self.of(*operand).map(|value| -value),
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

/// The value of a constant of an enumeration.
pub fn constant(input: &Input, name: &str) -> Option<i128> {
    files(input).find_map(|seen| {
        let decl = seen.unit.decls_named(name).find(|decl| decl.kind == DeclKind::Enumerator)?;
        let mut known: BTreeMap<&str, i128> = BTreeMap::new();
        let mut next = 0;
        for one in seen.unit.decls_with_names_in(decl.span).filter(|one| one.kind == DeclKind::Enumerator) {
            let value = match one.init {
                Some(init) => Values { input, unit: seen.unit, known: &known }.of(init)?,
                None => next,
            };
            known.insert(&one.name, value);
            next = value + 1;
        }
        known.get(name).copied()
    })
}

/// The integer type of what a declaration declares with an enumeration as its type.
pub fn of_decl(input: &Input, seen: &Seen, decl: &Decl) -> Option<&'static str> {
    let head = Span { start: decl.span.start, end: decl.name_span.start };
    let one = inside(&seen.unit.forms.enums, head).next()?;
    integer(input, seen, one)
}
