//! The intrinsic functions of Fortran (2018, 16) that give a number or a logical value of such.
//!
//! Invariant: a function that is not known here is refused.

use crate::host::ir::{ExprId, ExprKind};
use crate::source::Span;

use super::Why;
use super::expression::Values;
use super::helpers::Helper;
use super::types::{Type, Word, plain_code};
use super::value::{Value, binds};
use super::variable::BoundQuery;

/// `name(args)`
pub fn call(values: &Values, name: &str, args: &[ExprId], at: Span) -> Result<Value, Why> {
    Call { values, name, args, at }.value()
}

/// The function of ours for `max` or `min`, by whichever name of theirs.
pub fn extreme(name: &str) -> Option<Helper> {
    match general(name) {
        "max" => Some(Helper::Max),
        "min" => Some(Helper::Min),
        _ => None,
    }
}

/// The greatest or least of values of one word; `None` of none.
pub fn extreme_of(values: &Values, helper: Helper, all: Vec<Value>) -> Option<Value> {
    let mut all = all.into_iter();
    let first = all.next()?;
    all.try_fold(first, |found, next| {
        let is_alike = found.ty.word == next.ty.word && matches!(next.ty.word, Word::Integer | Word::Real);
        let ty = found.ty.joined(next.ty);
        is_alike.then(|| values.help(helper, ty, &[found, next], ty))
    })
}

/// What `max` or `min` of no values is: `maxval` and `minval` of an array without elements.
pub fn least(helper: Helper, ty: Type) -> Option<&'static str> {
    let is_max = helper == Helper::Max;
    Some(match (ty.word, ty.bytes) {
        (Word::Integer, 4) if is_max => "-2147483647 - 1",
        (Word::Integer, 4) => "2147483647",
        (Word::Integer, 8) if is_max => "-9223372036854775807ll - 1",
        (Word::Integer, 8) => "9223372036854775807ll",
        (Word::Real, 4) if is_max => "-3.40282346638528859812e+38f",
        (Word::Real, 4) => "3.40282346638528859812e+38f",
        (Word::Real, 8) if is_max => "-1.79769313486231570815e+308",
        (Word::Real, 8) => "1.79769313486231570815e+308",
        _ => return None,
    })
}

/// The name for all types of a function that has names for single ones.
fn general(name: &str) -> &str {
    SPECIFIC.iter().find(|(own, _)| *own == name).map_or(name, |(_, all)| all)
}

struct Call<'a> {
    values: &'a Values<'a>,
    name: &'a str,
    args: &'a [ExprId],
    at: Span,
}

/// Functions of one floating number that the library of C has, with the name for `double`.
const MATHEMATICAL: &[(&str, &str)] = &[
    ("sqrt", "sqrt"),
    ("exp", "exp"),
    ("log", "log"),
    ("log10", "log10"),
    ("sin", "sin"),
    ("cos", "cos"),
    ("tan", "tan"),
    ("asin", "asin"),
    ("acos", "acos"),
    ("atan", "atan"),
    ("sinh", "sinh"),
    ("cosh", "cosh"),
    ("tanh", "tanh"),
    ("asinh", "asinh"),
    ("acosh", "acosh"),
    ("atanh", "atanh"),
    ("erf", "erf"),
    ("erfc", "erfc"),
    ("gamma", "tgamma"),
    ("log_gamma", "lgamma"),
    ("bessel_j0", "j0"),
    ("bessel_j1", "j1"),
    ("bessel_y0", "y0"),
    ("bessel_y1", "y1"),
];

