//! Whether what a loop combines into a variable gives the same in any order once each step is converted to the variable's type.
//!
//! Invariant: an integer is called a sum or a product only of terms that are seen to be integers.

use crate::host::ir::{BinaryOp, Expr, ExprId, ExprKind, UnaryOp};
use crate::sema::numeric::Word;
use crate::sema::texts::Texts;
use crate::sema::typing::number_of;
use crate::sema::{Class, Element, SymbolId, SymbolKind, Type};
use crate::source::Span;

use super::convert::Range;
use super::deduced::{Model, model};
use super::facts::Facts;
use super::integer::{computed, width};
use crate::acc::ast::ReductionOp;

/// What type of number an expression gives.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Sort {
    /// Zero or one.
    Truth,
    /// An integer.
    Whole,
    /// One with a fraction.
    Fraction,
    /// The parameter of a template, or the result of computing with such.
    Parameter(String),
    /// It is not seen.
    Unknown,
}

impl Sort {
    /// The sort of a sum or a product.
    fn joined(self, other: Sort) -> Sort {
        match (self, other) {
            (Sort::Fraction, _) | (_, Sort::Fraction) => Sort::Fraction,
            (Sort::Parameter(one), Sort::Parameter(two)) if one == two => Sort::Parameter(one),
            (Sort::Parameter(name), Sort::Whole | Sort::Truth)
            | (Sort::Whole | Sort::Truth, Sort::Parameter(name)) => Sort::Parameter(name),
            (Sort::Whole | Sort::Truth, Sort::Whole | Sort::Truth) => Sort::Whole,
            _ => Sort::Unknown,
        }
    }

    /// Of two values, one of which is taken.
    fn either(self, other: Sort) -> Sort {
        if self == other { self } else { self.joined(other) }
    }
}

/// Whether values of `term`, combined into a variable in any order, give the same, except how numbers with fractions are rounded.
/// With `subtracts`, the term is subtracted.
pub(super) fn may_combine(
    facts: &Facts,
    symbol: SymbolId,
    how: ReductionOp,
    term: ExprId,
    subtracts: bool,
) -> bool {
    if matches!(how, ReductionOp::Max | ReductionOp::Min) && !is_arithmetic(facts, symbol) {
        return false;
    }
    let Some(own) = sort_of_variable(facts, symbol) else { return true };
    let terms = || sort(facts, term);
    match how {
        // Each conversion keeps the order.
        ReductionOp::Max | ReductionOp::Min => {
            let narrow = Range::of_variable(facts, symbol).filter(|range| range.is_narrow());
            let is_same =
                narrow.is_none_or(|range| own == Sort::Truth || held(facts, term).as_ref() == Some(&range));
            is_same && holds(facts, symbol, term)
        }
        ReductionOp::Add if own == Sort::Truth => !subtracts && terms() == Sort::Truth,
        ReductionOp::BitXor if own == Sort::Truth => terms() == Sort::Truth,
        ReductionOp::Add | ReductionOp::Multiply => match (own, terms()) {
            (Sort::Fraction, _) | (_, Sort::Whole | Sort::Truth) => true,
            (Sort::Parameter(one), Sort::Parameter(two)) => one == two,
            (Sort::Parameter(_), Sort::Unknown) => true,
            // What is not seen may be an integer.
            _ => false,
        },
        // OpenMP makes the value zero or one, even if there are no iterations.
        ReductionOp::And | ReductionOp::Or => is_truth(facts, symbol, &own),
        _ => true,
    }
}

/// Whether a variable is only ever set to zero or one.
fn is_truth(facts: &Facts, symbol: SymbolId, own: &Sort) -> bool {
    if facts.unit.is_fortran() || *own == Sort::Truth {
        return true;
    }
    let is_own = |expr: ExprId| facts.symbols.named(facts.unit, expr) == Some(symbol);
    let is_kept = |expr: &Expr| match &expr.kind {
        ExprKind::Assign(None | Some(BinaryOp::BitAnd | BinaryOp::BitOr), left, right) if is_own(*left) => {
            sort(facts, *right) == Sort::Truth
        }
        ExprKind::Assign(Some(_), left, _) => !is_own(*left),
        ExprKind::Step { operand, .. } | ExprKind::AddressOf(operand) => !is_own(*operand),
        ExprKind::Call { callee, args } => match &facts.unit.expr(*callee).kind {
            ExprKind::Name(name) => (0..)
                .zip(args)
                .all(|(place, arg)| !is_own(*arg) || !facts.symbols.takes_reference(name, place)),
            _ => true,
        },
        _ => true,
    };
    let known = facts.symbols.get(symbol);
    let begins =
        facts.decl(symbol).and_then(|decl| decl.init).is_none_or(|init| sort(facts, init) == Sort::Truth);
    known.kind == SymbolKind::Local
        && !known.is_reference
        && begins
        && facts.unit.exprs_in(known.scope).all(is_kept)
}

