//! The types in the head of a counted loop, and where they ask for a conversion.
//!
//! Invariant: a conversion is that which the loop itself has; where a type is not known, what may compare as unsigned is converted.

use crate::cuda::meaning;
use crate::cuda::program::Input;
use crate::host::ir::{BaseType, ExprId, ExprKind, Unit};
use crate::sema::{CNumber, CType, CTypes, Header, Rank};

/// In which counters the value of a variable has to be computed in its own type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Converts {
    /// What the counter computes is right in the variable's type.
    Never,
    /// In those of 32 bits.
    Narrow,
    /// In all of them.
    Always,
}

/// The types of the variable of a loop and of what its head says, where they are known.
pub struct Kinds {
    variable: Option<CNumber>,
    first: Option<CNumber>,
    bound: Option<CNumber>,
    step: Option<CNumber>,
    /// The first value and the bound, if they are numbers that are not negative.
    literal: Option<i128>,
    end: Option<i128>,
    has_step: bool,
    is_pointer: bool,
    /// The variable's type is one that the program names, perhaps a number's.
    is_named: bool,
    down: bool,
}

impl Kinds {
    /// The types in the head of a loop.
    pub fn of(input: &Input, header: &Header) -> Kinds {
        let headers: Vec<&Unit> = input.headers.iter().map(|seen| seen.unit).collect();
        let chosen = meaning::chosen(input);
        let types = CTypes {
            file: input.file(),
            unit: input.unit(),
            headers: &headers,
            symbols: input.symbols,
            chosen: &chosen,
        };
        let kind = |expr: ExprId| types.of(expr).number();
        let variable = input.declaration(header.var);
        let declared = variable.map(|(seen, decl)| types.of_decl(seen.unit, decl));
        let is_named = variable
            .is_some_and(|(_, decl)| matches!(decl.base, BaseType::Named(_)) && decl.derived.is_empty());
        let number = |expr: ExprId| match input.unit().expr(expr).kind {
            ExprKind::Int(value) if value >= 0 => Some(value),
            _ => None,
        };
        Kinds {
            variable: declared.as_ref().and_then(CType::number),
            first: kind(header.first),
            bound: kind(header.bound),
            step: header.step.and_then(kind),
            literal: number(header.first),
            end: number(header.bound),
            has_step: header.step.is_some(),
            is_pointer: matches!(declared, Some(CType::Pointer(_))),
            is_named: is_named && declared == Some(CType::Unknown),
            down: header.counts_down(),
        }
    }

    /// Whether the first value has to be said in the variable's type, in which the loop compares it: where the type that it
    /// has with the bound compares otherwise, or the variable cannot hold it.
    pub fn converts_first(&self) -> bool {
        let (Some(variable), Some(first), Some(bound)) = (self.variable, self.first, self.bound) else {
            return self.may_compare_unsigned();
        };
        let holds_first = |kind: CNumber| match self.literal {
            Some(value) => holds_number(kind, value),
            None => holds(kind, first),
        };
        let holds_bound = |kind: CNumber| match self.end {
            Some(value) => holds_number(kind, value),
            None => holds(kind, bound),
        };
        let (said, compared) = (first.joined(bound), variable.joined(bound));
        let is_exact = holds_first(said) && holds_bound(said) && holds_bound(compared);
        !holds_first(variable)
            || !(is_exact || size(said) == size(compared) && is_signed(said) == is_signed(compared))
    }

    /// Whether the loop may compare an unsigned variable with a bound, and no type in its head is sure to say so.
    fn may_compare_unsigned(&self) -> bool {
        let is_unsigned = |kind: CNumber| !is_signed(kind) && kind.promoted() == kind;
        match self.variable {
            Some(kind) => is_unsigned(kind) && self.first != self.variable,
            None => self.is_named && self.first.is_some(),
        }
    }

    /// Whether a variable that has passed its greatest value may still meet the bound.
    pub fn may_wrap(&self) -> bool {
        let is_wide = |kind: CNumber| is_signed(kind) && size(kind).is_some_and(|size| size >= 4);
        !self.variable.zip(self.bound).is_some_and(|(variable, bound)| is_wide(variable) && is_signed(bound))
    }

    /// Whether the value of an iteration has to be computed in the variable's type.
    pub fn converts_counter(&self) -> Converts {
        let is_long = |kind: Option<CNumber>| kind.and_then(size).is_some_and(|size| size == 8);
        let is_floating = |kind: Option<CNumber>| kind.is_some_and(|kind| !kind.is_integer());
        match self.variable {
            Some(kind) if !kind.is_integer() => {
                let is_computed = is_floating(self.first) || is_floating(self.step);
                let is_above = self.literal.is_some() && !self.down;
                if is_computed || is_above { Converts::Never } else { Converts::Always }
            }
            Some(kind) if size(kind).is_some_and(|size| size < 8) => Converts::Never,
            _ if self.has_step && is_long(self.step) => Converts::Never,
            _ if self.has_step => Converts::Narrow,
            _ if self.is_pointer || is_long(self.first) => Converts::Never,
            _ if self.literal.is_some() && !self.down => Converts::Never,
            _ => Converts::Narrow,
        }
    }
}

/// The bytes of an integer.
fn size(kind: CNumber) -> Option<u32> {
    match kind {
        CNumber::Integer(Rank::Bool | Rank::Char, _) => Some(1),
        CNumber::Integer(Rank::Short, _) => Some(2),
        CNumber::Integer(Rank::Int, _) => Some(4),
        CNumber::Integer(Rank::Long | Rank::LongLong, _) => Some(8),
        CNumber::Float | CNumber::Double | CNumber::LongDouble => None,
    }
}

fn is_signed(kind: CNumber) -> bool {
    !matches!(kind, CNumber::Integer(_, false))
}

/// Whether a type holds all values of another one.
fn holds(kind: CNumber, other: CNumber) -> bool {
    match (size(kind), size(other), is_signed(kind), is_signed(other)) {
        (Some(bytes), Some(others), true, false) => bytes > others,
        (Some(_), Some(_), false, true) => false,
        (Some(bytes), Some(others), _, _) => bytes >= others,
        (None, None, _, _) => true,
        // What an integer becomes as a floating-point number is another way to compare.
        _ => false,
    }
}

/// Whether a type holds a number that is not negative.
fn holds_number(kind: CNumber, value: i128) -> bool {
    let Some(bytes) = size(kind) else { return false };
    value < 1i128 << (bytes * 8 - u32::from(is_signed(kind)))
}