/// Names of functions for one type, and those for all.
const SPECIFIC: &[(&str, &str)] = &[
    ("dsqrt", "sqrt"),
    ("dexp", "exp"),
    ("dlog", "log"),
    ("dlog10", "log10"),
    ("alog", "log"),
    ("dsin", "sin"),
    ("dcos", "cos"),
    ("dtan", "tan"),
    ("dabs", "abs"),
    ("iabs", "abs"),
    ("dmax1", "max"),
    ("amax1", "max"),
    ("max0", "max"),
    ("dmin1", "min"),
    ("amin1", "min"),
    ("min0", "min"),
    ("dmod", "mod"),
    ("amod", "mod"),
    ("dsign", "sign"),
    ("isign", "sign"),
    ("dim", "dim"),
    ("datan", "atan"),
    ("datan2", "atan2"),
    ("float", "real"),
    ("sngl", "real"),
    ("dfloat", "dble"),
    ("ifix", "int"),
    ("idint", "int"),
    ("idnint", "nint"),
    ("idim", "dim"),
    ("ddim", "dim"),
    ("dint", "aint"),
    ("dnint", "anint"),
    ("alog10", "log10"),
    ("dasin", "asin"),
    ("dacos", "acos"),
    ("dsinh", "sinh"),
    ("dcosh", "cosh"),
    ("dtanh", "tanh"),
    ("dcmplx", "cmplx"),
    ("dimag", "aimag"),
    ("dreal", "dble"),
    ("dconjg", "conjg"),
    ("cabs", "abs"),
    ("zabs", "abs"),
    ("cdabs", "abs"),
    ("csqrt", "sqrt"),
    ("cexp", "exp"),
    ("clog", "log"),
];

