//! Expressions of numbers and logical values.
//!
//! Invariant: the text computes what the expression computes, with Fortran's kinds and conversions.

use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::host::ir::{BinaryOp, ExprId, ExprKind, StatementFunction, UnaryOp};
use crate::sema::{SymbolId, SymbolKind, Symbols, Texts};
use crate::source::Span;

use super::Why;
use super::call;
use super::ground::Ground;
use super::helpers::{self, Helper};
use super::intrinsic;
use super::record;
use super::types::{Files, Type, Word, plain_code};
use super::value::{Value, binds};
use super::variable::{BoundQuery, BoundText, Variables, element, literal, may_be_large};

/// Writes expressions.
pub struct Values<'a> {
    /// The files.
    pub files: &'a Files<'a>,
    /// What names mean.
    pub symbols: &'a Symbols,
    /// The variables of the construct.
    pub variables: &'a Variables,
    /// What code is written from.
    pub ground: &'a Ground<'a>,
    /// In a statement about arrays, the variables that count the elements of each dimension that is run through, from 0.
    pub running: RefCell<Vec<String>>,
    /// What stands for expressions that are computed before.
    pub known: RefCell<BTreeMap<ExprId, Value>>,
}

impl<'a> Values<'a> {
    /// Nothing is run through, and nothing is computed before.
    pub fn new(ground: &'a Ground<'a>, variables: &'a Variables) -> Values<'a> {
        let (files, symbols) = (ground.files, ground.symbols);
        Values { files, symbols, variables, ground, running: RefCell::default(), known: RefCell::default() }
    }
}

impl Values<'_> {
    /// An expression of one number or logical value.
    pub fn value(&self, expr: ExprId) -> Result<Value, Why> {
        stacker::maybe_grow(128 * 1024, 4 * 1024 * 1024, || self.value_here(expr))
    }

    fn value_here(&self, expr: ExprId) -> Result<Value, Why> {
        let unit = self.files.own.unit;
        if let Some(value) = self.known.borrow().get(&expr) {
            return Ok(value.clone());
        }
        let known = unit.expr(expr);
        let at = known.span;
        match &known.kind {
            ExprKind::Name(name) => self.scalar(expr, name, at),
            ExprKind::Index(..) => self.element(expr, at),
            ExprKind::Int(_) | ExprKind::Literal => self.literal(self.files.own, at),
            ExprKind::Unary(op, operand) => self.unary(*op, *operand, at),
            ExprKind::Binary(op, left, right) => self.binary(*op, *left, *right, at),
            ExprKind::Initialiser(parts) => match parts.as_slice() {
                [base, exponent] if self.is_between(*base, *exponent, "**") => {
                    self.power(*base, *exponent, at)
                }
                [real, imaginary]
                    if self.is_between(*real, *imaginary, ",")
                        && plain_code(self.files.own, at).starts_with('(')
                        && !plain_code(self.files.own, at).starts_with("(/") =>
                {
                    let parts = [self.value(*real)?, self.value(*imaginary)?];
                    let double = parts.iter().any(|one| one.ty.word == Word::Real && one.ty.bytes == 8);
                    if parts.iter().any(|one| !matches!(one.ty.word, Word::Real | Word::Integer)) {
                        return Err(Why::new(at, "this complex number"));
                    }
                    Ok(Value::complex(parts, if double { 8 } else { 4 }))
                }
                _ => Err(Why::new(at, "an array constructor, a complex number or a text")),
            },
            ExprKind::Call { callee, args } => {
                let ExprKind::Name(name) = &unit.expr(*callee).kind else {
                    return Err(Why::new(at, "a call by a component"));
                };
                if let Some(ty) = self.constructed(name, at) {
                    return self.object(ty, args, at);
                }
                if let Some(symbol) = self.symbols.lookup(name, at.start) {
                    return match statement_function(self.ground, symbol) {
                        Some(function) => self.statement_function((function, symbol), args, at),
                        None => call::call(self, name, args, at),
                    };
                }
                intrinsic::call(self, name, args, at)
            }
            ExprKind::Member { base, name, .. } if self.symbol(expr).is_none() => {
                let whole = self.value(*base)?;
                if whole.ty.word != Word::Complex || !is_part(name) {
                    return self.member(*base, name, at);
                }
                Ok(whole.of_complex(if name == "re" { "creal" } else { "cimag" }, whole.ty.part()))
            }
            ExprKind::Member { name, .. } => self.scalar(expr, name, at),
            _ => Err(Why::new(at, "this expression")),
        }
    }