/// Whether an integer variable of C or C++ holds all values of the type of `term`, as far as the two are seen: otherwise they are
/// compared as values of another type, or stored as others.
fn holds(facts: &Facts, symbol: SymbolId, term: ExprId) -> bool {
    let own = facts.decl(symbol).filter(|_| !facts.unit.is_fortran()).and_then(|decl| width(facts, decl));
    own.zip(computed(facts, term)).is_none_or(|(own, other)| own.holds(other) || is_small(facts, term))
}

/// Whether a term is a literal that any type of 32 bits holds.
fn is_small(facts: &Facts, term: ExprId) -> bool {
    matches!(facts.unit.expr(term).kind, ExprKind::Int(value) if value <= i128::from(i32::MAX))
}

/// Whether a variable may be counted up or, with `up` false, down.
pub(super) fn may_count(facts: &Facts, symbol: SymbolId, up: bool) -> bool {
    up || sort_of_variable(facts, symbol) != Some(Sort::Truth)
}

/// The sort of a variable that combines values; `None` if it is not a number, or none that is seen.
fn sort_of_variable(facts: &Facts, symbol: SymbolId) -> Option<Sort> {
    let known = facts.symbols.get(symbol);
    if known.is_floating {
        return Some(Sort::Fraction);
    }
    if facts.unit.is_fortran() {
        let is_integer = match &known.intrinsic {
            Some(word) => word == "integer",
            None => known.class == Class::Scalar,
        };
        return is_integer.then_some(Sort::Whole);
    }
    let seen = match model(facts, symbol) {
        // A literal says nothing of a type that holds but zero and one.
        Some(Model::Value(value)) => match sort(facts, value) {
            Sort::Truth => Sort::Whole,
            sort => sort,
        },
        Some(Model::Variable(other)) => return sort_of_variable(facts, other),
        Some(Model::Other) => Sort::Unknown,
        None => of_type(facts, facts.symbols.type_of(symbol)?),
    };
    match seen {
        // An enumeration, or an integer of a standard header.
        Sort::Unknown if known.class == Class::Scalar => Some(Sort::Whole),
        Sort::Unknown if known.class == Class::Pointer || known.class == Class::Record => None,
        sort => Some(sort),
    }
}

/// The sort of the elements of a variable of C or C++.
fn of_type(facts: &Facts, known: &Type) -> Sort {
    match &known.element {
        Some(Element::Number(words)) if words == "bool" => Sort::Truth,
        Some(Element::Number(words)) => {
            let is_whole = |word: &str| matches!(word, "int" | "long" | "short" | "__int128");
            if words.split(' ').all(is_whole) { Sort::Whole } else { Sort::Fraction }
        }
        Some(Element::Byte | Element::Integer) => Sort::Whole,
        Some(Element::Pointer) => Sort::Unknown,
        None if facts.is_template_parameter(&known.base) => Sort::Parameter(known.base.clone()),
        None => match known.base.as_str() {
            "float_t" | "double_t" => Sort::Fraction,
            _ => Sort::Unknown,
        },
    }
}

fn sort(facts: &Facts, expr: ExprId) -> Sort {
    stacker::maybe_grow(64 * 1024, 4 * 1024 * 1024, || sort_here(facts, expr))
}

