//! Functions in C++ for what Fortran's operators and intrinsic functions do and no operator of C++ does.
//!
//! Invariant: each is written for one type, with `routine seq`, and only if it is used.

use std::collections::BTreeSet;

use super::types::{Type, Word};

/// A function of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Helper {
    /// `max` of two
    Max,
    /// `min` of two
    Min,
    /// `sign` of whole numbers
    Sign,
    /// `dim`
    Dim,
    /// `modulo`
    Modulo,
    /// A power with a whole exponent
    Power,
    /// `ishft`
    Shift,
    /// How often a counted loop runs
    Trips,
    /// `shifta`
    ShiftArithmetic,
    /// `ishftc` with all arguments
    Rotate,
    /// `ibits`
    Bits,
    /// `ibset`
    SetBit,
    /// `ibclr`
    ClearBit,
    /// `popcnt`
    CountBits,
    /// `leadz`
    LeadingZeros,
    /// `trailz`
    TrailingZeros,
    /// `exponent`
    Exponent,
    /// `fraction`
    Fraction,
    /// `nearest`
    Nearest,
    /// `isnan`
    IsNan,
    /// `ieee_is_finite`
    IsFinite,
    /// `transfer` of a floating number to a whole one of its size
    BitsOf,
    /// `transfer` of a whole number to a floating one of its size
    OfBits,
}