    /// What a statement function gives: its expression, with the arguments in place of its own.
    fn statement_function(
        &self,
        (function, symbol): (&StatementFunction, SymbolId),
        args: &[ExprId],
        at: Span,
    ) -> Result<Value, Why> {
        let unit = self.files.own.unit;
        let name = &self.symbols.get(symbol).name;
        let refused = || Why::new(at, format!("the statement function `{name}` with these arguments"));
        let place = unit.expr(function.value).span;
        if args.len() != function.dummies.len() {
            return Err(refused());
        }
        let mut given = BTreeMap::new();
        for (dummy, arg) in function.dummies.iter().zip(args) {
            let value = self.value(*arg)?;
            let own = self.symbols.lookup(dummy, place.start).ok_or_else(refused)?;
            let ty = self.files.type_of(self.symbols.get(own), place.start);
            if ty != Some(value.ty) {
                return Err(refused());
            }
            given.insert(dummy.as_str(), value);
        }
        let inside: Vec<(ExprId, Value)> = unit
            .expr_ids_in(place)
            .filter_map(|id| match &unit.expr(id).kind {
                ExprKind::Name(name) => Some((id, given.get(name.as_str())?.clone())),
                _ => None,
            })
            .collect();
        let ids: Vec<ExprId> = inside.iter().map(|(id, _)| *id).collect();
        self.known.borrow_mut().extend(inside);
        let value = self.value(function.value);
        self.known.borrow_mut().retain(|id, _| !ids.contains(id));
        let ty = self.files.type_of(self.symbols.get(symbol), place.start).ok_or_else(refused)?;
        let value = value?;
        if (value.ty.word == Word::Logical) != (ty.word == Word::Logical) {
            return Err(refused());
        }
        Ok(value.to(ty))
    }

    /// Runs `inside` while these variables count the elements of the dimensions that are run through.
    pub fn running_over<T>(
        &self,
        names: Vec<String>,
        inside: impl FnOnce() -> Result<T, Why>,
    ) -> Result<T, Why> {
        let around = self.running.replace(names);
        let done = inside();
        self.running.replace(around);
        done
    }

    /// Whether something stands for an expression that is computed before.
    pub fn is_known(&self, expr: ExprId) -> bool {
        self.known.borrow().contains_key(&expr)
    }

    /// From here on `value` stands for an expression.
    pub fn know(&self, expr: ExprId, value: Value) {
        self.known.borrow_mut().insert(expr, value);
    }

    /// The name that an argument is given with.
    pub fn keyword(&self, arg: ExprId) -> Option<&str> {
        let keywords = &self.files.own.unit.keywords;
        let at = keywords.binary_search_by_key(&arg, |(arg, _)| *arg).ok()?;
        keywords.get(at).map(|(_, name)| name.as_str())
    }

    /// Whether an argument stands in parentheses of its own: it is not a variable then, but its value.
    pub fn is_in_parentheses(&self, arg: ExprId) -> bool {
        let seen = self.files.own;
        let span = seen.unit.expr(arg).span;
        let whole = Span { start: 0, end: seen.file.bytes.len() as u32 };
        let before = seen.file.slice(Span { end: span.start, ..whole }).trim_ascii_end();
        let after = seen.file.slice(Span { start: span.end, ..whole }).trim_ascii_start();
        let is_written = seen.file.slice(span).starts_with(b"(");
        // What opens the list of arguments stands after a name.
        let opens = before.strip_suffix(b"(").map(<[u8]>::trim_ascii_end);
        let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let is_apart = opens.is_some_and(|outside| !outside.last().is_some_and(is_name));
        is_written || is_apart && after.starts_with(b")")
    }

    /// The symbol of a name.
    pub fn symbol(&self, expr: ExprId) -> Option<SymbolId> {
        self.variables.named(self.symbols, self.files.own.unit, expr)
    }

