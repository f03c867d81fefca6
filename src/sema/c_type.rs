//! The type of an expression in C: promotions, the usual arithmetic conversions, arrays that become pointers (C11, 6.3, 6.5).
//!
//! Invariant: a type that is not surely known is `Unknown`; C only, where a comparison and a character constant are an `int`.

use std::collections::BTreeSet;

use crate::host::ir::{
    BaseType, BinaryOp, Decl, DeclKind, Derived, Expr, ExprId, ExprKind, Record, UnaryOp, Unit,
};
use crate::source::{SourceFile, Span};

use super::symbol::SymbolKind;
use super::symbols::Symbols;

/// Deeper chains of type names are not followed.
const DEPTH: usize = 16;

/// A type of C.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CType {
    /// `void`
    Void,
    /// A number.
    Number(CNumber),
    /// A pointer to a type.
    Pointer(Box<CType>),
    /// An array of elements of a type.
    Array(Box<CType>),
    /// A function that returns a type.
    Function(Box<CType>),
    /// A struct or union: its tag, or the name of its type; with `@` before it, a number.
    Record(String),
    /// Not known.
    Unknown,
}

/// An arithmetic type of C; integers in the order of their ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CNumber {
    /// An integer: its rank, and whether it has a sign.
    Integer(Rank, bool),
    /// `float`
    Float,
    /// `double`
    Double,
    /// `long double`
    LongDouble,
}

/// The rank of an integer type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rank {
    /// `_Bool`
    Bool,
    /// `char`
    Char,
    /// `short`
    Short,
    /// `int`, and enumerations
    Int,
    /// `long`
    Long,
    /// `long long`
    LongLong,
}

/// `int`
const INT: CNumber = CNumber::Integer(Rank::Int, true);

impl CNumber {
    /// The type that the words of a built-in type name.
    pub fn of_words(words: &str) -> Option<CNumber> {
        let all: Vec<&str> = words.split_whitespace().collect();
        let has = |word: &str| all.contains(&word);
        let longs = all.iter().filter(|word| **word == "long").count();
        let signed = !has("unsigned");
        Some(match () {
            () if has("double") && longs > 0 => CNumber::LongDouble,
            () if has("double") => CNumber::Double,
            () if has("float") => CNumber::Float,
            () if has("_Bool") || has("bool") => CNumber::Integer(Rank::Bool, false),
            () if has("char") => CNumber::Integer(Rank::Char, signed),
            () if has("short") => CNumber::Integer(Rank::Short, signed),
            () if longs > 1 => CNumber::Integer(Rank::LongLong, signed),
            () if longs == 1 => CNumber::Integer(Rank::Long, signed),
            () if has("int") || has("unsigned") || has("signed") => CNumber::Integer(Rank::Int, signed),
            () => return CNumber::standard(words),
        })
    }

    /// The type after a name of the standard headers, with 64 bits to a `long`.
    fn standard(name: &str) -> Option<CNumber> {
        use Rank::{Bool, Char, Int, Long, Short};
        Some(match name {
            "bool" | "_Bool" => CNumber::Integer(Bool, false),
            "int8_t" => CNumber::Integer(Char, true),
            "uint8_t" => CNumber::Integer(Char, false),
            "int16_t" => CNumber::Integer(Short, true),
            "uint16_t" => CNumber::Integer(Short, false),
            "int32_t" => CNumber::Integer(Int, true),
            "uint32_t" => CNumber::Integer(Int, false),
            "int64_t" | "ptrdiff_t" | "ssize_t" | "intptr_t" | "intmax_t" => CNumber::Integer(Long, true),
            "uint64_t" | "size_t" | "uintptr_t" | "uintmax_t" => CNumber::Integer(Long, false),
            "float_t" => CNumber::Float,
            "double_t" => CNumber::Double,
            _ => return None,
        })
    }

    /// What it is in arithmetic: nothing narrower than an `int`.
    pub fn promoted(self) -> CNumber {
        match self {
            CNumber::Integer(rank, _) if rank < Rank::Int => INT,
            other => other,
        }
    }