/// The functions that are used: which, and the letters of its type.
pub type Used = BTreeSet<(Helper, &'static str)>;

/// A name for a function of this type.
pub fn name(helper: Helper, ty: Type) -> String {
    let word = match helper {
        Helper::Max => "max",
        Helper::Min => "min",
        Helper::Sign => "sign",
        Helper::Dim => "dim",
        Helper::Modulo => "modulo",
        Helper::Power => "power",
        Helper::Shift => "shift",
        Helper::Trips => "trips",
        Helper::ShiftArithmetic => "shift_arithmetic",
        Helper::Rotate => "rotate",
        Helper::Bits => "bits",
        Helper::SetBit => "set_bit",
        Helper::ClearBit => "clear_bit",
        Helper::CountBits => "count_bits",
        Helper::LeadingZeros => "leading_zeros",
        Helper::TrailingZeros => "trailing_zeros",
        Helper::Exponent => "exponent",
        Helper::Fraction => "fraction",
        Helper::Nearest => "nearest",
        Helper::IsNan => "is_nan",
        Helper::IsFinite => "is_finite",
        Helper::BitsOf => "bits_of",
        Helper::OfBits => "of_bits",
    };
    format!("{word}_{}", letters(ty.cpp()))
}

/// A type of C++ as a part of a name.
fn letters(cpp: &str) -> String {
    cpp.replace(" _Complex", "_complex").replace(' ', "_")
}

/// The functions as text.
pub fn helpers(used: &Used) -> String {
    used.iter().map(|(helper, cpp)| format!("#pragma acc routine seq\n{}\n", text(*helper, cpp))).collect()
}

/// Whether a type of C++ is a floating one.
fn is_floating(cpp: &str) -> bool {
    matches!(cpp, "float" | "double")
}

fn text(helper: Helper, cpp: &'static str) -> String {
    let of = |word: &str, second: &str, body: &str| {
        let name = format!("{word}_{}", letters(cpp));
        let body = body.replace("T ", &format!("{cpp} ")).replace("(T)", &format!("({cpp})"));
        format!("static inline {cpp} {name}({cpp} a, {second} b)\n{{\n{body}}}\n")
    };
    let bits = |word: &str, result: &str, parameters: &str, body: &str| {
        let name = format!("{word}_{}", letters(cpp));
        let body = signed_and_not(body, cpp).replace("(T)", &format!("({cpp})"));
        format!("static inline {result} {name}({parameters})\n{{\n{body}}}\n")
    };
    match helper {
        Helper::Max => of("max", cpp, "    return a > b ? a : b;\n"),
        Helper::Min => of("min", cpp, "    return a < b ? a : b;\n"),
        Helper::Sign => of("sign", cpp, "    T size = a < 0 ? -a : a;\n    return b < 0 ? -size : size;\n"),
        Helper::Dim => of("dim", cpp, "    return a > b ? a - b : 0;\n"),
        Helper::Modulo if is_floating(cpp) => {
            let rest = if cpp == "float" { "fmodf" } else { "fmod" };
            let body = format!(
                "    T rest = {rest}(a, b);\n    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;\n"
            );
            of("modulo", cpp, &body)
        }
        Helper::Modulo => of(
            "modulo",
            cpp,
            "    T rest = a % b;\n    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;\n",
        ),
        Helper::Power if cpp.ends_with("_Complex") => of(
            "power",
            "int",
            "    T factor = a, product = 1;\n    if (b < 0)\n        factor = 1 / factor;\n    for (unsigned n = b < 0 ? 0u - (unsigned)b : (unsigned)b; n != 0; n /= 2) {\n        if (n % 2 != 0)\n            product *= factor;\n        factor *= factor;\n    }\n    return product;\n",
        ),
        Helper::Power if is_floating(cpp) => of(
            "power",
            "int",
            "    T factor = a, product = 1;\n    for (unsigned n = b < 0 ? 0u - (unsigned)b : (unsigned)b; n != 0; n /= 2) {\n        if (n % 2 != 0)\n            product *= factor;\n        factor *= factor;\n    }\n    return b < 0 ? 1 / product : product;\n",
        ),
        Helper::Power => of(
            "power",
            cpp,
            "    if (b < 0)\n        return a == 1 ? 1 : a == -1 ? (b % 2 != 0 ? -1 : 1) : 0;\n    T product = 1;\n    for (T n = b; n != 0; n /= 2) {\n        if (n % 2 != 0)\n            product *= a;\n        a *= a;\n    }\n    return product;\n",
        ),
        Helper::Shift => of(
            "shift",
            "int",
            &signed_and_not(
                "    const int bits = 8 * (int)sizeof(T);\n    if (b >= bits || b <= -bits)\n        return 0;\n    return b < 0 ? (T)((UNSIGNED)a >> -b) : (T)((UNSIGNED)a << b);\n",
                cpp,
            ),
        ),
        Helper::Trips => bits(
            "trips",
            "long long",
            &format!("{cpp} first, {cpp} last, {cpp} step"),
            "    const unsigned long long from = (unsigned long long)first, to = (unsigned long long)last;\n    if (step > 0)\n        return first <= last ? (long long)((to - from) / (unsigned long long)step + 1) : 0;\n    if (step < 0)\n        return first >= last ? (long long)((from - to) / (0ull - (unsigned long long)step) + 1) : 0;\n    return 0;\n",
        ),
        Helper::ShiftArithmetic => of(
            "shift_arithmetic",
            "int",
            "    const int bits = 8 * (int)sizeof(T);\n    return b < bits ? a >> b : a < 0 ? -1 : 0;\n",
        ),
        Helper::Rotate => bits(
            "rotate",
            cpp,
            &format!("{cpp} a, int by, int size"),
            "    const int bits = 8 * (int)sizeof(T);\n    const UNSIGNED mask = size < bits ? (UNSIGNED)(((UNSIGNED)1 << size) - 1) : (UNSIGNED)-1;\n    const UNSIGNED low = (UNSIGNED)a & mask;\n    const int left = (by % size + size) % size;\n    const UNSIGNED turned = left == 0 ? low : (UNSIGNED)((UNSIGNED)(low << left | low >> (size - left)) & mask);\n    return (T)(((UNSIGNED)a & (UNSIGNED)~mask) | turned);\n",
        ),
        Helper::Bits => bits(
            "bits",
            cpp,
            &format!("{cpp} a, int first, int count"),
            "    const int bits = 8 * (int)sizeof(T);\n    const UNSIGNED mask = count < bits ? (UNSIGNED)(((UNSIGNED)1 << count) - 1) : (UNSIGNED)-1;\n    return first < bits ? (T)(((UNSIGNED)a >> first) & mask) : 0;\n",
        ),
        Helper::SetBit => {
            of("set_bit", "int", &signed_and_not("    return (T)((UNSIGNED)a | (UNSIGNED)1 << b);\n", cpp))
        }
        Helper::ClearBit => of(
            "clear_bit",
            "int",
            &signed_and_not("    return (T)((UNSIGNED)a & ~((UNSIGNED)1 << b));\n", cpp),
        ),
        Helper::CountBits => bits(
            "count_bits",
            "int",
            &format!("{cpp} a"),
            "    int count = 0;\n    for (UNSIGNED rest = (UNSIGNED)a; rest != 0; rest &= (UNSIGNED)(rest - 1))\n        count++;\n    return count;\n",
        ),
        Helper::LeadingZeros => bits(
            "leading_zeros",
            "int",
            &format!("{cpp} a"),
            "    int count = 8 * (int)sizeof(T);\n    for (UNSIGNED rest = (UNSIGNED)a; rest != 0; rest >>= 1)\n        count--;\n    return count;\n",
        ),
        Helper::TrailingZeros => bits(
            "trailing_zeros",
            "int",
            &format!("{cpp} a"),
            "    if (a == 0)\n        return 8 * (int)sizeof(T);\n    int count = 0;\n    for (UNSIGNED rest = (UNSIGNED)a; rest % 2 == 0; rest >>= 1)\n        count++;\n    return count;\n",
        ),
        Helper::Exponent => bits(
            "exponent",
            "int",
            &format!("{cpp} a"),
            "    if (a - a != 0)\n        return 2147483647;\n    int exponent = 0;\n    frexp(a, &exponent);\n    return exponent;\n",
        ),
        Helper::Fraction => bits(
            "fraction",
            cpp,
            &format!("{cpp} a"),
            "    if (a - a != 0)\n        return a - a;\n    int exponent = 0;\n    return frexp(a, &exponent);\n",
        ),
        Helper::Nearest => {
            let infinite =
                if cpp == "float" { "copysignf((T)INFINITY, b)" } else { "copysign((T)INFINITY, b)" };
            let next = if cpp == "float" { "nextafterf" } else { "nextafter" };
            of("nearest", cpp, &format!("    return {next}(a, {infinite});\n"))
        }
        Helper::IsNan => bits("is_nan", "int", &format!("{cpp} a"), "    return a != a;\n"),
        Helper::IsFinite => bits("is_finite", "int", &format!("{cpp} a"), "    return a - a == 0;\n"),
        Helper::BitsOf => bits(
            "bits_of",
            whole_of(cpp),
            &format!("{cpp} a"),
            &format!("    {} same;\n    memcpy(&same, &a, sizeof same);\n    return same;\n", whole_of(cpp)),
        ),
        Helper::OfBits => bits(
            "of_bits",
            cpp,
            &format!("{} a", whole_of(cpp)),
            &format!("    {cpp} same;\n    memcpy(&same, &a, sizeof same);\n    return same;\n"),
        ),
    }
}

/// A text with the type of the same size without a sign.
fn signed_and_not(text: &str, cpp: &str) -> String {
    text.replace("UNSIGNED", &format!("unsigned {}", cpp.trim_start_matches("signed ")))
}

/// The whole number of the size of a floating one.
fn whole_of(cpp: &str) -> &'static str {
    if cpp == "float" { "int" } else { "long long" }
}

/// The type that a power of whole numbers is computed in.
pub fn power_type(base: Type, exponent: Type) -> Type {
    if base.word == Word::Integer { base.joined(exponent) } else { base }
}