    fn scalar(&self, expr: ExprId, name: &str, at: Span) -> Result<Value, Why> {
        let own = self.symbols.named(self.files.own.unit, expr);
        if let Some(number) = own.and_then(|symbol| macro_number(self.symbols, symbol)) {
            return Ok(Value::name(number.to_string(), Type::INTEGER));
        }
        let variable = self.symbol(expr).and_then(|symbol| self.variables.get(symbol));
        if variable.is_none()
            && let Some(symbol) = own.filter(|own| self.symbols.get(*own).kind == SymbolKind::Constant)
        {
            return (self.ground.constant)(self.ground, symbol, at);
        }
        let variable = variable.ok_or_else(|| Why::new(at, format!("`{name}`, whose type is not seen,")))?;
        if !variable.shape.is_empty() {
            let running = self.running.borrow();
            let symbol = self.symbol(expr).filter(|_| running.len() == variable.shape.len());
            let symbol = symbol.ok_or_else(|| Why::new(at, format!("`{name}`, a whole array,")))?;
            let offsets = running.iter().map(|name| Value::name(name.clone(), Type::INTEGER)).collect();
            return self.at((symbol, expr), offsets, at);
        }
        Ok(Value::name(variable.name.clone(), variable.ty))
    }

    /// A component of an object, and its type; `None` of the type if it is an array.
    fn part(&self, base: ExprId, name: &str, at: Span) -> Result<(String, Option<Type>), Why> {
        let object = self.value(base)?;
        let member = record::member(self.ground, object.ty, name)
            .ok_or_else(|| Why::new(at, format!("`{name}`, a component that is not seen,")))?;
        let ty = member.shape.is_empty().then_some(member.ty);
        Ok((format!("{}{}", object.within(binds::NAME), member.path), ty))
    }

    fn member(&self, base: ExprId, name: &str, at: Span) -> Result<Value, Why> {
        let (text, ty) = self.part(base, name, at)?;
        let ty = ty.ok_or_else(|| Why::new(at, format!("`{name}`, a whole array,")))?;
        Ok(Value::name(text, ty))
    }

    /// The type that a name is in front of the values of its components.
    fn constructed(&self, name: &str, at: Span) -> Option<Type> {
        let symbol = self.symbols.lookup(name, at.start).map(|symbol| self.symbols.get(symbol));
        let is_type = symbol.is_none_or(|known| known.kind == SymbolKind::Type);
        let tag = symbol.map_or(name, |known| known.name.as_str());
        if is_type { record::of(self.ground, tag, at).ok() } else { None }
    }

    /// An object of the values of its components, in their order.
    fn object(&self, ty: Type, args: &[ExprId], at: Span) -> Result<Value, Why> {
        let refused = || Why::new(at, "a constructor of objects with these arguments");
        let members = record::members(self.ground, ty).ok_or_else(refused)?;
        if members.len() != args.len() {
            return Err(refused());
        }
        let mut texts = Vec::with_capacity(args.len());
        for (member, arg) in members.iter().zip(args) {
            let value = self.value(*arg)?;
            let is_alike = match member.ty.word {
                Word::Integer | Word::Real => matches!(value.ty.word, Word::Integer | Word::Real),
                _ => value.ty == member.ty,
            };
            if !member.shape.is_empty() || self.keyword(*arg).is_some() || !is_alike {
                return Err(refused());
            }
            texts.push(value.to(member.ty).text);
        }
        Ok(Value::name(format!("{}{{{}}}", record::cpp(self.ground, ty), texts.join(", ")), ty))
    }

    /// `a(i, j)` as an element of the memory that begins with the array's first one.
    fn element(&self, expr: ExprId, at: Span) -> Result<Value, Why> {
        let seen = self.files.own;
        let (base, subscripts) =
            element(seen, expr).ok_or_else(|| Why::new(at, "an element of a component"))?;
        let unknown = || Why::new(at, "an element of an array whose type is not seen");
        let symbol = self.symbol(base).ok_or_else(unknown)?;
        let variable = self.variables.get(symbol).ok_or_else(unknown)?;
        if variable.shape.len() != subscripts.len() {
            return Err(Why::new(at, "a reference that is not an element"));
        }
        let mut offsets = Vec::with_capacity(subscripts.len());
        let mut ranges = 0;
        for (place, subscript) in subscripts.iter().enumerate() {
            let ExprKind::Triplet(parts) = seen.unit.expr(*subscript).kind else {
                offsets.push(self.steps(symbol, place, *subscript)?);
                continue;
            };
            let section = || Why::new(at, "an array section");
            let running = self.running.borrow().get(ranges).cloned().ok_or_else(section)?;
            ranges += 1;
            let running = Value::name(running, Type::INTEGER);
            if parts[2].is_some() {
                return Err(Why::new(at, "an array section with a stride"));
            }
            offsets.push(match parts[0] {
                None => running,
                Some(first) => {
                    let first = self.steps(symbol, place, first)?;
                    if first.text == "0" {
                        running
                    } else {
                        Value::binary(&first, "+", &running, binds::SUM, Type::INTEGER)
                    }
                }
            });
        }
        if ranges != 0 && ranges != self.running.borrow().len() {
            return Err(Why::new(at, "an array section"));
        }
        self.at((symbol, base), offsets, at)
    }

