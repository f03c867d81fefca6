//! Conversions of integers to types that do not hold every value.
//!
//! Invariant: a value stays the same through a conversion only if it lies in the range of the type wherever it is converted. Types of
//! 32 bits and more are taken to be wide enough, unless a factor is as large as the type.

use crate::host::ir::ExprId;
use crate::sema::numeric::{Kind, Number, Word};
use crate::sema::texts::Texts;
use crate::sema::{Element, SymbolId, Type};

use super::access::Nest;
use super::affine::{Atom, Poly};
use super::facts::Facts;
use super::integer::{Integer, computed, integer};

/// An array whose elements are this far apart is taken to be too large for a subscript of 32 bits to wrap around by smaller factors.
const LARGE: u64 = 1 << 24;

/// What an integer type holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Range {
    /// The name of the type.
    name: String,
    /// The least value.
    low: i64,
    /// The largest value.
    high: i64,
    /// Sums of multiples by smaller factors than this one are taken to lie in the range.
    factor: i64,
}

impl Range {
    fn narrow(name: &str, low: i64, high: i64) -> Range {
        Range { name: name.to_owned(), low, high, factor: 0 }
    }

    /// What a type holds of which nothing is known.
    pub(super) fn of_unnamed(name: &str) -> Range {
        Range::narrow(name, 0, 1)
    }

    fn signed(name: &str, bits: u32) -> Range {
        let half = 1_i64 << (bits - 1);
        Range::narrow(name, -half, half - 1)
    }

    fn unsigned(name: &str, bits: u32) -> Range {
        Range::narrow(name, 0, (1_i64 << bits) - 1)
    }

    fn holds(&self, value: i64) -> bool {
        self.low <= value && value <= self.high
    }

    /// Whether it has less than 32 bits.
    pub(super) fn is_narrow(&self) -> bool {
        self.factor == 0
    }

    /// What the elements of a type of C or C++ hold.
    pub(super) fn of_elements(facts: &Facts, known: &Type) -> Option<Range> {
        Range::of_type(facts, &Type { shape: Vec::new(), ..known.clone() })
    }

    /// What a type of C or C++ holds; `None`: whatever is converted to it.
    fn of_type(facts: &Facts, known: &Type) -> Option<Range> {
        if !known.shape.is_empty() {
            return None;
        }
        let name = known.base.as_str();
        let is_unsigned = name.starts_with('u');
        match &known.element {
            Some(Element::Number(words)) if words == "bool" => Some(Range::narrow(name, 0, 1)),
            // Whether these have a sign is not said: what they hold in either case.
            Some(Element::Number(words)) if words.contains("short") => Some(Range::unsigned(name, 15)),
            Some(Element::Byte) if matches!(name, "char" | "byte") => Some(Range::unsigned(name, 7)),
            Some(Element::Byte) if is_unsigned || name == "char8_t" => Some(Range::unsigned(name, 8)),
            Some(Element::Byte) => Some(Range::signed(name, 8)),
            Some(Element::Integer) if name.contains("16") && !name.contains("fast") => {
                Some(if is_unsigned { Range::unsigned(name, 16) } else { Range::signed(name, 16) })
            }
            Some(_) => None,
            None if facts.is_template_parameter(name) => Some(Range::narrow(name, 0, 1)),
            None => Range::of_unseen(name),
        }
    }

    /// What a type holds whose name is all that is seen of it: a macro, or of a header that is not read.
    fn of_unseen(name: &str) -> Option<Range> {
        let is_known = ["uint", "ulong", "u_int", "u_long"].contains(&name);
        let lower = name.to_ascii_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
        if has(&["bool"]) {
            Some(Range::narrow(name, 0, 1))
        } else if has(&["16", "short"]) {
            Some(Range::unsigned(name, 15))
        } else if has(&["8", "char", "byte"]) {
            Some(Range::unsigned(name, 7))
        } else if is_known || has(&["32", "64"]) {
            None
        } else {
            Some(Range::of_unnamed(name))
        }
    }

    /// What an integer variable holds; `None`: whatever is assigned to it.
    pub(super) fn of_variable(facts: &Facts, symbol: SymbolId) -> Option<Range> {
        if facts.unit.is_fortran() {
            return Range::of_fortran(facts, symbol);
        }
        if let Ok(range) = Range::of_model(facts, symbol) {
            return range;
        }
        if let Some(narrow) = facts.symbols.type_of(symbol).and_then(|known| Range::of_type(facts, known)) {
            return Some(narrow);
        }
        let wide = integer(facts, symbol).filter(|wide| wide.bits == 32)?;
        Some(if wide.is_signed {
            Range { factor: 1 << 31, ..Range::signed("int", 32) }
        } else {
            Range { factor: 1 << 16, ..Range::unsigned("unsigned", 32) }
        })
    }