    /// What two of them are in arithmetic with each other.
    pub fn joined(self, other: CNumber) -> CNumber {
        use CNumber::{Double, Float, Integer, LongDouble};
        match (self.promoted(), other.promoted()) {
            (LongDouble, _) | (_, LongDouble) => LongDouble,
            (Double, _) | (_, Double) => Double,
            (Float, _) | (_, Float) => Float,
            (Integer(one, a), Integer(two, b)) if one == two => Integer(one, a && b),
            (Integer(one, a), Integer(two, b)) => {
                let (high, signed, low, other) = if one > two { (one, a, two, b) } else { (two, b, one, a) };
                // `long` and `long long` have the same size.
                let holds = !signed || other || low == Rank::Int;
                Integer(high, signed && holds)
            }
        }
    }

    /// Whether it is an integer.
    pub fn is_integer(self) -> bool {
        matches!(self, CNumber::Integer(..))
    }

    /// The words that name it.
    pub fn words(self) -> &'static str {
        match self {
            CNumber::Float => "float",
            CNumber::Double => "double",
            CNumber::LongDouble => "long double",
            CNumber::Integer(rank, signed) => match (rank, signed) {
                (Rank::Bool, _) => "bool",
                (Rank::Char, true) => "char",
                (Rank::Char, false) => "unsigned char",
                (Rank::Short, true) => "short",
                (Rank::Short, false) => "unsigned short",
                (Rank::Int, true) => "int",
                (Rank::Int, false) => "unsigned int",
                (Rank::Long, true) => "long",
                (Rank::Long, false) => "unsigned long",
                (Rank::LongLong, true) => "long long",
                (Rank::LongLong, false) => "unsigned long long",
            },
        }
    }
}

impl CType {
    /// The number that it is.
    pub fn number(&self) -> Option<CNumber> {
        if let CType::Number(number) = self { Some(*number) } else { None }
    }

    /// The type as a value: an array is a pointer to its first element, a function one to itself.
    pub fn decayed(self) -> CType {
        match self {
            CType::Array(element) => CType::Pointer(element),
            CType::Function(_) => CType::Pointer(Box::new(self)),
            other => other,
        }
    }

    /// What it leads to, if it is a pointer or an array.
    pub fn target(&self) -> Option<&CType> {
        match self {
            CType::Pointer(to) | CType::Array(to) => Some(to),
            _ => None,
        }
    }

    fn int() -> CType {
        CType::Number(INT)
    }
}

/// Finds the types of expressions of one unit.
#[derive(Clone, Copy, Debug)]
pub struct CTypes<'a> {
    /// The file.
    pub file: &'a SourceFile,
    /// Its unit.
    pub unit: &'a Unit,
    /// The units of the headers that it includes.
    pub headers: &'a [&'a Unit],
    /// Its names.
    pub symbols: &'a Symbols,
    /// Names of types that a build may choose otherwise.
    pub chosen: &'a BTreeSet<&'a str>,
}

impl<'a> CTypes<'a> {
    fn units(&self) -> impl Iterator<Item = &'a Unit> + use<'a> {
        std::iter::once(self.unit).chain(self.headers.iter().copied())
    }

    /// The type of an expression of the unit.
    pub fn of(&self, expr: ExprId) -> CType {
        self.of_among(&self.unit.exprs, expr)
    }

    /// The type of an expression among some that lie apart, as the operand of a `sizeof` does.
    pub fn of_among(&self, exprs: &[Expr], expr: ExprId) -> CType {
        stacker::maybe_grow(128 * 1024, 4 * 1024 * 1024, || self.typed(exprs, expr))
    }