    /// How many elements a dimension of a section has: `a(first:last)`, `a(:)`.
    pub fn count(
        &self,
        symbol: SymbolId,
        place: usize,
        parts: [Option<ExprId>; 3],
        at: Span,
    ) -> Result<Value, Why> {
        let refused = || Why::new(at, "an array section");
        let [first, last, None] = parts else { return Err(refused()) };
        let extent = || self.bound(symbol, place, BoundQuery::Extent).ok_or_else(refused);
        Ok(match (first, last) {
            (None, None) => extent()?,
            (first, Some(last)) => {
                let last = moved(self.steps(symbol, place, last)?, 1);
                match first {
                    None => last,
                    Some(first) => {
                        let first = self.steps(symbol, place, first)?;
                        Value::binary(&last, "-", &first, binds::SUM, Type::INTEGER)
                    }
                }
            }
            (Some(first), None) => {
                let first = self.steps(symbol, place, first)?;
                Value::binary(&extent()?, "-", &first, binds::SUM, Type::INTEGER)
            }
        })
    }

    /// The element that is so many steps from the first one in each dimension.
    fn at(&self, (symbol, expr): (SymbolId, ExprId), offsets: Vec<Value>, at: Span) -> Result<Value, Why> {
        let unknown = || Why::new(at, "an element of an array whose type is not seen");
        let variable = self.variables.get(symbol).ok_or_else(unknown)?;
        let mut offset: Option<Value> = None;
        let mut is_long = false;
        for (place, steps) in offsets.into_iter().enumerate().rev() {
            is_long |= steps.ty.bytes == 8;
            offset = Some(match offset {
                None => steps,
                Some(inner) => {
                    let mut extent = self.bound(symbol, place, BoundQuery::Extent).ok_or_else(unknown)?;
                    if !is_long && extent.ty.bytes < 8 && may_be_large(&variable.shape[place..]) {
                        extent = Value::name(format!("{}ll", extent.text), Type { bytes: 8, ..extent.ty });
                    }
                    is_long |= extent.ty.bytes == 8;
                    let inner = Value::binary(&extent, "*", &inner, binds::PRODUCT, Type::INTEGER);
                    match steps.text.as_str() {
                        "0" => inner,
                        _ => Value::binary(&steps, "+", &inner, binds::SUM, Type::INTEGER),
                    }
                }
            });
        }
        let offset = offset.ok_or_else(unknown)?;
        let name = match &self.files.own.unit.expr(expr).kind {
            ExprKind::Member { base, name, .. } if variable.is_part => self.part(*base, name, at)?.0,
            _ => variable.name.clone(),
        };
        let text = if variable.is_constant {
            format!("{name}({})", offset.text)
        } else {
            format!("{name}[{}]", offset.text)
        };
        Ok(Value::name(text, variable.ty))
    }

    /// How many steps a subscript is from the lower bound of its dimension.
    fn steps(&self, symbol: SymbolId, place: usize, subscript: ExprId) -> Result<Value, Why> {
        let value = self.value(subscript)?;
        if value.ty.word != Word::Integer {
            let at = self.files.own.unit.expr(subscript).span;
            return Err(Why::new(at, "a subscript that is not an integer"));
        }
        let lower = self.bound(symbol, place, BoundQuery::Lower);
        let Some(lower) = lower else { return Ok(value) };
        let Ok(number) = lower.text.parse::<i128>() else {
            return Ok(Value::binary(&value, "-", &lower, binds::SUM, Type::INTEGER));
        };
        if let Some(literal) = literal(self.files.own, subscript).or_else(|| value.text.parse().ok()) {
            return Ok(Value::name((literal - number).to_string(), Type::INTEGER));
        }
        // `i + 1 - 1` reads better as `i`.
        if let ExprKind::Binary(op @ (BinaryOp::Add | BinaryOp::Subtract), first, second) =
            &self.files.own.unit.expr(subscript).kind
            && let Some(by) = literal(self.files.own, *second)
            && by >= 0
        {
            let by = if *op == BinaryOp::Add { by } else { -by };
            let first = self.value(*first)?;
            if first.ty.word == Word::Integer {
                return Ok(moved(first, by - number));
            }
        }
        Ok(moved(value, -number))
    }