fn sort_here(facts: &Facts, expr: ExprId) -> Sort {
    let unit = facts.unit;
    if unit.is_fortran() {
        let texts = Texts { file: facts.file, unit };
        if let Some(number) = number_of(texts, facts.symbols, expr) {
            return match number.word {
                Word::Integer => Sort::Whole,
                Word::Real | Word::Complex => Sort::Fraction,
                Word::Logical => Sort::Unknown,
            };
        }
    }
    match &unit.expr(expr).kind {
        ExprKind::Int(0 | 1) if !unit.is_fortran() => Sort::Truth,
        ExprKind::Int(_) | ExprKind::Sizeof => Sort::Whole,
        ExprKind::Literal => of_literal(&facts.file.text(unit.expr(expr).span)),
        ExprKind::Name(name) => of_name(facts, expr, name),
        ExprKind::Index(base, _) | ExprKind::Deref(base) => sort(facts, *base),
        ExprKind::Member { name, .. } if !unit.is_fortran() => {
            facts.symbols.member(name).map_or(Sort::Unknown, |known| of_type(facts, known))
        }
        ExprKind::Unary(UnaryOp::Not, _) => Sort::Truth,
        ExprKind::Unary(_, operand) => sort(facts, *operand).joined(Sort::Whole),
        ExprKind::Binary(op, left, right) => of_operator(facts, *op, *left, *right),
        ExprKind::Assign(_, left, _) => sort(facts, *left),
        ExprKind::Step { operand, .. } => sort(facts, *operand),
        ExprKind::Cast { to, .. } => {
            facts.symbols.cast_type(to).map_or(Sort::Unknown, |known| of_type(facts, &known))
        }
        ExprKind::Conditional(_, first, second) => sort(facts, *first).either(sort(facts, *second)),
        ExprKind::Comma(_, right) => sort(facts, *right),
        ExprKind::Call { callee, args } => of_call(facts, *callee, args),
        // A power.
        ExprKind::Initialiser(parts) if unit.is_fortran() => all(facts, parts),
        _ => Sort::Unknown,
    }
}

fn of_operator(facts: &Facts, op: BinaryOp, left: ExprId, right: ExprId) -> Sort {
    match op {
        BinaryOp::Less
        | BinaryOp::LessEqual
        | BinaryOp::Greater
        | BinaryOp::GreaterEqual
        | BinaryOp::Equal
        | BinaryOp::NotEqual
        | BinaryOp::And
        | BinaryOp::Or => Sort::Truth,
        BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor => {
            match (sort(facts, left), sort(facts, right)) {
                (Sort::Truth, Sort::Truth) => Sort::Truth,
                _ => Sort::Whole,
            }
        }
        BinaryOp::Remainder | BinaryOp::ShiftLeft | BinaryOp::ShiftRight => Sort::Whole,
        BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply | BinaryOp::Divide => {
            sort(facts, left).joined(sort(facts, right))
        }
    }
}

fn all(facts: &Facts, exprs: &[ExprId]) -> Sort {
    exprs.iter().fold(Sort::Whole, |sum, expr| sum.joined(sort(facts, *expr)))
}

/// The sort of a literal that is not a plain integer.
fn of_literal(text: &str) -> Sort {
    let lower = text.to_ascii_lowercase();
    let is_number = lower.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    let is_hexadecimal = lower.starts_with("0x");
    let has_fraction = lower.contains('.') || lower.contains(if is_hexadecimal { 'p' } else { 'e' });
    match lower.as_str() {
        "true" | "false" => Sort::Truth,
        _ if is_number && (has_fraction || !is_hexadecimal && lower.contains(['d', 'f'])) => Sort::Fraction,
        _ if is_number || lower.contains('\'') && !lower.contains('"') => Sort::Whole,
        _ => Sort::Unknown,
    }
}

fn of_name(facts: &Facts, expr: ExprId, name: &str) -> Sort {
    if facts.is_macro(name) {
        return match facts.constant(expr) {
            Some(_) => Sort::Whole,
            None => of_macro(facts, name),
        };
    }
    let Some(symbol) = facts.symbols.named(facts.unit, expr) else { return Sort::Unknown };
    let known = facts.symbols.get(symbol);
    if known.is_floating {
        return Sort::Fraction;
    }
    if facts.unit.is_fortran() {
        return match known.intrinsic.as_deref() {
            Some("integer") => Sort::Whole,
            Some(word) if !word.starts_with("logical") && word != "character" => Sort::Fraction,
            None if known.class == Class::Scalar => Sort::Whole,
            _ => Sort::Unknown,
        };
    }
    match facts.symbols.type_of(symbol).map(|known| of_type(facts, known)) {
        None | Some(Sort::Unknown) if known.class == Class::Scalar => Sort::Whole,
        sort => sort.unwrap_or(Sort::Unknown),
    }
}

/// The sort of what a macro stands for, as far as a number with a fraction, or the name of its type, shows it.
fn of_macro(facts: &Facts, name: &str) -> Sort {
    let is_fraction = facts.defines_of(name).any(|define| {
        let mut words = define.body.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '.');
        words.any(|word| matches!(word, "float" | "double") || of_literal(word) == Sort::Fraction)
    });
    if is_fraction { Sort::Fraction } else { Sort::Unknown }
}

