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

/// Whether a function of the library or of the compilers gives a floating-point number; `None` for one that is not known.
pub fn gives_floating(name: &str) -> Option<bool> {
    const OTHERS: &str = "atof strtod strtof strtold drand48 erand48 difftime nan nanf nanl inf inff infl huge_val huge_valf \
        huge_vall omp_get_wtime omp_get_wtick MPI_Wtime MPI_Wtick lerp powi powif";
    let name = name.strip_prefix("__builtin_").unwrap_or(name);
    let of = |name: &str| returned(name).number().map(|number| !number.is_integer());
    let is_other = || OTHERS.split_whitespace().any(|known| known == name).then_some(true);
    of(name).or_else(|| of(name.strip_suffix('l')?)).or_else(is_other)
}

/// Whether a name is that of a constant of `<math.h>` or `<float.h>` that is a floating-point number.
pub fn is_floating_constant(name: &str) -> bool {
    const ENDINGS: [&str; 5] = ["_MAX", "_MIN", "_EPSILON", "_TRUE_MIN", "_DENORM_MIN"];
    let of_type = ["FLT", "DBL", "LDBL"].iter().find_map(|stem| name.strip_prefix(stem));
    matches!(name, "HUGE_VAL" | "HUGE_VALF" | "HUGE_VALL" | "INFINITY" | "NAN")
        || of_type.is_some_and(|ending| ENDINGS.contains(&ending))
        || name.strip_prefix("M_").is_some_and(|rest| {
            rest.trim_end_matches('l').split('_').all(|word| {
                matches!(
                    word,
                    "E" | "LOG2E"
                        | "LOG10E"
                        | "LN2"
                        | "LN10"
                        | "PI"
                        | "SQRT2"
                        | "SQRT1"
                        | "1"
                        | "2"
                        | "4"
                        | "SQRTPI"
                )
            })
        })
}

#[cfg(test)]
mod tests;