    /// A bound of an array.
    pub fn bound(&self, symbol: SymbolId, place: usize, which: BoundQuery) -> Option<Value> {
        Some(match self.variables.bound(symbol, place, which)? {
            BoundText::Number(number) => Value::name(number.to_string(), Type::INTEGER),
            BoundText::Name(name) => Value::name(name, Type { bytes: 8, ..Type::INTEGER }),
        })
    }

    /// A number or a logical value that is written out.
    pub fn literal(&self, seen: Texts, at: Span) -> Result<Value, Why> {
        let text = plain_code(seen, at);
        if let ".true." | ".false." = text.as_str() {
            return Ok(Value::name(text.trim_matches('.').to_owned(), Type::LOGICAL));
        }
        let (number, kind) =
            text.split_once('_').map_or((text.as_str(), None), |(number, kind)| (number, Some(kind)));
        let is_number = number.starts_with(|c: char| c.is_ascii_digit() || c == '.');
        let is_known = number.chars().all(|c| c.is_ascii_digit() || ".de+-".contains(c));
        if !is_number || !is_known {
            return Err(Why::new(at, "a character, a constant of bits or a logical with a kind"));
        }
        let word = if number.contains(['.', 'e', 'd']) { Word::Real } else { Word::Integer };
        let ty = match kind {
            Some(kind) => self.files.of_kind(seen, word, kind, at.start),
            None if number.contains('d') => Some(Type::DOUBLE),
            None => Some(Type { word, bytes: 4 }),
        };
        let ty = ty.ok_or_else(|| Why::new(at, "a number whose kind is not surely known"))?;
        let text = match word {
            Word::Real => real(number, ty),
            _ if ty.bytes == 8 => format!("{}ll", whole(number)),
            _ => whole(number),
        };
        Ok(Value::name(text, ty))
    }

    fn unary(&self, op: UnaryOp, operand: ExprId, at: Span) -> Result<Value, Why> {
        let value = self.value(operand)?;
        let is_logical = value.ty.word == Word::Logical;
        let sign = match op {
            _ if value.ty.word == Word::Record => return Err(Why::new(at, "this operator")),
            UnaryOp::Minus if !is_logical => "-",
            UnaryOp::Plus if !is_logical => return Ok(value),
            UnaryOp::Not if is_logical => "!",
            _ => return Err(Why::new(at, "this operator")),
        };
        let inner = value.within(binds::PREFIX);
        let gap = if inner.starts_with('-') { " " } else { "" };
        Ok(Value { text: format!("{sign}{gap}{inner}"), binds: binds::PREFIX, ty: value.ty })
    }