fn of_call(facts: &Facts, callee: ExprId, args: &[ExprId]) -> Sort {
    let ExprKind::Name(name) = &facts.unit.expr(callee).kind else { return Sort::Unknown };
    if facts.is_called_macro(name) {
        let own = of_macro(facts, name);
        return if own == Sort::Fraction { own } else { all(facts, args) };
    }
    if let [function] = facts.functions(name) {
        let function = facts.unit.function(*function);
        if facts.unit.is_fortran() {
            return of_result(facts, name);
        }
        let words = facts.file.text(Span { start: function.span.start, end: function.name_span.start });
        let passed = ["static", "inline", "constexpr", "extern", "const"];
        let mut words = words.split_whitespace().filter(|word| !passed.contains(word)).collect::<Vec<_>>();
        let last = words.split_off(words.len().saturating_sub(2)).join(" ");
        return facts.symbols.cast_type(&last).map_or(Sort::Unknown, |known| of_type(facts, &known));
    }
    of_library(facts, name, args)
}

/// The sort of the result of a Fortran function.
fn of_result(facts: &Facts, name: &str) -> Sort {
    let known = facts.functions(name).first().and_then(|function| {
        let scope = facts.unit.scopes.iter().find(|scope| scope.function == Some(*function))?;
        let place = facts.unit.stmt(facts.unit.function(*function).body).span.start;
        let symbol = facts.symbols.lookup(scope.result.as_deref()?, place)?;
        facts.symbols.get(symbol).intrinsic.clone()
    });
    match known.as_deref() {
        Some("integer") => Sort::Whole,
        Some(word) if !word.starts_with("logical") && word != "character" => Sort::Fraction,
        _ => Sort::Unknown,
    }
}

/// The sort of the result of a function of the standard libraries.
fn of_library(facts: &Facts, name: &str, args: &[ExprId]) -> Sort {
    let plain = name.rsplit("::").next().unwrap_or(name);
    if facts.unit.is_fortran() {
        return match plain.to_ascii_lowercase().as_str() {
            "int" | "nint" | "floor" | "ceiling" | "count" | "size" | "len" | "len_trim" | "iand" | "ior"
            | "ieor" | "ishft" | "ibits" | "ichar" | "iachar" | "popcnt" | "lbound" | "ubound" | "idint"
            | "ifix" | "not" | "iabs" | "max0" | "min0" | "max1" | "min1" | "leadz" | "trailz" | "index" => {
                Sort::Whole
            }
            "mod" | "modulo" | "max" | "min" | "sign" | "dim" => all(facts, args),
            "merge" => all(facts, args.get(..2).unwrap_or(args)),
            "abs" | "sum" | "product" | "maxval" | "minval" => all(facts, args.get(..1).unwrap_or(args)),
            _ if crate::sema::is_pure_intrinsic(name) => Sort::Fraction,
            _ => Sort::Unknown,
        };
    }
    match plain {
        "labs" | "llabs" | "lround" | "lroundf" | "llround" | "llroundf" | "lrint" | "lrintf" | "llrint"
        | "llrintf" | "ilogb" | "isnan" | "isinf" | "isfinite" | "signbit" => Sort::Whole,
        "abs" if !facts.unit.is_cpp() => Sort::Whole,
        "abs" | "min" | "max" => all(facts, args),
        _ if super::is_mathematical(name) => Sort::Fraction,
        _ => Sort::Unknown,
    }
}

/// What the type of an expression of C or C++ holds, where that is a narrow one that a name or a cast shows.
fn held(facts: &Facts, expr: ExprId) -> Option<Range> {
    match &facts.unit.expr(expr).kind {
        ExprKind::Name(_) => {
            let symbol = facts.symbols.named(facts.unit, expr)?;
            if facts.unit.is_fortran() {
                return Range::of_variable(facts, symbol);
            }
            Range::of_elements(facts, facts.symbols.type_of(symbol)?)
        }
        ExprKind::Index(base, _) | ExprKind::Deref(base) => held(facts, *base),
        ExprKind::Member { name, .. } => Range::of_elements(facts, facts.symbols.member(name)?),
        ExprKind::Cast { to, .. } => Range::of_elements(facts, &facts.symbols.cast_type(to)?),
        _ => None,
    }
}

/// Whether a variable is a number: no compiler takes the largest of pointers, of characters, or of enumerations of C++.
fn is_arithmetic(facts: &Facts, symbol: SymbolId) -> bool {
    let known = facts.symbols.get(symbol);
    let is_enumeration = || {
        let base = facts.symbols.type_of(symbol).map(|known| known.base.as_str());
        facts.unit.is_cpp() && base.is_some_and(|base| facts.symbols.is_enumeration(base))
    };
    known.class != Class::Pointer && known.intrinsic.as_deref() != Some("character") && !is_enumeration()
}