    fn typed(&self, exprs: &[Expr], id: ExprId) -> CType {
        let Some(expr) = exprs.get(id.0 as usize) else { return CType::Unknown };
        let of = |id: ExprId| self.of_among(exprs, id);
        match &expr.kind {
            ExprKind::Name(name) => self.named(name, expr.span.start),
            ExprKind::Int(value) => self.integer(expr.span, *value),
            ExprKind::Literal => self.literal(expr.span),
            ExprKind::Unary(UnaryOp::Not, _) => CType::int(),
            ExprKind::Unary(_, operand) => match of(*operand) {
                CType::Number(number) => CType::Number(number.promoted()),
                _ => CType::Unknown,
            },
            ExprKind::Binary(op, left, right) => self.binary(*op, || of(*left), || of(*right)),
            ExprKind::Assign(_, left, _) | ExprKind::Step { operand: left, .. } => of(*left),
            ExprKind::Index(base, index) => match (of(*base).target(), of(*index).target()) {
                (Some(element), _) | (None, Some(element)) => element.clone(),
                _ => CType::Unknown,
            },
            ExprKind::Deref(operand) => match of(*operand) {
                function @ CType::Function(_) => function,
                other => other.target().cloned().unwrap_or(CType::Unknown),
            },
            ExprKind::AddressOf(operand) => match of(*operand) {
                CType::Unknown => CType::Unknown,
                known => CType::Pointer(Box::new(known)),
            },
            ExprKind::Member { base, name, .. } => self.member(of(*base), name),
            ExprKind::Call { callee, .. } => self.called(exprs, *callee),
            ExprKind::Cast { to, .. } => self.of_words(to),
            ExprKind::Sizeof => CType::Number(CNumber::Integer(Rank::Long, false)),
            ExprKind::Conditional(_, then, other) => match (of(*then).decayed(), of(*other).decayed()) {
                (CType::Number(one), CType::Number(two)) => CType::Number(one.joined(two)),
                // A null pointer constant beside a pointer.
                (pointer @ CType::Pointer(_), CType::Number(_)) => pointer,
                (CType::Number(_), pointer @ CType::Pointer(_)) => pointer,
                (one, two) if one == two => one,
                _ => CType::Unknown,
            },
            ExprKind::Comma(_, right) => of(*right).decayed(),
            ExprKind::Initialiser(_) => {
                let mut all = self.unit.forms.literals.iter();
                let literal = all.find(|literal| literal.span == expr.span && !literal.is_array);
                literal.map_or(CType::Unknown, |literal| self.of_words(&literal.to))
            }
            ExprKind::Triplet(_) | ExprKind::Opaque(_) => CType::Unknown,
        }
    }

    fn binary(&self, op: BinaryOp, left: impl FnOnce() -> CType, right: impl FnOnce() -> CType) -> CType {
        use BinaryOp::*;
        match op {
            Less | LessEqual | Greater | GreaterEqual | Equal | NotEqual | And | Or => return CType::int(),
            _ => {}
        }
        match (left().decayed(), right().decayed(), op) {
            (CType::Number(one), CType::Number(_), ShiftLeft | ShiftRight) => CType::Number(one.promoted()),
            (CType::Number(one), CType::Number(two), _) => CType::Number(one.joined(two)),
            (CType::Pointer(_), CType::Pointer(_), Subtract) => {
                CType::Number(CNumber::Integer(Rank::Long, true))
            }
            (pointer @ CType::Pointer(_), CType::Number(_), Add | Subtract) => pointer,
            (CType::Number(_), pointer @ CType::Pointer(_), Add) => pointer,
            _ => CType::Unknown,
        }
    }

    fn integer(&self, span: Span, value: i128) -> CType {
        let text = self.file.text(span).to_ascii_lowercase();
        let text = text.trim_start_matches(['-', '+']);
        let suffix = text.trim_start_matches(|c: char| c.is_ascii_hexdigit() || c == 'x');
        let is_unsigned = suffix.contains('u');
        let is_decimal = !text.starts_with('0');
        let rank = match suffix.matches('l').count() {
            0 if value <= i128::from(i32::MAX) => Rank::Int,
            0 if value <= i128::from(u32::MAX) && (is_unsigned || !is_decimal) => {
                return CType::Number(CNumber::Integer(Rank::Int, false));
            }
            0 | 1 => Rank::Long,
            _ => Rank::LongLong,
        };
        let fits = value <= i128::from(i64::MAX);
        CType::Number(CNumber::Integer(rank, fits && !is_unsigned))
    }

    fn literal(&self, span: Span) -> CType {
        let text = self.file.text(span);
        // The grammar has the sign of a number in it.
        let text = text.trim().trim_start_matches(['-', '+']);
        match text.as_bytes().first() {
            Some(b'\'') => CType::int(),
            Some(b'"') => CType::Array(Box::new(CType::Number(CNumber::Integer(Rank::Char, true)))),
            Some(byte) if byte.is_ascii_digit() || *byte == b'.' => floating(text),
            _ if text == "true" || text == "false" => CType::int(),
            _ => CType::Unknown,
        }
    }