    fn binary(&self, op: BinaryOp, left: ExprId, right: ExprId, at: Span) -> Result<Value, Why> {
        let (left, right) = (self.value(left)?, self.value(right)?);
        let are_logical = [&left, &right].map(|one| one.ty.word == Word::Logical);
        let is_object = [&left, &right].iter().any(|one| one.ty.word == Word::Record);
        let is_about_logicals = are_logical == [true, true];
        let wrong = || Err(Why::new(at, "this operator"));
        if are_logical[0] != are_logical[1] || is_object {
            return wrong();
        }
        let joined = left.ty.joined(right.ty);
        let is_order =
            matches!(op, BinaryOp::Less | BinaryOp::LessEqual | BinaryOp::Greater | BinaryOp::GreaterEqual);
        if joined.word == Word::Complex && is_order {
            return wrong();
        }
        let (operator, binds, ty) = match op {
            BinaryOp::Add if !is_about_logicals => ("+", binds::SUM, joined),
            BinaryOp::Subtract if !is_about_logicals => ("-", binds::SUM, joined),
            BinaryOp::Multiply if !is_about_logicals => ("*", binds::PRODUCT, joined),
            BinaryOp::Divide if !is_about_logicals => ("/", binds::PRODUCT, joined),
            BinaryOp::Less if !is_about_logicals => ("<", binds::LESS, Type::LOGICAL),
            BinaryOp::LessEqual if !is_about_logicals => ("<=", binds::LESS, Type::LOGICAL),
            BinaryOp::Greater if !is_about_logicals => (">", binds::LESS, Type::LOGICAL),
            BinaryOp::GreaterEqual if !is_about_logicals => (">=", binds::LESS, Type::LOGICAL),
            BinaryOp::Equal | BinaryOp::NotEqual => {
                let sign = if op == BinaryOp::Equal { "==" } else { "!=" };
                if is_about_logicals {
                    let text =
                        format!("!{} {sign} !{}", left.within(binds::PREFIX), right.within(binds::PREFIX));
                    return Ok(Value { text, binds: binds::EQUAL, ty: Type::LOGICAL });
                }
                (sign, binds::EQUAL, Type::LOGICAL)
            }
            BinaryOp::And if is_about_logicals => ("&&", binds::AND, Type::LOGICAL),
            BinaryOp::Or if is_about_logicals => ("||", binds::OR, Type::LOGICAL),
            _ => return wrong(),
        };
        Ok(Value::binary(&left, operator, &right, binds, ty))
    }

    fn is_between(&self, base: ExprId, exponent: ExprId, sign: &str) -> bool {
        let unit = self.files.own.unit;
        let [first, second] = [base, exponent].map(|part| unit.expr(part).span);
        let between = Span { start: first.end.min(second.start), end: second.start };
        let code = plain_code(self.files.own, between);
        code.trim_matches(['(', ')', '-', '+']) == sign
    }

    /// `a**b**c`, which is `a**(b**c)`.
    fn power(&self, base: ExprId, exponent: ExprId, at: Span) -> Result<Value, Why> {
        let unit = self.files.own.unit;
        let mut bases = vec![base];
        let mut next = exponent;
        while let Some(base) = bases.last().copied()
            && let ExprKind::Initialiser(parts) = &unit.expr(base).kind
            && let [first, second] = parts.as_slice()
            && self.is_between(*first, *second, "**")
            && !self.is_closed_before(base, next)
        {
            bases.pop();
            bases.extend([*second, *first]);
            next = *second;
        }
        let mut number = literal(self.files.own, exponent);
        let mut value = self.value(exponent)?;
        for base in bases {
            value = self.power_of(self.value(base)?, value, number.take(), at)?;
        }
        Ok(value)
    }

    /// Whether a parenthesis ends between two expressions.
    fn is_closed_before(&self, first: ExprId, second: ExprId) -> bool {
        let [first, second] = [first, second].map(|part| self.files.own.unit.expr(part).span);
        let between = Span { start: first.end.min(second.start), end: second.start };
        plain_code(self.files.own, between).starts_with(')')
    }

    fn power_of(&self, base: Value, exponent: Value, number: Option<i128>, at: Span) -> Result<Value, Why> {
        if [&base, &exponent].iter().any(|one| matches!(one.ty.word, Word::Logical | Word::Record)) {
            return Err(Why::new(at, "this operator"));
        }
        if [&base, &exponent].iter().any(|one| one.ty.word == Word::Complex) && exponent.ty != Type::INTEGER {
            return Err(Why::new(at, "a power of complex numbers"));
        }
        if exponent.ty.word == Word::Real {
            let ty = base.ty.joined(exponent.ty);
            let name = if ty.bytes == 4 { "powf" } else { "pow" };
            return Ok(Value::name(format!("{name}({}, {})", base.text, exponent.text), ty));
        }
        let is_simple = base.binds == binds::NAME && !base.text.contains('(');
        if let Some(times @ 2..=3) = number.filter(|_| is_simple) {
            let text = vec![base.text.as_str(); times as usize].join(" * ");
            return Ok(Value { text, binds: binds::PRODUCT, ty: base.ty });
        }
        let ty = helpers::power_type(base.ty, exponent.ty);
        let result = if base.ty.word == Word::Integer { ty } else { base.ty };
        Ok(self.help(Helper::Power, ty, &[base, exponent], result))
    }