    /// What the type that a cast names holds; `None`: whatever is converted to it.
    fn of_cast(facts: &Facts, to: &str) -> Option<Range> {
        match facts.symbols.cast_type(to) {
            Some(known) => Range::of_type(facts, &known),
            None => (!to.contains(['*', '&'])).then(|| Range::of_unnamed(to)),
        }
    }

    fn of_fortran(facts: &Facts, symbol: SymbolId) -> Option<Range> {
        let texts = Texts { file: facts.file, unit: facts.unit };
        let number = Number::of_decl(texts, facts.symbols, facts.decl(symbol)?)?;
        let Kind::Named(kind) = number.kind else { return None };
        let kind = kind.split('@').next().unwrap_or_default();
        let bits = match kind {
            _ if number.word != Word::Integer => return None,
            "1"
            | "int8"
            | "c_int8_t"
            | "c_signed_char"
            | "c_int_least8_t"
            | "selected_int_kind(1)"
            | "selected_int_kind(2)" => 8,
            "2"
            | "int16"
            | "c_int16_t"
            | "c_short"
            | "c_int_least16_t"
            | "selected_int_kind(3)"
            | "selected_int_kind(4)" => 16,
            _ => return None,
        };
        Some(Range::signed(&format!("integer({bits})"), bits))
    }
}

impl Facts<'_> {
    /// A number as a variable holds it, if that is the same one.
    pub(super) fn held_number(&self, symbol: SymbolId, value: i64) -> Option<i64> {
        Range::of_variable(self, symbol).is_none_or(|range| range.holds(value)).then_some(value)
    }

    /// A number after a cast to the type of this name, if it is the same one.
    pub(super) fn cast_number(&self, to: &str, value: i64) -> Option<i64> {
        Range::of_cast(self, to).is_none_or(|range| range.holds(value)).then_some(value)
    }

    /// Whether some template of the file has a type parameter of this name.
    pub(super) fn is_template_parameter(&self, name: &str) -> bool {
        self.unit.is_cpp() && self.template_parameters().contains(name)
    }
}

impl Nest<'_> {
    /// A value as a variable holds it.
    pub(super) fn held_by(&mut self, symbol: SymbolId, value: Poly) -> Poly {
        match Range::of_variable(self.facts, symbol) {
            Some(range) if !self.counts_with(&range) => self.converted(value, &range),
            _ => value,
        }
    }

    /// A value after a cast to the type of this name.
    pub(super) fn cast_value(&mut self, to: &str, value: Poly) -> Poly {
        match Range::of_cast(self.facts, to) {
            Some(range) => self.converted(value, &range),
            None => value,
        }
    }

    /// The value of an expression that is computed: one without a sign and of 32 bits may wrap around.
    pub(super) fn computed_value(&mut self, expr: ExprId, value: Poly) -> Poly {
        let facts = self.facts;
        // A constant of 32 bits without a sign stands for one below zero.
        let has_large = value
            .terms()
            .any(|(factors, times)| times.unsigned_abs() >= if factors.is_empty() { 1 << 31 } else { LARGE });
        if !has_large || facts.unit.is_fortran() {
            return value;
        }
        match computed(facts, expr) {
            Some(Integer { bits: 32, is_signed: false }) => {
                self.converted(value, &Range::unsigned("unsigned", 32))
            }
            _ => value,
        }
    }

    /// Whether a variable that is set to a value holds that value.
    pub(super) fn is_same_after(&self, symbol: SymbolId, value: &Poly) -> bool {
        Range::of_variable(self.facts, symbol).is_none_or(|range| self.is_held(value, &range))
    }

    fn converted(&mut self, value: Poly, to: &Range) -> Poly {
        if self.is_held(&value, to) {
            return value;
        }
        Poly::atom(self.atoms.id(Atom::Converted(to.name.clone(), value)))
    }

    fn is_held(&self, value: &Poly, to: &Range) -> bool {
        let is_small = |(factors, times): (&Vec<_>, i64)| {
            factors.is_empty() || times.checked_abs().is_some_and(|times| times < to.factor)
        };
        to.factor > 0 && value.terms().all(is_small) || self.is_between(value, to.low, to.high)
    }

    /// Whether a loop around counts with a variable of this type, of which nothing is known: what is made of its values fits, too.
    fn counts_with(&self, range: &Range) -> bool {
        if *range != Range::of_unnamed(&range.name) {
            return false;
        }
        let headers =
            self.around(self.inside).into_iter().filter_map(|at| self.loops[at].header.as_ref().ok());
        headers.into_iter().any(|header| {
            self.facts.symbols.type_of(header.var).is_some_and(|known| known.base == range.name)
        })
    }
}
