//! Expressions of C++ with their types in Fortran.
//!
//! Invariant: the text of a value computes it with its type.

use super::types::{Type, Word};

/// How tightly the operators of C++ bind: the loosest first.
pub mod binds {
    /// `?:`
    pub const CHOICE: u8 = 1;
    /// `||`
    pub const OR: u8 = 2;
    /// `&&`
    pub const AND: u8 = 3;
    /// `|`
    pub const BIT_OR: u8 = 4;
    /// `^`
    pub const BIT_XOR: u8 = 5;
    /// `&`
    pub const BIT_AND: u8 = 6;
    /// `==`
    pub const EQUAL: u8 = 7;
    /// `<`
    pub const LESS: u8 = 8;
    /// `<<`
    pub const SHIFT: u8 = 9;
    /// `+`
    pub const SUM: u8 = 10;
    /// `*`
    pub const PRODUCT: u8 = 11;
    /// `-a`, `(int)a`
    pub const PREFIX: u8 = 12;
    /// A name, a call, an element.
    pub const NAME: u8 = 13;
}

/// An expression in C++.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// Its text.
    pub text: String,
    /// How tightly its outermost operator binds.
    pub binds: u8,
    /// Its type in Fortran.
    pub ty: Type,
}

impl Value {
    /// A value whose text stands for itself.
    pub fn name(text: impl Into<String>, ty: Type) -> Value {
        Value { text: text.into(), binds: binds::NAME, ty }
    }

    /// Its text as an operand of an operator that binds so tightly.
    pub fn within(&self, least: u8) -> String {
        if self.binds < least { format!("({})", self.text) } else { self.text.clone() }
    }

    /// The value in another type.
    pub fn to(self, ty: Type) -> Value {
        if self.ty == ty {
            return self;
        }
        if self.ty.word == Word::Complex && ty.word != Word::Complex {
            return self.real_part().to(ty);
        }
        Value { text: format!("({}){}", ty.cpp(), self.within(binds::PREFIX)), binds: binds::PREFIX, ty }
    }

    /// The real part of a complex number.
    pub fn real_part(&self) -> Value {
        self.of_complex("creal", self.ty.part())
    }

    /// What a function of C about complex numbers gives.
    pub fn of_complex(&self, name: &str, ty: Type) -> Value {
        let ending = if self.ty.bytes == 4 { "f" } else { "" };
        Value::name(format!("{name}{ending}({})", self.text), ty)
    }

    /// The complex number of two parts.
    pub fn complex(parts: [Value; 2], bytes: u8) -> Value {
        let part = Type { word: Word::Real, bytes };
        let name = if bytes == 4 { "CMPLXF" } else { "CMPLX" };
        let [real, imaginary] = parts.map(|one| one.to(part).text);
        Value::name(format!("{name}({real}, {imaginary})"), Type { word: Word::Complex, bytes })
    }

    /// `left operator right`
    pub fn binary(left: &Value, operator: &str, right: &Value, binds: u8, ty: Type) -> Value {
        let text = format!("{} {operator} {}", left.within(binds), right.within(binds + 1));
        Value { text, binds, ty }
    }
}