    /// What an atomic statement assigns to a place, in a form that is an update in C++, too; `None` where all forms are.
    pub fn updated(&self, place: &Value, value: ExprId) -> Result<Option<Value>, Why> {
        let unit = self.files.own.unit;
        let at = unit.expr(value).span;
        let refused = || Why::new(at, "an atomic update of this form");
        match &unit.expr(value).kind {
            ExprKind::Call { callee, args } => {
                let ExprKind::Name(name) = &unit.expr(*callee).kind else { return Ok(None) };
                let Some(helper) = intrinsic::extreme(name) else { return Ok(None) };
                let mut others = Vec::new();
                for arg in args {
                    let arg = self.value(*arg)?;
                    others.extend((arg.text != place.text).then_some(arg));
                }
                let other = intrinsic::extreme_of(self, helper, others).filter(|other| other.ty == place.ty);
                let other = other.ok_or_else(refused)?;
                let sign = if helper == Helper::Max { "<" } else { ">" };
                let operand = other.within(binds::SHIFT);
                let text = format!("{} {sign} {operand} ? {operand} : {}", place.text, place.text);
                Ok(Some(Value { text, binds: binds::CHOICE, ty: place.ty }))
            }
            ExprKind::Binary(op @ (BinaryOp::Equal | BinaryOp::NotEqual), left, right)
                if place.ty.word == Word::Logical =>
            {
                let (left, right) = (self.value(*left)?, self.value(*right)?);
                if [&left, &right].iter().any(|one| one.ty.word != Word::Logical) {
                    return Ok(None);
                }
                let other = if left.text == place.text { right } else { left };
                let not = if *op == BinaryOp::Equal { "!" } else { "!!" };
                let operand = format!("{not}{}", other.within(binds::PREFIX));
                let operand = Value { text: operand, binds: binds::PREFIX, ty: place.ty };
                Ok(Some(Value::binary(place, "^", &operand, binds::BIT_XOR, place.ty)))
            }
            _ => Ok(None),
        }
    }

    /// A call of a function of ours.
    pub fn help(&self, helper: Helper, ty: Type, args: &[Value], result: Type) -> Value {
        self.ground.used.borrow_mut().insert((helper, ty.cpp()));
        let args: Vec<&str> = args.iter().map(|arg| arg.text.as_str()).collect();
        Value::name(format!("{}({})", helpers::name(helper, ty), args.join(", ")), result)
    }
}

/// The statement function of a name.
pub fn statement_function<'a>(ground: &Ground<'a>, symbol: SymbolId) -> Option<&'a StatementFunction> {
    let decl = ground.symbols.get(symbol).decl?;
    ground.files.own.unit.statement_functions.iter().find(|one| one.decl == decl)
}

/// Whether a name is that of a part of a complex number.
pub fn is_part(name: &str) -> bool {
    matches!(name, "re" | "im")
}

/// The number that a macro of the preprocessor stands for.
pub fn macro_number(symbols: &Symbols, symbol: SymbolId) -> Option<i128> {
    if !symbols.is_macro(symbol) {
        return None;
    }
    symbols.number(&symbols.get(symbol).name).filter(|number| i128::from(*number as i32) == *number)
}

/// A number and so much more.
fn moved(value: Value, by: i128) -> Value {
    let (sign, size) = if by < 0 { ("-", -by) } else { ("+", by) };
    if by == 0 {
        return value;
    }
    let ty = value.ty;
    Value::binary(&value, sign, &Value::name(size.to_string(), ty), binds::SUM, ty)
}

/// A floating number: `1.d0`, `.5`, `1e3`.
fn real(number: &str, ty: Type) -> String {
    let (mantissa, exponent) = match number.split_once(['d', 'e']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (number, None),
    };
    let (before, after) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mut text = whole(before);
    text.push('.');
    text.push_str(if after.is_empty() { "0" } else { after });
    if let Some(exponent) = exponent.filter(|exponent| !exponent.trim_start_matches(['+', '0']).is_empty()) {
        text.push('e');
        text.push_str(exponent);
    }
    text.push_str(if ty.bytes == 4 { "f" } else { "" });
    text
}

/// Digits without leading zeros, which C++ takes for another base.
fn whole(digits: &str) -> String {
    let text = digits.trim_start_matches('0');
    if text.is_empty() { "0".to_owned() } else { text.to_owned() }
}

#[cfg(test)]
mod tests;
