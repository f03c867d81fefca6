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
        Helper::Trips => {
            let name = format!("trips_{}", letters(cpp));
            format!(
                "static inline long long {name}({cpp} first, {cpp} last, {cpp} step)\n{{\n    const unsigned long long from = (unsigned long long)first, to = (unsigned long long)last;\n    if (step > 0)\n        return first <= last ? (long long)((to - from) / (unsigned long long)step + 1) : 0;\n    if (step < 0)\n        return first >= last ? (long long)((from - to) / (0ull - (unsigned long long)step) + 1) : 0;\n    return 0;\n}}\n"
            )
        }
        Helper::Shift => {
            let unsigned = format!("unsigned {}", cpp.trim_start_matches("signed "));
            let body = "    const int bits = 8 * (int)sizeof(T);\n    if (b >= bits || b <= -bits)\n        return 0;\n    return b < 0 ? (T)((UNSIGNED)a >> -b) : (T)((UNSIGNED)a << b);\n";
            of("shift", "int", &body.replace("UNSIGNED", &unsigned))
        }
    }
}

/// The type that a power of whole numbers is computed in.
pub fn power_type(base: Type, exponent: Type) -> Type {
    if base.word == Word::Integer { base.joined(exponent) } else { base }
}
