//! The functions of `<math.h>` and `<stdlib.h>` as C declares them: one function to a name.
//!
//! Invariant: a function with `f` or `l` after its name is another one and is not among the functions for `double`.

use super::c_type::{CNumber, CType, Rank};

/// What a parameter is declared as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// `double`
    Double,
    /// `int`
    Int,
    /// Another type, for which C++ has no function of its own.
    Other,
}

/// A function that C++ has for several types.
#[derive(Clone, Copy, Debug)]
pub struct Overloaded {
    /// Its parameters.
    pub params: &'static [Parameter],
    /// Its result is exact for a `float` whose value it is given, or rounded as the `float` function rounds it.
    pub is_exact: bool,
    /// C++ for devices has it for arguments of several types, too.
    pub takes_mixed: bool,
}

const ONE: &str = "acos acosh asin asinh atan atanh cbrt cos cosh erf erfc exp exp2 expm1 lgamma log log10 log1p log2 sin sinh \
    tan tanh tgamma j0 j1 y0 y1 exp10 cospi sinpi erfinv erfcinv erfcx normcdf normcdfinv rsqrt rcbrt cyl_bessel_i0 \
    cyl_bessel_i1 significand gamma logb ilogb lrint llrint lround llround";
const ONE_EXACT: &str = "ceil fabs floor nearbyint rint round roundeven sqrt trunc";
const TWO: &str = "atan2 hypot nextafter pow remainder drem fdim rhypot fmod";
const TWO_EXACT: &str = "copysign fmax fmin";

/// The function of this name, if C++ has several of it.
pub fn overloaded(name: &str) -> Option<Overloaded> {
    use Parameter::{Double, Int, Other};
    let is_in = |all: &str| all.split_whitespace().any(|known| known == name);
    let (params, is_exact): (&'static [Parameter], bool) = match name {
        "abs" => (&[Int], false),
        "fma" => (&[Double, Double, Double], false),
        "ldexp" | "scalbn" | "scalbln" | "frexp" | "modf" | "nexttoward" => (&[Double, Other], false),
        "remquo" => (&[Double, Double, Other], false),
        "sincos" => (&[Double, Other, Other], false),
        "jn" | "yn" => (&[Other, Double], false),
        _ if is_in(ONE) => (&[Double], false),
        _ if is_in(ONE_EXACT) => (&[Double], true),
        _ if is_in(TWO) => (&[Double, Double], false),
        _ if is_in(TWO_EXACT) => (&[Double, Double], true),
        _ => return None,
    };
    Some(Overloaded { params, is_exact, takes_mixed: name == "pow" })
}

/// What a function of the library returns.
pub fn returned(name: &str) -> CType {
    let number = match name {
        "abs" | "ilogb" | "toupper" | "tolower" => CNumber::Integer(Rank::Int, true),
        "labs" | "lrint" | "lround" => CNumber::Integer(Rank::Long, true),
        "llabs" | "llrint" | "llround" => CNumber::Integer(Rank::LongLong, true),
        "malloc" | "calloc" | "realloc" | "memcpy" | "memset" | "memmove" | "alloca" => {
            return CType::Pointer(Box::new(CType::Void));
        }
        "cabs" | "creal" | "cimag" | "carg" => CNumber::Double,
        "sincos" => return CType::Void,
        _ if overloaded(name).is_some() => CNumber::Double,
        _ => match name.strip_suffix('f') {
            Some(stem)
                if stem.starts_with(['l']) && returned(stem).number().is_some_and(CNumber::is_integer) =>
            {
                return returned(stem);
            }
            Some(stem) if overloaded(stem).is_some() => CNumber::Float,
            _ => return CType::Unknown,
        },
    };
    CType::Number(number)
}

#[cfg(test)]
mod tests;