    fn named(&self, name: &str, at: u32) -> CType {
        let Some(id) = self.symbols.lookup(name, at) else {
            return if matches!(name, "true" | "false") { CType::int() } else { CType::Unknown };
        };
        if self.symbols.is_macro(id) && self.symbols.body_of(name).is_some() {
            return self.of_macro(name, 0);
        }
        let symbol = self.symbols.get(id);
        if symbol.kind == SymbolKind::Function {
            return CType::Function(Box::new(self.returned(name)));
        }
        match symbol.decl {
            Some(decl) => self.of_decl(self.unit, self.unit.decl(decl)),
            None => self.of_global(name),
        }
    }

    /// The type of what an object-like macro stands for: a number.
    fn of_macro(&self, name: &str, depth: usize) -> CType {
        let Some(body) = self.symbols.body_of(name).filter(|_| depth < DEPTH) else { return CType::Unknown };
        let body = body.trim().trim_matches(|c| matches!(c, '(' | ')' | '-' | '+')).trim();
        if self.symbols.number(name).is_some() && body.starts_with(|c: char| c.is_ascii_digit()) {
            let value = self.symbols.number(name).unwrap_or_default();
            let has_suffix = body.ends_with(['u', 'U', 'l', 'L']);
            return if has_suffix || value.abs() > i128::from(i32::MAX) {
                CType::Unknown
            } else {
                CType::int()
            };
        }
        if body.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
            return floating(body);
        }
        let is_name = !body.is_empty() && body.chars().all(|c| c.is_alphanumeric() || c == '_');
        if is_name && body != name { self.of_macro(body, depth + 1) } else { CType::Unknown }
    }

    fn of_global(&self, name: &str) -> CType {
        for unit in self.units() {
            let mut all = unit.globals.iter().map(|id| unit.decl(*id));
            let known = all.find(|decl| {
                decl.name == name && matches!(decl.kind, DeclKind::Variable | DeclKind::Enumerator)
            });
            if let Some(decl) = known {
                return self.of_decl(unit, decl);
            }
        }
        CType::Unknown
    }

    /// The type that a function of the program returns.
    pub fn returned(&self, name: &str) -> CType {
        for unit in self.units() {
            if let Some(function) = unit.functions_named(name).next() {
                return self.of_words(&function.returns);
            }
            let prototype = unit.decls_named(name).find(|decl| decl.kind == DeclKind::Prototype);
            if let Some(decl) = prototype {
                return self.derived(self.base(unit, decl, 0), decl.derived.get(1..).unwrap_or_default());
            }
        }
        CType::Unknown
    }

    fn called(&self, exprs: &[Expr], callee: ExprId) -> CType {
        if let Some(Expr { kind: ExprKind::Name(name), span }) = exprs.get(callee.0 as usize)
            && self.symbols.lookup(name, span.start).is_none()
        {
            if self.symbols.macro_of(name).is_some() {
                return CType::Unknown;
            }
            return super::c_library::returned(name);
        }
        match self.of_among(exprs, callee) {
            CType::Function(returned) => *returned,
            CType::Pointer(to) => match *to {
                CType::Function(returned) => *returned,
                _ => CType::Unknown,
            },
            _ => CType::Unknown,
        }
    }

    /// The declared type of a variable, parameter or member.
    pub fn of_decl(&self, home: &Unit, decl: &Decl) -> CType {
        if decl.kind == DeclKind::Enumerator {
            return CType::int();
        }
        let base = self.base(home, decl, 0);
        let found = self.derived(base, &decl.derived);
        if decl.kind == DeclKind::Parameter { found.decayed() } else { found }
    }

    fn derived(&self, base: CType, derived: &[Derived]) -> CType {
        derived.iter().rev().fold(base, |inner, part| match part {
            Derived::Pointer => CType::Pointer(Box::new(inner)),
            Derived::Array(_) => CType::Array(Box::new(inner)),
            Derived::Function => CType::Function(Box::new(inner)),
            Derived::Reference => CType::Unknown,
        })
    }

    fn base(&self, home: &Unit, decl: &Decl, depth: usize) -> CType {
        match &decl.base {
            BaseType::Builtin(words) => CNumber::of_words(words).map_or(CType::Unknown, CType::Number),
            BaseType::Void => CType::Void,
            BaseType::Named(name) => self.type_name(name, depth),
            BaseType::Tagged(tag) => CType::Record(tag.clone()),
            BaseType::Record(id) => match &home.record(*id).tag {
                Some(tag) => CType::Record(tag.clone()),
                None if decl.kind == DeclKind::Typedef => CType::Record(decl.name.clone()),
                None => {
                    let at = self.units().position(|unit| std::ptr::eq(unit, home));
                    at.map_or(CType::Unknown, |at| CType::Record(format!("@{at}:{}", id.0)))
                }
            },
            // Of an enumeration without negative constants, `unsigned int`; it computes as one or as `int`.
            BaseType::Enum => CType::int(),
            BaseType::Unknown => CType::Unknown,
        }
    }

    fn type_name(&self, name: &str, depth: usize) -> CType {
        if self.chosen.contains(name) {
            return CType::Unknown;
        }
        let typedef = self.units().find_map(|unit| Some((unit, unit.typedefs_named(name).next()?)));
        match typedef {
            Some((home, decl)) if depth < DEPTH => {
                self.derived(self.base(home, decl, depth + 1), &decl.derived)
            }
            Some(_) => CType::Unknown,
            None => CNumber::standard(name).map_or(CType::Unknown, CType::Number),
        }
    }

    /// The type that words such as `const struct node *` name.
    pub fn of_words(&self, words: &str) -> CType {
        const PASSED: [&str; 6] = ["const", "volatile", "restrict", "__restrict__", "__restrict", "register"];
        let end = words.find(['*', '(', '[']).unwrap_or(words.len());
        let (base, declarator) = words.split_at(end);
        let stars = declarator.matches('*').count();
        if declarator.contains(['(', '[']) {
            return CType::Unknown;
        }
        let kept: Vec<&str> = base.split_whitespace().filter(|word| !PASSED.contains(word)).collect();
        let base = match kept.as_slice() {
            ["void"] => CType::Void,
            ["struct" | "union", tag] => CType::Record((*tag).to_owned()),
            ["enum", ..] => CType::int(),
            [name] if CNumber::of_words(name).is_none() => self.type_name(name, 0),
            [] => return CType::Unknown,
            _ => CNumber::of_words(&kept.join(" ")).map_or(CType::Unknown, CType::Number),
        };
        (0..stars).fold(base, |inner, _| CType::Pointer(Box::new(inner)))
    }

    /// The record of this tag or type name, and the unit that defines it.
    pub fn record(&self, name: &str) -> Option<(&'a Unit, &'a Record)> {
        if let Some((unit, record)) = name.strip_prefix('@').and_then(|name| name.split_once(':')) {
            let unit = self.units().nth(unit.parse().ok()?)?;
            return Some((unit, unit.records.get(record.parse::<usize>().ok()?)?));
        }
        self.units().find_map(|unit| {
            if let Some(record) = unit.records_named(name).next() {
                return Some((unit, record));
            }
            match unit.typedefs_named(name).next()?.base {
                BaseType::Record(id) => Some((unit, unit.record(id))),
                _ => None,
            }
        })
    }

    fn member(&self, base: CType, name: &str) -> CType {
        let tag = match base {
            CType::Record(tag) => tag,
            CType::Pointer(to) | CType::Array(to) => match *to {
                CType::Record(tag) => tag,
                _ => return CType::Unknown,
            },
            _ => return CType::Unknown,
        };
        let Some((home, record)) = self.record(&tag) else { return CType::Unknown };
        let mut members = record.members.iter().map(|id| home.decl(*id));
        members.find(|member| member.name == name).map_or(CType::Unknown, |member| self.of_decl(home, member))
    }
}

/// The type of a floating-point number, or of what is not one.
fn floating(text: &str) -> CType {
    let is_hexadecimal = text.starts_with("0x") || text.starts_with("0X");
    let is_number = text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '+' | '-'));
    let marks = if is_hexadecimal { ['p', 'P', '.'] } else { ['e', 'E', '.'] };
    if !is_number || !text.contains(marks) || text.contains(['i', 'I', 'j', 'J']) {
        return CType::Unknown;
    }
    CType::Number(match text.as_bytes().last() {
        Some(b'f' | b'F') => CNumber::Float,
        Some(b'l' | b'L') => CNumber::LongDouble,
        _ => CNumber::Double,
    })
}

#[cfg(test)]
mod tests;