impl Call<'_> {
    fn value(&self) -> Result<Value, Why> {
        let name = general(self.name);
        if name == "atan" && self.args.len() == 2 {
            let args = self.alike::<2>()?;
            return self.library("atan2", &args);
        }
        if let Some((_, c)) = MATHEMATICAL.iter().find(|(own, _)| *own == name) {
            let [arg] = self.exactly()?;
            if arg.ty.word == Word::Complex {
                return match name {
                    "sqrt" | "exp" | "log" => Ok(arg.of_complex(&format!("c{name}"), arg.ty)),
                    _ => self.unknown(),
                };
            }
            return self.library(c, &[arg]);
        }
        match name {
            "abs" => {
                let [arg] = self.exactly()?;
                match arg.ty.word {
                    Word::Real => self.library("fabs", &[arg]),
                    Word::Integer => {
                        let c = if arg.ty.bytes == 8 { "llabs" } else { "abs" };
                        Ok(Value::name(format!("{c}({})", arg.text), arg.ty))
                    }
                    Word::Complex => Ok(arg.of_complex("cabs", arg.ty.part())),
                    Word::Logical | Word::Record => self.unknown(),
                }
            }
            "aimag" | "conjg" => {
                let [arg] = self.exactly()?;
                match (arg.ty.word, name) {
                    (Word::Complex, "aimag") => Ok(arg.of_complex("cimag", arg.ty.part())),
                    (Word::Complex, _) => Ok(arg.of_complex("conj", arg.ty)),
                    _ => self.unknown(),
                }
            }
            "cmplx" => self.complex(),
            "present" => match self.args {
                [arg] => {
                    let symbol = self.values.symbol(*arg);
                    let presence = symbol.and_then(|symbol| self.values.variables.presence(symbol));
                    presence.map_or_else(|| self.unknown(), |name| Ok(Value::name(name, Type::LOGICAL)))
                }
                _ => self.unknown(),
            },
            "max" | "min" => self.extreme(if name == "max" { Helper::Max } else { Helper::Min }),
            "mod" => {
                let [first, second] = self.alike()?;
                match first.ty.word {
                    Word::Real => self.library("fmod", &[first, second]),
                    Word::Integer => {
                        let ty = first.ty.joined(second.ty);
                        Ok(Value::binary(&first, "%", &second, binds::PRODUCT, ty))
                    }
                    Word::Logical | Word::Complex | Word::Record => self.unknown(),
                }
            }
            "modulo" | "dim" => {
                let args = self.alike::<2>()?;
                let ty = args[0].ty.joined(args[1].ty);
                let helper = if name == "dim" { Helper::Dim } else { Helper::Modulo };
                Ok(self.values.help(helper, ty, &args, ty))
            }
            "sign" => {
                let args = self.alike::<2>()?;
                let ty = args[0].ty.joined(args[1].ty);
                match ty.word {
                    Word::Real => self.library("copysign", &args),
                    _ => Ok(self.values.help(Helper::Sign, ty, &args, ty)),
                }
            }
            "atan2" | "hypot" => {
                let args = self.alike::<2>()?;
                self.library(name, &args)
            }
            "merge" => self.merge(),
            "int" | "nint" | "floor" | "ceiling" => self.whole(name),
            "real" | "dble" => self.floating(name),
            "aint" | "anint" => {
                let [arg] = self.exactly()?;
                self.library(if name == "aint" { "trunc" } else { "round" }, &[arg])
            }
            "logical" => {
                let [arg] = self.exactly()?;
                if arg.ty.word == Word::Logical {
                    Ok(Value { ty: Type::LOGICAL, ..arg })
                } else {
                    self.unknown()
                }
            }
            "iand" | "ior" | "ieor" | "not" | "ishft" | "btest" => self.bits(name),
            "shiftl" | "shiftr" | "shifta" | "ishftc" | "ibits" | "ibset" | "ibclr" | "popcnt" | "poppar"
            | "leadz" | "trailz" => self.more_bits(name),
            "exponent" | "fraction" | "scale" | "set_exponent" | "nearest" | "isnan" | "ieee_is_nan"
            | "ieee_is_finite" => self.model(name),
            "transfer" => self.transfer(),
            "acc_on_device" => self.on_device(),
            "dprod" => {
                let [first, second] = self.alike()?;
                let single = Type { word: Word::Real, bytes: 4 };
                if first.ty != single {
                    return self.unknown();
                }
                let (first, second) = (first.to(Type::DOUBLE), second.to(Type::DOUBLE));
                Ok(Value::binary(&first, "*", &second, binds::PRODUCT, Type::DOUBLE))
            }
            "huge" | "tiny" | "epsilon" => self.limit(name),
            "digits" | "maxexponent" | "minexponent" | "precision" | "range" | "radix" | "bit_size" => {
                self.model_number(name)
            }
            "size" | "lbound" | "ubound" => self.inquiry(name),
            _ => self.unknown(),
        }
    }

    /// A function about the bits of whole numbers.
    fn bits(&self, name: &str) -> Result<Value, Why> {
        match name {
            "iand" | "ior" | "ieor" => {
                let [first, second] = self.whole_numbers()?;
                let (sign, binds) = match name {
                    "iand" => ("&", binds::BIT_AND),
                    "ior" => ("|", binds::BIT_OR),
                    _ => ("^", binds::BIT_XOR),
                };
                Ok(Value::binary(&first, sign, &second, binds, first.ty.joined(second.ty)))
            }
            "not" => {
                let [arg] = self.whole_numbers()?;
                let text = format!("~{}", arg.within(binds::PREFIX));
                Ok(Value { text, binds: binds::PREFIX, ty: arg.ty })
            }
            "ishft" => {
                let args = self.whole_numbers::<2>()?;
                let ty = args[0].ty;
                Ok(self.values.help(Helper::Shift, ty, &args, ty))
            }
            "btest" => {
                let [first, second] = self.whole_numbers()?;
                let text =
                    format!("({} >> {} & 1) != 0", first.within(binds::SHIFT), second.within(binds::SUM));
                Ok(Value { text, binds: binds::EQUAL, ty: Type::LOGICAL })
            }
            _ => self.unknown(),
        }
    }

    /// More functions about the bits of whole numbers.
    fn more_bits(&self, name: &str) -> Result<Value, Why> {
        let count = |helper| {
            let [arg] = self.whole_numbers()?;
            Ok(self.values.help(helper, arg.ty, &[arg], Type::INTEGER))
        };
        let moved = |helper| {
            let args = self.whole_numbers::<2>()?;
            Ok(self.values.help(helper, args[0].ty, &args, args[0].ty))
        };
        match name {
            "shiftl" => moved(Helper::Shift),
            "shiftr" => {
                let [arg, by] = self.whole_numbers()?;
                let by =
                    Value { text: format!("-{}", by.within(binds::NAME)), binds: binds::PREFIX, ty: by.ty };
                let ty = arg.ty;
                Ok(self.values.help(Helper::Shift, ty, &[arg, by], ty))
            }
            "shifta" => moved(Helper::ShiftArithmetic),
            "ibset" => moved(Helper::SetBit),
            "ibclr" => moved(Helper::ClearBit),
            "ishftc" | "ibits" => {
                let args = if name == "ishftc" && self.args.len() == 2 {
                    let [arg, by] = self.whole_numbers()?;
                    let all = Value::name((8 * u32::from(arg.ty.bytes)).to_string(), Type::INTEGER);
                    [arg, by, all]
                } else {
                    self.whole_numbers::<3>()?
                };
                let helper = if name == "ibits" { Helper::Bits } else { Helper::Rotate };
                Ok(self.values.help(helper, args[0].ty, &args, args[0].ty))
            }
            "popcnt" => count(Helper::CountBits),
            "poppar" => {
                let bits: Value = count(Helper::CountBits)?;
                Ok(Value::binary(&bits, "%", &Value::name("2", Type::INTEGER), binds::PRODUCT, Type::INTEGER))
            }
            "leadz" => count(Helper::LeadingZeros),
            _ => count(Helper::TrailingZeros),
        }
    }

    /// Functions about the parts of floating numbers.
    fn model(&self, name: &str) -> Result<Value, Why> {
        let is_real = |value: &Value| value.ty.word == Word::Real;
        match name {
            "scale" | "set_exponent" | "nearest" => {
                let [first, second] = self.exactly()?;
                let wanted = if name == "nearest" { Word::Real } else { Word::Integer };
                if !is_real(&first) || second.ty.word != wanted {
                    return self.unknown();
                }
                let ty = first.ty;
                if name == "nearest" {
                    let second = second.to(ty);
                    return Ok(self.values.help(Helper::Nearest, ty, &[first, second], ty));
                }
                let first = match name {
                    "scale" => first,
                    _ => self.values.help(Helper::Fraction, ty, &[first], ty),
                };
                let single = if ty.bytes == 4 { "f" } else { "" };
                Ok(Value::name(format!("ldexp{single}({}, {})", first.text, second.text), ty))
            }
            _ => {
                let [arg] = self.exactly()?;
                if !is_real(&arg) {
                    return self.unknown();
                }
                let (helper, result) = match name {
                    "exponent" => (Helper::Exponent, Type::INTEGER),
                    "fraction" => (Helper::Fraction, arg.ty),
                    "ieee_is_finite" => (Helper::IsFinite, Type::LOGICAL),
                    _ => (Helper::IsNan, Type::LOGICAL),
                };
                Ok(self.values.help(helper, arg.ty, &[arg], result))
            }
        }
    }

    /// `transfer` between numbers of one size.
    fn transfer(&self) -> Result<Value, Why> {
        let [source, mold] = self.args else { return self.unknown() };
        if self.args.iter().any(|arg| self.values.keyword(*arg).is_some()) {
            return self.unknown();
        }
        let (source, mold) = (self.values.value(*source)?, self.values.value(*mold)?.ty);
        let ty = source.ty;
        match (ty.word, mold.word) {
            _ if ty.bytes != mold.bytes => self.unknown(),
            (Word::Integer, Word::Integer) | (Word::Real, Word::Real) => Ok(source),
            (Word::Real, Word::Integer) => Ok(self.values.help(Helper::BitsOf, ty, &[source], mold)),
            (Word::Integer, Word::Real) => Ok(self.values.help(Helper::OfBits, mold, &[source], mold)),
            _ => self.unknown(),
        }
    }

    /// Where a construct runs.
    fn on_device(&self) -> Result<Value, Why> {
        let [kind] = self.args else { return self.unknown() };
        let ExprKind::Name(name) = &self.values.files.own.unit.expr(*kind).kind else {
            return self.unknown();
        };
        let is_there = match name.as_str() {
            "acc_device_not_host" | "acc_device_nvidia" => "true",
            "acc_device_host" | "acc_device_none" | "acc_device_radeon" => "false",
            _ => return self.unknown(),
        };
        Ok(Value::name(is_there, Type::LOGICAL))
    }

    /// What is asked of a type.
    fn model_number(&self, name: &str) -> Result<Value, Why> {
        let [arg] = self.args else { return self.unknown() };
        let ty = self.type_of_any(*arg)?;
        let number = match (name, ty.word, ty.bytes) {
            ("bit_size", Word::Integer, bytes) => 8 * i32::from(bytes),
            ("digits", Word::Integer, bytes) => 8 * i32::from(bytes) - 1,
            ("digits", Word::Real, 4) => 24,
            ("digits", Word::Real, 8) => 53,
            ("maxexponent", Word::Real, 4) => 128,
            ("maxexponent", Word::Real, 8) => 1024,
            ("minexponent", Word::Real, 4) => -125,
            ("minexponent", Word::Real, 8) => -1021,
            ("precision", Word::Real | Word::Complex, 4) => 6,
            ("precision", Word::Real | Word::Complex, 8) => 15,
            ("range", Word::Real | Word::Complex, 4) => 37,
            ("range", Word::Real | Word::Complex, 8) => 307,
            ("range", Word::Integer, 1) => 2,
            ("range", Word::Integer, 2) => 4,
            ("range", Word::Integer, 4) => 9,
            ("range", Word::Integer, 8) => 18,
            ("radix", Word::Real | Word::Integer, _) => 2,
            _ => return self.unknown(),
        };
        let binds = if number < 0 { binds::PREFIX } else { binds::NAME };
        Ok(Value { text: number.to_string(), binds, ty: Type::INTEGER })
    }

    fn unknown<T>(&self) -> Result<T, Why> {
        Err(Why::new(self.at, format!("the function `{}` with these arguments", self.name)))
    }

    /// The arguments, as many as are wanted, none of them by its name.
    fn exactly<const N: usize>(&self) -> Result<[Value; N], Why> {
        if self.args.iter().any(|arg| self.values.keyword(*arg).is_some()) {
            return self.unknown();
        }
        let all: Result<Vec<Value>, Why> = self.args.iter().map(|arg| self.values.value(*arg)).collect();
        all?.try_into().or_else(|_| self.unknown())
    }

    /// Arguments of the same type.
    fn alike<const N: usize>(&self) -> Result<[Value; N], Why> {
        let args = self.exactly::<N>()?;
        let is_number = |arg: &Value| matches!(arg.ty.word, Word::Integer | Word::Real);
        let is_alike = args.iter().all(|arg| arg.ty == args[0].ty && is_number(arg));
        if is_alike { Ok(args) } else { self.unknown() }
    }

    fn whole_numbers<const N: usize>(&self) -> Result<[Value; N], Why> {
        let args = self.exactly::<N>()?;
        if args.iter().all(|arg| arg.ty.word == Word::Integer) { Ok(args) } else { self.unknown() }
    }

    /// A function of C's library about floating numbers.
    fn library(&self, name: &str, args: &[Value]) -> Result<Value, Why> {
        let Some(ty) = args.first().map(|arg| arg.ty).filter(|ty| ty.word == Word::Real) else {
            return self.unknown();
        };
        let args: Vec<&str> = args.iter().map(|arg| arg.text.as_str()).collect();
        let ending = if ty.bytes == 4 { "f" } else { "" };
        Ok(Value::name(format!("{name}{ending}({})", args.join(", ")), ty))
    }

    fn extreme(&self, helper: Helper) -> Result<Value, Why> {
        if self.args.len() < 2 || self.args.iter().any(|arg| self.values.keyword(*arg).is_some()) {
            return self.unknown();
        }
        let all: Result<Vec<Value>, Why> = self.args.iter().map(|arg| self.values.value(*arg)).collect();
        extreme_of(self.values, helper, all?).map_or_else(|| self.unknown(), Ok)
    }

    fn merge(&self) -> Result<Value, Why> {
        let [first, second, mask] = self.exactly()?;
        if first.ty != second.ty || mask.ty.word != Word::Logical {
            return self.unknown();
        }
        let [mask, then, other] = [&mask, &first, &second].map(|one| one.within(binds::CHOICE + 1));
        Ok(Value { text: format!("{mask} ? {then} : {other}"), binds: binds::CHOICE, ty: first.ty })
    }

    /// The type that a conversion to a word gives: by its argument for the kind, or `without` one.
    fn converted(&self, word: Word, without: Type) -> Result<(Value, Type), Why> {
        let (first, kind) = match self.args {
            [first] => (*first, None),
            [first, kind] if self.values.keyword(*kind).is_none_or(|name| name == "kind") => {
                (*first, Some(*kind))
            }
            _ => return self.unknown(),
        };
        if self.values.keyword(first).is_some() {
            return self.unknown();
        }
        let value = self.values.value(first)?;
        if value.ty.word == Word::Logical {
            return self.unknown();
        }
        let Some(kind) = kind else { return Ok((value, without)) };
        let files = self.values.files;
        let span = files.own.unit.expr(kind).span;
        let ty = files.of_kind(files.own, word, &plain_code(files.own, span), span.start);
        ty.map_or_else(|| self.unknown(), |ty| Ok((value, ty)))
    }

    fn whole(&self, name: &str) -> Result<Value, Why> {
        let (value, ty) = self.converted(Word::Integer, Type::INTEGER)?;
        if value.ty.word == Word::Integer || value.ty.word == Word::Complex && name == "int" {
            return Ok(value.to(ty));
        }
        if value.ty.word != Word::Real {
            return self.unknown();
        }
        let single = if value.ty.bytes == 4 { "f" } else { "" };
        let rounded = match name {
            "int" => return Ok(value.to(ty)),
            "nint" if ty.bytes == 8 => format!("llround{single}({})", value.text),
            "nint" => format!("lround{single}({})", value.text),
            "floor" => format!("floor{single}({})", value.text),
            _ => format!("ceil{single}({})", value.text),
        };
        Ok(Value { text: format!("({}){rounded}", ty.cpp()), binds: binds::PREFIX, ty })
    }

    fn floating(&self, name: &str) -> Result<Value, Why> {
        let without = if name == "dble" { Type::DOUBLE } else { Type { word: Word::Real, bytes: 4 } };
        let (value, ty) = self.converted(Word::Real, without)?;
        if value.ty.word == Word::Complex && name == "real" && self.args.len() == 1 {
            return Ok(value.real_part());
        }
        Ok(value.to(ty))
    }

    /// `cmplx(x, y, kind)`
    fn complex(&self) -> Result<Value, Why> {
        let (mut args, mut kind) = (Vec::new(), None);
        for (place, arg) in self.args.iter().enumerate() {
            match self.values.keyword(*arg) {
                Some("kind") => kind = Some(*arg),
                None if place < 2 => args.push(self.values.value(*arg)?),
                None if place == 2 => kind = Some(*arg),
                _ => return self.unknown(),
            }
        }
        let files = self.values.files;
        let is_double = self.name == "dcmplx";
        let ty = match kind.map(|kind| files.own.unit.expr(kind).span) {
            None => Some(Type { word: Word::Complex, bytes: if is_double { 8 } else { 4 } }),
            Some(span) => files.of_kind(files.own, Word::Complex, &plain_code(files.own, span), span.start),
        };
        let Some(ty) = ty else { return self.unknown() };
        if args.iter().any(|arg| arg.ty.word == Word::Logical) {
            return self.unknown();
        }
        match <[Value; 2]>::try_from(args) {
            Ok(parts) if parts.iter().all(|part| part.ty.word != Word::Complex) => {
                Ok(Value::complex(parts, ty.bytes))
            }
            Ok(_) => self.unknown(),
            Err(args) => match args.as_slice() {
                [arg] if arg.ty.word == Word::Complex => Ok(arg.clone().to(ty)),
                [arg] => {
                    let zero = Value::name("0", Type::INTEGER);
                    Ok(Value::complex([arg.clone(), zero], ty.bytes))
                }
                _ => self.unknown(),
            },
        }
    }

    fn limit(&self, name: &str) -> Result<Value, Why> {
        let [arg] = self.args else { return self.unknown() };
        let ty = self.type_of_any(*arg)?;
        let text = match (name, ty.word, ty.bytes) {
            ("huge", Word::Integer, 1) => "127",
            ("huge", Word::Integer, 2) => "32767",
            ("huge", Word::Integer, 4) => "2147483647",
            ("huge", Word::Integer, 8) => "9223372036854775807ll",
            ("huge", Word::Real, 4) => "3.40282346638528859812e+38f",
            ("huge", Word::Real, 8) => "1.79769313486231570815e+308",
            ("tiny", Word::Real, 4) => "1.17549435082228750797e-38f",
            ("tiny", Word::Real, 8) => "2.22507385850720138309e-308",
            ("epsilon", Word::Real, 4) => "1.1920928955078125e-07f",
            ("epsilon", Word::Real, 8) => "2.220446049250313080847e-16",
            _ => return self.unknown(),
        };
        Ok(Value::name(text, ty))
    }

    /// The type of an argument, which may be a whole array.
    fn type_of_any(&self, arg: ExprId) -> Result<Type, Why> {
        if let Some(symbol) = self.values.symbol(arg)
            && let Some(variable) = self.values.variables.get(symbol)
        {
            return Ok(variable.ty);
        }
        // A constant may ask for the type of a variable.
        let (symbols, at) = (self.values.symbols, self.values.files.own.unit.expr(arg).span);
        let named = symbols.named(self.values.files.own.unit, arg).map(|symbol| symbols.get(symbol));
        if let Some(ty) = named.and_then(|known| self.values.files.type_of(known, at.start)) {
            return Ok(ty);
        }
        self.values.value(arg).map(|value| value.ty)
    }

    fn inquiry(&self, name: &str) -> Result<Value, Why> {
        let unit = self.values.files.own.unit;
        let (array, dim) = match self.args {
            [array] => (*array, None),
            [array, dim] if self.values.keyword(*dim).is_none_or(|name| name == "dim") => {
                let ExprKind::Int(number) = unit.expr(*dim).kind else { return self.unknown() };
                (*array, Some(number))
            }
            _ => return self.unknown(),
        };
        let Some(symbol) = self.values.symbol(array) else { return self.unknown() };
        let Some(variable) = self.values.variables.get(symbol) else { return self.unknown() };
        let rank = variable.shape.len();
        let bound = |at: usize, which: BoundQuery| match self.values.bound(symbol, at, which) {
            Some(value) => Ok(value),
            None => self.unknown(),
        };
        if name == "size" && dim.is_none() && rank > 0 {
            let mut size = bound(0, BoundQuery::Extent)?;
            for at in 1..rank {
                size = Value::binary(&size, "*", &bound(at, BoundQuery::Extent)?, binds::PRODUCT, size.ty);
            }
            return Ok(size.to(Type::INTEGER));
        }
        let at = match dim {
            Some(number) if number >= 1 && number <= rank as i128 => number as usize - 1,
            _ => return self.unknown(),
        };
        let value = match name {
            "size" => bound(at, BoundQuery::Extent)?,
            "lbound" => bound(at, BoundQuery::Lower)?,
            _ => {
                let (lower, extent) = (bound(at, BoundQuery::Lower)?, bound(at, BoundQuery::Extent)?);
                let end = Value::binary(&lower, "+", &extent, binds::SUM, extent.ty);
                Value::binary(&end, "-", &Value::name("1", extent.ty), binds::SUM, extent.ty)
            }
        };
        Ok(value.to(Type::INTEGER))
    }
}
